"""Baselines by their names on the command line."""

from __future__ import annotations

from torch import nn

from nalm.models.agents import Nothing
from nalm.models.baselines import MLP, FCProduct, SolvedAdd, SolvedDiv, SolvedMul
from nalm.models.configured_sequence import ConfiguredNALU, ConfiguredNAU
from nalm.models.pair_cnn import PairCNN
from nalm.models.sequence_baselines import GRU, LSTM, DNCBaseline, ReLURNN, TanhRNN, UGRNNBaseline

BASELINES: dict[str, type[nn.Module]] = {
    "lstm": LSTM,
    "gru": GRU,
    "rnn-tanh": TanhRNN,
    "rnn-relu": ReLURNN,
    "ugrnn": UGRNNBaseline,
    "dnc": DNCBaseline,
    "configured-nalu": ConfiguredNALU,
    "configured-nau": ConfiguredNAU,
    "mlp": MLP,
    "fc-product": FCProduct,
    "pair-cnn": PairCNN,
    "add": SolvedAdd,
    "mul": SolvedMul,
    "div": SolvedDiv,
    "none": Nothing,
}
