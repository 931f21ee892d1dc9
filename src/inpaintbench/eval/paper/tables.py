"""The tables of a paper: methods by metrics, methods by slices, and what methods took, with captions.

Behind them the scores that they are of, as files, the tables made of these files alone, and what PyTorch counts of networks.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.errors import MissingExtraError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.tables import effort_table, metrics_table, score_table, table_comment
from inpaintbench.eval.results.cautions import set_warning
from inpaintbench.eval.results.quantity import Quantity, first_shown, quantity_title, usual_quantities
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.scoring.predict import MethodSpec, build, run
from inpaintbench.manifest import own_hash
from inpaintbench.models import torch_networks
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.tables import escaped, latex
from inpaintbench.pages.words import DASH
from inpaintbench.table_files import canonical_bytes
from inpaintbench.types import Dataset, Plain, Score, Slice, SliceScore

# With more columns slices become rows: they would be printed too small to be read.
_MOST_COLUMNS = 12
# Of metrics: with more, intervals stand below the means, for beside them all would be printed too small to be read.
_MOST_BESIDE = 3
# What the fonts of LaTeX have beside ASCII: Latin letters, quotes, dashes and dots.
_LAST_LATIN, _SIGNS = "\u017f", "‘’“”–—…"
COST_LEAD = (
    "What methods took. Seconds are of an item with the start of its program, over its frames. Parameters and floating-point "
    "operations (FLOPs) are of the networks that ran in this program's own process, as PyTorch counts them; a dash: not known"
)

SCORES, FACTS = "scores.csv", "paper.json"
_FORMAT_VERSION = 1
_NUMBERS = ("value", "standard_error", "interval_low", "interval_high")


class Cost(NamedTuple):
    """What PyTorch counted while a method did one item; None where it saw no network."""

    parameters: int | None
    operations_a_frame: float | None
    """Floating-point operations: a product and its sum are two."""


class Float(NamedTuple):
    """A table or figure with its caption, for a LaTeX document."""

    text: str
    """LaTeX of a table; empty for a figure."""
    caption: str
    """Plain text, which ``tex`` makes LaTeX."""
    wide: bool = True
    """Over both columns, where there are two."""


def paper_tables(
    results: Results, quantities: Sequence[Quantity], efforts: Mapping[str, Effort], costs: Mapping[str, Cost]
) -> dict[str, Float]:
    """Name of the file -> the table; their numbers and marks are those of ``eval table``.

    Args:
        results: the scores.
        quantities: columns of the first table, at least one.
        efforts: what methods took.
        costs: what their networks are, where that is known.
    """
    primary = first_shown(results.quantities, results.protocol)
    first, second = metrics_table(results, quantities), score_table(results, primary)
    # Intervals by slice are in the figure of means; how large sets are, in captions where that is too small.
    first, second = _shortened(first, intervals=True), _shortened(second, intervals=False)
    warnings = " ".join(filter(None, (set_warning(results, one) for one in dict.fromkeys([*quantities, primary]))))
    by_slice = f"{quantity_title(primary, results.protocol)} by slice. {second.foot}"
    if len(second.columns) > _MOST_COLUMNS:
        second, by_slice = _turned(second), by_slice.replace("of its column", "of its row")
    whole = f"{results.dataset.name}, protocol {results.protocol.name}"
    cost = _cost_table(results, efforts, costs)
    return {
        "table1.tex": Float(
            _latex(results, first, stacked=len(quantities) > _MOST_BESIDE),
            " ".join(filter(None, (f"{whole}. {first.caption}", first.foot, warnings, _unmarked(results, first)))),
        ),
        "table2.tex": Float(_latex(results, second), f"{whole}. {by_slice} {_unmarked(results, second)}".rstrip()),
        "cost.tex": Float(_latex(results, cost), f"{COST_LEAD}."),
    }


def default_quantities(results: Results) -> list[Quantity]:
    """The protocol's ranked metrics, each where it is usually shown, the primary quantity first."""
    primary = first_shown(results.quantities, results.protocol)
    others = [
        one for one in usual_quantities(results.quantities, results.protocol) if one.ranked and one.metric != primary.metric
    ]
    return [primary, *others]


