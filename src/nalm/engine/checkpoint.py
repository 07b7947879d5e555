"""Checkpoints of unfinished runs: the whole state of a batch in one safetensors file.

A file says which run it belongs to. It is written under another name and then renamed, so that it is always
complete. One that cannot be read, or is of another run, is not used: the run starts again, with a warning.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from nalm._version import NUMERICS_VERSION
from nalm.engine.batch import Batch
from nalm.models.many import Models
from nalm.recipes.plain import to_plain
from nalm.trained import Options, RunGroup

SUFFIX = ".safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint of one run.

    Attributes:
        path: its file.
        identity: the run it belongs to, as text.
    """

    path: Path
    identity: str

    @classmethod
    def of(cls, run: RunGroup, options: Options, models: Models) -> Checkpoint:
        """The checkpoint of a run in the folder that the options name."""
        assert options.checkpoints is not None
        name = run.names[0] if run.names else f"seed-{run.seeds[0]}"
        return cls(options.checkpoints / f"{name}{SUFFIX}", _identity(run, options, models))

    def load_(self, batch: Batch) -> int:
        """Load the checkpoint into a batch; return the step to begin with, 0 if no checkpoint is usable."""
        if not self.path.exists():
            return 0
        try:
            with safe_open(self.path, framework="pt", device=str(batch.settings.device)) as file:
                held = json.loads((file.metadata() or {}).get("nalm", "{}"))
                if held.get("identity") != self.identity:
                    return self._unusable("it is of another run")
                names = file.keys()
                batch.load_state({name: file.get_tensor(name) for name in names}, held["log"])
        except (SafetensorError, OSError, ValueError, KeyError) as error:
            return self._unusable(str(error).partition("\n")[0].rstrip("."))
        return int(held["step"])

    def save(self, batch: Batch, step: int) -> None:
        """Write the state of a batch, from which training resumes with `step`."""
        tensors, log = batch.state_to_keep()
        about = json.dumps({"identity": self.identity, "step": step, "log": log})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        save_file({name: t.contiguous() for name, t in tensors.items()}, part, {"nalm": about})
        part.replace(self.path)

    def _unusable(self, why: str) -> int:
        warnings.warn(f"The checkpoint {self.path} is not used: {why}. The run starts again.", stacklevel=4)
        return 0


def discard(folder: Path, names: Iterable[str]) -> None:
    """Delete the checkpoints of finished runs, and the folder once it is empty."""
    if not folder.is_dir():
        return
    for name in names:
        (folder / f"{name}{SUFFIX}").unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _identity(run: RunGroup, options: Options, models: Models) -> str:
    """Everything that determines the numbers of a run: a checkpoint that differs in it is not used."""
    about: dict[str, Any] = {
        "task": run.tasks[0].identity(),
        "model": str(run.model),
        "shapes": {name: list(shape) for name, shape in models.shapes().items()},
        "recipe": to_plain(run.recipes[0]),
        "seed": run.seeds[0],
        "steps": [options.iterations, options.log_interval],
        "precision": str(options.dtype),
        "initial": _digest(run),
        "numerics_version": NUMERICS_VERSION,
    }
    return json.dumps(about, sort_keys=True)


def _digest(run: RunGroup) -> str | None:
    """A hash of the initial parameters, if the caller gave any."""
    if run.initial is None:
        return None
    held = [p.detach().cpu().contiguous().numpy().tobytes() for p in run.initial.values()]
    return hashlib.sha256(b"".join(held)).hexdigest()
