"""Answers of people and values of metrics: read from tables, or from the scores of a run.

People say which of two results is better, or which of several is the best. Tables hold single answers; the scores
``human_preference`` of a run hold counts without raters. A metric has one value for each item and method.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.quantity import Quantity, usual_quantities
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.table_files import Row, read_rows
from inpaintbench.types import Score, SliceScore

# The metric under which resolved answers stand among the scores of a run.
PREFERENCE = "human_preference"
# (item, method) -> value, which may be infinite.
Value = Mapping[tuple[str, str], float]


def values_of(
    scores: Iterable[Score], *, compared: Iterable[SliceScore] = ()
) -> tuple[dict[str, dict[tuple[str, str], float]], dict[str, str]]:
    """Name of each metric with its region -> its values, and why such a one has none, where it has none; see ``measured_of``."""
    whole = {(one.method, one.metric, one.region): one for one in compared if one.slice == ALL_ITEMS}
    values: dict[str, dict[tuple[str, str], float]] = {}
    reasons: dict[str, str] = {}
    for row in scores:
        if row.metric == PREFERENCE:
            continue
        name = measure_name(row.metric, row.region)
        column = values.setdefault(name, {})
        if row.value is not None:
            column[row.item_id, row.method] = row.value
        elif row.features is not None:
            of_set = whole.get((row.method, row.metric, row.region))
            if of_set is None or of_set.value is None:
                reasons.setdefault(name, (of_set and of_set.reason) or "it compares sets of items, and those were not compared")
            else:
                column[row.item_id, row.method] = of_set.value
        else:
            reasons.setdefault(name, row.reason or "no reason given")
    return values, reasons


def digests(values: Value) -> dict[str, str]:
    """Method -> a hash of its values, which tells whether they are still the ones that were compared."""
    of_method: dict[str, list[tuple[str, str]]] = {}
    for (item, method), value in sorted(values.items()):
        of_method.setdefault(method, []).append((item, repr(float(value))))
    return {method: sha256(repr(told).encode()).hexdigest()[:16] for method, told in of_method.items()}


def measure_name(metric: str, region: str) -> str:
    """``psnr/hole``, ``psnr/frame``."""
    return f"{metric}/{region}"


TIE = "tie"
# Spellings of a choice in tables of others, in small letters.
_TIES = ("tie", "hard to distinguish", "hard_to_distinguish")
_BOTH_BAD = ("both_bad", "both bad")
_SIDES = (("left", "a"), ("right", "b"))
# Purposes of a task whose answers are no votes -> what they are counted as.
_PURPOSES = {"gold": "answers to tasks whose answer was known", "repeat": "answers to tasks that were asked again"}


# Spellings of `higher_is_better`, in small letters.
_YES, _NO = ("true", "1", "yes", "higher"), ("false", "0", "no", "lower")


@dataclass(frozen=True)
class Ballot:
    """One answer, or several equal ones of raters that nobody tells apart."""

    dimension: str
    """Name of the question."""
    item: str
    source: str
    """Source of the item; answers about one source resemble each other."""
    candidates: tuple[str, ...]
    """The methods that were shown, from left to right."""
    choice: str
    """One of them, or ``tie`` where two were compared."""
    rater: str | None
    """None where raters are unknown."""
    count: int = 1


@dataclass(frozen=True)
class Answers:
    """Answers that count, and what was left out."""

    ballots: tuple[Ballot, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> answers."""


def without(answers: Answers, methods: Collection[str]) -> Answers:
    """The answers that show none of ``methods``; the others are left out and counted."""
    kept = tuple(ballot for ballot in answers.ballots if not set(methods).intersection(ballot.candidates))
    lost = sum(ballot.count for ballot in answers.ballots) - sum(one.count for one in kept)
    why = {"answers about a reference method, which does not compete": lost} if lost else {}
    return Answers(kept, {**answers.left_out, **why})


def read_answers(path: Path, *, sources: Mapping[str, str] | None = None) -> Answers:
    """Answers from a ``.csv``, ``.jsonl`` or ``.parquet`` file, one a line.

    Columns: ``annotator`` (or ``rater_id``, ``rater``); ``group`` (or ``item``, ``subject_id``); ``dimension`` (or ``question``);
    ``left`` and ``right``, or a list of methods as ``shown`` or ``candidates``; ``choice``: a method, ``left`` or ``A``,
    ``right`` or ``B``, ``tie`` or ``hard to distinguish``, ``both_bad``; and, where there is one, ``source`` (or ``cluster``).
    That takes tables of EditBoard's kind and those of ``inpaintbench annotate export``. Answers to gold tasks, repeats, a
    rater's second answer to the same task and "both bad" are left out and counted.

    Args:
        path: of the file.
        sources: item -> its source; wins over the file's column. Without either each item is its own source.

    Raises:
        InputError: not readable, a line without what is needed or with another choice, or no answer at all.
    """
    ballots: list[Ballot] = []
    seen: set[tuple[object, ...]] = set()
    left_out = Counter[str]()
    for row in read_rows(path):
        if "left" not in row.fields and "candidates" in row.fields and len(row.names("candidates")) < 2:
            left_out["answers about one result alone"] += 1
            continue
        ballot = _ballot(row, sources or {})
        task = (ballot.rater, ballot.dimension, ballot.item, tuple(sorted(ballot.candidates)))
        if why := _PURPOSES.get(row.first("purpose") or "vote"):
            left_out[why] += 1
            continue  # the rater's answer to this task is still to come
        if task in seen:
            left_out["second answers of a rater to the same task"] += 1
        elif ballot.choice in _BOTH_BAD:
            left_out["answers that both are bad"] += 1
        else:
            ballots.append(ballot)
        seen.add(task)
    if not ballots:
        raise InputError(f"{str(path)!r} holds no answers about two or more methods")
    return Answers(tuple(ballots), dict(left_out))