def _unmarked(results: Results, drawn: Table) -> str:
    """Sentence of a table without bold numbers, with the reason where that is the number of sources."""
    if any(cell.strong for row in drawn.rows for cell in row.cells):
        return ""
    why = too_few(results.n_sources(results.everything))
    return f"Nothing is bold here{f': {why}' if why else ''}."


def _shortened(table: Table, *, intervals: bool) -> Table:
    """The table without sizes of sets, and perhaps without intervals; what a mean leaves out stays."""

    def short(cell: Cell) -> Cell:
        told = (part for part in str(cell.below).split(" · ") if not part.startswith("N = "))
        return replace(cell, note=cell.note if intervals else "", below=" · ".join(told))

    return replace(table, rows=tuple(replace(row, cells=tuple(map(short, row.cells))) for row in table.rows))


def _turned(table: Table) -> Table:
    """The table with a row for each column behind the first, and a column for each row."""
    heads = [" ".join(filter(None, (f"{column.group}:" * bool(column.group), column.label))) for column in table.columns]
    columns = (Column("Slice"), *(Column(str(row.cells[0].text), numeric=True) for row in table.rows))
    rows = (
        Row((Cell(heads[at], note=table.columns[at].note), *(row.cells[at] for row in table.rows)))
        for at in range(1, len(table.columns))
    )
    return replace(table, columns=columns, rows=tuple(rows))


def _cost_table(results: Results, efforts: Mapping[str, Effort], costs: Mapping[str, Cost]) -> Table:
    known = effort_table(efforts, results.methods, references=results.references)
    width, rows = len(known.columns), {row.key: row for row in known.rows}
    unknown = (Cell(DASH),) * (width - 1)
    whole = []
    for method in results.methods:
        row = rows.get(method) or Row((Cell(method), *unknown), kind="floor" if method in results.references else "")
        counted = costs.get(method, Cost(None, None))
        further = (_in_thousands(counted.parameters), _in_thousands(counted.operations_a_frame))
        *cells, machine = row.cells
        whole.append(replace(row, cells=(*cells, *(Cell(text) for text in further), machine)))
    *columns, machine_column = known.columns
    heads = (Column("Parameters", numeric=True), Column("FLOPs a frame", numeric=True))
    return Table((*columns, *heads, machine_column), tuple(whole), caption=COST_LEAD)


def _in_thousands(value: float | None) -> str:
    """Three digits with a letter: ``51.2 M``."""
    if value is None:
        return DASH
    step = next((step for step in (4, 3, 2, 1) if value >= 1000**step), 0)
    return f"{value / 1000**step:.3g} {('', 'k', 'M', 'G', 'T')[step]}".strip()


def _latex(results: Results, table: Table, *, stacked: bool = False) -> str:
    """The table without the line below it, which goes into the caption."""
    return printable(latex(replace(table, foot=""), comment=table_comment(results, table), stacked=stacked))


def tex(text: str) -> str:
    """Plain text as LaTeX."""
    return printable(escaped(text))


def printable(text: str) -> str:
    """LaTeX in which letters that its fonts lack are written as their numbers, so that it compiles."""
    return "".join(sign if sign <= _LAST_LATIN or sign in _SIGNS else f"[U+{ord(sign):04X}]" for sign in text)


class Asked(NamedTuple):
    """What the tables show beside the scores."""

    quantities: Sequence[Quantity]
    """Columns of the first table."""
    efforts: Mapping[str, Effort]
    costs: Mapping[str, Cost]


def stored(results: Results, asked: Asked) -> dict[str, bytes]:
    """``scores.csv``, as beside a report, and ``paper.json``: of the dataset its name and hash, items with their sources, slices;
    who competes; numbers of sets; times. No pixels, and no place of this machine.
    """
    dataset = results.dataset
    sets = [asdict(one) for one in results.slice_scores]
    told = {
        "format_version": _FORMAT_VERSION,
        "dataset": {"name": dataset.name, "version": dataset.version, "manifest_sha256": own_hash(dataset)},
        "protocol": results.protocol.name,
        "quantities": [list(one) for one in asked.quantities],
        "items": [[item_id, source, results.shares[item_id]] for item_id, source in results.sources.items()],
        "slices": [{"name": one.name, "rule": one.rule, "item_ids": list(one.item_ids)} for one in dataset.slices],
        "references": list(results.references),
        "aside": results.aside,
        "efforts": {method: effort.told for method, effort in asked.efforts.items()},
        "costs": {method: cost._asdict() for method, cost in asked.costs.items()},
        "slice_scores": sets,
    }
    from inpaintbench.eval.report.write import scores_csv  # which opens pictures

    return {SCORES: scores_csv(results), FACTS: canonical_bytes(told)}


