"""Runs that are interrupted, and how they are compared with runs that are not."""

import torch


class Interrupted(Exception):
    """What ends a run before its last step."""


def stop_after(steps):
    """A callback that ends runs once so many steps are done."""

    def on_progress(report):
        if steps is not None and report.done > steps:
            raise Interrupted

    return on_progress


def assert_same(ours, theirs):
    for name in ("steps", "validation", "test", "chosen", "diverged_at", "history_steps"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name
    for name in ("chosen_parameters", "final_parameters", "history", "errors"):
        first, second = getattr(ours, name), getattr(theirs, name)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first), name