def _ballot(row: Row, sources: Mapping[str, str]) -> Ballot:
    left, right = row.first("left"), row.first("right")
    shown = (left, right) if left and right else row.names("shown") or row.names("candidates")
    if len(shown) < 2 or len(set(shown)) < len(shown):
        raise InputError(
            f"{row.where} shows the methods {', '.join(shown) or 'none'}; it takes two different ones or more, as left and right "
            "or as shown"
        )
    item = row.needed("item", "subject_id", "group")
    return Ballot(
        dimension=row.needed("dimension", "question"),
        item=item,
        source=sources.get(item) or row.first("source", "cluster") or item,
        candidates=shown,
        choice=_choice(row, shown),
        rater=row.needed("rater_id", "annotator", "rater"),
    )


def _choice(row: Row, shown: Sequence[str]) -> str:
    told = row.needed("choice")
    if told in shown:
        return told
    plain = told.lower()
    if len(shown) == 2:
        for name, words in zip(shown, _SIDES, strict=True):
            if plain in words:
                return name
        if plain in _TIES:
            return TIE
        if plain in _BOTH_BAD:
            return plain
    choices = [*shown, "left", "right", TIE, "both_bad"] if len(shown) == 2 else shown
    raise InputError(f"{row.where}: choice is {told!r}, choose from {', '.join(choices)}")


def answers_of_scores(scores: Iterable[Score], *, sources: Mapping[str, str]) -> Answers:
    """Answers as they stand among the scores of a run, after ``inpaintbench annotate resolve``: counts, without raters.

    Args:
        scores: of a run; those of other metrics are passed over.
        sources: item -> its source.

    Raises:
        InputError: no score of ``human_preference`` holds votes on two or more methods.
    """
    rows = [row for row in scores if row.metric == PREFERENCE]
    ballots: list[Ballot] = []
    left_out = Counter[str]()
    for row in rows:
        source, dimension = sources.get(row.item_id, row.item_id), row.protocol.rpartition("/")[2]
        for other, of in row.details.get("against", {}).items():
            if row.method < other:  # both methods of a pair tell of the same votes
                shown = (row.method, other)
                told = {row.method: of["wins"], other: of["losses"], TIE: of["ties"]}
                ballots += [
                    Ballot(dimension, row.item_id, source, shown, choice, None, count) for choice, count in told.items() if count
                ]
                left_out["answers that both are bad"] += of["both_bad"]
    # Answers to which of several is best: every method of a row of results tells how often it was chosen.
    chosen: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows:
        if row.details.get("of"):
            chosen.setdefault((row.protocol.rpartition("/")[2], row.item_id), {})[row.method] = row.details["chosen"]
    for (dimension, item), of_methods in chosen.items():
        source, several = sources.get(item, item), tuple(sorted(of_methods))
        ballots += [Ballot(dimension, item, source, several, one, None, count) for one, count in of_methods.items() if count]
    if not ballots:
        raise InputError(
            f"no score of {PREFERENCE!r} holds votes on two or more methods; run `inpaintbench annotate resolve`, or give a "
            "table of answers"
        )
    return Answers(tuple(ballots), {why: count for why, count in left_out.items() if count})


@dataclass(frozen=True)
class Measured:
    """The values of all metrics, each called with its region, ``psnr/hole``; without where a table states none."""

    values: Mapping[str, Value]
    higher_is_better: Mapping[str, bool]
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    """Metrics without any value or direction -> why."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Item -> its source, where a table states it."""
    references: frozenset[str] = frozenset()
    """Methods that a table states to be references, which do not compete."""


