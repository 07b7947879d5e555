"""What helps against a fault."""

from __future__ import annotations

HINTS = {
    "says_what_it_is": "Set `ops` and write a docstring for the class; `name` is its name in lower case.",
    "equals_its_reference": "One of the two is wrong.",
    "has_right_gradients": "A detached tensor or `.data` in `compute` cuts the gradient off.",
    "is_exact_at_ideal_weights": "`select_` must set parameters at which `compute` is exact; "
    "`epsilon`, `positive` and `largest` declare limits.",
    "has_its_symbolic_form": "`symbolic` must follow `compute` term by term, with the same parameters.",
    "computes_models_side_by_side": "`compute` must work with leading model axes: count dimensions from the "
    "end, as in `unsqueeze(-2)` and `.mT`; `penalty` and `weights` keep them.",
    "takes_any_leading_shape": "Override `compute`, which is given rows, instead of `forward`.",
    "handles_many_inputs": "`compute` must not depend on how many inputs there are.",
    "stays_finite": "Add an epsilon in logarithms and divisions, or `torch.where` before them.",
    "projects_and_snaps": "`project_` must clamp, `snap_` round, and both leave ideal weights alone.",
    "obeys_the_habits_of_modules": "Declare parameters with `declare` in `build`, and keep no tensors beside "
    "parameters and buffers.",
    "draws_from_the_generator_handed_in": "An initialiser must use the uniform numbers that it is given.",
    "refuses_bad_input": "Override `compute` instead of `forward`, which checks the input.",
    "keeps_precision_under_autocast": "Override `compute` instead of `forward`, which leaves autocast.",
    "exports": "`compute` must be made of tensor operations, without branches on values.",
    "compiles": "`compute` must be made of tensor operations, without branches on values.",
}
"""By the name of the check that found the fault."""
