"""How runs are named: by a hash of plain data that determines their numbers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

FORMAT = 1
"""Of what runs are named by; raised when it is written in another way."""


def name_of(identity: str, seed: int) -> str:
    """The name of a run, from its identity as text."""
    return hashlib.sha256(f"{identity} {seed}".encode()).hexdigest()[:32]


def identity_text(identity: Any) -> str:
    """An identity as the text that runs are named by."""
    return json.dumps(identity, sort_keys=True)
