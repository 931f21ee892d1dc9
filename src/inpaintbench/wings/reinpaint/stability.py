"""Spread of scores by chance: the paper's Figs. 3f, 4 and 7 and its deviation over seeds, from a run's own items.

Figs. 3f and 4 are of one picture, one mask, and many seeds of one method. Fig. 3f: the picture inpainted by F2 under its own
first mask and under a patch mask, against the picture. Fig. 4: the picture inpainted by F1 under its first mask, again by F2
under one patch mask, and the three objectives. The patch mask hides the same share as the first mask, as the paper has it for
Fig. 4; it states none for Fig. 3f.
"""

from __future__ import annotations

import inspect
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inpaintbench import frozen
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.scoring.predict import MethodSpec, build
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.executors.base import Executor, Task
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.pages import save_chart
from inpaintbench.pages.chart import Mark, Panel, chart
from inpaintbench.pages.colours import DASHES, MARKERS, PALETTE, MethodStyle
from inpaintbench.pages.words import count, number
from inpaintbench.table_files import csv_bytes
from inpaintbench.types import Dataset, Frames, Hole, Plain, Score, content_id, item_rng
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.engine import OBJECTIVES, SUBMETRICS
from inpaintbench.wings.reinpaint.leaves import metric_of, submetric_of
from inpaintbench.wings.reinpaint.setting import Patches, Setting, patch_of, second_hole, with_patches
from inpaintbench.wings.reinpaint.step import SECONDS, First, again, natural, once_more, score_of, step_of
from inpaintbench.workspace import Blobs

# Names of the two rows of Fig. 3f, under which their scores are kept.
NORMAL, PATCHES = "normal mask", "patch mask"


class Deterministic(InpaintBenchError):
    """A method gives the same under every seed."""


def under_seeds(
    executor: Executor,
    dataset: Dataset,
    *,
    root: Path | str,
    item_id: str | None,
    setting: Setting,
    first: MethodSpec | None,
    protocol: str,
    fingerprint: str,
    compute: Compute | None = None,
    time_limit_seconds: float = SECONDS,
) -> list[Score]:
    """Measure one picture under many seeds; what stands in the ledger is kept.

    Args:
        executor: who does the work.
        dataset: the frozen dataset.
        root: its folder.
        item_id: which picture; by default the first.
        setting: F2, as many seeds as its ``masks`` say, patches of which the ratio plays no part, and sub-metrics.
        first: F1, whose seed then varies (Fig. 4); None: the seed of F2 varies (Fig. 3f).
        protocol: name for the rows.
        fingerprint: of the protocol.
        compute: how networks are run.
        time_limit_seconds: for everything.

    Returns:
        A row for each mask (Fig. 3f, as ``method``) or objective (Fig. 4), and sub-metric; ``details`` hold ``values``, one a
        seed, and ``hidden``, the share of the picture that was inpainted.

    Raises:
        InputError: no such item, an item without a hole, a method that is the same under every seed, or no result.
    """
    compute = compute or Compute()
    found = [row for row in dataset.items if item_id in (None, row["item_id"])]
    if not found:
        raise InputError(f"{dataset.name!r} has no item {item_id!r}; the first is {dataset.items[0]['item_id']!r}")
    if not found[0].get("hole_file_name"):
        raise InputError(f"item {found[0]['item_id']!r} has no hole: there is nothing to inpaint")
    row = found[0]
    varied = setting.second if first is None else first
    told = {
        "protocol": protocol, "fingerprint": fingerprint + setting.mark + compute.mark,
        "first": None if first is None else {**asdict(first), "constants": dict(first.constants)},
        "first_version": None if first is None else build(first).version,
    }  # fmt: skip
    name = f"reinpaint.seeds.{setting.key}.{content_id(asdict(varied), first is None)[:12]}"
    step = step_of(name, f"{__name__}:seeded_one", told, setting, compute, seconds=time_limit_seconds)
    content = content_id(row["item_id"], row["truth_rgb_sha256"], row["hole_sha256"], row["fill"])
    payload = {"root": str(Path(root).resolve()), "row": dict(row), "compute": asdict(compute)}
    outcome = executor.run_together([(step, [Task(row["item_id"], content, payload, row["item_id"])])], label="seeds")[step.name]
    if outcome.rejected:
        raise InputError(f"item {row['item_id']!r} was not inpainted under seeds: {outcome.rejected[0].reason}")
    rows: list[Score] = list(outcome.records)
    if rows and rows[0].details.get("deterministic"):
        raise InputError(str(rows[0].reason))
    return rows


