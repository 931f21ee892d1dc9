"""The pages of the site: one for all items, one for each slice, one for each method."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.notes import Definition, constants_table, metric_notes, slice_table
from inpaintbench.eval.report.page import GALLERY_SCRIPTS, gallery_parts, scripts
from inpaintbench.eval.report.tables import ceiling_words, known_words, memory_words, time_words
from inpaintbench.eval.results.measured import REFERENCE
from inpaintbench.eval.results.quantity import exploratory, metric_leaf, metric_title, region_label, slice_label
from inpaintbench.eval.results.slices import split_level
from inpaintbench.eval.scoring.effort import WORDS
from inpaintbench.eval.values.permutation import LEVEL
from inpaintbench.eval.values.statistics import INTERVAL
from inpaintbench.eval.values.statistics import LEVEL as INTERVAL_LEVEL
from inpaintbench.pages import Cell, Column, Row, Table, data_uri
from inpaintbench.pages import page as whole_page
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import DASH, breakable, count, interval, number
from inpaintbench.types import Slice
from inpaintbench.wings.leaderboard.board import UNMEASURED, Board, Entry
from inpaintbench.wings.leaderboard.tables import CARD_TITLES, Sister, links, page, score_notes, score_table, slice_matrix, tags

# Items with their videos.
Clips = list[tuple[Exhibit, bytes]]
CSV, JSON = "leaderboard.csv", "leaderboard.json"
# Folder of the means of all items with their intervals, a file for each region.
FIGURES, FIGURE_KINDS = "figures", ("svg", "pdf")


class Fact(NamedTuple):
    """One of the cards on the front page."""

    term: str
    text: str
    lines: tuple[str, ...]
    """Small print."""


def addresses(board: Board) -> dict[str, str]:
    """Slice -> path of its page in the site."""
    found = {}
    for index, part in enumerate(board.slices):
        words = re.sub(r"[^a-z0-9]+", "-", part.name.lower()).strip("-")[:60]
        found[part.name] = f"slices/{index:02d}-{words}.html" if index else "index.html"
    return found


def slice_pages(board: Board, *, title: str, notes: str, clips: bool = False) -> dict[str, bytes]:
    """Path in the site -> page."""
    where = addresses(board)
    return {where[part.name]: _page(board, at, part, where, title, notes, clips) for at, part in enumerate(board.slices)}


def _page(board: Board, at: int, part: Slice, where: dict[str, str], home: str, notes: str, clips: bool) -> bytes:
    up = "../" if at else ""
    names = [("All items", None), *((slice_label(one.name), split_level(one.name)[1]) for one in board.slices[1:])]
    side = [
        Sister(f"{up}{where[one.name]}", *name, items=len(one.item_ids), here=one.name == part.name)
        for one, name in zip(board.slices, names, strict=True)
    ]
    label, level = names[at]
    return page(
        "board.html",
        board,
        title=f"{part.name} · {home}" if at else home,
        home=home,
        up=up,
        side_title="Slices",
        side=side,
        clips=clips,
        part=part,
        label=label,
        level=level,
        regions=[(region, region_label(region).capitalize()) for region in board.regions],
        scores=[(score_table(board, part, region, up=up), score_notes(board, part, region)) for region in board.regions],
        figures={
            region: () if at or not board.contenders else tuple(f"{FIGURES}/{region}.{kind}" for kind in FIGURE_KINDS)
            for region in board.regions
        },
        front=not at,
        **({} if at else _front(board, where, notes)),
    )


def _front(board: Board, where: dict[str, str], notes: str) -> dict[str, object]:
    """Parts that only the first page has."""
    results = board.results
    # On which version of the dataset the scores are, and on how many of its items they are compared.
    versions = f"Scores are on {' and '.join(board.versions)}"
    if len(board.versions) > 1:
        common = f"{len(results.sources):,} of {count(board.items_of_dataset, 'item')}"
        versions += f", compared on the {common} that these versions have in common"
    kinds = Counter(entry.aside for entry in board.entries if entry.aside)
    words = {REFERENCE: count(kinds[REFERENCE], "reference"), UNMEASURED: f"{kinds[UNMEASURED]} not measured again"}
    refused: list[list[object]] = [[one.name, one.reason] for one in board.refused]
    return {
        "versions": f"{versions}." if any(board.versions) else "",
        "introduction": notes,
        "beside": f" beside {' and '.join(words.get(kind, f'{kinds[kind]} without a place') for kind in kinds)}" if kinds else "",
        "n_sources": len(set(results.sources.values())),
        "facts": _facts(board),
        "matrices": [slice_matrix(board, where, region) for region in board.regions] if len(board.slices) > 1 else [],
        "entries": [(entry, tags(entry, board)) for entry in board.entries],
        "refused": simple(["File", "Reason"], refused, label="Left out"),
        "reading": _reading(),
        "metrics": metric_notes(results),
        "slices": slice_table(results),
        "constants": constants_table(results),
        "csv": CSV,
        "json": JSON,
    }


def _facts(board: Board) -> list[Fact]:
    """Cards of the front page, for the first region."""
    region, everything = board.regions[0], board.slices[0]
    rows = board.rows(everything, region)
    found = []
    if first := board.firsts(everything, region):
        names = ", ".join(row.entry.submission.card.title for row in first[:3])
        placed, lead = [row for row in rows if row.place is not None], ""
        if len(placed) > 1:
            by, counted = len(board.leads(everything, region, placed[0], placed[1])), len(board.counted(everything, region))
            other = placed[1].entry.submission.card.title
            lead = f"better than {other} by more than chance in {by} of {count(counted, 'metric')}"
            if board.like_first(everything, region):
                lead = "the first of them; they cannot be told apart"
        sources = len({board.results.sources[item_id] for item_id in everything.item_ids})
        basis = f"{count(len(everything.item_ids), 'item')} of {count(sources, 'source')}"
        lines = tuple(filter(None, (f"mean place {first[0].mean_text}", lead, basis)))
        found.append(Fact(f"Best mean place, {region_label(region)}", names, lines))
    ranked = [quantity for quantity in rows[0].cells if quantity.ranked]
    wins = {row.entry.label: sum(row.cells[quantity].best for quantity in ranked) for row in rows}
    clear = {row.entry.label: len(board.clear_firsts(everything, row)) for row in rows}
    found += _most(board, "First by most metrics", wins, len(ranked), "metric", clear)
    if len(board.slices) > 1:
        wins = dict.fromkeys((entry.label for entry in board.contenders), 0)
        clear = dict(wins)
        for part in board.slices[1:]:
            # A clear first place is of a row that every other in the slice can be told from.
            told = not board.like_first(part, region)
            for row in board.firsts(part, region):
                wins[row.entry.label] += 1
                clear[row.entry.label] += told
        found += _most(board, "First in most slices", wins, len(board.slices) - 1, "slice", clear)
    checked = [entry.verdict for entry in board.entries if entry.verdict is not None]
    if checked:
        values = sum(verdict.values for verdict in checked)
        good = sum(verdict.agrees for verdict in checked)
        found.append(Fact("Measured again", f"{good} of {len(board.entries)}", (f"{values:,} numbers, all agree",)))
    return found


def _most(board: Board, term: str, wins: dict[str, int], of: int, noun: str, clear: dict[str, int]) -> list[Fact]:
    """Card of the most first places, and in how many of them the lead is more than chance."""
    most = max(wins.values(), default=0)
    if not most:
        return []
    leaders = [entry for entry in board.contenders if wins[entry.label] == most]
    names = ", ".join(entry.submission.card.title for entry in leaders[:3])
    told = max(clear[entry.label] for entry in leaders)
    words = f"in {told} of them by more than chance" if told else "cannot be told apart from the second in any of them"
    share = f"{most} of {count(of, noun)}"
    return [Fact(term, names, (share,) if len(board.contenders) < 2 else (share, words))]


def _reading() -> list[Definition]:
    entries = [
        (
            "Mean place",
            "A method's place by each metric of the region, averaged. Equal values share the better place, and all that cannot "
            "be told from the best share the first. A metric counts when it ranks methods, damage cannot better it, and more "
            "than half of the submissions have a number by it.",
        ),
        (
            "No place",
            "A method without a value on an item that another has a value on gets no place by that metric, and so no mean "
            "place: leaving out hard items cannot pay. How many items that is stands under the value.",
        ),
        (
            f"{INTERVAL_LEVEL:.0%} interval",
            f"{INTERVAL[:1].upper()}{INTERVAL[1:]}. Sources are what counts, since items of one source resemble each other. The "
            "drawing shows it on the scale of its column.",
        ),
        (
            "Few sources",
            f"In a slice of fewer than {ENOUGH_SOURCES} sources there are means and nothing else: no interval, place, best or "
            f"test. With {ENOUGH_SOURCES - 1} even the clearest difference could be chance at {LEVEL:g}.",
        ),
        (
            "Seconds a frame",
            "What the submitters' own run measured, on their machine: nobody has measured it again, and numbers of different "
            "machines (a pointer over one shows which) do not compare.",
        ),
        (
            "Bold",
            f"The best mean, and every one that a paired permutation test over the same items does not tell from it at "
            f"{LEVEL:g}, corrected over the comparisons with the best (Holm). A pointer over a value shows p. Of numbers of "
            "whole sets, such as FID, those whose intervals do not stand apart.",
        ),
        (
            "Diagnostic",
            "A metric that damage to a result can better, such as one of steadiness by a frozen or flat fill. By it nobody has a "
            "place who would pass a method that is better by the protocol's primary quantity, and it counts into no mean place.",
        ),
        (
            "Not told apart",
            "By no metric that counts into mean places is the first method better by more than chance: the order could be luck. "
            "What is told so holds beside everything that this site compares (every two methods, by every metric, in every "
            "slice), so it asks for more than bold does; the protocol's primary quantity, named before anything was scored, is "
            "corrected for its own comparisons alone, and the metrics marked exploratory for all.",
        ),
        (
            "Verified",
            "The maintainers of this page measured some items again from the predictions that were submitted, and every number "
            "agrees. A submission that disagrees is left out, and one that brought nothing to measure holds no place unless the "
            "maintainers give it one. Numbers of whole sets, such as FID, are not measured again.",
        ),
    ]
    return [Definition(name, (words,)) for name, words in entries]


def clips_page(board: Board, clips: Clips, *, title: str) -> bytes:
    """Items with every submission's result, and a wipe between two, below the headline of a report."""
    return whole_page(
        "wings/leaderboard/clips.html",
        title=f"Clips · {title}",
        links=links("", clips=True),
        home=title,
        scripts=scripts(GALLERY_SCRIPTS),
        addresses=[data_uri(video, "video/mp4") for _, video in clips],
        **gallery_parts(board.results, [exhibit for exhibit, _ in clips]),
    ).encode()


