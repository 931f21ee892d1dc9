"""A benchmark of pairs with what a diagnosis would say of it, made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
from tests.eval.report.hand_made import dataset, scores

from inpaintbench.eval.comparing.factors import Factor
from inpaintbench.eval.comparing.looked_at import Effect
from inpaintbench.eval.diagnosis import Curve, Diagnosis, Explained, Together, Unexplained
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Dataset

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR, MSE = Quantity("psnr", "hole"), Quantity("mse", "hole")
AXES = (
    {"name": "size", "levels": ["low", "high"], "property": "size of the hole", "truth": "the clip"},
    {"name": "camera_path", "levels": ["still", "slow", "fast"], "property": "path of the camera", "truth": "the window"},
)
SIZE = Factor("size", "paired", ("low", "high"), "low to high", "size of the hole")
PATH = Factor("camera_path", "paired", ("still", "slow", "fast"), "still to slow, still to fast", "path of the camera")
MOTION = Factor("camera_motion", "labelled", ("low", "high"), "low to high", "camera motion")
FRACTION = Factor("hole.hole_fraction", "measured", (), "2.1 to 4.2 % of the whole frame", "share of the hole")
STEPS = ((SIZE, "low", "high"), (PATH, "still", "slow"), (PATH, "still", "fast"))
METHODS = ("telea", "temporal_median", "affine_propagation")
# Decibels of a method where its axis is at a level; 0 at the others.
CHANGES = {
    "telea": {"high": -4.0, "slow": -0.3, "fast": -0.6},
    "temporal_median": {"high": -1.0, "slow": -3.0, "fast": -6.5},
    "affine_propagation": {"high": -2.6, "slow": 0.2, "fast": 0.4},
}
SOURCES = "abcdef"
LEVELS = {"base": {"size": "low", "camera_path": "still"}, "high": {"size": "high"}, "slow": {"camera_path": "slow"},
          "fast": {"camera_path": "fast"}}  # fmt: skip


def paired_dataset() -> Dataset:
    """Of each source an item as it is, one with a larger hole, and two whose camera moves; the first takes part in both axes."""
    ids = {version: [f"{source}-{version}" for source in SOURCES] for version in LEVELS}
    slices = {"size-low": ids["base"], "size-high": ids["high"], "camera_path-still": ids["base"]}
    slices |= {f"camera_path-{level}": ids[level] for level in ("slow", "fast")}
    made = dataset(slices)
    rows = []
    for place, row in enumerate(made.items):
        source, version = row["item_id"].split("-")
        facts: dict[str, object] = {"hole.hole_fraction": 0.05 + 0.01 * (7 * place % 11)}
        for axis, level in LEVELS[version].items():
            facts |= {f"axis.{axis}": level, f"pair.{axis}": f"{source}-{axis}"}
        rows.append({**row, "clip_id": f"clip-{source}", "attributes": facts})
    return replace(made, items=tuple(rows), facts={"axes": list(AXES)})


def decibels_of(methods: Sequence[str]) -> dict[str, dict[str, float]]:
    """Method -> item -> PSNR: that of the method and source, less what the axis costs; other methods are like the known ones."""
    found: dict[str, dict[str, float]] = {}
    for place, method in enumerate(methods):
        change = CHANGES[METHODS[place % len(METHODS)]]
        found[method] = {
            f"{source}-{version}": 30.0 - place + 2 * number + change.get(version, 0.0) * (1 + 0.1 * (number - 2.5))
            for number, source in enumerate(SOURCES)
            for version in LEVELS
        }
    return found


@cache
def paired_results(methods: tuple[str, ...] = METHODS) -> Results:
    """Scores of PSNR, and of the mean squared error, of which less is better."""
    decibels = decibels_of(methods)
    errors = {method: {item: 65025 * 10 ** (-value / 10) for item, value in of.items()} for method, of in decibels.items()}
    return Results(paired_dataset(), [*scores(decibels), *scores(errors, metric="mse")], protocol=CORRECTED)


def diagnosis_of(results: Results, *, told: bool = True, methods: Sequence[str] | None = None) -> Diagnosis:
    """Means of pairs with 2.8 standard errors on either side; with ``told`` an effect beyond that is more than chance."""
    effects, curves = [], []
    names = list(results.contenders if methods is None else methods)
    for quantity in (PSNR, MSE):
        for factor, low, high in STEPS:
            changes = {name: _changes(results, quantity, name, low, high) for name in names}
            effects += [_effect(factor, low, high, quantity, name, "", of, told) for name, of in changes.items()]
            effects += [
                _effect(factor, low, high, quantity, one, other, changes[one] - changes[other], told)
                for one, other in combinations(names, 2)
            ]
        for place, name in enumerate(names):
            slope = -0.4 - 0.1 * place
            effects.append(factor_effect(FRACTION, "", "", quantity, name, "", slope, 0.9, 0.4, 24, 6))
            effects.append(factor_effect(MOTION, "low", "high", quantity, name, "", -1.1 + place, math.inf, 1.0, 24, 6))
            curves.append(_curve(results, quantity, name))
    first = names[0]
    return Diagnosis(
        factors=(SIZE, PATH, MOTION, FRACTION),
        effects=tuple(effects),
        curves=tuple(curves),
        together=(Together(SIZE, PATH, PSNR, first, -1.9, 0.8, 0.004, 3),),
        explained=tuple(Explained(PSNR, name, 0.62 - 0.1 * place, 24, 6) for place, name in enumerate(names)),
        unexplained=(
            Unexplained("b-fast", PSNR, first, 20.1, 28.4, -8.3),
            Unexplained("b-fast", PSNR, names[-1], 21.0, 26.0, -5.0),
            Unexplained("e-high", PSNR, first, 24.0, 28.0, -4.0),
        ),
        left_out={"displacement": "it differs in 3 sources, and a claim takes 6"},
    )


def factor_effect(
    factor: Factor, low: str, high: str, quantity: Quantity, method: str, other: str, value: float, reach: float, p: float,
    n: int, n_sources: int,
) -> Effect:  # fmt: skip
    return Effect("factor", quantity, method, other, "", value, (n, n), (n_sources, n_sources), reach, p, factor, (low, high))


def _changes(results: Results, quantity: Quantity, method: str, low: str, high: str) -> np.ndarray:
    versions = {"low": "base", "still": "base"}
    ends = [
        [results.value(method, f"{source}-{versions.get(level, level)}", quantity) for source in SOURCES] for level in (low, high)
    ]
    return np.array(ends[1], float) - np.array(ends[0], float)


def _effect(
    factor: Factor, low: str, high: str, quantity: Quantity, method: str, other: str, changes: np.ndarray, told: bool
) -> Effect:
    value, error = float(changes.mean()), float(changes.std(ddof=1) / math.sqrt(len(changes)))
    reach = 2.8 * error if told else abs(value) + 1.0
    p = 0.002 if abs(value) > reach else 0.31
    return factor_effect(factor, low, high, quantity, method, other, value, reach, p, len(changes), len(changes))


def _curve(results: Results, quantity: Quantity, method: str) -> Curve:
    rows = {row["item_id"]: row["attributes"]["hole.hole_fraction"] for row in results.dataset.items}
    points = tuple((item, at, float(results.value(method, item, quantity) or 0.0)) for item, at in rows.items())
    at = np.linspace(min(rows.values()), max(rows.values()), 12)
    slope, rise = np.polyfit([x for _, x, _ in points], [y for *_, y in points], 1)
    mean, reach = slope * at + rise, 1.5 + 200 * (at - at.mean()) ** 2
    return Curve(FRACTION, quantity, method, *(tuple(part.tolist()) for part in (at, mean, mean - reach, mean + reach)), points)
