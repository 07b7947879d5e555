"""The composites in numpy, written anew from the thesis: evaluation only, inputs `n x in`."""

import numpy as np
import references


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


PARTS = {
    "nau": references.nau,
    "nmu": references.nmu,
    "inac": references.nac,
    "inac-mul": references.inac_mul,
    "realnpu": references.npu,
}


def part(parameters, name):
    """The parameters of one part."""
    return {k.partition(".")[2]: v for k, v in parameters.items() if k.startswith(f"{name}.")}


def gated(first, second):
    """The reference of a gated pair of these units."""

    def reference(x, p):
        g = sigmoid(p["gate"])
        return g * PARTS[first](x, part(p, "m1")) + (1 - g) * PARTS[second](x, part(p, "m2"))

    return reference


def hybrid(x, p):
    """iNALUs, then ReLU neurons."""
    relu = np.maximum(x @ p["relu.w_hat"].T + p["relu.bias"], 0)
    return np.concatenate([references.inalu(x, part(p, "inalu")), relu], -1)


def selector(*units, shared=True, blank=0.0):
    """The reference of a selector of these units."""

    def reference(x, p):
        steps = len(p["logits"])
        z = np.concatenate([x, np.full((len(x), steps), blank)], -1)
        for t in range(steps):
            k = p["logits"][t].tolist().index(max(p["logits"][t]))
            name = f"m{k + 1}" if shared else f"t{t + 1}m{k + 1}"
            z[:, x.shape[1] + t] = PARTS[units[k]](z, part(p, name))[:, 0]
        return z[:, -1:]

    return reference


def frozen_selector(x, p):
    """Every module by plain loops over what it may read."""
    steps, inputs = len(p["logits"]), x.shape[1]
    lines = []
    for t in range(steps):
        read = [[], [], [], []]
        for row, logits in enumerate(p["mask"][t]):
            if row < inputs + len(lines):
                value = x[:, row] if row < inputs else lines[row - inputs]
                read[logits.tolist().index(max(logits))].append(value)
        nothing = np.zeros(len(x))
        add, sub = (sum(r, nothing) for r in read[:2])
        mul, div = (np.prod([nothing + 1, *r], 0) for r in read[2:])
        k = p["logits"][t].tolist().index(max(p["logits"][t]))
        lines.append([add, -sub, mul, 1 / div][k])
    return lines[-1][:, None]


def composer(x, p):
    """Every step as a weighted sum of the eight operations on weighted sums of lines."""
    lines = list(x.T)
    for operation, left, right in zip(p["operation"], p["left"], p["right"]):
        u, v = (sum(w * line for w, line in zip(weights, lines)) for weights in (left, right))
        results = [u + v, u - v, -u - v, u * v, u / v, 1 / (u * v), -u, 1 / u]
        lines.append(sum(w * result for w, result in zip(operation, results)))
    return sum(w * line for w, line in zip(p["output"], lines))[:, None]
