"""The models that are searched by variable projection: sums and products of powers with real exponents.

They are stacks of power units and additive units: a power unit gives products of real powers of its inputs
(NPU; Heim et al. 2020), an additive unit weighted sums (NAU; Madsen & Johansen 2020). With inner sums

    S_k = 1 + sum_j b_kj prod_i x_i^e_kji

the models are

    products   log|y| = log|c| + sum_i a_i log|x_i| + sum_k q_k log|S_k|     (`ProductOfSums`)
    sums       y = sum_l c_l prod_i x_i^p_li S^(q s_l) + c                    (`SumOfProducts`)

where s_l is 0 or 1: which terms have the inner sum as a factor. Where an input changes its sign, each start
takes its powers as either odd or even functions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

_LARGEST = 60.0
"""Logarithms of monomials are kept below this size."""


@dataclass(frozen=True)
class Inputs:
    """The inputs in logarithms.

    Attributes:
        logs: logarithms of the absolute values, each column less its mean, `n x in`.
        means: these means.
        signs: -1 where an input is negative, else 1, `n x in`.
    """

    logs: np.ndarray
    means: np.ndarray
    signs: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray) -> Inputs:
        """The logarithms of a table; zeros count as very small numbers."""
        sizes = np.abs(x)
        logs = np.log(np.maximum(sizes, 1e-12 * sizes.max(0).clip(1e-280)))
        return cls(logs - logs.mean(0), logs.mean(0), np.where(x < 0, -1.0, 1.0))

    @property
    def flipping(self) -> np.ndarray:
        """Which inputs are negative somewhere."""
        return np.asarray((self.signs < 0).any(0))

    def monomials(self, exponents: np.ndarray, odd: np.ndarray) -> np.ndarray:
        """Products of powers, `starts x n x terms`, of exponents and parities `starts x terms x in`."""
        sizes = np.exp(np.clip(self.logs @ exponents.transpose(0, 2, 1), -_LARGEST, _LARGEST))
        if not self.flipping.any():
            return sizes
        # The product of signs is the parity of the number of negative odd factors.
        negative = (self.signs < 0).astype(float) @ odd.transpose(0, 2, 1).astype(float)
        return sizes * (1 - 2 * (negative % 2))


@dataclass(frozen=True)
class ProductOfSums:
    """A product of powers of inputs and of sums, in logarithms.

    Theta has, for every sum and every term of it but the first, which is 1: a coefficient and an exponent
    per input.

    Attributes:
        inputs: the inputs.
        sums: for each sum, the number of its terms beside the 1.
        odd: of the terms of all sums, whether powers are odd, `starts x terms x in`.
    """

    inputs: Inputs
    sums: tuple[int, ...]
    odd: np.ndarray

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients `starts x terms` and exponents `starts x terms x in` of the terms of all sums."""
        block = theta.reshape(len(theta), sum(self.sums), -1)
        return block[..., 0], block[..., 1:]

    def is_exponent(self) -> np.ndarray:
        """Which parameters are exponents."""
        return np.tile(np.arange(1 + self.inputs.logs.shape[1]) > 0, sum(self.sums))

    def _sums(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sum of each term, `starts x n x terms`, all monomials, and the values of the sums."""
        coefficients, exponents = self.parts(theta)
        monomials = self.inputs.monomials(exponents, self.odd)
        weighted = monomials * coefficients[:, None]
        cuts = np.cumsum((0, *self.sums))
        values = np.stack([1 + weighted[..., a:b].sum(-1) for a, b in itertools.pairwise(cuts)], -1)
        return np.repeat(values, self.sums, axis=-1), monomials, values

    def basis(self, theta: np.ndarray) -> np.ndarray:
        """1, the logarithms of the inputs, and those of the sums."""
        starts, (rows, inputs) = len(theta), self.inputs.logs.shape
        fixed = np.concatenate([np.ones((rows, 1)), self.inputs.logs], 1)
        *_, values = self._sums(theta)
        return np.concatenate(
            [np.broadcast_to(fixed, (starts, rows, inputs + 1)), np.log(np.abs(values))], -1
        )

    def slopes(self, theta: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Derivatives by coefficients and exponents."""
        coefficients, _ = self.parts(theta)
        of_term, monomials, _ = self._sums(theta)
        powers = np.repeat(beta[:, 1 + self.inputs.logs.shape[1] :], self.sums, axis=-1)
        outer = powers[:, None] * monomials / of_term
        by_exponent = (outer * coefficients[:, None])[..., None] * self.inputs.logs[:, None, :]
        block = np.concatenate([outer[..., None], by_exponent], -1)
        return block.reshape(*block.shape[:2], -1)


@dataclass(frozen=True)
class SumOfProducts:
    """A sum of products of powers of inputs, of which some have a power of an inner sum as a factor.

    Theta has the exponents of each term, then coefficients and exponents of the inner sum.

    Attributes:
        inputs: the inputs.
        outer: for each term, whether the inner sum is a factor.
        inner: the number of terms of the inner sum beside the 1; 0 if there is none.
        power: of the inner sum, per start.
        odd: of the terms, then those of the inner sum, whether powers are odd, `starts x terms x in`.
    """

    inputs: Inputs
    outer: tuple[bool, ...]
    inner: int
    power: np.ndarray
    odd: np.ndarray

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exponents of the terms; coefficients and exponents of the inner sum."""
        starts, inputs = len(theta), self.inputs.logs.shape[1]
        cut = len(self.outer) * inputs
        terms = theta[:, :cut].reshape(starts, len(self.outer), inputs)
        block = theta[:, cut:].reshape(starts, self.inner, 1 + inputs)
        return terms, block[..., 0], block[..., 1:]

    def is_exponent(self) -> np.ndarray:
        """Which parameters are exponents."""
        inputs = self.inputs.logs.shape[1]
        terms = np.ones(len(self.outer) * inputs, dtype=bool)
        return np.concatenate([terms, np.tile(np.arange(1 + inputs) > 0, self.inner)])

    def _inner(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inner sum, `starts x n`, nan where it has no power, and its monomials."""
        _, coefficients, exponents = self.parts(theta)
        monomials = self.inputs.monomials(exponents, self.odd[:, len(self.outer) :])
        value = 1 + np.einsum("bnt,bt->bn", monomials, coefficients)
        whole = (self.power == np.round(self.power))[:, None]
        return np.where((value > 0) | whole, value, np.nan), monomials

    def basis(self, theta: np.ndarray) -> np.ndarray:
        """The terms and the constant."""
        terms, *_ = self.parts(theta)
        values = self.inputs.monomials(terms, self.odd[:, : len(self.outer)])
        if self.inner:
            value, _ = self._inner(theta)
            factor = np.power(value, self.power[:, None])
            values = np.where(np.array(self.outer), values * factor[..., None], values)
        return np.concatenate([values, np.ones((*values.shape[:2], 1))], -1)

    def slopes(self, theta: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Derivatives by all exponents and coefficients."""
        values = self.basis(theta)[..., :-1] * beta[:, None, :-1]
        by_terms = values[..., None] * self.inputs.logs[:, None, :]
        found = [by_terms.reshape(*by_terms.shape[:2], -1)]
        if self.inner:
            value, monomials = self._inner(theta)
            _, coefficients, _ = self.parts(theta)
            factor = values[..., np.array(self.outer)].sum(-1)  # what the inner sum multiplies
            outer = (factor * self.power[:, None] / value)[..., None] * monomials
            by_exponent = (outer * coefficients[:, None])[..., None] * self.inputs.logs[:, None, :]
            block = np.concatenate([outer[..., None], by_exponent], -1)
            found.append(block.reshape(*block.shape[:2], -1))
        return np.concatenate(found, -1)
