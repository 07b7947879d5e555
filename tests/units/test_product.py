"""Products over many inputs: the same in pieces as in one, with right gradients, without the whole block."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import nalm
from nalm.units import _product
from nalm.units._product import gated_product, product


class Largest(TorchDispatchMode):
    """Notes the largest tensor that any operation makes."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self.size = max(self.size, tensor.untyped_storage().nbytes())
        return result


def data(samples, inputs, outputs, batch=()):
    generator = torch.Generator().manual_seed(1)
    x = 0.5 + torch.rand(*batch, samples, inputs, dtype=torch.float64, generator=generator)
    weight = torch.rand(*batch, outputs, inputs, dtype=torch.float64, generator=generator)
    return x.requires_grad_(), weight.requires_grad_()


def with_gradients(x, weight):
    y = gated_product(x, weight)
    upstream = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape)
    return y, *torch.autograd.grad((y * upstream).sum(), [x, weight])


@pytest.mark.parametrize("block", [1, 1 << 10, 1 << 12, 1 << 14])
@pytest.mark.parametrize("shape", [(7, 33, 5), (1, 64, 3), (9, 21, 1)])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_pieces_of_any_size_give_what_the_whole_gives(monkeypatch, block, shape, batch):
    x, weight = data(*shape, batch)
    whole = with_gradients(x, weight)
    monkeypatch.setattr(_product, "BLOCK", block)
    for part, expected in zip(with_gradients(x, weight), whole):
        torch.testing.assert_close(part, expected, rtol=1e-12, atol=1e-14)


def test_many_inputs_give_what_a_product_of_the_block_gives():
    x, weight = data(6, 50, 4)
    block = weight * x[:, None, :] + (1 - weight)
    torch.testing.assert_close(gated_product(x, weight), block.prod(-1), rtol=1e-12, atol=0)


def test_no_samples_give_no_results(monkeypatch):
    monkeypatch.setattr(_product, "BLOCK", 1)
    assert gated_product(torch.empty(0, 30), torch.rand(4, 30)).shape == (0, 4)


@pytest.mark.parametrize("zeros", [1, 2])
def test_zero_factors_have_right_gradients_in_pieces(monkeypatch, zeros):
    monkeypatch.setattr(_product, "BLOCK", 1 << 9)
    x = torch.full((3, 40), 2.0, dtype=torch.float64)
    x[:, :zeros] = 0
    x.requires_grad_()
    gated_product(x, torch.ones(2, 40, dtype=torch.float64)).sum().backward()
    expected = torch.zeros_like(x)
    if zeros == 1:
        expected[:, 0] = 2 * 2.0**39
    torch.testing.assert_close(x.grad, expected, rtol=0, atol=0)


def test_second_derivatives_are_right_in_pieces(monkeypatch):
    monkeypatch.setattr(_product, "BLOCK", 1 << 8)
    assert torch.autograd.gradgradcheck(gated_product, data(2, 24, 2))


def test_transforms_of_torch_work_in_pieces(monkeypatch):
    monkeypatch.setattr(_product, "BLOCK", 1 << 8)
    x, weight = data(4, 24, 3)
    _, expected, _ = with_gradients(x, weight)
    found = torch.func.grad(
        lambda x: (gated_product(x, weight) * torch.linspace(-1, 1, 12, dtype=x.dtype).reshape(4, 3)).sum()
    )(x)
    torch.testing.assert_close(found, expected)
    rows = torch.func.vmap(lambda row: gated_product(row[None], weight)[0])(x)
    torch.testing.assert_close(rows, gated_product(x, weight))


def test_several_samples_and_weights_enter_a_factor(monkeypatch):
    x, weight = data(5, 30, 4)
    monkeypatch.setattr(_product, "BLOCK", 1 << 9)
    found = product(lambda a, b, u, v: a * u + b * v, (x, x.square()), (weight, 1 - weight))
    block = x[:, None] * weight + x.square()[:, None] * (1 - weight)
    torch.testing.assert_close(found, block.prod(-1))


@pytest.mark.parametrize("kind", [nalm.NMU, nalm.SNMU, nalm.NRU, nalm.NMRU, nalm.NLRL])
def test_no_tensor_is_as_large_as_the_block(kind):
    unit, x = kind(256, 128), (0.5 + torch.rand(96, 256)).requires_grad_()
    block = 4 * 96 * 128 * 256
    with Largest() as largest:
        unit(x).sum().backward()
    assert largest.size <= _product.BLOCK < block / 4
