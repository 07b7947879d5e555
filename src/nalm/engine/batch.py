"""A batch: runs that train side by side, with one program to train them and one to evaluate them.

One step is one program (see `program`): data from the counter-based streams, forward, loss, penalties,
backward, clips, optimiser, clamps. Each run has its own seed, task numbers and recipe numbers.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from nalm.engine.draws import elements_of, key_of, keyed_step, unit_noise
from nalm.engine.log import Log, wide
from nalm.engine.program import Program, Tensors
from nalm.models.many import Models, Parameters
from nalm.recipes import Recipe
from nalm.recipes.numbers import join, split
from nalm.recipes.schedules import StepState
from nalm.streams import Purpose, counters, key, normal, uniform
from nalm.tasks import Measure, Split
from nalm.tasks.sampling import Aside, block_in_split, sample_runs, stacked, stream_of
from nalm.trained import RunGroup

SEEN = 1024
"""Input samples that an optimiser may look at before the first step."""


@dataclass(frozen=True)
class Settings:
    """Settings that all runs of a call share."""

    iterations: int
    log_interval: int
    dtype: torch.dtype
    device: torch.device
    compiled: bool
    report_interval: int | None = None
    """Steps between two reports of progress; None for a report at each evaluation only."""


class Batch:
    """Runs that train side by side in one program."""

    def __init__(self, models: Models, runs: RunGroup, settings: Settings) -> None:
        tasks, recipes, seeds = runs.tasks, runs.recipes, runs.seeds
        self.models, self.task, self.recipe, self.settings = models, tasks[0], recipes[0], settings
        self.seeds = torch.tensor(seeds, dtype=torch.int32, device=settings.device)
        self.shape, _ = split(recipes[0])
        numbers = [split(recipe)[1] for recipe in recipes]
        self.recipe_numbers = torch.tensor(numbers, dtype=torch.float64, device=settings.device)
        self.numbers = {
            s: stacked(
                [task.numbers(seed, s) for task, seed in zip(tasks, seeds)], settings.dtype, settings.device
            )
            for s in self.task.splits
        }
        others = self.recipe.initialise
        drawn = runs.initial if runs.initial is not None else models.initial(self.seeds, others=others)
        parameters = {name: p.to(settings.device, settings.dtype).clone() for name, p in drawn.items()}
        self.state: Tensors = {
            **_named("parameter", parameters),
            **_named("optimiser", self._optimiser_state(parameters)),
            **keyed_step(self.seeds, Purpose.DATA, torch.zeros_like(self.seeds)),
        }
        self.loss = torch.full((len(runs),), torch.inf, dtype=torch.float64, device=settings.device)
        self.log = Log(
            len(runs), settings.iterations, settings.log_interval, settings.device, models.followed_names()
        )
        self.began = torch.zeros(len(runs), dtype=torch.float64, device=settings.device)

    def _optimiser_state(self, parameters: Parameters) -> Tensors:
        """The optimiser's initial state; if it looks at inputs first, these are used for nothing else."""
        optimiser = self._recipe(self.recipe_numbers).optimiser
        if not optimiser.looks:
            return optimiser.start(parameters)
        return optimiser.look(optimiser.start(parameters), self.models.first_names(), self.examples())

    def examples(self) -> Tensor:
        """Inputs of the training range, `models x n x in`, that are used for nothing else."""
        split, dtype = Split.TRAIN, self.settings.dtype
        numbers = self.numbers[split]
        return sample_runs(self.task, self.seeds, split, SEEN, numbers, dtype=dtype, aside=Aside.LOOK)[0]

    @property
    def parameters(self) -> Parameters:
        """The current parameters, `models x ...` by name."""
        return _of(self.state, "parameter")

    def run(
        self,
        on_progress: Callable[[int], None],
        first: int = 0,
        keep: Callable[[int], None] = lambda step: None,
    ) -> Log:
        """Train to the end.

        Args:
            on_progress: called with the number of steps done, summed over runs.
            first: the step to begin with.
            keep: called with each step that training has reached, before the models are evaluated there.
        """
        runs, last = len(self.seeds), self.settings.iterations
        on_progress(runs * first)  # before the wait for the compiler
        logged = [*range(first, last, self.settings.log_interval), last]
        for step, following in itertools.pairwise([*logged, None]):
            self._evaluate(step)
            on_progress(runs * step)
            if following is not None:
                every = self.settings.report_interval or following
                for done, then in itertools.pairwise([*range(step, following, every), following]):
                    self.advance(done, then - done)
                    if then < following:  # the last point is reported once it is kept and evaluated
                        on_progress(runs * then)
                keep(following)
        self.log.final = self.parameters
        return self.log

    # -- checkpoints -----------------------------------------------------------------------------

    def state_to_keep(self) -> tuple[Tensors, dict[str, Any]]:
        """Everything that further training depends on, as tensors by name and as plain data."""
        tensors, about = self.log.state_to_keep()
        own = {"loss": self.loss, "began": self.began}
        return {**_named("state", self.state), **_named("log", tensors), **own}, about

    def load_state(self, tensors: Tensors, about: dict[str, Any]) -> None:
        """Restore what `state_to_keep` returned, in the order of training, which changes sums over all."""
        self.log.load_state(_of(tensors, "log"), about)
        self.state = {name: tensors[f"state/{name}"] for name in self.state}
        self.loss, self.began = tensors["loss"], tensors["began"]

    # -- training --------------------------------------------------------------------------------

    def advance(self, step: int, steps: int) -> None:
        """Train for `steps` steps, beginning with `step`, without evaluating."""
        if steps <= 0:
            return
        program, together = self._step_program()
        every = steps if self.recipe.reinitialise is None else self.recipe.reinitialise.every
        for now in range(step, step + steps, every):
            if self.recipe.reinitialise is not None:
                self._reinitialise(now)
            self.state = program.repeat(self.state, together, min(every, step + steps - now))
        self.log.compiled = program.compiled  # known after the first use

    def compile(self, *, evaluate: bool) -> None:
        """Compile one of the two programs without running it."""
        if evaluate:
            self._error_program(Split.VALIDATION)
        else:
            self._step_program()

    def _step_program(self) -> tuple[Program, Tensors]:
        """The program that trains, and all its inputs."""
        constants = self._constants(Split.TRAIN, self.recipe.batch_size)
        inputs = {
            "seed": self.seeds,
            "recipe": self.recipe_numbers,
            "loss": self.loss,
            **_named("task", self.numbers[Split.TRAIN]),
        }
        samples = self.recipe.batch_size
        program = _program("step", self, self._step, self.state, inputs, constants, samples)
        return program, {**inputs, **constants}

    def _step(self, state: Tensors, inputs: Tensors) -> Tensors:
        """One step of all models: a pure function, traced and compiled."""
        recipe, seed = self._recipe(inputs["recipe"]), inputs["seed"]
        now = StepState(state["step"], inputs["loss"])
        u = uniform(key_of(state), inputs["constant/elements"], self.settings.dtype)
        numbers = {**_of(inputs, "task"), **_of(inputs, "constant")}
        parameters = {k: p.detach().requires_grad_() for k, p in _of(state, "parameter").items()}
        source = functools.partial(unit_noise, seed, now.step)
        predict = functools.partial(self.models.predict, parameters, source=source)
        loss = self.task.objective(predict, u, numbers, self.task.loss or recipe.loss, now)
        for penalty in recipe.penalties:
            value = self.models.apply(parameters, functools.partial(penalty, now=now))
            loss = loss if value is None else loss + value
        gradients = _gradients(loss.sum(), parameters)
        gradients = self._treated(gradients, recipe, seed, now)
        detached = {k: p.detach() for k, p in parameters.items()}
        take = recipe.optimiser.step_one if self.models.single else recipe.optimiser.step
        after, optimiser = take(detached, gradients, _of(state, "optimiser"))
        for clamp in recipe.clamps:
            self.models.apply(after, clamp)
        after |= {name: detached[name] for name in self.models.frozen}
        return {
            **_named("parameter", after),
            **_named("optimiser", optimiser),
            **keyed_step(seed, Purpose.DATA, now.step + 1),
        }

    def _treated(self, gradients: Parameters, recipe: Recipe, seed: Tensor, now: StepState) -> Parameters:
        """The gradients, clipped in the order of the published programs, then with noise."""
        if recipe.clip_norm is not None:
            gradients = recipe.clip_norm(gradients)
        if recipe.clip_value is not None:
            gradients = recipe.clip_value(gradients)
        if recipe.gradient_noise is not None:
            noise = {}
            for part, (name, g) in enumerate(gradients.items()):
                stream = key(seed, Purpose.GRADIENT_NOISE, now.step, part)
                noise[name] = normal(stream, counters(*g.shape[1:], device=g.device), g.dtype)
            gradients = recipe.gradient_noise(gradients, noise, now)
        return gradients

    def _recipe(self, numbers: Tensor) -> Recipe:
        """The recipe with each of its numbers replaced by a tensor of one value per model."""
        recipe: Recipe = join(self.shape, iter(numbers.unbind(-1)))
        return recipe

    def _reinitialise(self, step: int) -> None:
        assert self.recipe.reinitialise is not None
        errors = torch.stack(self.log.validation, -1)
        stuck = self.recipe.reinitialise.stuck(errors, self.settings.log_interval, self.began, step)
        if stuck.any():
            fresh = self.models.initial(self.seeds, Purpose.REINIT, step, self.recipe.initialise)
            for name, p in fresh.items():
                held = self.state[f"parameter/{name}"]
                self.state[f"parameter/{name}"] = torch.where(wide(stuck, held), p, held)
            self.began = torch.where(stuck, float(step), self.began)
            self.log.reinitialised += stuck.long()

    # -- evaluation ------------------------------------------------------------------------------

    def errors(self) -> dict[str, dict[str, Tensor]]:
        """The task's errors on its fixed sets, by split and name, each `models x *shape`, float64."""
        return {part: self._errors(part) for part in self.task.splits if part != Split.TRAIN}

    def _evaluate(self, step: int) -> None:
        errors = self.errors()
        self.log.add(step, errors, self.parameters)
        # Parts of the recipe that a low loss triggers see this error until the next evaluation.
        self.loss = next(iter(errors[Split.VALIDATION].values()))

    def _errors(self, part: str) -> Tensors:
        """The errors of all models on a fixed set by name, each of shape `models x *shape`, float64."""
        program, state, inputs = self._error_program(part)
        samples = self.task.samples(part)
        totals = program.repeat(state, inputs, samples // self.task.block(part))
        return {
            measure.name: totals[name] / (samples * measure.per_sample(self.task.target_shape))
            for name, measure in self._totals().items()
        }

    def _totals(self) -> dict[str, Measure]:
        """The measures by the names of their sums in a program's state."""
        first, *others = self.task.measures
        return {"total": first, **{f"total/{measure.name}": measure for measure in others}}

    def _error_program(self, part: str) -> tuple[Program, Tensors, Tensors]:
        """The program that evaluates, the state to start from, and all its inputs."""
        kind, first = stream_of(self.task, part)
        purpose = torch.full_like(self.seeds, int(kind))
        stream = keyed_step(self.seeds, purpose, torch.full_like(self.seeds, first))
        nothing = {k: self.loss.new_zeros((len(self.seeds), *m.shape)) for k, m in self._totals().items()}
        state = {**nothing, **stream}
        constants = self._constants(part, self.task.block(part))
        inputs = {
            "seed": self.seeds,
            "purpose": purpose,
            **_named("task", self.numbers[part]),
            **_named("parameter", self.parameters),
        }
        samples = self.task.block(part)
        program = _program("evaluate", self, self._block_error, state, inputs, constants, samples)
        return program, state, {**inputs, **constants}

    def _block_error(self, state: Tensors, inputs: Tensors) -> Tensors:
        """Add up the errors of one block of samples: a pure function, traced and compiled."""
        u = uniform(key_of(state), inputs["constant/elements"], self.settings.dtype)
        block = block_in_split(state["step"])
        numbers = {**_of(inputs, "task"), **_of(inputs, "constant"), "block": block}
        predict = functools.partial(self.models.predict, _of(inputs, "parameter"))
        with torch.no_grad():
            errors = zip(self._totals(), self.task.totals(predict, u, numbers), strict=True)
        following = keyed_step(inputs["seed"], inputs["purpose"], state["step"] + 1)
        return {**{name: state[name] + error.double() for name, error in errors}, **following}

    def _constants(self, part: str, samples: int) -> Tensors:
        elements = elements_of(self.task.draws_in(part), samples, self.settings.device)
        shared = {k: tensor.to(self.settings.device) for k, tensor in self.task.constants(part).items()}
        return _named("constant", {"elements": elements, **shared})


_PROGRAMS: dict[Hashable, Program] = {}


def _program(
    kind: str,
    batch: Batch,
    function: Callable[..., Tensors],
    state: Tensors,
    inputs: Tensors,
    constants: Tensors,
    samples: int,
) -> Program:
    """The program for this function, shared by all batches of the same architecture, task and recipe.

    Args:
        kind: what it does: take a step, or evaluate.
        batch: the batch that asks for it.
        function: the function.
        state: an example of its state.
        inputs: its inputs.
        constants: its inputs without a model axis.
        samples: the number of samples that it takes at once.
    """
    known = batch.models.key()
    shape = None if kind == "evaluate" else split(replace(batch.recipe, iterations=1))[0]
    kinds = tuple((k, t.shape[1:], t.dtype) for k, t in {**state, **inputs}.items())
    fixed = tuple((k, t.shape, t.dtype) for k, t in constants.items())
    settings = replace(batch.settings, iterations=1, log_interval=1, report_interval=None)
    name = (kind, known, batch.task.shape(), shape, kinds, fixed, settings)
    # The attributes of an unknown module do not say what it computes: its programs are kept with it.
    programs = _PROGRAMS if known is not None else batch.models.programs
    if name not in programs:
        weights = [each for each in (*state, *inputs) if each.startswith("parameter/")]
        programs[name] = Program(
            *(function, state, inputs, constants),
            compiled=batch.settings.compiled and (kind != "evaluate" or batch.task.compiles_tests),
            weights=weights,
            samples=samples,
        )
    return programs[name]


def _gradients(total: Tensor, parameters: Parameters) -> Parameters:
    found = torch.autograd.grad(total, list(parameters.values()), allow_unused=True)
    return {
        name: torch.zeros_like(p) if g is None else g
        for (name, p), g in zip(parameters.items(), found, strict=True)
    }


def _named(prefix: str, tensors: Tensors) -> Tensors:
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


def _of(tensors: Tensors, prefix: str) -> Tensors:
    start = f"{prefix}/"
    return {name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)}
