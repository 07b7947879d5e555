"""The compiler contained: whatever goes wrong in it, programs run, and nothing is left behind."""

import ast
import contextlib
import gc
import os
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch

import nalm
from nalm.engine import cache, compiler, program
from nalm.engine.kernel.build import BuildError
from nalm.engine.program import Program
from nalm.tasks import SingleModule

STATE = {"w": torch.rand(3, 2, generator=torch.Generator().manual_seed(0)), "step": torch.zeros(3).int()}
INPUTS = {"x": torch.rand(3, 5, 2, generator=torch.Generator().manual_seed(1)) + 1}


def step(state, inputs):
    """A step of gradient descent on the squares of weighted sums."""
    w = state["w"].detach().requires_grad_()
    loss = (inputs["x"] * w[:, None]).sum(-1).square().mean(-1).sum()
    (gradient,) = torch.autograd.grad(loss, w)
    return {"w": w.detach() - 0.01 * gradient, "step": state["step"] + 1}


def make(function=step, state=STATE, inputs=INPUTS):
    return Program(function, state, inputs, {}, compiled=True)


def expected():
    return Program(step, STATE, INPUTS, {}, compiled=False).repeat(STATE, INPUTS, 3)


def assert_eager(made, result):
    assert not made.compiled
    for name, value in expected().items():
        assert torch.equal(result[name], value)


def process():
    """What the compiler could leave changed in this process."""
    private = compiler._private()
    return {
        "environment": dict(os.environ),
        "collecting": gc.isenabled(),
        "recursion": sys.getrecursionlimit(),
        "threads": torch.get_num_threads(),
        "random": torch.get_rng_state().tolist(),
        "loops": private.OuterLoopFusedSchedulerNode.check_outer_fusion_loop_level_attr,
        "types": private.DtypePropagationOpsHandler.__init__,
        "erfinv": private.lowerings[torch.ops.aten.erfinv.default],
        "instructions": private.valid_vec_isa_list.cache_info().currsize,
    }


@pytest.fixture
def unwarned(monkeypatch):
    monkeypatch.setattr(program, "_warned", False)
    compiler.cpp_compiler()  # what importing the compiler does to the process is not under test here


