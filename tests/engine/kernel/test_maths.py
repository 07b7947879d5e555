"""The functions of a kernel, for numbers of models and in vectors of samples, against double precision."""

import pytest
import torch

from nalm.engine.kernel.kernel import Kernel
from nalm.streams import counters

SAMPLES = 32
WIDE = torch.cat([torch.linspace(-20, 20, 4001), torch.logspace(-30, 30, 601), -torch.logspace(-30, 3, 301)])
INSIDE = torch.linspace(-0.99999, 0.99999, 2001)
SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, torch.inf, -torch.inf, torch.nan, 1e-40, 3e38, -3e38])
FUNCTIONS = {
    "exp": (torch.exp, WIDE),
    "log": (torch.log, WIDE.abs()),
    "sigmoid": (torch.sigmoid, WIDE),
    "tanh": (torch.tanh, WIDE),
    "sin": (torch.sin, WIDE.clamp(-1e6, 1e6)),
    "cos": (torch.cos, WIDE.clamp(-1e6, 1e6)),
    "sqrt": (torch.sqrt, WIDE.abs()),
    "erfinv": (torch.erfinv, INSIDE),
    "reciprocal": (torch.reciprocal, WIDE),
    "abs": (torch.abs, WIDE),
    "sign": (torch.sign, WIDE),
    "floor": (torch.floor, WIDE.clamp(-1e6, 1e6)),
    "round": (torch.round, torch.cat([WIDE.clamp(-1e6, 1e6)[:-7], torch.arange(-3.0, 4.0) / 2])),
    "erf": (torch.erf, WIDE),
    "log1p": (torch.log1p, WIDE.abs()),
    "expm1": (torch.expm1, WIDE),
}
ROUNDING = 2.0**-24


def of_models(function, *given):
    """The function as a kernel computes it for numbers of models."""
    kernel = Kernel(lambda *x: [function(*x), *x[1:]], list(given), [], [], SAMPLES)
    return kernel.repeat(list(given), [], 1)[0]


def zeros_of_samples(key):
    """Zeros `models x samples`, which a program cannot know to be zeros: they come from a key."""
    return 0.0 * (counters(SAMPLES) ^ key[:, None]).to(torch.float32)


def of_samples(function, *given):
    """The function as a kernel computes it for numbers of samples: all 32 of a model are the same here."""

    def mean(*x):
        *x, key = x
        found = function(*(each[:, None] + zeros_of_samples(key) for each in x))
        return [(found / SAMPLES).sum(-1), *x[1:], key]

    state = [*given, torch.arange(len(given[0]), dtype=torch.int32)]
    return Kernel(mean, state, [], [], SAMPLES).repeat(state, [], 1)[0]


@pytest.mark.parametrize("way", [of_models, of_samples])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_right_to_a_few_roundings(name, way):
    function, x = FUNCTIONS[name]
    expected, found = function(x.double()), way(function, x).double()
    # Where single precision overflows or loses digits to zero, only that is compared.
    normal = (expected.abs() < 3e38) & (expected.abs() > 2e-38)
    off = ((found - expected) / expected)[normal].abs() / ROUNDING
    assert off.max() < (32 if name == "erfinv" else 6), x[normal][off.argmax()]
    torch.testing.assert_close(found[~normal], expected.float().double()[~normal], rtol=0, atol=4e-38)


@pytest.mark.parametrize("way", [of_models, of_samples])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("sin", "cos", "erfinv")])
def test_zeros_infinities_and_nan_are_those_of_torch(name, way):
    function = FUNCTIONS[name][0]
    x = SPECIAL if way is of_models else SPECIAL[[0, *range(2, len(SPECIAL))]]  # -0.0 plus a zero is 0.0
    torch.testing.assert_close(way(function, x), function(x), equal_nan=True, rtol=1e-6, atol=2e-38)


@pytest.mark.parametrize("way", [of_models, of_samples])
def test_powers(way):
    x = torch.logspace(-3, 3, 50).repeat_interleave(41)
    y = torch.linspace(-2, 2, 41).repeat(50)
    expected = x.double() ** y.double()
    off = ((way(torch.pow, x, y) - expected) / expected).abs().max() / ROUNDING
    assert off < 6


@pytest.mark.parametrize("way", [of_models, of_samples])
def test_powers_of_zero_and_of_negative_numbers(way):
    x = torch.tensor([0.0, 0.0, 0.0, -2.0, -2.0, -2.0, -3.0, 5.0])
    y = torch.tensor([2.0, 0.0, -1.0, 2.0, 3.0, 0.5, -1.0, 0.0])
    torch.testing.assert_close(way(torch.pow, x, y), x**y, equal_nan=True)


@pytest.mark.parametrize("way", [of_models, of_samples])
def test_powers_that_overflow_and_powers_of_infinities(way):
    special = torch.tensor(
        [0.5, 1.0, -1.0, 2.0, 3.0, 88.7, -88.7, 1.5, -1.5, torch.inf, -torch.inf, torch.nan]
    )
    x, y = special.repeat_interleave(len(special)), special.repeat(len(special))
    torch.testing.assert_close(way(torch.pow, x, y), x**y, equal_nan=True, rtol=1e-6, atol=2e-38)


@pytest.mark.parametrize("way", [of_models, of_samples])
def test_the_ends_of_erfinv_and_bounds_that_are_nan(way):
    ends = torch.tensor([-1.0, 0.0, 1.0])
    assert torch.equal(way(torch.erfinv, ends), torch.erfinv(ends))
    x, bound = torch.tensor([1.0, 2.0]), torch.tensor([torch.nan, 1.5])
    for clamp in (lambda a, b: a.clamp(min=b), lambda a, b: a.clamp(max=b)):
        torch.testing.assert_close(way(clamp, x, bound), clamp(x, bound), equal_nan=True)


TWO = {
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "where": lambda a, b: torch.where(a < b, a, 2 * b),
    "not": lambda a, b: torch.where(torch.logical_not((a <= b) & (b != 0)), a, b),
    "mask as number": lambda a, b: (a > b).to(a.dtype) * 3 + (a == b).to(a.dtype),
    "clamp": lambda a, b: a.clamp(-1, 1) + b.clamp(min=0),
    "quotient": torch.div,
    "whole numbers": lambda a, b: (a.int() * 1_000_003 ^ (b.int() >> 1)).to(a.dtype),
}


@pytest.mark.parametrize("way", [of_models, of_samples])
@pytest.mark.parametrize("function", TWO.values(), ids=TWO.keys())
def test_functions_of_two_numbers(function, way):
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(200, generator=generator) * 3 for _ in range(2))
    b[:20] = a[:20]
    torch.testing.assert_close(way(function, a, b), function(a, b), rtol=1e-6, atol=1e-6)
