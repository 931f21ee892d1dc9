"""The page of one method: what its submitters say, what it scored, what is missing and what was checked."""

from __future__ import annotations

from inpaintbench.eval.leaderboard.board import Board, Entry
from inpaintbench.eval.leaderboard.frame import CARD_TITLES, Sister, page, tags
from inpaintbench.eval.report.labels import metric_title, region_label, slice_label
from inpaintbench.eval.report.quantity import metric_leaf
from inpaintbench.eval.report.tables import split_level
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import DASH, breakable, count, interval, number

_MOST_MISSING = 200


def method_pages(board: Board, *, title: str) -> dict[str, bytes]:
    """Path in the site -> page."""
    return {f"methods/{entry.page}": _page(board, entry, title) for entry in board.entries}


def _page(board: Board, entry: Entry, home: str) -> bytes:
    card = entry.submission.card
    more = len(entry.missing) - _MOST_MISSING
    shown = list(entry.missing.items())[:_MOST_MISSING]
    return page(
        "method.html",
        board,
        title=f"{card.title} · {home}",
        home=home,
        up="../",
        side_title="Methods",
        side=[Sister(one.page, one.submission.card.title, here=one is entry) for one in board.entries],
        entry=entry,
        card=card,
        tags=tags(entry, items=len(board.results.sources)),
        fields=[(heading, card.texts[name]) for name, heading in CARD_TITLES.items() if name in card.texts],
        scores=_scores(board, entry),
        by_slice=_by_slice(board, entry) if len(board.slices) > 1 else None,
        missing=simple(["Item", "Reason"], [list(pair) for pair in shown], label="Missing items"),
        more=[f"And {more:,} more."] if more > 0 else [],
        provenance=_provenance(entry),
    )


def _scores(board: Board, entry: Entry) -> Table:
    everything = board.slices[0]
    rows: list[list[object]] = []
    for region in board.regions:
        row = next(one for one in board.rows(everything, region) if one.entry is entry)
        for quantity, cell in row.cells.items():
            decimals = metric_leaf(quantity.metric).decimals
            rows.append([
                metric_title(quantity.metric), region_label(region),
                number(board.results.level(everything, entry.label, quantity), decimals),
                interval(cell.summary.interval_low, cell.summary.interval_high, decimals) or DASH,
                DASH if cell.place is None else f"{cell.place} of {len(board.contenders)}", cell.summary.n,
                cell.summary.reason or "",
            ])  # fmt: skip
    heads = ["Metric", "Region", "Mean", "Interval", "Place", "n", "Note"]
    return simple(heads, rows, label="Scores on all items", numeric=(2, 3, 4, 5))


def _by_slice(board: Board, entry: Entry) -> Table:
    rows = []
    for at, part in enumerate(board.slices):
        found = [next(one for one in board.rows(part, region) if one.entry is entry) for region in board.regions]
        level = split_level(part.name)[1]
        name = Cell(slice_label(part.name), tags=(level,) if level else ()) if at else Cell("All items")
        rows.append(Row((name, *(Cell(row.mean_text, title=row.reason or "") for row in found))))
    heads = (Column(region_label(region).capitalize(), numeric=True) for region in board.regions)
    return Table((Column("Slice"), *heads), tuple(rows), label="Mean place in each slice")


def _provenance(entry: Entry) -> Table:
    header, verdict = entry.submission.header, entry.verdict
    changed = max((one["largest_change_outside"] for one in header.predictions.values()), default=0)
    facts = {
        "Submission": entry.submission.identity,
        "Dataset's manifest": header.manifest_sha256,
        "Protocol": f"{header.protocol} ({header.fingerprint})",
        "Predictions": count(len(header.predictions), "file") + ", each named by its SHA-256",
        "Largest change of known pixels": f"{changed} of 255",
        "Versions": ", ".join(f"{name} {version}" for name, version in sorted(header.versions.items())),
    }
    if verdict is not None:
        again = f"{verdict.values} numbers of {count(len(verdict.items), 'item')} agree" if verdict.agrees else verdict.reason
        facts["Measured again"] = again or "nothing could be measured here"
        if verdict.unchecked and verdict.items:
            facts["Not measured again"] = ", ".join(verdict.unchecked)
        if verdict.items:
            facts["Items measured again"] = ", ".join(verdict.items)
    return simple(
        ["Fact", "Value"], [[name, breakable(text)] for name, text in facts.items()], label="Where the numbers come from"
    )
