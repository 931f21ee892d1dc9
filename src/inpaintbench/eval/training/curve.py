"""The loss over the steps of a training, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inpaintbench.eval.analysis import svg

WIDTH, HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 24, 44, 48
_COLOUR = "#2563a8"
_MOST_POINTS = 200


def losses_csv(losses: Sequence[float]) -> bytes:
    """A row a step, steps counted from 1."""
    rows = [f"{step},{loss:.9g}\n" for step, loss in enumerate(losses, start=1)]
    return ("step,loss\n" + "".join(rows)).encode()


def losses_svg(losses: Sequence[float], *, name: str) -> bytes:
    """Means over up to 200 equal runs of steps, on a logarithmic scale."""
    runs = np.array_split(np.asarray(losses, np.float64), min(len(losses), _MOST_POINTS) or 1)
    means = np.log10([max(float(run.mean()), 1e-12) for run in runs if run.size])
    ends = np.cumsum([run.size for run in runs if run.size])
    ticks = svg.scale(list(means), from_zero=False)
    steps = svg.scale([0.0, float(len(losses))], from_zero=True)
    across = (WIDTH - _LEFT - _RIGHT) / steps[-1]
    up = (HEIGHT - _TOP - _BOTTOM) / (ticks[-1] - ticks[0])
    base = HEIGHT - _BOTTOM
    parts = [svg.text(_LEFT, 24, f"Loss of {name}, {len(losses)} steps", size=14, bold=True)]
    for tick in ticks:
        y = base - up * (tick - ticks[0])
        parts += [
            svg.line(_LEFT, y, WIDTH - _RIGHT, y, colour=svg.GRID),
            svg.text(_LEFT - 8, y + 4, f"{10**tick:.2g}", size=12, anchor="end"),
        ]
    for place, words in zip(steps, svg.tick_words(steps, percent=False), strict=True):
        parts.append(svg.text(_LEFT + across * place, base + 18, words, size=12, anchor="middle"))
    parts.append(svg.text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 10, "step", size=12, colour=svg.SOFT, anchor="middle"))
    points = " ".join(f"{_LEFT + across * x:.2f},{base - up * (y - ticks[0]):.2f}" for x, y in zip(ends, means, strict=True))
    parts.append(f'<polyline points="{points}" fill="none" stroke="{_COLOUR}" stroke-width="1.6"/>')
    return svg.document(parts, width=WIDTH, height=HEIGHT, label=f"Loss of {name} over {len(losses)} steps").encode()
