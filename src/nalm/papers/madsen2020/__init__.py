"""Madsen & Johansen 2020, "Neural Arithmetic Units": NAU and NMU."""
