"""What nalm with its units costs beside `import torch`: fresh processes in turns, the best of several."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path


def seconds(code: str) -> float:
    """Time of a fresh process that runs this."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE; - is standard output")
    parser.add_argument("--rounds", type=int, default=9, help="rounds, each of both imports")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds must be 1 or more, but got {arguments.rounds}")
    rounds = [(seconds("import torch"), seconds("import nalm; nalm.NMU")) for _ in range(arguments.rounds)]
    torch_s, nalm_s = (min(times) for times in zip(*rounds))
    figures = {"torch_s": torch_s, "nalm_s": nalm_s, "ratio": nalm_s / torch_s}
    print(f"torch {torch_s:.2f} s, nalm {nalm_s:.2f} s, ratio {figures['ratio']:.2f}", file=sys.stderr)
    text = json.dumps(figures, indent=2)
    if arguments.json == "-":
        print(text)
    elif arguments.json:
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
