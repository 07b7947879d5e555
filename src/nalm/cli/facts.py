"""The facts about this machine that numbers or speed may depend on, for `nalm doctor`."""

from __future__ import annotations

import platform
import shlex
from typing import Any

from nalm import interrupts
from nalm._version import NUMERICS_VERSION, __version__


def machine_facts() -> dict[str, Any]:
    """Versions, processor, compiler and cache of this machine, by name."""
    with interrupts.importing():
        import torch

        from nalm.engine.cache import cache_folder, is_writable
        from nalm.engine.kernel.build import cpp_compiler
        from nalm.threads import cores

    found = cpp_compiler()
    return {
        "nalm": __version__,
        "numerics_version": NUMERICS_VERSION,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cpu": platform.machine(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "cores": cores(),
        "compiler": shlex.join(found) if found else None,
        "mode": "compiled" if found else "eager",
        "cache": str(cache_folder()),
        "cache_writable": is_writable(cache_folder()),
    }
