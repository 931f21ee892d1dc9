"""The printed rows of a benchmark with measured ones beside them, and which of its columns bear that comparison.

A column bears it where the same files would give the printed number here, and where data, sizes, frames, masks and colours are
those of the paper. Every other one is marked with what differs, and nobody is best in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.measured import unmeasured_quantities
from inpaintbench.eval.results.quantity import Quantity, metric_leaf
from inpaintbench.eval.results.tables import Results
from inpaintbench.executors.base import Rejection, is_note
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.words import DASH, count, number, percent, span
from inpaintbench.recipes import RECIPES
from inpaintbench.steps import PAIR
from inpaintbench.types import Attribute, Dataset
from inpaintbench.wings.named.definition import Named, PrintedColumn
from inpaintbench.workspace import Workspace

NOT_MEASURED = "not measured"
_ARROWS = {"higher": "↑", "lower": "↓"}
_NUMBER = re.compile(r"[-−]?\d+(\.\d+)?")
# Mean share of a frame that is hole, above which masks seem to be turned round: no benchmark here has as much.
_MOST_HOLE = 0.5
# What an option is where neither a benchmark nor its recipe says.
_UNSAID = {"mask_values": "white"}
# Options of a build, in words.
_WORDS = {
    "size": "measured at {}", "fit": "frames fitted by {}", "resample": "frames scaled by {}", "frames": "the first {} frames",
    "dilations": "masks grown {} times", "mask_values": "masks read as {}",
}  # fmt: skip


@dataclass(frozen=True)
class Films:
    """What is known of the films of a workspace besides their frozen items."""

    sizes: tuple[str, ...]
    """``1920x1080``, of films as they came, each once."""
    colour_ranges: tuple[str, ...]
    refused: Mapping[str, str]
    """Name of a film -> why nothing of it is in the dataset."""

    @classmethod
    def of(cls, workspace: Workspace) -> Films:
        """Those of the sources of a workspace."""
        facts: dict[str, dict[str, Any]] = {}
        for row in workspace.table("attributes", Attribute, step="probe"):
            facts.setdefault(row.subject_id, {})[row.name] = row.value
        sizes = {f"{int(of['probe.width'])}x{int(of['probe.height'])}" for of in facts.values() if of.get("probe.width")}
        said = {str(of["probe.colour_range"]) for of in facts.values() if "probe.colour_range" in of}
        ranges = {"limited" if one == "unknown" else one for one in said}  # untagged films are read as limited
        # Slices without items are rejections of the step that pairs.
        rows = [row for row in workspace.table("rejected", Rejection) if not is_note(row.step) and row.step != PAIR]
        return cls(tuple(sorted(sizes)), tuple(sorted(ranges)), {row.name: row.reason for row in rows})


def differences_of_data(
    named: Named,
    dataset: Dataset,
    films: Films,
    *,
    given: Mapping[str, Any],
    stated: Mapping[str, Any],
    slices: Sequence[str] = (),
) -> list[str]:
    """What differs from the paper's data or from how they are prepared, a clause each; it holds of every column.

    Args:
        named: the benchmark.
        dataset: that was built of its data.
        films: of the workspace that it was built in.
        given: options that it was built with.
        stated: options that the paper's data are built with.
        slices: names of the only parts that methods were run on; () = all.
    """
    found, usual = [], RECIPES.get(named.recipe)()
    for option, words in _WORDS.items():
        wanted = _text(stated.get(option, getattr(usual, option, _UNSAID.get(option))))
        built = _text(dataset.recipe.get(option, given.get(option, wanted)))
        if built != wanted:
            found.append(f"{words.format(built or 'all')} in the place of {wanted or 'all'}")
    clips = {row["clip_id"] for row in dataset.items}
    expected = named.expected
    if expected.clips is None:
        found.append("how many clips the paper measures is not stated")
    elif len(clips) != expected.clips:
        found.append(f"{count(len(clips), 'clip')} in the place of {expected.clips}")
    elif films.refused:
        found.append(f"{count(len(films.refused), 'film')} refused, such as {next(iter(films.refused))}")
    if expected.edits is not None and len(dataset.items) != expected.edits:
        found.append(f"{count(len(dataset.items), 'edit')} in the place of {expected.edits}")
    frames = sum({row["clip_id"]: int(row["frames"]) for row in dataset.items}.values())
    whole = len(clips) == expected.clips and not dataset.recipe.get("frames")  # else that is what differs, and is said
    if expected.all_frames is not None and whole and frames != expected.all_frames:
        found.append(f"{count(frames, 'frame')} of all clips in the place of {expected.all_frames}")
    lengths = sorted({int(row["frames"]) for row in dataset.items})
    if expected.frames is not None and lengths and lengths != [expected.frames]:
        found.append(f"clips of {span(str(lengths[0]), str(lengths[-1]))} frames in the place of {expected.frames}")
    if expected.size is not None and not set(films.sizes) <= set(expected.size.split(" or ")):
        found.append(f"films of {', '.join(films.sizes[:3])} in the place of {expected.size}")
    if expected.colour_range and films.colour_ranges and films.colour_ranges != (expected.colour_range,):
        found.append(f"colours of {' and '.join(films.colour_ranges)} range in the place of {expected.colour_range}")
    covered = [row["attributes"].get("hole.hole_fraction") for row in dataset.items]
    shares = [float(share) for share in covered if share is not None]
    if shares and fmean(shares) > _MOST_HOLE:
        found.append(
            f"masks cover {percent(fmean(shares), 0)} of the frames, as if what is hole were known and the other way round"
        )
    if slices:
        found.append(f"only items of {' and '.join(slices)}")
    return found


def _text(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value)


def differences_of_columns(named: Named, results: Mapping[str, Results], unmeasured: Mapping[str, str]) -> dict[str, str]:
    """Label of a column -> what differs in how it is measured, a clause; "" where nothing does.

    Args:
        named: the benchmark.
        results: protocol -> scores.
        unmeasured: protocol -> why there are none.
    """
    lacking = {protocol: unmeasured_quantities(of.scores) for protocol, of in results.items()}

    def of_column(column: PrintedColumn) -> str:
        if not column.metric:
            return f"{NOT_MEASURED} here, {column.why}"
        of = results.get(column.protocol)
        if of is None:
            return f"{NOT_MEASURED}: {unmeasured.get(column.protocol, 'nothing was scored')}"
        if reason := lacking[column.protocol].get(Quantity(column.metric, column.region)):
            return f"{NOT_MEASURED}: {reason}"
        if not column.same:
            return column.why
        own = PROTOCOLS.get(column.protocol).fingerprint
        return "" if of.fingerprint == own else "constants or parameters of networks are not those of the protocol"

    return {column.label: of_column(column) for column in named.column}


class _Line(NamedTuple):
    """A row of the table before it is drawn."""

    method: str
    table: int | None
    """Place of the printed table that it is of; None where it is measured."""
    texts: Mapping[str, str]
    lacks: Mapping[str, str]
    """Label of a column -> why the value bears no comparison with others, or ""."""
    ranked: bool = True
    """False of printed rows that are no method's, or of settings that are not known to be those of here."""

    def value(self, label: str) -> float | None:
        """The number that stands in a column; None where there is none."""
        text = self.texts.get(label, "")
        return float(text.replace("−", "-")) if _NUMBER.fullmatch(text) else None

    def compared(self, label: str) -> float | None:
        """The same; None where it bears no comparison: of printed rows those of the first table do."""
        return None if self.table or self.lacks.get(label) or not self.ranked else self.value(label)


