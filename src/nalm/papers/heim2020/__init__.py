"""Heim et al. 2020, "Neural Power Units": NPU and RealNPU."""
