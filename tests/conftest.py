"""Settings for all tests."""

import sys
from pathlib import Path

import torch

# Helpers that several test files share, such as the numpy references, are imported by their plain names.
sys.path.append(str(Path(__file__).parent / "units"))

torch.set_num_threads(1)
