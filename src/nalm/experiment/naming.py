"""How runs are named: by a hash of plain data that determines their numbers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

FORMAT = 1
"""Version of the identity that runs are named by; raised when identities are written differently."""


def name_of(identity: str, seed: int) -> str:
    """The name of a run, from the text of its identity and its seed."""
    return hashlib.sha256(f"{identity} {seed}".encode()).hexdigest()[:32]


def identity_text(identity: Any) -> str:
    """The text of an identity, which runs are named by."""
    return json.dumps(identity, sort_keys=True)
