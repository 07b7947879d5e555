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


def real_npu(x, p):
    w, g = p["weight"], np.minimum(np.maximum(p["gate"], 0), 1)
    out = np.empty((len(x), len(w)))
    for n, row in enumerate(x):
        r = g * (np.abs(row) + np.finfo(np.float32).eps) + (1 - g)
        k = np.where(row < 0, np.pi * g, 0)
        for o in range(len(w)):
            out[n, o] = math.exp((w[o] * np.log(r)).sum()) * math.cos((w[o] * k).sum())
    return out
