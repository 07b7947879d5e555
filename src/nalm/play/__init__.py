"""`nalm play`: a local page on which units train, formulas appear, and stored results can be looked at.

The process that serves the page computes nothing: what is asked for goes to worker processes, which can be
stopped at any moment. Only they import torch.
"""
