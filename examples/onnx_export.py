# %% [markdown]
# # ONNX export
#
# Units are written as ONNX like any other module, and another runtime gives the same numbers. This needs
# `pip install onnx onnxscript onnxruntime`.

# %%
"""ONNX export: a stack of units, and the same numbers from another runtime."""

import logging
import tempfile
import warnings
from pathlib import Path

import onnxruntime
import torch

import nalm

# %% [markdown]
# Export in evaluation mode: some units compute something else while they train. A named dimension lets the
# file take any number of rows.


# %%
def export(model: torch.nn.Module, inputs: int, file: Path) -> None:
    """Write a model as ONNX."""
    rows = torch.export.Dim("rows")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # that torchvision is not installed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        program = torch.onnx.export(
            model.eval(), (torch.ones(16, inputs),), dynamo=True, dynamic_shapes=({0: rows},), verbose=False
        )
    program.save(file)


# %%
def main() -> None:
    """Export a NAU and an NMRU that compute (a + b) / c, and compare."""
    model = torch.nn.Sequential(nalm.NAU(3, 2), nalm.NMRU(2, 1))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        model[1].ideal_("div", 0, 1)
    x = 1 + torch.rand(5, 3)
    with tempfile.TemporaryDirectory() as folder:
        export(model, 3, Path(folder) / "model.onnx")
        session = onnxruntime.InferenceSession(
            Path(folder) / "model.onnx", providers=["CPUExecutionProvider"]
        )
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    print("exported:", nalm.explain(model, ["a", "b", "c"]))
    print("onnxruntime gives the same numbers:", torch.allclose(torch.from_numpy(found), model(x), rtol=1e-5))


if __name__ == "__main__":
    main()
