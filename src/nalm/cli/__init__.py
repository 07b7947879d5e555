"""The command line: parses, calls, prints. Results go to standard output, messages to standard error."""

from nalm.cli.commands import app
from nalm.cli.exit_codes import main, run

__all__ = ["app", "main", "run"]
