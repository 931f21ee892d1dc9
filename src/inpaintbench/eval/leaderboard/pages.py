"""The pages of the site: one for all items, one for each slice."""

from __future__ import annotations

import re
from html import escape

from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.eval.leaderboard.board import LEVEL, Board, Row
from inpaintbench.eval.leaderboard.frame import badges, hidden, method, page
from inpaintbench.eval.leaderboard.tables import score_table, slice_matrix
from inpaintbench.eval.report.labels import region_label
from inpaintbench.eval.report.markup import count, scrolling_table, slice_name
from inpaintbench.eval.report.notes import constants_table, metric_notes, slice_table
from inpaintbench.eval.statistics import INTERVAL
from inpaintbench.eval.statistics import LEVEL as INTERVAL_LEVEL
from inpaintbench.types import Slice

CSV, JSON = "leaderboard.csv", "leaderboard.json"


def addresses(board: Board) -> dict[str, str]:
    """Slice -> path of its page in the site."""
    found = {}
    for index, part in enumerate(board.slices):
        words = re.sub(r"[^a-z0-9]+", "-", part.name.lower()).strip("-")[:60]
        found[part.name] = f"slices/{index:02d}-{words}.html" if index else "index.html"
    return found


def slice_pages(board: Board, *, title: str, notes: str) -> dict[str, bytes]:
    """Path in the site -> page."""
    where = addresses(board)
    found = {}
    for index, part in enumerate(board.slices):
        up = "../" if index else ""
        body = (_of_slice(board, part) if index else _introduction(board, title, notes)) + _tables(board, part, up=up)
        body += "" if index else _rest(board, where)
        found[where[part.name]] = page(
            title=title if not index else f"{part.name} · {title}", body=body, sidebar=_sidebar(board, part, where, up=up), up=up,
            home=title,
        )  # fmt: skip
    return found


def _introduction(board: Board, title: str, notes: str) -> str:
    results = board.results
    lead = f'<p class="subtitle">{escape(notes)}</p>' if notes else ""
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{words}</dd></div>" for name, words in _facts(board))
    return f"""<h1>{escape(title)}</h1>
{lead}<p class="subtitle"><strong>{count(len(board.contenders), "submission")}</strong>{_beside(board)} on
{count(len(results.sources), "item")} from
{count(len(set(results.sources.values())), "source")} of <strong>{escape(results.dataset.name)}</strong>, scored with
<strong>{escape(results.protocol.name)}</strong> (<code>{escape(results.fingerprint)}</code>).</p>
<dl class="facts">{facts}</dl>"""


def _beside(board: Board) -> str:
    others = len(board.entries) - len(board.contenders)
    return f" beside {count(others, 'reference')}" if others else ""


def _facts(board: Board) -> list[tuple[str, str]]:
    """What a reader wants to know first, of the first region."""
    region, everything = board.regions[0], board.slices[0]
    rows = board.rows(everything, region)
    found = []
    if any(row.place == 1 for row in rows):
        found.append((f"Best mean place, {region_label(region)}", _first(board, rows, region)))
    wins = _wins(board, rows)
    if wins:
        found.append(("First by most metrics", wins))
    if len(board.slices) > 1 and (most := _most_slices(board, region)):
        found.append(("First in most slices", most))
    checked = [entry.verdict for entry in board.entries if entry.verdict is not None]
    if checked:
        values = sum(verdict.values for verdict in checked)
        good = sum(verdict.agrees for verdict in checked)
        found.append(("Measured again", f"{good} of {len(board.entries)}<small>{values:,} numbers, all agree</small>"))
    return found


def _first(board: Board, rows: list[Row], region: str) -> str:
    """Who has the best mean place on all items, and whether the next can be told from it."""
    everything = board.slices[0]
    first = [row for row in rows if row.place == 1]
    names = ", ".join(escape(row.entry.submission.card.title) for row in first[:3])
    words = [f"mean place {escape(first[0].mean_text)}", _lead_words(board, rows, region), _basis(board, everything)]
    return names + "".join(f"<small>{one}</small>" for one in words if one)


def _lead_words(board: Board, rows: list[Row], region: str) -> str:
    everything = board.slices[0]
    placed = [row for row in rows if row.place is not None]
    if len(placed) < 2:
        return ""
    alike = board.like_first(everything, region)
    if alike:
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        return f"cannot be told apart from {escape(alike[0].entry.submission.card.title)}{more}"
    by = len(board.leads(everything, region, placed[0], placed[1]))
    return (
        f"better than {escape(placed[1].entry.submission.card.title)} by more than chance in {by} of "
        f"{count(len(board.counted(everything, region)), 'metric')}"
    )


def _basis(board: Board, part: Slice) -> str:
    sources = len({board.results.sources[item_id] for item_id in part.item_ids})
    return f"{count(len(part.item_ids), 'item')} of {count(sources, 'source')}"


def _wins(board: Board, rows: list[Row]) -> str:
    everything = board.slices[0]
    ranked = [quantity for quantity in rows[0].cells if quantity.ranked]
    wins = {row.entry.label: sum(row.cells[quantity].place == 1 for quantity in ranked) for row in rows}
    clear = {row.entry.label: len(board.clear_firsts(everything, row)) for row in rows}
    return _most(board, wins, len(ranked), "metric", clear)


def _most_slices(board: Board, region: str) -> str:
    """Counts first places; a clear one is of a row that every other in the slice can be told from."""
    wins = dict.fromkeys((entry.label for entry in board.contenders), 0)
    clear = dict(wins)
    for part in board.slices[1:]:
        rows = board.rows(part, region)
        alone = sum(row.place is not None for row in rows) > 1 and not board.like_first(part, region)
        for row in rows:
            if row.entry.competes:
                wins[row.entry.label] += row.place == 1
                clear[row.entry.label] += row.place == 1 and alone
    return _most(board, wins, len(board.slices) - 1, "slice", clear)