@contextlib.contextmanager
def warned_once(text):
    """Exactly one warning, with this text."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    (one,) = found
    assert text in str(one.message)
    assert "eagerly" in str(one.message)


# -- what cannot be compiled runs eagerly -----------------------------------------------------------


def _another_version(monkeypatch):
    monkeypatch.setattr(compiler, "TESTED", ("1.0", "2.1"))
    return "tested with torch 1.0 and 2.1"


def _a_module_is_gone(monkeypatch):
    monkeypatch.setitem(compiler._PRIVATE, "compile_fx", "torch._inductor.gone")
    return "torch._inductor.gone"


def _a_name_is_gone(monkeypatch):
    monkeypatch.setitem(compiler._PRIVATE, "gone", "torch._guards")
    return "gone"


def _a_hooked_method_is_gone(monkeypatch):
    node = compiler._private().OuterLoopFusedSchedulerNode
    monkeypatch.delattr(node, "check_outer_fusion_loop_level_attr")
    return "check_outer_fusion_loop_level_attr"


def _the_compiler_fails(monkeypatch):
    def fail(*_):
        raise RuntimeError("out of luck\nand more")

    monkeypatch.setattr(compiler, "_compiled", fail)
    return "RuntimeError: out of luck)"


def _no_cpp_compiler(monkeypatch):
    monkeypatch.setattr(compiler, "_cpp_compiler", lambda: None)
    return "No C++ compiler"


TROUBLE = [
    _another_version,
    _a_module_is_gone,
    _a_name_is_gone,
    _a_hooked_method_is_gone,
    _the_compiler_fails,
    _no_cpp_compiler,
]


@pytest.mark.parametrize("trouble", TROUBLE)
def test_it_runs_eagerly_with_one_warning_and_leaves_nothing_behind(trouble, monkeypatch, unwarned):
    with monkeypatch.context() as changed:
        before = process()
        text = trouble(changed)
        with warned_once(text):
            for made in (make(), make()):
                assert_eager(made, made.repeat(STATE, INPUTS, 3))
    assert process() == before


def test_what_stands_in_the_way_is_told_without_a_program(monkeypatch):
    assert compiler.obstacle() is None
    _another_version(monkeypatch)
    assert "torch 1.0 and 2.1" in compiler.obstacle()
    assert compiler.cpp_compiler() is None


def _refuse(source):
    raise BuildError("out of luck too")


def test_training_of_our_own_units_falls_back_too(monkeypatch, unwarned):
    _the_compiler_fails(monkeypatch)
    monkeypatch.setattr("nalm.engine.kernel.kernel.build", _refuse)
    monkeypatch.setattr("nalm.engine.batch._PROGRAMS", {})
    with warned_once("out of luck"):
        result = nalm.train("nau", SingleModule("add"), iterations=3, log_interval=3)
    assert not result.compiled


# -- a compiled step that is not the eager one ----------------------------------------------------------


def _compiled_as(change, monkeypatch, function=step):
    """Let the compiler give this function, its result changed."""

    def run(w, count, x):
        with torch.enable_grad():
            return change(list(function({"w": w, "step": count}, {"x": x}).values()))

    monkeypatch.setattr(compiler, "compile_step", lambda *_: run)


def _mixed_up(tensors):
    """All models get the new weights of the first: what the fused loops did."""
    return [tensors[0][:1].expand_as(tensors[0]).clone(), tensors[1]]


def _last_wrong(tensors):
    """The last models are not computed: as if a loop ended too early."""
    weights = tensors[0].clone()
    weights[-2:] = 0
    return [weights, tensors[1]]


def _raises(tensors):
    raise AssertionError("expected size 3")


WRONG = {
    "mixed up": _mixed_up,
    "last wrong": _last_wrong,
    "a little wrong": lambda t: [t[0] * 1.002, t[1]],
    "not a number": lambda t: [torch.full_like(t[0], torch.nan), t[1]],
    "one step too far": lambda t: [t[0], t[1] + 1],
    "another shape": lambda t: [t[0][:, :1], t[1]],
    "another precision": lambda t: [t[0].double(), t[1]],
    "an error": _raises,
}


@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_program_is_noticed_at_its_first_use(change, models, monkeypatch, unwarned):
    _compiled_as(change, monkeypatch)
    made = make()
    assert made.compiled
    state, inputs = ({k: t[:models] for k, t in tensors.items()} for tensors in (STATE, INPUTS))
    with warned_once("failed (AssertionError" if change is _raises else "A compiled step gave another"):
        result = made.repeat(state, inputs, 3)
        made.repeat(state, inputs, 3)
    assert not made.compiled
    for name, value in expected().items():
        torch.testing.assert_close(result[name], value[:models])


def test_rounding_is_not_taken_for_a_difference(monkeypatch, unwarned):
    def ill_conditioned(state, inputs):
        """The sign of what is zero but for rounding, and in one model an overflow."""
        zero = state["w"] * 1.1 - state["w"] - 0.1 * state["w"]
        huge = torch.where(state["w"] > 0.4, 1e38 * state["w"] * 1e3, 0.0)
        return {"w": zero.sign() + huge, "step": state["step"]}

    _compiled_as(lambda t: [torch.where(t[0].isfinite(), -t[0], t[0]), t[1]], monkeypatch, ill_conditioned)
    made = make(ill_conditioned)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.repeat(STATE, INPUTS, 1)
    assert made.compiled


def test_only_the_first_use_is_compared_and_draws_nothing(monkeypatch, unwarned):
    calls = []

    def counted(state, inputs):
        calls.append(len(state["w"]))
        return step(state, inputs)

    _compiled_as(lambda t: t, monkeypatch)
    made = make(counted)
    before = torch.get_rng_state()
    first = made.repeat(STATE, INPUTS, 1)
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(first["w"], step(STATE, INPUTS)["w"])
    made.repeat(STATE, INPUTS, 5)
    assert calls == [19, 19]  # of nineteen models, and of the same a few roundings away


def test_without_the_hook_the_wrong_gradients_are_noticed(monkeypatch, unwarned, tmp_path):
    """The loops that Inductor mixes up, compiled as it would without us."""
    from test_program import mixed_up_by_torch

    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(compiler, "_right_loops", lambda private: contextlib.nullcontext())
    function, state, inputs = mixed_up_by_torch()
    made = Program(function, state, inputs, {}, compiled=True)
    with warned_once("another `w`"):
        result = made.repeat(state, inputs, 1)
    torch.testing.assert_close(result["w"], function(state, inputs)["w"])


# -- nothing leaks ---------------------------------------------------------------------------------------


def test_after_compiling_the_process_is_as_it_was(monkeypatch, unwarned):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    before = process()
    made = make()
    result = made.repeat(STATE, INPUTS, 3)
    assert made.compiled
    assert process() == before
    for name, value in expected().items():
        torch.testing.assert_close(result[name], value)


def test_threads_that_compile_at_the_same_time_leave_nothing_to_each_other(monkeypatch, unwarned):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    before, made = process(), []
    together = threading.Barrier(3)

    def work():
        together.wait()
        made.append(make())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.compiled for each in made] == [True] * 3
    assert process() == before


def test_a_setting_that_another_thread_makes_meanwhile_stays(monkeypatch, tmp_path):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    with compiler._nothing_left_behind():
        os.environ[cache.VARIABLE] = str(tmp_path)
    assert os.environ[cache.VARIABLE] == str(tmp_path)


def test_torchs_own_compiler_waits_for_ours(monkeypatch, unwarned):
    lock, free = compiler._private().compile_lock, []

    def look(*_):
        def try_it():
            free.append(lock.acquire(blocking=False))

        other = threading.Thread(target=try_it)
        other.start()
        other.join()
        raise RuntimeError("enough")

    monkeypatch.setattr(compiler, "_compiled", look)
    with warned_once("enough"):
        make()
    assert free == [False]


def test_private_names_of_torch_are_used_by_one_module_alone():
    package = Path(nalm.__file__).parent
    users = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if _uses_private(path)}
    # The mode that sees every operation has no public name; what else is needed is in a table of compiler.py.
    assert users == {"engine/kernel/trace.py"}


def _uses_private(path):
    """Whether a file imports, or reaches for, a private name of torch."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        for name in names:
            parts = name.removeprefix("torch.").split(".")
            ours = name.startswith(("torch.", "nn.")) and name.replace(".", "").isidentifier()
            if ours and ("experimental" in parts or any(_is_private(p) for p in parts)):
                return True
    return False


def _is_private(part):
    return part.startswith("_") and not part.startswith("__")
