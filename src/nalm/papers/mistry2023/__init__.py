"""Mistry 2023, "An Investigation into Neural Arithmetic Logic Modules": the thesis."""
