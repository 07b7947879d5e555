"""All checks."""

from __future__ import annotations

from collections.abc import Callable

from nalm.testing.exactness import is_exact_at_ideal_weights, projects_and_snaps
from nalm.testing.habits import (
    compiles,
    draws_from_the_generator_handed_in,
    exports,
    keeps_precision_under_autocast,
    obeys_the_habits_of_modules,
    refuses_bad_input,
)
from nalm.testing.shapes import computes_models_side_by_side, handles_many_inputs, takes_any_leading_shape
from nalm.testing.subject import Subject
from nalm.testing.values import (
    equals_its_reference,
    has_its_symbolic_form,
    has_right_gradients,
    says_what_it_is,
    stays_finite,
)

CHECKS: tuple[Callable[[Subject], None], ...] = (
    says_what_it_is,
    equals_its_reference,
    has_right_gradients,
    is_exact_at_ideal_weights,
    has_its_symbolic_form,
    computes_models_side_by_side,
    takes_any_leading_shape,
    handles_many_inputs,
    stays_finite,
    projects_and_snaps,
    obeys_the_habits_of_modules,
    draws_from_the_generator_handed_in,
    refuses_bad_input,
    keeps_precision_under_autocast,
    exports,
    compiles,
)
"""All checks, in the order in which `check` runs them."""
