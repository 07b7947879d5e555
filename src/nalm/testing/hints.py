"""How to fix a fault."""

from __future__ import annotations

HINTS = {
    "says_what_it_is": "Set `ops` and write a docstring for the class; `name` is its name in lower case.",
    "equals_its_reference": "Either `compute` or the reference is wrong.",
    "has_right_gradients": "A detached tensor or `.data` in `compute` stops the gradient.",
    "is_exact_at_ideal_weights": "`select_` must set parameters at which `compute` is exact; "
    "`epsilon`, `positive` and `largest` declare limits.",
    "has_its_symbolic_form": "`symbolic` must follow `compute` term by term, with the same parameters.",
    "computes_models_side_by_side": "`compute` must work with leading model axes: count dimensions from the "
    "end, as in `unsqueeze(-2)` and `.mT`; `penalty` and `weights` keep them.",
    "takes_any_leading_shape": "Override `compute`, which receives rows, instead of `forward`.",
    "handles_many_inputs": "`compute` must not depend on the number of inputs.",
    "stays_finite": "Add an epsilon in logarithms and divisions, or `torch.where` before them.",
    "projects_and_snaps": "`project_` must clamp, `snap_` must round, and both must keep ideal weights.",
    "obeys_the_habits_of_modules": "Declare parameters with `declare` in `build`, and keep no tensors other "
    "than parameters and buffers.",
    "draws_from_the_generator_handed_in": "An initialiser must use the uniform numbers that it is given.",
    "refuses_bad_input": "Override `compute` instead of `forward`, which checks the input.",
    "keeps_precision_under_autocast": "Override `compute` instead of `forward`, which disables autocast.",
    "exports": "`compute` must be made of tensor operations, without branches on values.",
    "compiles": "`compute` must be made of tensor operations, without branches on values.",
}
"""Hints by the name of the check that found the fault."""
