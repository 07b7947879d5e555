"""The units written again in numpy, sample by sample, straight from the equations of the thesis."""

from __future__ import annotations

import math

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def nac_weight(w_hat, m_hat):
    return np.tanh(w_hat) * sigmoid(m_hat)


def add(x, w):
    return np.array([[sum(w[o, i] * row[i] for i in range(len(row))) for o in range(len(w))] for row in x])


def mul(x, w, epsilon):
    return np.array(
        [
            [
                math.exp(sum(w[o, i] * math.log(abs(row[i]) + epsilon) for i in range(len(row))))
                for o in range(len(w))
            ]
            for row in x
        ]
    )


def nac(x, p):
    return add(x, nac_weight(p["w_hat"], p["m_hat"]))


def nac_mul(x, p):
    return mul(x, nac_weight(p["w_hat"], p["m_hat"]), 1e-7)


def nalu(x, p):
    gate = sigmoid(add(x, p["gate"]))
    return gate * nac(x, p) + (1 - gate) * nac_mul(x, p)


def nau(x, p):
    return add(x, p["weight"])


def nmu(x, p):
    w = p["weight"]
    return np.array(
        [
            [math.prod(w[o, i] * row[i] + 1 - w[o, i] for i in range(len(row))) for o in range(len(w))]
            for row in x
        ]
    )


def each(function, x, outputs):
    """A function of a row and the index of an output, for all rows and outputs."""
    return np.array([[function(row, o) for o in range(outputs)] for row in x])


def npu(x, p):
    """Thesis, equations 2.17-2.20; without the imaginary part 2.21; without gate the naive NPU."""
    re = p["weight"]
    im = p.get("imaginary", np.zeros_like(re))
    g = np.minimum(np.maximum(p.get("gate", np.ones(re.shape[1])), 0), 1)

    def one(row, o):
        r = g * (np.abs(row) + np.finfo(np.float32).eps) + (1 - g)
        k = np.where(row < 0, np.pi * g, 0)
        size = (re[o] * np.log(r)).sum() - (im[o] * k).sum()
        return math.exp(size) * math.cos((im[o] * np.log(r)).sum() + (re[o] * k).sum())

    return each(one, x, len(re))


def inac_mul(x, p, suffix=""):
    """Thesis, equations 2.7-2.9."""
    w = nac_weight(p[f"w_hat{suffix}"], p[f"m_hat{suffix}"])

    def one(row, o):
        log = sum(w[o, i] * math.log(max(abs(row[i]), 1e-7)) for i in range(len(row)))
        sign = math.prod(np.sign(row[i]) * abs(w[o, i]) + 1 - abs(w[o, i]) for i in range(len(row)))
        return math.exp(min(log, 20)) * sign

    return each(one, x, len(w))


def inalu(x, p):
    """Thesis, equations 2.11-2.12."""
    g = sigmoid(p["gate"])
    return g * nac(x, p) + (1 - g) * inac_mul(x, p, "_mul")


PHI = (1 + math.sqrt(5)) / 2


def gnalu(x, p):
    """Thesis, equations 2.22-2.25, in powers of the golden ratio."""
    tanh = (PHI ** (2 * p["w_hat"]) - 1) / (PHI ** (2 * p["w_hat"]) + 1)
    w = tanh / (1 + PHI ** -p["m_hat"])
    m = each(lambda row, o: PHI ** (sum(w[o] * np.log(np.abs(row) + 1e-7)) / math.log(PHI)), x, len(w))
    gate = sigmoid(add(x, p["gate"]))
    return gate * add(x, w) + (1 - gate) * m


def gated_nau_nmu(x, p):
    """Madsen & Johansen 2020, appendix C.5."""
    gate = sigmoid(add(x, p["gate"]))
    return gate * add(x, p["add_weight"]) + (1 - gate) * nmu(x, {"weight": p["mul_weight"]})


def stgnmu(x, p):
    """Thesis, section 4.3.1, without noise."""
    return nmu(x, {"weight": np.clip(p["mean"], 0, 1)})


def nru(x, p):
    """Thesis, equation 5.1."""
    w = p["weight"]

    def one(row, o):
        factors = np.sign(row) * np.abs(row) ** w[o] * np.abs(w[o]) + 1 - np.abs(w[o])
        return math.prod(factors)

    return each(one, x, len(w))


def nmru(x, p):
    """Thesis, equation 5.2."""
    w = p["weight"]

    def one(row, o):
        both = np.concatenate([row, 1 / (row + np.finfo(np.float32).eps)])
        angle = sum(w[o] * np.where(both < 0, np.pi, 0))
        return math.prod(w[o] * np.abs(both) + 1 - w[o]) * math.cos(angle)

    return each(one, x, len(w))


def disjunction_by_kronecker(terms):
    """Thesis, equation 2.27 as it stands, for terms A * x: 2 ** I summands."""
    row = np.array([-1.0, terms[0]])
    for term in terms[1:]:
        row = np.kron(np.array([1.0, -term]), row)
    return row.sum() + 1


def nlrl(x, p):
    """Thesis, equations 2.26-2.29."""
    a, n, g = sigmoid(p["weight"]), sigmoid(p["negation"]), sigmoid(p["output"])

    def one(row, o):
        hat = (1 - n[o]) * row + n[o] * (1 - row)
        conjunction = math.exp(sum(a[o] * np.log(np.abs(hat) + 1e-7)))
        return (1 - g[o]) * conjunction + g[o] * disjunction_by_kronecker(a[o] * hat)

    return each(one, x, len(a))


def softmax(v):
    return np.exp(v) / np.exp(v).sum()


def nsr(x, p):
    """Thesis, equations 2.30-2.37, one pair of operands and lambda 1."""

    def one(row, o):
        d = sum(row * softmax(p["first"][o])) - sum(row * softmax(p["second"][o]))
        sign, zero = math.tanh(d), 1 - 2 * math.tanh(d) ** 2
        return sigmoid(sign * p["sign_scale"][o] + zero * p["zero_scale"][o] + p["shift"][o])

    return each(one, x, len(p["shift"]))


def quadratic(x, p):
    """Thesis, equation 7.1."""
    left, right = add(x, p["u"]) + p["b"], add(x, p["v"]) + p["c"]
    return left * right + add(x**2, p["w"]) + p["d"]


def linear(x, p):
    return add(x, p["w_hat"]) + p["bias"]


def nac_mul_sigmoid(x, p):
    return mul(x, sigmoid(p["w_hat"]), 1e-7)


def nac_mul_linear(x, p):
    return mul(x, p["w_hat"], 1e-7)


def nru_separate(x, p):
    """Thesis, equation G.1."""
    w = p["weight"]

    def one(row, o):
        sizes = np.abs(row) ** w[o] * np.abs(w[o]) + 1 - np.abs(w[o])
        return math.prod(sizes) * math.prod(np.sign(row) ** np.round(w[o]))

    return each(one, x, len(w))


def nmru_unsigned(x, p):
    """Thesis, equation 5.2 without the sign: the ablation of its appendix G.6."""
    return nmu(np.concatenate([x, 1 / (x + np.finfo(np.float32).eps)], -1), p)


def nlrl_de_morgan(x, p):
    """Thesis, section 2.2.6: conjunction, and negation of the output."""
    closed = nlrl(x, {**p, "output": np.full_like(p["output"], -np.inf)})
    g = sigmoid(p["output"])
    return (1 - g) * closed + g * (1 - closed)