def seeded_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Score]:  # noqa: ARG001 - what a step is given
    """Task of one worker: all seeds of one picture."""
    row, setting = payload["row"], Setting.of(parameters["setting"])
    shared = Shared(compute=Compute(**payload["compute"]))
    truth, hole = frozen.truth_and_hole(payload["root"], row)
    assert setting.patches is not None
    # A patch mask that hides as much as the first hole, as nearly as whole patches can.
    patch = patch_of(replace(setting.patches, ratio=float(hole.mean()), count="exact"), row, 0)
    rows: list[Score] = []
    try:
        if parameters["first"] is None:
            for name, mask in ((NORMAL, hole), (PATCHES, patch)):
                results = _results(setting.second, setting, truth, mask, row)
                measured = engine.distances(truth, results, metrics=setting.metrics, shared=shared)
                rows += _scores(name, "1-2", measured, mask, row, parameters)
        else:
            firsts = _results(MethodSpec(**parameters["first"]), setting, truth, hole, row)
            for objective, distances in _by_objective(truth, firsts, second_hole(patch, hole), setting, row, shared).items():
                rows += _scores(objective, objective, distances, hole, row, parameters)
    except Deterministic as error:
        metric = metric_of("1-2", next(iter(parameters["setting"]["metrics"])))
        return [score_of(parameters, row, metric, Measurement(None, str(error)), more={"deterministic": True}, method=NORMAL)]
    return rows


def _results(spec: MethodSpec, setting: Setting, truth: Frames, mask: Hole, row: Plain) -> list[Frames]:
    """The picture inpainted under every seed.

    Raises:
        Deterministic: the method takes no seed and gives the same twice.
    """
    results: list[Frames] = []
    for at in range(setting.masks):
        # Programs that take no seed may draw one from the name of what they are given, which ends in the number.
        results.append(once_more(build(seeded(spec, at)), truth, mask, row, setting, number=at))
        if at == 1 and not takes_seed(spec) and np.array_equal(results[0], results[1]):
            raise Deterministic(
                f"{spec.leaf!r} is deterministic: it takes no seed and gave the same result twice, so that seeds spread nothing; "
                "name a method that takes a seed, such as exemplar"
            )
    return results


def _by_objective(
    truth: Frames, firsts: Sequence[Frames], mask: Hole, setting: Setting, row: Plain, shared: Shared
) -> dict[str, Mapping[str, Sequence[Measurement]]]:
    distances = partial(engine.distances, metrics=setting.metrics, shared=shared)
    seconds = [again(first, [mask], row, setting)[0] for first in firsts]
    pairs = [distances(first, [second]) for first, second in zip(firsts, seconds, strict=True)]
    return {
        "0-1": distances(truth, firsts),
        "0-2": distances(truth, seconds),
        "1-2": {name: [pair[name][0] for pair in pairs] for name in setting.metrics},
    }


def seeded(spec: MethodSpec, number: int) -> MethodSpec:
    """The method under its ``number``-th seed; itself where it takes none."""
    if not takes_seed(spec):
        return spec
    return replace(spec, constants={**spec.constants, "seed": int(spec.constants.get("seed", 0)) + number})


def takes_seed(spec: MethodSpec) -> bool:
    """Return whether a constant of the method is called ``seed``."""
    return "seed" in inspect.signature(METHODS.get(spec.leaf)).parameters


def _scores(
    label: str, objective: str, distances: Mapping[str, Sequence[Measurement]], mask: Hole, row: Plain, parameters: Plain
) -> Iterator[Score]:
    """A row for each sub-metric; ``details`` hold the finite values alone, one a seed."""
    for name, values in distances.items():
        mean = engine.mean_over_masks(values)
        finite = [value.value for value in values if value.value is not None and math.isfinite(value.value)]
        told = {"values": finite, "hidden": float(mask.mean())}
        yield score_of(parameters, row, metric_of(objective, name), replace(mean, details=told), method=label)


if TYPE_CHECKING:
    import altair
else:
    altair = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