def _most(board: Board, wins: dict[str, int], of: int, word: str, clear: dict[str, int]) -> str:
    """Who has most first places, and in how many of them the lead is more than chance."""
    most = max(wins.values())
    if not most:
        return ""
    leaders = [entry for entry in board.contenders if wins[entry.label] == most]
    names = ", ".join(escape(entry.submission.card.title) for entry in leaders[:3])
    told = max(clear[entry.label] for entry in leaders)
    words = f"in {told} of them by more than chance" if told else "cannot be told apart from the second in any of them"
    if len(board.contenders) < 2:
        return f"{names}<small>{most} of {count(of, word)}</small>"
    return f"{names}<small>{most} of {count(of, word)}</small><small>{words}</small>"


def _of_slice(board: Board, part: Slice) -> str:
    dataset = board.results.dataset.name
    return f"""<h1>{slice_name(part.name)}</h1>
<p class="subtitle">{count(len(part.item_ids), "item")} of {escape(dataset)} with <code>{escape(part.rule)}</code></p>"""


def _sidebar(board: Board, shown: Slice, where: dict[str, str], *, up: str) -> str:
    links = "".join(
        f'<li><a class="slice" href="{up}{where[part.name]}"{" aria-current=page" if part.name == shown.name else ""}>'
        f"<span>{slice_name(part.name) if index else 'All items'}</span>"
        f'<span class="n">{hidden("items: ")}{len(part.item_ids):,}</span></a></li>'
        for index, part in enumerate(board.slices)
    )
    return f'<nav class="slices" aria-labelledby="slices-title"><h2 id="slices-title">Slices</h2><ul>{links}</ul></nav>'


def region_choice(board: Board) -> str:
    """Radio buttons; scripts make them work, and show them."""
    buttons = "".join(
        f'<label><input type="radio" name="region" value="{escape(region)}"{"" if index else " checked"} autocomplete="off">'
        f"<span>{escape(region_label(region).capitalize())}</span></label>"
        for index, region in enumerate(board.regions)
    )
    return f'<fieldset class="regions"><legend>Region that is measured</legend>{buttons}</fieldset>'


def _tables(board: Board, part: Slice, *, up: str) -> str:
    tables = "\n".join(score_table(board, part, region, up=up) for region in board.regions)
    return f"""<div class="controls"><h2>Scores</h2>{region_choice(board)}</div>
{tables}"""


def _rest(board: Board, where: dict[str, str]) -> str:
    matrix = "\n".join(slice_matrix(board, where, region) for region in board.regions) if len(board.slices) > 1 else ""
    by_slice = (
        '<section id="slices"><h2>Where methods are strong</h2><p class="lead">Mean places by slice: the stronger the colour, '
        f"the nearer to first by every metric.</p>{matrix}</section>"
        if matrix
        else ""
    )
    return f"""{by_slice}
<section id="methods"><h2>Methods</h2><p class="lead">As their submitters describe them; nobody else has checked these words.</p>
<ul class="cards">{"".join(_card(board, index) for index in range(len(board.entries)))}</ul></section>
{_left_out(board)}
<section id="reading"><h2>How to read this</h2><dl class="definitions">{_reading()}{metric_notes(board.results)}</dl>
<details><summary>Slices and their rules</summary>{slice_table(board.results)}</details>
<details><summary>Constants of the protocol</summary>{constants_table(board.results)}</details></section>
<section id="downloads"><h2>Downloads</h2><ul class="buttons"><li><a href="{CSV}" download>Every mean and place (CSV)</a></li>
<li><a href="{JSON}" download>Everything on this site (JSON)</a></li></ul></section>"""


def _card(board: Board, index: int) -> str:
    entry = board.entries[index]
    card = entry.submission.card
    return (
        f'<li>{method(entry, index, up="")}<span class="badges">{badges(entry, items=len(board.results.sources))}</span>'
        f"<p>{escape(card.texts['summary'])}</p></li>"
    )


def _left_out(board: Board) -> str:
    if not board.refused:
        return ""
    rows = [
        f'<tr><th scope="row"><code>{escape(one.name)}</code></th><td>{escape(one.reason)}</td></tr>' for one in board.refused
    ]
    return (
        f'<section id="left-out"><h2>Left out</h2><p class="lead">{count(len(rows), "file")} that cannot stand here, each with '
        f"the first thing that is wrong.</p>{scrolling_table(('File', 'Reason'), rows)}</section>"
    )


def _reading() -> str:
    entries = [
        (
            "Mean place",
            "A method's place by each metric of the region, averaged. Equal values share the better place. A metric counts when "
            "it ranks methods and more than half of the submissions have a number by it.",
        ),
        (
            "No place",
            "A method without a value on an item that most others have a value on gets no place by that metric, and so no mean "
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
            "≈ best",
            f"A paired permutation test over the same items does not tell the method from the best at {LEVEL:g}, corrected for "
            "all pairs (Holm). A pointer over a value shows p. Where nothing is said, the method is behind by more than chance, "
            "or nothing could be tested; a line under the table says so.",
        ),
        (
            "Not told apart",
            "By no metric that counts into mean places does that test tell the first method to be better: their order could be "
            f"chance. The test takes {ENOUGH_SOURCES} sources at least, and more with many submissions.",
        ),
        (
            "Verified",
            "The maintainers of this page measured some items again from the predictions that were submitted, and every number "
            "agrees. A submission that disagrees is left out. Numbers of whole sets, such as FID, are not measured again.",
        ),
    ]
    return "".join(f"<dt>{name}</dt><dd><p>{words}</p></dd>" for name, words in entries)
