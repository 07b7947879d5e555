"""Trask et al. 2018, section 4.5, figure 5: agents that must arrive at a time, told more than in training."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import torch

from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Check, Claim, Findings, Key
from nalm.papers.entry import Measured, TrainedStudy
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels
from nalm.papers.shared.digits import DigitLayout, DigitRow, Held, chosen, mean
from nalm.papers.shared.findings import measure
from nalm.tasks import GridWorld
from nalm.tasks.grid_world.rules import reward_at
from nalm.tasks.grid_world.task import TESTED, TRAINED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEDS = 10
IN_TIME, REWARD, ARRIVAL, NEVER = "in time", "reward", "arrival", "never"
PLAIN, WITH_NAC, COUNTING = "A3C", "A3C with NAC", "NAU that counts (ours)"
ABOVE = range(TRAINED[-1] + 1, TESTED[-1] + 1)
"""The instructions above those of training."""
_WELL = 80.0
"""Per cent of episodes in time: what "performs well" means here, because the paper has no number."""
_MASTERED = 90.0
"""Per cent of episodes in time on the instructions of training."""
_NEVER = 95.0
"""Per cent of episodes: an agent that does not arrive in as many "never" arrives."""

_ROWS = (
    DigitRow(PLAIN, "none", GridWorld("instruct")),
    DigitRow(WITH_NAC, "nac", GridWorld("instruct")),
    DigitRow(COUNTING, "nau", GridWorld("count")),
)


def column(time: int) -> str:
    """The column of an instruction."""
    return f"T = {time}"


def _read(held: Held) -> Measured:
    """By instruction: arrivals in time and reward in per cent, mean arrival, and how many never arrive."""
    found: dict[Key, Finding] = {}
    for row, runs in held:
        in_time = np.array([100 * (1 - chosen(run, "test/missed_by_time")) for run in runs])
        arrivals = np.array([chosen(run, "test/arrivals") for run in runs])
        for k, time in enumerate(TESTED):
            shares, place = arrivals[:, k], column(time)
            found[row.row, place, IN_TIME] = mean(in_time[:, k].tolist())
            found[row.row, place, REWARD] = mean((100 * shares @ _rewards(time, shares.shape[-1])).tolist())
            found[row.row, place, NEVER] = mean((100 * shares[:, 0]).tolist())
            when = _mean_arrivals(shares)
            found[row.row, place, ARRIVAL] = mean(when) if when else Finding(None, None, None, len(runs))
    return Measured(Findings(found))


def _rewards(instruction: int, times: int) -> np.ndarray:
    """The graded reward for arriving at each time; the first is that for never."""
    rewards = reward_at(torch.arange(times), torch.tensor(instruction), "graded").numpy()
    return np.where(np.arange(times) > 0, rewards, 0.0)


def _mean_arrivals(shares: np.ndarray) -> list[float]:
    """Of each run `runs x times`, the mean time of those that arrive; without runs in which none does."""
    times = np.arange(shares.shape[-1])
    totals = shares[:, 1:].sum(-1)
    return [float((times * run).sum() / total) for run, total in zip(shares, totals) if total > 0]


# -- what the paper says ---------------------------------------------------------------------------


def _values(f: Findings, row: str, times: Iterable[int], metric: str) -> list[float]:
    """What was found at these instructions; NaN where there is nothing."""
    found = (f[row, column(time), metric].value for time in times)
    return [float("nan") if value is None else value for value in found]


def well_to(f: Findings, row: str) -> int | None:
    """The largest T above those of training up to which at least 80 % are in time, if there is one."""
    shares = zip(ABOVE, _values(f, row, ABOVE, IN_TIME))
    well = list(itertools.takewhile(lambda pair: pair[1] >= _WELL, shares))
    return well[-1][0] if well else None


def _masters_training(row: str) -> Check:
    def check(f: Findings) -> Answer:
        share = float(np.mean(_values(f, row, TRAINED, IN_TIME)))
        return Answer(share >= _MASTERED, detail=f"{share:.3g} % in time")

    return check


def _does_well(row: str, last: int) -> Check:
    """At every instruction above those of training, up to the last, at least 80 % are in time."""

    def check(f: Findings) -> Answer:
        reached = well_to(f, row)
        words = f"nowhere above T = {TRAINED[-1]}" if reached is None else f"up to T = {reached}"
        return Answer(reached is not None and reached >= last, detail=f"{_WELL:g} % in time {words}")

    return check


def _deteriorates_after(row: str, last: int) -> Check:
    """At least 80 % of the reward at the last instruction, fewer than 80 % in time at every one after it.

    An agent that arrives at 12 has 92 % of the reward at T = 13.
    """

    def check(f: Findings) -> Answer:
        (before,) = _values(f, row, [last], REWARD)
        after = _values(f, row, range(last + 1, TESTED[-1] + 1), IN_TIME)
        words = f"{before:.3g} % of the reward at T = {last}, then at most {max(after):.3g} % in time"
        return Answer(before >= _WELL and all(share < _WELL for share in after), detail=words)

    return check


def _arrives_at(row: str, time: int) -> Check:
    """For every larger instruction, the mean arrival is at this time, to half a step."""

    def check(f: Findings) -> Answer:
        when = _values(f, row, range(time + 1, TESTED[-1] + 1), ARRIVAL)
        known = [t for t in when if not np.isnan(t)]
        words = f"mean arrivals from {min(known):.3g} to {max(known):.3g}" if known else "it never arrives"
        return Answer(all(abs(t - time) <= 0.5 for t in when), detail=words)

    return check


def _never_arrives_after(row: str, time: int) -> Check:
    def check(f: Findings) -> Answer:
        shares = _values(f, row, range(time + 1, TESTED[-1] + 1), NEVER)
        return Answer(min(shares) >= _NEVER, detail=f"{min(shares):.3g} to {max(shares):.3g} % never arrive")

    return check


# -- the figure ------------------------------------------------------------------------------------

_PANELS = {IN_TIME: "in time, %", REWARD: "reward, % of m", ARRIVAL: "mean time of arrival"}


def _draw(measured: Measured, figure: Figure) -> None:
    """Arrivals in time, reward and time of arrival by instruction, one line per row, with intervals."""
    rows = list(dict.fromkeys(row for row, _, _ in measured.findings))
    axes = row_of_panels(figure, len(_PANELS))
    for axis, (metric, label) in zip(axes, _PANELS.items()):
        for k, row in enumerate(rows):
            _line(axis, measured.findings, row, metric, k)
        axis.axvspan(TRAINED[0], TRAINED[-1], color="0.92", zorder=0)
        axis.set(xlabel="instruction T (grey: of training)", ylabel=label)
        axis.grid(alpha=0.3)
    axes[-1].plot(TESTED, TESTED, color="0.6", linestyle="--", linewidth=1)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(rows), frameon=False)


def _line(axis: Axes, f: Findings, row: str, metric: str, k: int) -> None:
    found = {time: f[row, column(time), metric] for time in TESTED}
    held = {time: each for time, each in found.items() if each.value is not None}
    colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
    values = [each.value or 0.0 for each in held.values()]
    axis.plot([*held], values, label=row, color=colour, marker=marker, markersize=4)
    for time, each in held.items():
        if each.low is not None and each.high is not None:
            axis.vlines(time, each.low, each.high, color=colour, alpha=0.3)


_LAYOUT = DigitLayout("trask2018:fig5", _ROWS, SEEDS, _read)

ENTRIES = (
    TrainedStudy(
        _LAYOUT.entry,
        "Grid world: agents told to arrive at a time T, trained on T from 5 to 12",
        "section 4.5",
        _LAYOUT.compute,
        _LAYOUT.plan,
        metrics=(
            *(measure(IN_TIME, rising=True), measure(REWARD, rising=True)),
            *(measure(ARRIVAL, rising=None), measure(NEVER)),
        ),
        main=2,
        in_parts=True,
        draw=_draw,
        claims=(
            *(
                Claim(row, "masters the episodes of training", _masters_training(row))
                for row in (PLAIN, WITH_NAC)
            ),
            Claim(WITH_NAC, "performs well for T up to 19", _does_well(WITH_NAC, 19)),
            Claim(PLAIN, "deteriorates for T above 13", _deteriorates_after(PLAIN, 13)),
            Claim(PLAIN, "arrives at 12 if told more", _arrives_at(PLAIN, 12)),
            Claim(WITH_NAC, "never arrives if told more than 20", _never_arrives_after(WITH_NAC, 20)),
        ),
        note=(
            "The paper states neither m, L, how much less reward an early arrival gets, the sizes of the "
            "networks, the steps nor the seeds, and the figure prints no numbers. Ours: a reward of "
            "1 - |t - T| / T for arriving at t; L = 20 in training and 30 in the tests; the convnet of A3C "
            "with larger strides, an LSTM of 64, a NAC from T to one number; advantage actor-critic on 256 "
            "episodes side by side in place of asynchronous processes; 40,000 steps, 10 seeds; the likeliest "
            "action in the tests. 'In time' is arriving exactly at T, in per cent of the starts from which "
            f"that is possible; 'performs well' is read as at least {_WELL:g} % in time. A NAC on T alone "
            "adds nothing that the LSTM could not compute: T and a multiple of T enter the same linear maps. "
            "The last row is ours: the agent's only memory is a running sum of what a NAU makes of T, told "
            "once, and of a tick at every step."
        ),
    ),
)
