"""Settings for all tests."""

import sys
from pathlib import Path

import torch

# Helpers that several test files share, such as the numpy references, are imported by their plain names.
sys.path += [str(Path(__file__).parent / folder) for folder in ("units", "report", "docs")]

torch.set_num_threads(1)
