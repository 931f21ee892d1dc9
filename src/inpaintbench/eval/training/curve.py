"""The loss over the steps of a training, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import altair
import numpy as np

from inpaintbench.pages.plots import paper_svg
from inpaintbench.pages.words import count

_WIDTH, _HEIGHT = 540, 230
_MOST_POINTS = 200
# In the place of smaller losses, which a logarithmic scale cannot show.
_LEAST = 1e-12


def losses_csv(losses: Sequence[float]) -> bytes:
    """A row a step, steps counted from 1."""
    rows = [f"{step},{loss:.9g}\n" for step, loss in enumerate(losses, start=1)]
    return ("step,loss\n" + "".join(rows)).encode()


def losses_svg(losses: Sequence[float], *, name: str) -> bytes:
    """Means over up to 200 equal runs of steps, on a logarithmic scale."""
    runs = np.array_split(np.asarray(losses, np.float64), min(len(losses), _MOST_POINTS) or 1)
    means = [max(float(run.mean()), _LEAST) for run in runs if run.size]
    ends = np.cumsum([run.size for run in runs if run.size])
    data = altair.InlineData(values=[{"step": int(step), "loss": loss} for step, loss in zip(ends, means, strict=True)])
    axis = altair.Axis(grid=True, ticks=False, domain=False, format=".2~g")
    line = altair.Chart(data).mark_line().properties(width=_WIDTH, height=_HEIGHT)
    drawn = line.encode(
        altair.X("step:Q", title="step"), altair.Y("loss:Q", title="loss", scale=altair.Scale(type="log"), axis=axis)
    ).properties(title=f"Loss of {name}, {count(len(losses), 'step')}")
    return paper_svg(drawn).encode()
