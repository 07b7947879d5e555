"""Pictures of digits: MNIST from its four files, and digits that are drawn here and need none."""

from nalm.data.digits import Digits, DigitSets, checksum_of, load_digits
from nalm.data.idx import DataError

__all__ = ["DataError", "DigitSets", "Digits", "checksum_of", "load_digits"]
