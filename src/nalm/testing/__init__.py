"""Conformance: what every unit must satisfy, the library's own and those of users.

    import nalm.testing
    nalm.testing.check(MyUnit)

runs all checks and raises an AssertionError that lists every fault, with file, line and a hint how to fix it.
`faults` returns them as data; `CHECKS` holds the individual checks, for parametrising a test suite.
"""

from nalm.testing.checks import CHECKS
from nalm.testing.conformance import check, faults
from nalm.testing.fault import Fault
from nalm.testing.subject import Reference, Subject

__all__ = ["CHECKS", "Fault", "Reference", "Subject", "check", "faults"]