# The paper's Fig. 3f.
FILL_SEEDS = "fill_seeds"
EXPERIMENTS = ("seeds", FILL_SEEDS, "mask_draws", "objectives", "images", "k")
# Names of before -> those that say what is varied.
RENAMED = {"masks": "mask_draws"}
# As many as in the paper's appendix A.
SEEDS = 3
# Usual number of seeds of one picture; the paper has 100.
FIGURE_SEEDS = 20
Found = Mapping[tuple[str, str], Sequence[Score]]
# Measures first methods under settings on a dataset; `step.inpaint_again_all` with the rest filled in.
Measure = Callable[[Dataset, Sequence[First], Sequence[Setting]], Found]
# Dots in a row of a figure; of more values every n-th is drawn.
_MOST_DOTS = 60


class Spread(NamedTuple):
    """One row of an experiment."""

    label: str
    values: tuple[float, ...]
    told: str = ""
    """Further facts in words."""

    @property
    def mean(self) -> float | None:
        """Mean of the values."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """Standard deviation, ddof 1; None for fewer than two values."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


@dataclass(frozen=True)
class Experiment:
    """Experiment: what was varied, and the values of each row."""

    name: str
    title: str
    told: str
    """Meaning of one value, and the paper's figure."""
    submetric: str
    rows: tuple[Spread, ...]


def run(name: str, measure: Measure, dataset: Dataset, firsts: Sequence[First], base: Setting, submetric: str) -> Experiment:
    """One of ``EXPERIMENTS`` that looks at many pictures or masks; ``seed_figures`` has those of one picture under seeds.

    Raises:
        InputError: no value at all, masks that hide nothing, or one item alone where several are needed.
    """
    if base.patches is not None and base.patches.interval[1] == 0:
        raise InputError("second masks of ratio 0 hide nothing, so that there is nothing to inpaint again; use a larger --ratio")
    of_name = {"seeds": seeds, "mask_draws": mask_draws, "objectives": objectives, "images": images, "k": k}[name]
    experiment = of_name(measure, dataset, firsts, base, submetric)
    if not any(row.values for row in experiment.rows):
        words = f"{experiment.title}: {submetric.upper()}"
        raise InputError(f"{words} has no finite value on any item; is there anything that is hidden?")
    return experiment


def seeds(measure: Measure, dataset: Dataset, firsts: Sequence[First], base: Setting, submetric: str) -> Experiment:
    """Final scores of each method under three seeds, of the second masks and of F2 where it has one.

    The paper states a deviation of at most 0.0003.
    """
    first_seed = (base.patches or Patches()).seed
    settings = [
        replace(with_patches(base, seed=first_seed + number), second=seeded(base.second, number)) for number in range(SEEDS)
    ]
    found = measure(dataset, firsts, settings)
    rows = tuple(
        Spread(first.label, tuple(_final(found[first.label, setting.key], submetric) for setting in settings)) for first in firsts
    )
    both = " and of F2" if takes_seed(base.second) else ""
    told = f"A value: D over all items under one seed of the second masks{both} (appendix A: at most 0.0003 over three seeds)."
    return Experiment("seeds", f"{SEEDS} seeds of second masks{both}", told, submetric, rows)


def mask_draws(measure: Measure, dataset: Dataset, firsts: Sequence[First], base: Setting, submetric: str) -> Experiment:  # noqa: ARG001 - as its siblings
    """The truth inpainted under many normal masks and under many patch masks, against itself; F2 has one seed."""
    most = min(base.masks, len(dataset.items) - 1)
    if most < 1:
        raise InputError(f"{dataset.name!r} has one item: there are no first holes of others to serve as normal masks")
    again = replace(base, masks=most, objectives=("1-2",))
    normal = replace(again, normal=True, patches=None)
    settings = {"normal masks": normal, "patches": with_patches(again)}
    found = measure(dataset, [natural()], list(settings.values()))
    rows = tuple(_of_masks(label, found["natural", one.key], submetric) for label, one in settings.items())
    told = (
        "A value: the truth inpainted under one mask, against the truth, less the mean of its item. Normal masks are "
        "first holes of other items; the hidden shares differ and are told with each row. Fig. 3f "
        f"is another experiment, {FILL_SEEDS}: one mask of each kind, many seeds of F2."
    )
    return Experiment("mask_draws", "Draws of normal masks and of patches", told, submetric, rows)