def standing(
    named: Named,
    results: Mapping[str, Results],
    of_columns: Mapping[str, str],
    of_data: Sequence[str],
    of_methods: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Printed rows, table by table, and below them the measured ones; the best of a column that bears comparison is strong.

    Args:
        named: the benchmark.
        results: protocol -> scores.
        of_columns: what differs in how columns are measured, as ``differences_of_columns`` tells it.
        of_data: the same of the data, as ``differences_of_data`` tells it.
        of_methods: label of a method -> what keeps it from being compared in any column.
    """
    lines = [
        _Line(
            method,
            place,
            dict(zip(table.columns, values, strict=True)),
            {},
            method in (table.alike or table.rows.keys() - {*table.no_methods}),
        )
        for place, table in enumerate(named.printed)
        for method, values in table.rows.items()
    ]
    decimals = {column.label: _decimals(column, lines) for column in named.column}
    for method in dict.fromkeys(method for of in results.values() for method in of.methods):
        measured = {column.label: _measured(named, column, results, method, decimals[column.label]) for column in named.column}
        texts = {label: text for label, (text, _) in measured.items()}
        lacks = {label: of_methods.get(method) or words for label, (_, words) in measured.items()}
        lines.append(_Line(method, None, texts, lacks))
    best = {column.label: _best(column, lines) for column in named.column if not (of_data or of_columns[column.label])}
    aside = {method: words for of in results.values() for method, words in of.aside.items()} | dict(of_methods)
    rows = []
    for line in lines:
        whole = "" if line.table is not None else aside.get(line.method, "")  # said once, beside its name
        printed = "" if line.table is None else "printed" if len(named.printed) == 1 else f"printed [{line.table + 1}]"
        cells = [Cell(line.method, below=printed or whole, method="" if printed else line.method)]
        for label in of_columns:
            strong = line.compared(label) is not None and line.compared(label) == best.get(label)
            below = line.lacks.get(label, "")
            cells.append(Cell(line.texts.get(label) or DASH, below="" if below == whole else below, strong=strong))
        rows.append(Row(tuple(cells), kind="" if printed else "total", key=line.method))
    heads = [
        Column(f"{column.label} {_ARROWS[column.better]}{' †' if of_data or of_columns[column.label] else ''}", numeric=True)
        for column in named.column
    ]
    return Table((Column("Method"), *heads), tuple(rows), caption=named.title, foot=_foot(named, of_columns, of_data))


def _measured(named: Named, column: PrintedColumn, results: Mapping[str, Results], method: str, decimals: int) -> tuple[str, str]:
    """The text of a method's cell, and why it bears no comparison with others, or ""."""
    of = results.get(column.protocol)
    if of is None or method not in of.methods:
        return "", ""
    quantity = Quantity(column.metric, column.region)
    summary = of.summary(of.everything, method, quantity)
    parts = [one for one in of.slices if one.name.startswith(f"{named.alike}-")] if named.alike else []
    means = [of.summary(one, method, quantity).mean for one in parts] if parts else [summary.mean]
    known = [mean for mean in means if mean is not None]
    if not known:
        return "", ""
    lacks = f"lacks {count(summary.n_missing, 'item')}" if summary.n_missing else of.aside.get(method, "")
    return number(math.fsum(known) / len(known) * column.scale, decimals), lacks


def _decimals(column: PrintedColumn, lines: Sequence[_Line]) -> int:
    """Decimals of a column: the most that are printed, else those of our metric."""
    printed = [len(line.texts[column.label].partition(".")[2]) for line in lines if line.value(column.label) is not None]
    return max(printed, default=metric_leaf(column.metric).decimals if column.metric else 2)


def _best(column: PrintedColumn, lines: Sequence[_Line]) -> float | None:
    """The best value of a column, as it is written; None unless two rows have one."""
    values = [value for line in lines if (value := line.compared(column.label)) is not None]
    return None if len(values) < 2 else max(values) if column.better == "higher" else min(values)


def _foot(named: Named, of_columns: Mapping[str, str], of_data: Sequence[str]) -> str:
    """Where the printed rows are from, and what differs in the marked columns."""
    numbered = (f"[{place}] {table.source}" for place, table in enumerate(named.printed, 1))
    sources = [named.printed[0].source] if len(named.printed) == 1 else list(numbered)
    told = [f"Printed: {'; '.join(sources)}."] if sources else []
    if of_data:
        told.append(f"† No column compares with print: {'; '.join(of_data)}.")
    absent = [label for label, words in of_columns.items() if words.startswith(NOT_MEASURED)]
    own = [f"{label}: {words}" for label, words in of_columns.items() if words and label not in absent]
    own += [f"{', '.join(absent)}: {NOT_MEASURED}"] if absent else []
    return " ".join([*told, *([f"† {'; '.join(own)}."] if own else [])])
