"""Programs: where they are kept, and what happens where that is not possible."""

import functools
import os
from types import SimpleNamespace

import torch

from nalm.engine import cache, compiler
from nalm.engine.program import Program


def test_programs_are_kept_in_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiler.cpp_compiler()
    assert cache.cache_folder() == tmp_path / "nalm" / "programs-2"
    assert "TORCHINDUCTOR_CACHE_DIR" not in os.environ


def test_a_setting_of_the_users_own_is_obeyed_and_left_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    compiler.cpp_compiler()
    assert cache.cache_folder() == tmp_path
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path)


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_one(tmp_path):
    file = tmp_path / "a-file"
    file.touch()
    wanted = file / "programs"
    assert not cache.is_writable(wanted)
    used = cache.working_folder(wanted)
    assert used != wanted
    assert cache.is_writable(used)


def test_a_library_that_was_left_half_written_is_made_again(monkeypatch, tmp_path):
    """As a process that is killed while it compiles leaves it: loading it fails, in every later process."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    damaged, others = tmp_path / "cache" / "w5" / "one.main.so", tmp_path / "others.so"
    for path in (damaged, others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    tries = []

    def compile_fx(graph, inputs, config_patches):
        tries.append(config_patches)
        if damaged.exists():
            raise RuntimeError(f"ImportError: {damaged}: file too short, not {others}")
        return "compiled"

    private = SimpleNamespace(
        compile_fx=compile_fx, InductorError=RuntimeError, valid_vec_isa_list=functools.cache(list)
    )
    assert compiler._compiled(private, None, []) == "compiled"
    assert len(tries) == 2
    assert others.exists(), "files that are not the cache's are left alone"


def mixed_up_by_torch():
    """A step, its state and its inputs: one that torch compiles wrongly, left to itself."""
    generator = torch.Generator().manual_seed(0)
    x, noise = (1 + torch.rand(40, 128, 2, generator=generator) for _ in range(2))
    weight = torch.rand(40, 1, 2, generator=generator)

    def step(state, inputs):
        w, result = state["w"].detach().requires_grad_(), 1
        for i in range(2):
            a, n, one = inputs["x"].mT[:, i, None], inputs["noise"].mT[:, i, None], w.mT[:, i, :, None]
            result = result * (one * (n * a) + (1 - one)) / (one * n + (1 - one))
        loss = (result.mT - inputs["x"].prod(-1, keepdim=True)).square().mean((-2, -1)).sum()
        return {"w": torch.autograd.grad(loss, w)[0]}

    return step, {"w": weight}, {"x": x, "noise": noise}


def test_models_are_not_mixed_up_where_the_compiler_fuses_their_loops():
    step, state, inputs = mixed_up_by_torch()
    made = [Program(step, state, inputs, {}, compiled=compiled) for compiled in (True, False)]
    gradients = [each.repeat(state, inputs, 1)["w"] for each in made]
    assert made[0].compiled
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)