def read_scores(path: Path, *, better: Mapping[str, bool] | None = None) -> Measured:
    """Scores from a ``.csv``, ``.jsonl`` or ``.parquet`` file with the columns ``item``, ``method``, ``metric`` and ``value``.

    ``region``, ``higher_is_better``, ``source`` and ``reference`` may be there too, as in ``scores.csv`` of a report; the columns
    of a run's own table (``item_id``) are taken as well. An empty value is a missing one.

    Args:
        path: of the file.
        better: metric -> whether higher is better; wins over the file and the metric's own direction.

    Raises:
        InputError: not readable, a line without what is needed, two values for one item and method, or a metric whose
            direction nobody says.
    """
    values: dict[str, dict[tuple[str, str], float]] = {}
    told = {}
    sources: dict[str, str] = {}
    references: set[str] = set()
    for row in read_rows(path):
        region = row.first("region")
        name = measure_name(row.needed("metric"), region) if region else row.needed("metric")
        key = (row.needed("item", "item_id", "group"), row.needed("method", "model"))
        column = values.setdefault(name, {})
        if key in column:
            raise InputError(f"{row.where}: a second value of {name} for method {key[1]!r} on item {key[0]!r}")
        if (number := row.first("value")) is not None:
            try:
                column[key] = float(number)
            except ValueError as error:
                raise InputError(f"{row.where}: value is {number!r}, not a number") from error
            if math.isnan(column[key]):
                raise InputError(f"{row.where}: value is NaN; leave a missing value empty")
        if (stated := row.first("higher_is_better")) is not None:
            told[name] = _truth(row, "higher_is_better", stated)
        if source := row.first("source", "cluster"):
            sources[key[0]] = source
        if (floor := row.first("reference")) and _truth(row, "reference", floor):
            references.add(key[1])
    if not any(values.values()):
        raise InputError(f"{str(path)!r} holds no scores")
    unmeasured = {name: "no item has a value" for name, of in values.items() if not of}
    found = _measured(values, {**told, **(better or {})}, unmeasured)
    return replace(found, sources=sources, references=frozenset(references))


def measured_of(
    scores: Iterable[Score], *, compared: Iterable[SliceScore] = (), better: Mapping[str, bool] | None = None
) -> Measured:
    """Scores from the rows of a run; what people preferred is left out.

    Args:
        scores: of items.
        compared: of metrics that compare sets of items: the value of all items stands for each that has a share in it, so that
            such a metric prefers the same method on all.
        better: metric -> whether higher is better; wins over the metric's own direction.
    """
    values, reasons = values_of(scores, compared=compared)
    return _measured(values, better or {}, {name: reasons[name] for name, of in values.items() if not of})


def full_name(told: str, names: Collection[str]) -> str:
    """A name among ``names`` that is called by its metric alone, where there is one in a single region; else what was told."""
    regions = [name for name in names if name.partition("/")[0] == told]
    return regions[0] if len(regions) == 1 and told not in names else told


def in_regions(
    measured: Measured, protocol: Protocol | None, *, regions: Collection[str] = (), asked: Collection[str] = ()
) -> Measured:
    """Each metric once, in its usual region (``report.quantity.usual_quantities``); every further one would cost all tests.

    Args:
        measured: everything.
        protocol: of the scores; None for those of others.
        regions: metrics that are measured in these are taken there instead.
        asked: names that are taken too, such as ``psnr/frame``.

    Raises:
        UnknownNameError: nothing is measured in one of the regions.
    """
    of_region = {name.partition("/")[2] for name in (*measured.values, *measured.unmeasured)} - {""}
    for region in regions:
        if region not in of_region:
            raise UnknownNameError(unknown_name("region", region, sorted(of_region)))
    usual: set[str] = set()
    for names in (measured.values, measured.unmeasured):
        quantities = [Quantity(metric, region) for metric, _, region in (name.partition("/") for name in names) if region]
        chosen = [quantity for quantity in quantities if quantity.region in regions]
        there = {quantity.metric for quantity in chosen}
        chosen += [quantity for quantity in usual_quantities(quantities, protocol) if quantity.metric not in there]
        usual |= {measure_name(*quantity) for quantity in chosen} | {name for name in names if "/" not in name}
    # What cannot be measured in its usual region alone is told; a metric that can in another one is taken there.
    known = {name.partition("/")[0] for name in usual & set(measured.values)}
    kept = {name for name in usual if name in measured.values or name.partition("/")[0] not in known} | set(asked)
    return replace(
        measured,
        values={name: of for name, of in measured.values.items() if name in kept},
        higher_is_better={name: higher for name, higher in measured.higher_is_better.items() if name in kept},
        unmeasured={name: why for name, why in measured.unmeasured.items() if name in kept},
    )


def _measured(
    values: Mapping[str, Mapping[tuple[str, str], float]], better: Mapping[str, bool], unmeasured: Mapping[str, str]
) -> Measured:
    lost, directions = dict(unmeasured), {}
    for name, column in values.items():
        metric = name.partition("/")[0]
        leaf = METRICS.get(metric) if metric in METRICS else None
        if not column:
            continue
        if name in better or metric in better:
            directions[name] = better.get(name, better.get(metric, True))
        elif leaf is None:
            raise InputError(f"nobody says whether more of {name!r} is better; add --better {name}=higher or {name}=lower")
        elif not leaf.ranked:
            lost[name] = "neither more nor less of it is better"
        else:
            directions[name] = bool(leaf.higher_is_better)
    return Measured({name: values[name] for name in directions}, directions, lost)


def _truth(row: Row, column: str, stated: str) -> bool:
    if stated.lower() not in (*_YES, *_NO):
        raise InputError(f"{row.where}: {column} is {stated!r}, choose true or false")
    return stated.lower() in _YES
