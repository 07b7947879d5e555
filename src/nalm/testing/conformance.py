"""All checks on one unit."""

from __future__ import annotations

from typing import Any

from nalm.errors import ArgumentError
from nalm.testing.checks import CHECKS
from nalm.testing.fault import Fault, fault_of
from nalm.testing.subject import Subject
from nalm.units import Unit


def check(unit: type[Unit], **about: Any) -> None:
    """Run all conformance checks on a unit; see `Subject` for the further arguments."""
    found = faults(unit, **about)
    if found:
        number = "1 fault" if len(found) == 1 else f"{len(found)} faults"
        listed = "\n".join(f"- {fault}" for fault in found)
        raise AssertionError(f"{unit.__name__}: {number} in {len(CHECKS)} checks\n{listed}")


def faults(unit: type[Unit], **about: Any) -> list[Fault]:
    """All violations of the contract by a unit; see `Subject` for the further arguments."""
    if not (isinstance(unit, type) and issubclass(unit, Unit)):
        raise ArgumentError("unit", "a subclass of nalm.Unit", repr(unit))
    subject, found = Subject(unit, **about), []
    for one in CHECKS:
        try:
            one(subject)
        except Exception as error:  # a user's unit may raise anything, and any error is a fault
            found.append(fault_of(unit, one.__name__, error))
    return list({(fault.what, fault.place): fault for fault in reversed(found)}.values())[::-1]