def objectives(measure: Measure, dataset: Dataset, firsts: Sequence[First], base: Setting, submetric: str) -> Experiment:
    """The three objectives over items and methods (Fig. 4, there over seeds of one picture)."""
    found = measure(dataset, firsts, [base])
    rows = [
        Spread(objective, tuple(v for first in firsts for v in _values(found[first.label, base.key], objective, submetric)))
        for objective in base.objectives
    ]
    if len(firsts) > 1:
        one = str(dataset.items[0]["item_id"])
        of_one = {first.label: [row for row in found[first.label, base.key] if row.item_id == one] for first in firsts}
        rows += [
            Spread(f"{objective}, first item", tuple(v for kept in of_one.values() for v in _values(kept, objective, submetric)))
            for objective in base.objectives
        ]
    told = (
        "A value: one item of one first result. Fig. 4, one picture under many seeds of one first method, is drawn with --seeds. "
        "First methods that are one method under several seeds show the same in the rows of the first item."
    )
    return Experiment("objectives", "Objectives", told, submetric, tuple(rows))


def images(measure: Measure, dataset: Dataset, firsts: Sequence[First], base: Setting, submetric: str) -> Experiment:
    """D of single items in sets of growing size (Fig. 7a), with the standard error of their mean by source."""
    first = firsts[0]
    found = measure(dataset, [first], [base])
    metric, source_of = metric_of("1-2", submetric), frozen.sources_of(dataset)
    values = [
        (row.value, source_of[row.item_id])
        for row in found[first.label, base.key]
        if row.metric == metric and row.value is not None and math.isfinite(row.value)
    ]
    order = item_rng(0, "reinpaint.images", dataset.name).permutation(len(values))
    sizes = sorted({min(size, len(values)) for size in (10, 30, 100, 300, 1000, len(values))})
    rows = []
    for size in sizes:
        kept = [values[place] for place in order[:size]]
        over = summarise([value for value, _ in kept], clusters=[source for _, source in kept])
        error = over.reason if over.standard_error is None else f"standard error of the mean {over.standard_error:.4f}, by source"
        rows.append(Spread(f"{size} items", tuple(value for value, _ in kept), error or ""))
    return Experiment("images", f"Number of items, {first.label}", "A value: D of one item (Fig. 7a).", submetric, tuple(rows))


def k(measure: Measure, dataset: Dataset, firsts: Sequence[First], base: Setting, submetric: str) -> Experiment:
    """D of one first result from different numbers of second masks (Fig. 7b)."""
    first, most = firsts[0], base.masks
    only = replace(dataset, items=dataset.items[:1])
    setting = replace(with_patches(base), objectives=("1-2",))
    rows_found = measure(only, [first], [setting])[first.label, setting.key]
    single = [value for row in rows_found if row.metric == metric_of("1-2", submetric) for value in _singles(row)]
    rows = []
    for size in sorted({size for size in (1, 3, 10, 30, 100, 300, most) if size <= len(single)}):
        groups = [single[begin : begin + size] for begin in range(0, len(single) - size + 1, size)]
        rows.append(
            Spread(f"K {size}", tuple(statistics.fmean(group) for group in groups), f"{count(len(groups), 'set')} of masks")
        )
    told = "A value: D of the first item from one set of K second masks, no mask in two sets (Fig. 7b, one picture)."
    return Experiment("k", f"Number of second masks, {first.label}", told, submetric, tuple(rows))


def seed_figures(name: str, rows: Sequence[Score], base: Setting, submetrics: Sequence[str]) -> list[Experiment]:
    """Fig. 3f or Fig. 4 from the rows of ``under_seeds``, one for each sub-metric."""
    seeds = f"{base.masks} seeds"
    if name == FILL_SEEDS:
        labels: Sequence[str] = (NORMAL, PATCHES)
        told = f"A value: the picture inpainted under one mask and one seed of F2, against the picture (Fig. 3f). {seeds}."
        title = f"{seeds} of F2, one normal mask and one of patches"
    else:
        labels, title = OBJECTIVES, f"Objectives under {seeds} of the first method"
        told = f"A value: one seed of the first method (Fig. 4). {seeds}, one picture, one first and one second mask."
    figures = []
    for submetric in submetrics:
        metrics = {metric_of(objective, submetric) for objective in OBJECTIVES}
        of_label = {row.method: row for row in rows if row.metric in metrics}
        spreads = tuple(
            Spread(label, tuple(row.details["values"]), f"{row.details['hidden']:.0%} of the frame hidden")
            for label in labels
            if (row := of_label.get(label)) is not None
        )
        figures.append(Experiment(f"{name}_{submetric}", title, told, submetric, spreads))
    return figures