_MOST_MISSING = 200


def method_pages(board: Board, *, title: str, clips: bool = False) -> dict[str, bytes]:
    """Path in the site -> page."""
    return {f"methods/{entry.page}": _method_page(board, entry, title, clips) for entry in board.entries}


def _method_page(board: Board, entry: Entry, home: str, clips: bool) -> bytes:
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
        clips=clips,
        entry=entry,
        card=card,
        tags=tags(entry, board),
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
                metric_title(quantity.metric) + exploratory(quantity, board.results.protocol), region_label(region),
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
    of, measured = len(header.predictions), len(header.measured)
    # Which was compared with the dataset.
    hashes = f"truth, hole and prediction of {count(measured, 'item')} have the hashes of this dataset"
    hashes += f"; {of - measured} not recorded" if of > measured else ""
    changed = max((prediction["largest_change_outside"] for prediction in header.predictions.values()), default=0)
    facts = {
        "Submission": entry.submission.identity,
        "Dataset": entry.version,
        "Dataset's manifest": header.manifest_sha256,
        "Protocol": f"{header.protocol} ({header.fingerprint})",
        "Predictions": count(of, "file") + ", each named by its SHA-256",
        "Measured files": hashes if measured else "not recorded",
        "Largest change of known pixels": f"{changed} of 255",
        "Versions": ", ".join(f"{name} {version}" for name, version in sorted(header.versions.items())),
    }
    effort = entry.effort
    if effort.seconds_a_frame is not None:
        on_cards = "" if effort.card_mebibytes is None else f", {memory_words(effort.card_mebibytes)} on cards"
        memory = f"{memory_words(effort.peak_mebibytes)}{on_cards}"
        facts["Seconds a frame"] = f"{time_words(effort)} over {count(effort.items, 'item')}, as submitted"
        facts["Peak memory"], facts["Machine"] = memory, effort.machine
    if effort.between_items:
        facts["Between items"] = f"it {WORDS[effort.between_items]}, as submitted"
    if effort.ceiling_low is not None:
        facts["Form of results"] = f"{ceiling_words(effort)} on its scores"
    if effort.known_low is not None:
        facts["Known pixels"] = f"it {known_words(effort)}"
    if effort.task:
        facts["Differs from the published task"] = " ".join(effort.task)
    if verdict is not None:
        facts["Measured again"] = entry.agreement
        if verdict.unchecked and verdict.items:
            facts["Not measured again"] = ", ".join(verdict.unchecked)
        if verdict.items:
            facts["Items measured again"] = ", ".join(verdict.items)
    return simple(
        ["Fact", "Value"], [[name, breakable(text)] for name, text in facts.items()], label="Where the numbers come from"
    )
