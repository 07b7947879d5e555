r"""What a trained LSTM + NALU does with number words: word by word, path by path.

Mistry et al. 2021 (the Primer), section 7.1, doubt that the NALU's arithmetic is used here, because the NALU
sees an LSTM's state, not numbers. A NALU that adds or multiplies numbers has weights of -1, 0 and 1, a gate
that is open or closed, and few inputs. So the trained NALU is taken apart,

.. math:: y = g a + (1 - g) m, \qquad a = W x, \qquad m = \exp(W \log(|x| + \epsilon)),

and its test error is measured again with one part changed: the sum alone, the product alone, the weights
rounded, the gate rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models.word_reader import WordReader
from nalm.tasks import Language, Split
from nalm.tasks.language.words import one_hot
from nalm.units import NALU
from nalm.units._functional import weighted_sum
from nalm.units.nac_mul import power_product

SENTENCES = (
    "three hundred and thirty four",
    "seven hundred and two",
    "eighty eight",
    "twenty seven and eighty",
)
"""Those of figure 3."""
WHOLE, SUM, PRODUCT, ROUNDED, DECIDED = (
    "as trained",
    "sum alone",
    "product alone",
    "weights rounded",
    "gate rounded",
)
_COUNTS = 0.5
"""A weight above this would be rounded to 1."""


@dataclass(frozen=True)
class Parts:
    """The parts of a NALU on some sentences, `n x times`: one time for each state that it sees.

    Attributes:
        gate: g, which is 1 for the sum.
        sum: a.
        product: m.
        total: from results `n x times` to those of sentences, `n`.
    """

    gate: Tensor
    sum: Tensor
    product: Tensor
    total: Callable[[Tensor], Tensor]

    @property
    def result(self) -> Tensor:
        """What the network says of each sentence."""
        return self.total(self.gate * self.sum + (1 - self.gate) * self.product)


def network_of(case: Case, run: Record) -> WordReader:
    """The network of a run at its chosen step."""
    network = case.build()
    assert isinstance(network, WordReader)
    network.load_state_dict({name: torch.as_tensor(p) for name, p in run.chosen_parameters.items()})
    return network.eval()


def prefixes(sentence: str) -> Tensor:
    """The sentence after its first word, its second, …: `words x length x vocabulary`."""
    words = sentence.split()
    return torch.stack([one_hot(words[: k + 1]) for k in range(len(words))])


@torch.no_grad()
def parts_of(network: WordReader, sentences: Tensor, *, rounded: bool = False) -> Parts:
    """The parts of the NALU behind an LSTM, on sentences `n x length x vocabulary`."""
    unit = network.unit
    assert isinstance(unit, NALU)
    seen, weight = network.seen(sentences), unit.weights()["W"]
    weight = weight.round() if rounded else weight
    gate = torch.sigmoid(weighted_sum(seen, unit.gate))
    added, made = weighted_sum(seen, weight), power_product(seen, weight, unit.epsilon)
    return Parts(
        gate[..., 0],
        added[..., 0],
        made[..., 0],
        lambda results: network.total(results[..., None], sentences)[:, 0],
    )


def by_word(network: WordReader, sentences: Sequence[str] = SENTENCES) -> dict[str, Parts]:
    """The parts after each word of each sentence."""
    return {sentence: parts_of(network, prefixes(sentence)) for sentence in sentences}


def ablations(network: WordReader, task: Language) -> dict[str, float]:
    """The mean absolute error on the test numbers, as trained and with one part changed."""
    held = task.constants(Split.TEST)
    values = held["values"].float()
    parts, rounded = (parts_of(network, held["sentences"], rounded=each) for each in (False, True))
    decided = replace(parts, gate=parts.gate.round())
    results = {
        WHOLE: parts.result,
        SUM: parts.total(parts.sum),
        PRODUCT: parts.total(parts.product),
        ROUNDED: rounded.result,
        DECIDED: decided.result,
    }
    return {name: float((result - values).abs().mean()) for name, result in results.items()}


def habits(network: WordReader, task: Language) -> dict[str, float]:
    """What an arithmetic unit would show: an open or closed gate, whole weights, few inputs."""
    unit = network.unit
    assert isinstance(unit, NALU)
    sentences = task.constants(Split.TEST)["sentences"]
    parts, weight = parts_of(network, sentences), unit.weights()["W"].detach()
    count = parts.total(torch.ones_like(parts.gate))
    added, made = (
        parts.total(each.abs()) for each in (parts.gate * parts.sum, (1 - parts.gate) * parts.product)
    )
    return {
        "mean gate": float((parts.total(parts.gate) / count).mean()),
        "share of the sum in the result": float((added / (added + made)).nan_to_num().mean()),
        "inputs with a weight above 0.5": float((weight.abs() > _COUNTS).sum()),
        "mean distance of a weight from -1, 0, 1": float((weight - weight.round()).abs().mean()),
    }
