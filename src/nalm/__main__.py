"""The command `nalm`, and `python -m nalm`."""

from __future__ import annotations

import sys
from typing import NoReturn

from nalm import interrupts


def main() -> NoReturn:
    """Run a command and exit; interruptions are handled before anything that takes time."""
    interrupts.end_at_once()
    from nalm import cli

    try:
        interrupts.raise_once()
        code = cli.run()
    except KeyboardInterrupt:  # just before or after the command
        print(interrupts.sentence(), file=sys.stderr)
        code = interrupts.CODE
    interrupts.finish(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
