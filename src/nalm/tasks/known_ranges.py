"""The ranges of the papers by name, and how ranges are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nalm.errors import ArgumentError, nearest
from nalm.tasks.distributions import Benford, ByInput, TruncatedNormal
from nalm.tasks.ranges import NUMBER, Distribution, Range, parse_interval

_CALL = re.compile(r"\s*(tn|benford)\((.*)\)\s*")

_WRITTEN: dict[str, dict[str, tuple[str, str]]] = {
    "uniform": {
        "-20:-10": ("-20:-10", "-40:-20"),
        "-2:-1": ("-2:-1", "-6:-2"),
        "-1.2:-1.1": ("-1.2:-1.1", "-6.1:-1.2"),
        "-0.2:-0.1": ("-0.2:-0.1", "-2:-0.2"),
        "-2:2": ("-2:2", "-6:-2|2:6"),
        "0.1:0.2": ("0.1:0.2", "0.2:2"),
        "1:2": ("1:2", "2:6"),
        "1.1:1.2": ("1.1:1.2", "1.2:6"),
        "10:20": ("10:20", "20:40"),
    },
    "mixed-sign": {
        "mixed-1": ("-2:-0.1&0.1:2", "-6:-2&2:6"),
        "mixed-2": ("-2:-1&1:2", "-6:-2&2:6"),
        "mixed-3": ("-2:2", "-6:-2&2:6"),
        "mixed-4": ("0.1:2&-2:-0.1", "2:6&-6:-2"),
        "mixed-5": ("1:2&-2:-1", "2:6&-6:-2"),
    },
    "distributions": {
        "tn-minus-1": ("tn(-1;3;-5:10)", "tn(-10;3;-15:-5)"),
        "tn-0": ("tn(0;1;-5:5)", "tn(10;1;5:15)"),
        "tn-1": ("tn(1;3;-10:5)", "tn(10;3;5:15)"),
        "benford": ("benford(10:100)", "benford(100:1000)"),
        "-100:100": ("-100:100", "-200:-100|100:200"),
        "-50:50": ("-50:50", "-100:-50|50:100"),
    },
    "near-zero": {name: (name, name) for name in ("0:1e-4", "0:1e-3", "0:1e-2", "0:0.1", "0:1")},
}  # thesis, tables 3.2, 5.2 and 5.3, section 5.8.2


def parse(text: str) -> Distribution:
    """Read `1:2`, a union `-6:-2|2:6`, `tn(mean;sd;low:high)`, `benford(10:100)`, or one per input `…&…`."""
    parts = [_parse_part(part) for part in text.split("&")]
    return parts[0] if len(parts) == 1 else ByInput(tuple(parts))


def _parse_part(text: str) -> Distribution:
    call = _CALL.fullmatch(text)
    if call is None:
        return Range.parse(text)
    arguments = re.split("[;,]", call[2])
    expected = "tn(mean;sd;low:high)" if call[1] == "tn" else "benford(low:high)"
    wrong = ArgumentError("range", expected, repr(text))
    if len(arguments) != (3 if call[1] == "tn" else 1):
        raise wrong
    low, high = parse_interval(arguments[-1])
    if call[1] == "benford":
        if not (low.is_integer() and high.is_integer()):
            raise ArgumentError("range", "benford(low:high) with whole numbers", repr(text))
        return Benford(int(low), int(high))
    if not all(re.fullmatch(NUMBER, a.strip()) for a in arguments[:2]):
        raise wrong
    return TruncatedNormal(float(arguments[0]), float(arguments[1]), low, high)


RANGE_SETS: dict[str, tuple[str, ...]] = {name: tuple(ranges) for name, ranges in _WRITTEN.items()}
"""Sets of ranges that belong together in the papers: the names of their members, by name of the set."""
RANGES: dict[str, tuple[Distribution, Distribution]] = {
    name: (parse(train), parse(test))
    for ranges in _WRITTEN.values()
    for name, (train, test) in ranges.items()
}
"""The distributions of training and test data, by name of the range."""
TEST_RANGES = {name: RANGES[name][1] for name in RANGE_SETS["uniform"]}
"""The test range of each of the nine training ranges (thesis, table 3.2), by name."""


def parse_pair(text: str) -> tuple[Distribution, Distribution]:
    """Training and test distribution from a name, or from `train=>test`.

    A training range that is not one of `RANGES` needs a test range.
    """
    if not isinstance(text, str):
        raise ArgumentError("range", "a name such as '1:2', or 'train=>test'", repr(text))
    if text.strip() in RANGES:
        return RANGES[text.strip()]
    train, arrow, test = text.partition("=>")
    if arrow and not (train.strip() and test.strip()):
        raise ArgumentError("range", "train=>test with a range on both sides", repr(text))
    if arrow:
        return _same_kind(parse(train), parse(test))
    try:
        interpolation = parse(train)
    except ArgumentError as error:
        close = nearest(text, [*RANGES, *RANGE_SETS])
        raise (error.with_hint(f"Did you mean {close!r}?") if close else error) from None
    # Reversed, so that of two ranges with the same training range the first counts.
    known = {pair[0]: pair for pair in reversed(RANGES.values())}
    if interpolation not in known:
        hint = f"Known ranges: {', '.join(RANGES)}."
        raise ArgumentError("range", "a known range, or train=>test", repr(text), hint)
    return known[interpolation]


def _same_kind(train: Distribution, test: Distribution) -> tuple[Distribution, Distribution]:
    if train.kind != test.kind:
        raise ArgumentError("range", "of the same kind in training and test", f"{train}=>{test}")
    return train, test


def expand_ranges(names: Iterable[str]) -> list[str]:
    """Names of ranges; the name of a set is replaced by those of its members."""
    return [each for name in names for each in RANGE_SETS.get(name, (name,))]
