"""Checks that every metric has to pass, whatever it measures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from inpaintbench import contracts
from inpaintbench.contracts import NotChecked, checks_above, moving_texture, noisy, require, wandering_hole
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, Metric
from inpaintbench.regions import dilate
from inpaintbench.types import Prompts
from inpaintbench.view import ItemView, composite

FRAMES, HEIGHT, WIDTH = 6, 120, 136


def states_its_facts(metric: Metric) -> None:
    """Name, version, documentation, unit, direction, decimals and needs; an order of methods by one number."""
    contracts.states_its_facts(metric, "unit", "higher_is_better", "decimals", "needs")
    require(isinstance(metric.higher_is_better, bool), f"higher_is_better is {metric.higher_is_better!r}, not True or False")


def answers_once_for_each_region_and_leaves_its_input_alone(metric: Metric) -> None:
    """In the order of its regions, each with a value that is no NaN, features or a reason."""
    parts = _parts()
    contracts.read_only(*(part for part in parts.values() if isinstance(part, np.ndarray)))
    measurements = _measured(metric, parts)
    require(tuple(measurements) == metric.regions, f"it answers for {tuple(measurements)}, its regions are {metric.regions}")
    for region, measurement in measurements.items():
        require(measurement.value is None or not math.isnan(measurement.value), f"its value of {region} is NaN; give a reason")
        sound = measurement.value is not None or measurement.features is not None or measurement.reason
        require(sound, f"{region} has no value, and no reason for it")


def gives_the_same_twice(metric: Metric) -> None:
    """Equal items have equal values."""
    first, second = (_measured(metric, _parts()) for _ in range(2))
    require(first == second, "the second time it gives another value")


def measures_several_predictions_like_each_alone(metric: Metric) -> None:
    """``measure_together`` gives what ``measure`` gives."""
    items = [_parts(amplitude=amplitude) for amplitude in (0, 40)]
    alone = [_measured(metric, parts) for parts in items]
    together = metric.measure_together([_view(metric, parts) for parts in items])
    require(together == alone, "several predictions at once have other values than each alone")


def is_best_on_a_perfect_copy(metric: Metric) -> None:
    """Check metrics that compare with the truth and order methods."""
    if "truth" not in metric.needs or not metric.ranked or metric.of_sets:
        raise NotChecked("it compares no item with its truth, or orders nothing")
    copy, noise = (_measured(metric, _parts(amplitude=amplitude)) for amplitude in (0, 60))
    for region in metric.regions:
        best, other = copy[region].value, noise[region].value
        if best is not None and other is not None:
            better = best >= other if metric.higher_is_better else best <= other
            require(better, f"in {region} noise has {other} and the truth itself {best}")


def known_pixels_of_the_prediction_do_not_matter(metric: Metric) -> None:
    """Check metrics that look at the composite and not at the prediction as it came."""
    if "composite" not in metric.needs or "prediction" in metric.needs:
        raise NotChecked("it is about predictions as they came")
    parts = _parts()
    prediction = np.where(parts["hole"][..., None], parts["prediction"], 255 - parts["truth"])
    require(_measured(metric, {**parts, "prediction": prediction}) == _measured(metric, parts), "known pixels change its value")


def values_of_many_items_become_one_in_any_order(metric: Metric) -> None:
    """Check that sets give none; else a number, and None for no items."""
    values = [0.25, 31.5, 2.125, 0.1]
    require(metric.reduce([]) is None, f"no items come to {metric.reduce([])}, not to None")
    forward, other = metric.reduce(values), metric.reduce(values[::-1])
    require(forward == other, f"the same values come to {forward} and, in another order, to {other}")
    require((forward is None) == metric.of_sets, f"the values {values} come to {forward}")


CHECKS = checks_above(globals())


def _parts(*, amplitude: int = 40) -> dict[str, Any]:
    truth = moving_texture(FRAMES, height=HEIGHT, width=WIDTH)
    hole = wandering_hole(FRAMES, height=HEIGHT, width=WIDTH)
    parts = {"truth": truth, "hole": hole, "prediction": noisy(truth, amplitude=amplitude), "object_mask": hole}
    effect = dilate(hole, radius=6) & ~hole
    shown = np.where(hole[..., None], 255 - truth, np.where(effect[..., None], truth // 2, truth))
    parts |= {"effect_mask": effect, "input": shown}
    return {**parts, "prompts": Prompts("a wall of stone", "a wall of glass")}


def _view(metric: Metric, parts: dict[str, Any]) -> ItemView:
    whole = {**parts, "composite": composite(parts["truth"], parts["hole"], parts["prediction"])}
    return ItemView.of_arrays(**whole).declaring(metric.name, metric.parts)


def _measured(metric: Metric, parts: dict[str, Any]) -> dict[str, Measurement]:
    if metric.command:
        raise NotChecked(f"`inpaintbench {metric.command}` measures it")
    try:
        return metric.measure(_view(metric, parts))
    except NotMeasurable as error:
        raise NotChecked(str(error)) from error
