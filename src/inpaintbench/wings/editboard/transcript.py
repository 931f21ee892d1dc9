"""The transcript of EditBoard, AAAI 2025: for each model the mean of every metric in every task, with what it is a mean of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import metric_label, place_label
from inpaintbench.eval.values.permutation import BOLD, like_best, paired, told_from
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.types import EDIT_TASKS, Plain, Score

FOOT = f"Bold: the best mean of all models by the metric of the column{BOLD.removeprefix('Bold: the best mean of its column')}"
# Of edits whose list names no task.
UNSAID = "no task"
# The only task that semantic score is defined for.
OBJECT_TASK = "SOSA"
TASKS = {
    "SOSA": "single object, single attribute",
    "SE": "style",
    "SOMA": "single object, several attributes",
    "MOA": "several objects and attributes",
}


class Told(NamedTuple):
    """Facts of an edit that its scores do not hold."""

    task: str | None
    source: str
    """Identity of the original, by which intervals resample."""


class Cell(NamedTuple):
    """One number of the transcript."""

    mean: float | None
    n: int
    """Edits in the mean."""
    total: int
    """Edits of the model in the task."""
    low: float | None
    high: float | None
    """End of the 95 % interval over originals, as ``low`` is the other."""
    applies: int | None
    """Edits of FF-alpha and FF-beta that this one of both is meant for, by the valid share of their original."""
    applies_mean: float | None
    """The mean over these."""
    reason: str | None
    """Reason why there is no mean, or why edits are not in it; None when all are."""
    n_sources: int = 0
    """Originals of the edits in the mean."""


class Gap(NamedTuple):
    """Values of one model that are not there, for one reason."""

    model: str
    reason: str
    metrics: tuple[str, ...]
    edits: tuple[str, ...]
    """Ids."""


@dataclass(frozen=True)
class Transcript:
    """Means of every model, task and metric, with what is missing."""

    title: str
    protocol: Protocol
    fingerprint: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    """Tasks that have edits, in the order of ``EDIT_TASKS``, others behind them, ``UNSAID`` last."""
    metrics: tuple[str, ...]
    """Metrics in the order of the protocol."""
    cells: Mapping[tuple[str, str, str], Cell]
    """Cells by model, task and metric; every combination is there."""
    missing: tuple[Gap, ...]
    """Values that are not there and could be."""
    notes: tuple[str, ...] = ()
    settings: Plain = field(default_factory=dict)
    references: tuple[str, ...] = ()
    """Models that do not compete: never the best, and no scale of a figure is theirs."""
    regions: Mapping[str, str] = field(default_factory=dict)
    """Metric -> the region it is measured in."""
    best: Mapping[tuple[str, str], Collection[str]] = field(default_factory=dict)
    """(task, metric) -> models that stand out as the best, see ``like_best``; nobody of whose edits the originals are too few."""

    @property
    def contenders(self) -> tuple[str, ...]:
        """The models that compete."""
        return tuple(model for model in self.models if model not in self.references)

    def named(self, model: str) -> str:
        """A model as its heading says."""
        return f"{model} (reference)" if model in self.references else model

    def cell(self, model: str, task: str, metric: str) -> Cell:
        """One number."""
        return self.cells[model, task, metric]


def transcript_of(
    scores: Sequence[Score],
    told: Mapping[tuple[str, str], Told],
    *,
    title: str,
    notes: Sequence[str] = (),
    settings: Plain | None = None,
    references: Collection[str] = (),
) -> Transcript:
    """Means of scores under one protocol.

    FF-alpha is averaged over the edits that it applies to, the others have no value in it. FF-beta is averaged over all edits,
    under ``editboard/paper`` over those that FF-alpha does not apply to. Semantic score is averaged in SOSA alone.

    Args:
        scores: of edits, in any order.
        told: (model, item) -> task and original.
        title: what was scored.
        notes: sentences for whoever reads it.
        settings: what the scores were made with.
        references: labels of reference methods, which stand last; others than those of the scores do nothing.

    Raises:
        InputError: no scores, or of several protocols or fingerprints, or of another version of their protocol.
    """
    kinds = sorted({(row.protocol, row.fingerprint) for row in scores})
    if len(kinds) != 1:
        raise InputError(
            "there are no scores to make a transcript of" if not kinds else
            f"scores of {' and '.join(f'{name} ({mark})' for name, mark in kinds)} cannot stand in one transcript"
        )  # fmt: skip
    protocol: Protocol = PROTOCOLS.get(kinds[0][0])
    if kinds[0][1].split("+")[0] != protocol.fingerprint:
        raise InputError(f"these scores are of another version of {protocol.name} ({kinds[0][1]}); score again")
    rows = sorted(scores, key=lambda row: (row.method, row.item_id, row.metric))
    models = tuple(sorted(dict.fromkeys(row.method for row in rows), key=lambda model: model in references))
    found = {(row.method, row.item_id): told[row.method, row.item_id].task or UNSAID for row in rows}
    own = sorted(set(found.values()) - {*EDIT_TASKS, UNSAID})
    tasks = tuple(task for task in (*EDIT_TASKS, *own, UNSAID) if task in found.values())
    metrics = tuple(name for name in protocol.metrics if any(row.metric == name for row in rows))
    grouped: dict[tuple[str, str, str], list[Score]] = {}
    for row in rows:
        grouped.setdefault((row.method, found[row.method, row.item_id], row.metric), []).append(row)
    keys = [(model, task, metric) for model in models for task in tasks for metric in metrics]
    cells = {key: _cell(grouped.get(key, []), key, told, protocol) for key in keys}
    contenders = [model for model in models if model not in references]
    # Notes on where all metrics are measured and which was declared first, which heads of tables need not repeat.
    heads_notes = [f"Every number is {place_label(region)}." for region in sorted({row.region for row in rows})]
    heads_notes.append(
        f"{metric_label(protocol.primary[0])} is the primary quantity of {protocol.name}; all others are exploratory."
    )
    return Transcript(
        title, protocol, kinds[0][1], models, tasks, metrics,
        cells, _missing(rows, found),
        (*heads_notes, *_diagnostic_notes(protocol, metrics), *notes), settings or {},
        tuple(model for model in models if model in references), {row.metric: row.region for row in rows},
        {
            (task, metric): _best(
                {model: cells[model, task, metric] for model in contenders},
                {model: _meant(grouped.get((model, task, metric), []), metric, protocol) for model in contenders}, told, metric,
            )
            if not protocol.gates(metric) else frozenset()
            for task in tasks for metric in metrics
        },
    )  # fmt: skip


def _cell(rows: Sequence[Score], key: tuple[str, str, str], told: Mapping[tuple[str, str], Told], protocol: Protocol) -> Cell:
    _, task, metric = key
    if not rows:
        return Cell(None, 0, 0, None, None, None, None, "the model has no edit in this task")
    if metric == "semantic_score" and task not in (OBJECT_TASK, UNSAID):
        return Cell(None, 0, len(rows), None, None, None, None, f"it is defined for {OBJECT_TASK} alone")
    meant = [row for row in rows if row.details.get("applies") == metric]
    chosen = _meant(rows, metric, protocol)
    sources = [told[row.method, row.item_id].source for row in chosen]
    summary = summarise([row.value for row in chosen], clusters=sources, bounds=METRICS.get(metric).bounds)
    both = metric in ("ff_alpha", "ff_beta")
    values = [row.value for row in meant if row.value is not None]
    # How many edits have no value, and mostly why.
    left_out = None
    if summary.n < len(rows):
        reasons = [row.reason or "no value" for row in chosen if row.value is None]
        if len(chosen) < len(rows):
            reasons += ["FF-alpha applies"] * (len(rows) - len(chosen))
        most = max(dict.fromkeys(reasons), key=reasons.count, default="infinite")
        left_out = f"{len(rows) - summary.n} of {len(rows)} edits have no {metric_label(metric)} here, mostly: {most}"
    return Cell(
        summary.mean, summary.n, len(rows), summary.interval_low, summary.interval_high, len(meant) if both else None,
        sum(values) / len(values) if values else None, left_out, summary.n_clusters,
    )  # fmt: skip


def _meant(rows: Sequence[Score], metric: str, protocol: Protocol) -> list[Score]:
    """The edits that a mean is over."""
    applied = metric == "ff_beta" and protocol.name == "editboard/paper"
    return [row for row in rows if not applied or row.details.get("applies") == metric]


def _best(
    cells: Mapping[str, Cell], rows: Mapping[str, Sequence[Score]], told: Mapping[tuple[str, str], Told], metric: str
) -> set[str]:
    upwards = METRICS.get(metric).higher_is_better
    levels = {model: None if too_few(cell.n_sources) else cell.mean for model, cell in cells.items()}
    values = {model: {row.item_id: row.value for row in of_model} for model, of_model in rows.items()}
    sources = {row.item_id: told[row.method, row.item_id].source for of_model in rows.values() for row in of_model}

    def told_worse(best: str, others: Sequence[str]) -> set[str]:
        tests = paired(
            {model: [values[model].get(item) for item in sources] for model in (best, *others)}, list(sources.values()),
            higher_is_better=upwards, seed=0, pairs=[(best, other) for other in others],
        )  # fmt: skip
        return told_from(tests, best)

    return like_best(levels, told_worse, higher_is_better=upwards)


def _diagnostic_notes(protocol: Protocol, metrics: Sequence[str]) -> list[str]:
    """Sentences on metrics that damage can better."""
    names = [metric for metric in metrics if METRICS.get(metric).diagnostic]
    where = "their order is as it was published" if protocol.follows else "none of them is bold"
    return [f"Diagnostic, since damage can better them: {', '.join(map(metric_label, names))}; {where}."] if names else []


def _missing(rows: Sequence[Score], tasks: Mapping[tuple[str, str], str]) -> tuple[Gap, ...]:
    edits: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        undefined = row.metric == "semantic_score" and tasks[row.method, row.item_id] not in (OBJECT_TASK, UNSAID)
        if row.value is None and not undefined:
            edits.setdefault((row.method, row.reason or "no reason given", row.metric), []).append(row.item_id)
    alike: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (model, reason, metric), items in edits.items():
        alike.setdefault((model, reason, tuple(items)), []).append(metric)
    return tuple(Gap(model, reason, tuple(metrics), items) for (model, reason, items), metrics in alike.items())


def details_of(row: Score) -> dict[str, Any]:
    """Details of one edit and metric, sorted by name, with the reason for a missing value."""
    told = {**row.details, **({} if row.reason is None else {"reason": row.reason})}
    return dict(sorted(told.items()))  # those of an earlier run come sorted
