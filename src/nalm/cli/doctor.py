"""`nalm doctor`: what this machine provides."""

from __future__ import annotations

from nalm.cli.facts import machine_facts
from nalm.cli.json_file import write_json
from nalm.cli.options import Json
from nalm.cli.output import say


def doctor(json_file: Json = None) -> None:
    """Print what this machine provides: versions, processor, compiler, cache."""
    facts = machine_facts()
    if write_json(facts, json_file):
        return
    for name, value in facts.items():
        print(f"{name:18} {value}")
    if facts["compiler"] is None:
        from nalm.engine.compiler import NO_COMPILER

        say(f"{NO_COMPILER} Training works but is many times slower.")
    if not facts["cache_writable"]:
        say(f"The cache folder {facts['cache']} cannot be written: every start compiles again.")