def measured_submetrics(rows: Sequence[Score]) -> tuple[list[str], str | None]:
    """Sub-metrics to show of rows of ``under_seeds``: LPIPS, the paper's, or where it has no value all others, and why."""
    known = [name for name in SUBMETRICS if any(row.value is not None and submetric_of(row.metric) == name for row in rows)]
    if "lpips" in known or all(submetric_of(row.metric) != "lpips" for row in rows):
        return (["lpips"] if "lpips" in known else known), None
    return known, next((row.reason for row in rows if submetric_of(row.metric) == "lpips" and row.reason), None)


def figure(experiment: Experiment) -> altair.ConcatChart:
    """The experiment: a dot for each value (of many, some), the mean with its deviation above."""
    marks = []
    styles = {
        row.label: MethodStyle(PALETTE[place % len(PALETTE)], MARKERS[0], DASHES[0]) for place, row in enumerate(experiment.rows)
    }
    for row in experiment.rows:
        shown = row.values[:: max(1, -(-len(row.values) // _MOST_DOTS))]
        words = f"{number(row.mean, 4)} ± {number(row.deviation, 4)}"
        told = f"{row.label}: {words}, n {len(row.values)}" + (f", {row.told}" if row.told else "")
        marks.append(
            Mark(row.mean, words, styles[row.label].colour, row.deviation, tuple((one, row.label) for one in shown), told)
        )
    panel = Panel(experiment.submetric.upper(), experiment.submetric.upper(), tuple(marks), bars=False)
    notes = [f"{row.label}: {row.told}." for row in experiment.rows if row.told]
    sentences = [f"{experiment.told} Whiskers: standard deviation.", *notes]
    return chart(title=experiment.title, sentences=sentences, rows=list(styles), panels=[panel], legend=styles)


def table(experiment: Experiment) -> tuple[list[str], list[list[str]]]:
    """Heads and lines for the console."""
    lines = [
        [row.label, number(row.mean, 4), number(row.deviation, 4), str(len(row.values)), row.told] for row in experiment.rows
    ]
    return ["", "mean", "standard deviation", "values", ""], lines


def write(folder: Path, experiment: Experiment) -> Path:
    """The figure and every value; the path of the figure."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = ([experiment.name, experiment.submetric, row.label, value] for row in experiment.rows for value in row.values)
    table = csv_bytes(["experiment", "submetric", "row", "value"], rows)
    write_atomically(folder / f"stability_{experiment.name}.csv", table)
    return save_chart(figure(experiment), folder / f"stability_{experiment.name}.svg")


def _values(rows: Sequence[Score], objective: str, submetric: str) -> list[float]:
    metric = metric_of(objective, submetric)
    return [row.value for row in rows if row.metric == metric and row.value is not None and math.isfinite(row.value)]


def _final(rows: Sequence[Score], submetric: str) -> float:
    values = _values(rows, "1-2", submetric)
    if not values:
        reason = next((row.reason for row in rows if row.metric == metric_of("1-2", submetric) and row.reason), "no finite value")
        raise InputError(f"D with {submetric.upper()} has no value on any item: {reason}")
    return statistics.fmean(values)


def _singles(row: Score) -> list[float]:
    return [value for value in row.details.get("values", ()) if value is not None]


def _of_masks(label: str, rows: Sequence[Score], submetric: str) -> Spread:
    """Values of single masks less the mean of their item, around the mean of all: pictures differ more than masks do."""
    singles = [_singles(row) for row in rows if row.metric == metric_of("1-2", submetric)]
    means = [statistics.fmean(single) for single in singles if single]
    middle = statistics.fmean(means) if means else 0.0
    values = tuple(value - statistics.fmean(single) + middle for single in singles if single for value in single)
    areas = [float(row.details["second_area"]) for row in rows if row.details.get("second_area") is not None]
    return Spread(label, values, f"{statistics.fmean(areas):.0%} of the frame hidden" if areas else "")