def rebuilt(files: Mapping[str, bytes]) -> dict[str, Float]:
    """``paper_tables`` of the files that ``stored`` gave.

    Raises:
        KeyError, TypeError, ValueError: they are not such files. InputError: the protocol is not what it was.
    """
    told: dict[str, Any] = json.loads(files[FACTS])
    if told["format_version"] != _FORMAT_VERSION:
        raise ValueError(f"format {told['format_version']!r}, this program reads {_FORMAT_VERSION}")
    items = tuple(
        {"item_id": item_id, "source_id": source, "attributes": {}, frozen.SHOWN: share}
        for item_id, source, share in told["items"]
    )
    slices = tuple(Slice(one["name"], one["rule"], tuple(one["item_ids"])) for one in told["slices"])
    dataset = Dataset(recipe={}, items=items, slices=slices, left_out={}, files={}, versions={}, **told["dataset"])
    efforts = {method: Effort.of(one) for method, one in told["efforts"].items()}
    results = Results(
        dataset, _scores(files[SCORES]), protocol=PROTOCOLS.get(told["protocol"]),
        slice_scores=[SliceScore(**{name: _number(name, value) for name, value in one.items()}) for one in told["slice_scores"]],
        references=told["references"], efforts=efforts, aside=told["aside"],
    )  # fmt: skip
    costs = {method: Cost(**one) for method, one in told["costs"].items()}
    return paper_tables(results, [Quantity(*one) for one in told["quantities"]], efforts, costs)


def _scores(data: bytes) -> list[Score]:
    """The rows of ``scores.csv``. A score of sets has neither value nor reason there, since its vectors stay with the run."""
    names = {one.name for one in fields(Score)}
    rows = []
    for cells in csv.DictReader(io.StringIO(data.decode(), newline="")):
        value, reason = float(cells["value"]) if cells["value"] else None, cells["reason"] or None
        vectors = "with the run" if value is None and reason is None else None
        known = {name: cell for name, cell in cells.items() if name in names}
        rows.append(
            Score(**{**known, "value": value, "reason": reason, "details": json.loads(cells["details"]), "features": vectors})
        )
    return rows


def _number(name: str, value: Any) -> Any:
    """A field of a number of sets; infinity is a text in JSON."""
    return float(value) if name in _NUMBERS and value is not None else value


def may_count(method: MethodSpec) -> bool:
    """Return whether a method may run networks in this process: a callable of yours, or one of ours with PyTorch."""
    # A method that loads networks imports the module that does so.
    return method.leaf == "python_callable" or hasattr(sys.modules[METHODS.get(method.leaf).__module__], "torch_networks")


def cost_of(method: MethodSpec, root: Path, row: Plain, *, oracle_mask: bool = False) -> Cost:
    """Run a method on one item once more, and count.

    Args:
        method: one that ``may_count``.
        root: folder of the dataset.
        row: the item.
        oracle_mask: show it the hole of a benchmark that hides it, as its run did.

    Returns:
        What was counted; None for both where PyTorch is not installed, ran no network, or the method fails here.
    """
    try:
        torch: Any = torch_networks.torch()
    except MissingExtraError:
        return Cost(None, None)
    from torch.utils.flop_counter import FlopCounterMode

    seen: dict[int, Any] = {}

    def look(module: Any, _given: Any) -> None:
        seen.update((id(one), one) for one in module.parameters())

    hook = torch.nn.modules.module.register_module_forward_pre_hook(look)
    try:
        with FlopCounterMode(display=False) as counter:
            run(build(method), frozen.input_view(root, row, oracle_mask=oracle_mask))
    except Exception:  # whatever a method of somebody's does; its scores are there all the same
        return Cost(None, None)
    finally:
        hook.remove()
    if not seen:
        return Cost(None, None)
    return Cost(sum(one.numel() for one in seen.values()), counter.get_total_flops() / row["frames"] or None)
