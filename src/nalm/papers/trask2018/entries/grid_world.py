"""Trask et al. 2018, section 4.5, figure 5: agents that must arrive at a time, told more than in training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Check, Claim, Findings, Key
from nalm.papers.entry import Measured, TrainedStudy
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels
from nalm.papers.shared.digits import DigitLayout, DigitRow, Held, chosen, mean
from nalm.papers.shared.findings import measure
from nalm.tasks import GridWorld
from nalm.tasks.grid_world.task import TESTED, TRAINED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS = 10
REWARD, ARRIVAL, NEVER = "reward", "arrival", "never"
PLAIN, WITH_NAC, COUNTING = "A3C", "A3C with NAC", "NAU that counts (ours)"
_WELL = 80.0
"""Per cent of the highest reward: what "performs well" means here, because the paper has no number."""
_MASTERED = 90.0
"""Per cent of the highest reward on the training instructions."""
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
    """Reward in per cent of the highest, mean time of arrival, and how many never arrive, by instruction."""
    found: dict[Key, Finding] = {}
    for row, runs in held:
        rewards = np.array([100 * (1 - chosen(run, "test/missed_by_time")) for run in runs])
        arrivals = np.array([chosen(run, "test/arrivals") for run in runs])
        for k, time in enumerate(TESTED):
            found[row.row, column(time), REWARD] = mean(rewards[:, k])
            found[row.row, column(time), NEVER] = mean(100 * arrivals[:, k, 0])
            when = _mean_arrivals(arrivals[:, k])
            found[row.row, column(time), ARRIVAL] = (
                mean(when) if when else Finding(None, None, None, len(runs))
            )
    return Measured(Findings(found))


def _mean_arrivals(shares: np.ndarray) -> list[float]:
    """Of each run `runs x times`, the mean time of those that arrive; runs in which none does are left out."""
    times = np.arange(shares.shape[-1])
    totals = shares[:, 1:].sum(-1)
    return [float((times * run).sum() / total) for run, total in zip(shares, totals) if total > 0]


def _values(f: Findings, row: str, times: Iterable[int], metric: str) -> list[float]:
    """What was found at these instructions; NaN where there is nothing."""
    found = (f[row, column(time), metric].value for time in times)
    return [float("nan") if value is None else value for value in found]


def well_to(f: Findings, row: str) -> int | None:
    """The largest T up to which every reward above the training range is at least 80 %; None if there is none."""
    last = None
    for time, reward in zip(TESTED, _values(f, row, TESTED, REWARD)):
        if time > TRAINED[-1] and not reward >= _WELL:
            break
        last = time if time > TRAINED[-1] else last
    return last


def _masters_training(row: str) -> Check:
    def check(f: Findings) -> Answer:
        rewards = _values(f, row, TRAINED, REWARD)
        return Answer(bool(np.mean(rewards) >= _MASTERED), detail=f"mean {np.mean(rewards):.3g} %")

    return check


def _does_well(row: str, last: int) -> Check:
    """At every instruction above the training range, to the last, the reward is at least 80 %."""

    def check(f: Findings) -> Answer:
        reached = well_to(f, row)
        words = "nowhere above 12" if reached is None else f"to T = {reached}"
        return Answer(reached is not None and reached >= last, detail=f"at least {_WELL:g} % {words}")

    return check


def _deteriorates_after(row: str, last: int) -> Check:
    """Above 80 % at the last instruction before, below it at every one after."""

    def check(f: Findings) -> Answer:
        before, *after = _values(f, row, range(last, TESTED[-1] + 1), REWARD)
        falls = all(reward < _WELL for reward in after)
        return Answer(
            before >= _WELL and falls, detail=f"{before:.3g} % at {last}, then at most {max(after):.3g} %"
        )

    return check


def _arrives_at(row: str, time: int) -> Check:
    """For every larger instruction, the mean arrival is at this time, to half a step."""

    def check(f: Findings) -> Answer:
        when = _values(f, row, range(time + 1, TESTED[-1] + 1), ARRIVAL)
        span = (
            f"mean arrivals from {np.nanmin(when):.3g} to {np.nanmax(when):.3g}" if np.any(when) else "none"
        )
        return Answer(all(abs(t - time) <= 0.5 for t in when), detail=span)

    return check


def _never_arrives_after(row: str, time: int) -> Check:
    def check(f: Findings) -> Answer:
        shares = _values(f, row, range(time + 1, TESTED[-1] + 1), NEVER)
        return Answer(min(shares) >= _NEVER, detail=f"{min(shares):.3g} to {max(shares):.3g} % never arrive")

    return check


def _draw(measured: Measured, figure: Figure) -> None:
    """Reward and time of arrival by instruction, one line per row, with intervals."""
    rows = list(dict.fromkeys(row for row, _, _ in measured.findings))
    panels = {REWARD: "reward, % of the highest", ARRIVAL: "mean time of arrival"}
    axes = row_of_panels(figure, len(panels), 5.0)
    for axis, (metric, label) in zip(axes, panels.items()):
        for k, row in enumerate(rows):
            _line(axis, measured.findings, row, metric, k)
        axis.axvspan(TRAINED[0], TRAINED[-1], color="0.92", zorder=0)
        axis.set(xlabel="instruction T (grey: trained)", ylabel=label)
        axis.grid(alpha=0.3)
    axes[1].plot(TESTED, TESTED, color="0.6", linestyle="--", linewidth=1)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(rows), frameon=False)


def _line(axis: object, f: Findings, row: str, metric: str, k: int) -> None:
    found = {time: each for time in TESTED if (each := f.get((row, column(time), metric))) is not None}
    held = {time: each for time, each in found.items() if each.value is not None}
    style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "markersize": 4}
    axis.plot([*held], [each.value for each in held.values()], label=row, **style)  # type: ignore[attr-defined]
    for time, each in held.items():
        if each.low is not None and each.high is not None:
            axis.vlines(time, each.low, each.high, color=style["color"], alpha=0.3)  # type: ignore[attr-defined]


_LAYOUT = DigitLayout("trask2018:fig5", _ROWS, SEEDS, _read)

ENTRIES = (
    TrainedStudy(
        _LAYOUT.entry,
        "Grid world: reward of agents told to arrive at a time T, trained on T from 5 to 12",
        "section 4.5",
        _LAYOUT.compute,
        _LAYOUT.plan,
        metrics=(measure(REWARD, rising=True), measure(ARRIVAL, rising=None), measure(NEVER)),
        in_parts=True,
        draw=_draw,
        claims=(
            *(
                Claim(row, "masters the training episodes", _masters_training(row))
                for row in (PLAIN, WITH_NAC)
            ),
            Claim(WITH_NAC, "performs well for T up to 19", _does_well(WITH_NAC, 19)),
            Claim(PLAIN, "deteriorates for T above 13", _deteriorates_after(PLAIN, 13)),
            Claim(PLAIN, "arrives at 12 if told more", _arrives_at(PLAIN, 12)),
            Claim(WITH_NAC, "never arrives if told more than 20", _never_arrives_after(WITH_NAC, 20)),
        ),
        note=(
            "The paper states neither the rewards, L, the sizes of the networks, the steps nor the seeds, and "
            "the figure prints no numbers. Ours: a reward of 1 for arriving exactly at T and of 0 otherwise, "
            "L = 20 in training and 30 in the tests, the convnet of A3C with larger strides, an LSTM of 64, a "
            "NAC from T to one number, advantage actor-critic on 256 episodes side by side in place of "
            "asynchronous processes, 40,000 steps, 10 seeds; the likeliest action in the tests. Reward is in "
            "per cent of the highest that is possible from the start. 'Performs well' is read as at least "
            f"{_WELL:g} %. A NAC on T alone adds nothing that the LSTM could not compute: both its "
            "output and T enter the same linear maps. The last row is ours: the unit is the agent's only "
            "memory, a cell that is told T once and a tick at every step."
        ),
    ),
)
