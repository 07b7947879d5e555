"""Every unit can be written as ONNX by torch's older exporter, which knows fewer operators."""

import importlib.util
import io
import warnings

import pytest
import torch

from nalm.units import UNITS


@pytest.mark.parametrize("inputs", [3, 24], ids=["written out", "folded"])
@pytest.mark.parametrize("unit", UNITS)
def test_the_older_exporter_knows_all_operators(unit, inputs):
    model, x = UNITS[unit](inputs, 2).eval(), torch.rand(4, inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is the older one
        try:
            torch.onnx.export(model, (x,), io.BytesIO(), dynamo=False)
        except torch.onnx.errors.OnnxExporterError as error:
            # Writing the file needs the package `onnx`; by then every operator has been translated.
            if importlib.util.find_spec("onnx") or not str(error).startswith("Module onnx is not installed"):
                raise
