"""Schlör, Ring, Hotho 2020, "iNALU: Improved Neural Arithmetic Logic Unit"."""
