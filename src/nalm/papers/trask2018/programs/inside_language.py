r"""What a trained LSTM + NALU does with number words: word by word, path by path.

Mistry et al. 2021 (the Primer), section 7.1, doubt that the NALU's arithmetic is used here, because the NALU
sees an LSTM's state, not numbers. A NALU that adds or multiplies numbers has weights of -1, 0 and 1, a gate
that is open or closed, and few inputs. So the trained NALU is taken apart,

.. math:: y = g a + (1 - g) m, \qquad a = W x, \qquad m = \exp(W \log(|x| + \epsilon)),

and its test error is measured again with one part changed: the sum alone, the product alone, the weights
rounded, the gate rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """The parts of a NALU on some sentences, one value per sentence.

    Attributes:
        gate: g, which is 1 for the sum.
        sum: a.
        product: m.
    """

    gate: Tensor
    sum: Tensor
    product: Tensor

    @property
    def result(self) -> Tensor:
        """The output of the unit."""
        return self.gate * self.sum + (1 - self.gate) * self.product


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
    seen, weight = network.features(sentences), unit.weights()["W"]
    weight = weight.round() if rounded else weight
    values = (
        torch.sigmoid(weighted_sum(seen, unit.gate)),
        weighted_sum(seen, weight),
        power_product(seen, weight, unit.epsilon),
    )
    return Parts(*(value[:, 0] for value in values))


def by_word(network: WordReader, sentences: Sequence[str] = SENTENCES) -> dict[str, Parts]:
    """The parts after each word of each sentence."""
    return {sentence: parts_of(network, prefixes(sentence)) for sentence in sentences}


def ablations(network: WordReader, task: Language) -> dict[str, float]:
    """The mean absolute error on the test numbers, as trained and with one part changed."""
    held = task.constants(Split.TEST)
    values = held["values"].float()
    parts, rounded = (parts_of(network, held["sentences"], rounded=each) for each in (False, True))
    decided = Parts(parts.gate.round(), parts.sum, parts.product)
    results = {
        WHOLE: parts.result,
        SUM: parts.sum,
        PRODUCT: parts.product,
        ROUNDED: rounded.result,
        DECIDED: decided.result,
    }
    return {name: float((result - values).abs().mean()) for name, result in results.items()}


def habits(network: WordReader, task: Language) -> dict[str, float]:
    """What an arithmetic unit would show: an open or closed gate, whole weights, few inputs."""
    unit = network.unit
    assert isinstance(unit, NALU)
    parts = parts_of(network, task.constants(Split.TEST)["sentences"])
    weight = unit.weights()["W"].detach()
    share = (parts.gate * parts.sum).abs() / (
        (parts.gate * parts.sum).abs() + parts.product.abs() * (1 - parts.gate)
    )
    return {
        "mean gate": float(parts.gate.mean()),
        "share of the sum in the result": float(share.nan_to_num().mean()),
        "inputs with a weight above 0.5": float((weight.abs() > _COUNTS).sum()),
        "mean distance of a weight from -1, 0, 1": float((weight - weight.round()).abs().mean()),
    }
