"""The page of one method: what its submitters say, what it scored, what is missing and what was checked."""

from __future__ import annotations

from html import escape

from inpaintbench.eval.leaderboard.board import Board, Entry
from inpaintbench.eval.leaderboard.frame import CARD_TITLES, badges, page
from inpaintbench.eval.report.labels import metric_title, region_label
from inpaintbench.eval.report.markup import breakable, count, number, scrolling_table, slice_name
from inpaintbench.eval.report.quantity import metric_leaf

_MOST_MISSING = 200


def method_pages(board: Board, *, title: str) -> dict[str, bytes]:
    """Path in the site -> page."""
    return {
        f"methods/{entry.page}": page(
            title=f"{entry.submission.card.title} · {title}", body=_body(board, entry), sidebar=_sidebar(board, entry), up="../",
            home=title,
        )
        for entry in board.entries
    }  # fmt: skip


def _sidebar(board: Board, shown: Entry) -> str:
    links = "".join(
        f'<li><a href="{entry.page}"{" aria-current=page" if entry is shown else ""}><span>'
        f"{escape(entry.submission.card.title)}</span></a></li>"
        for entry in board.entries
    )
    return f'<nav class="slices" aria-labelledby="methods-title"><h2 id="methods-title">Methods</h2><ul>{links}</ul></nav>'


def _body(board: Board, entry: Entry) -> str:
    card = entry.submission.card
    authors = f'<p class="authors">{escape(", ".join(card.authors))}</p>' if card.authors else ""
    fields = "".join(
        f'<dt>{heading}</dt><dd><p class="field">{escape(card.texts[name])}</p></dd>'
        for name, heading in CARD_TITLES.items()
        if name in card.texts
    )
    return f"""<h1>{escape(card.title)}</h1>
{authors}<span class="label">{escape(entry.label)}</span>
<p class="badges">{badges(entry, items=len(board.results.sources))}</p>
{_links(card.links)}
<dl class="described">{fields}</dl>
<p class="said">These words are the submitters' own.</p>
<section id="scores"><h2>Scores on all items</h2>{_scores(board, entry)}</section>
{_by_slice(board, entry)}
{_missing(entry)}
<section id="provenance"><h2>Where the numbers come from</h2>{_provenance(entry)}</section>"""


def _links(links: dict[str, str]) -> str:
    buttons = "".join(
        f'<li><a href="{escape(address)}" rel="nofollow ugc noopener noreferrer">{escape(name.capitalize())}</a></li>'
        for name, address in links.items()
    )
    return f'<ul class="buttons">{buttons}</ul>' if buttons else ""


def _scores(board: Board, entry: Entry) -> str:
    everything = board.slices[0]
    rows = []
    for region in board.regions:
        row = next(one for one in board.rows(everything, region) if one.entry is entry)
        for quantity, cell in row.cells.items():
            decimals = metric_leaf(quantity.metric).decimals
            low, high = (number(end, decimals=decimals) for end in (cell.summary.interval_low, cell.summary.interval_high))
            value = number(board.results.level(everything, entry.label, quantity), decimals=decimals)
            place = "–" if cell.place is None else f"{cell.place} of {len(board.contenders)}"
            rows.append(
                f'<tr><th scope="row">{escape(metric_title(quantity.metric))}</th><td>{escape(region_label(region))}</td>'
                f"<td><strong>{value}</strong></td><td>{'–' if low == '–' else f'{low} – {high}'}</td><td>{place}</td>"
                f"<td>{cell.summary.n}</td><td>{escape(cell.summary.reason or '')}</td></tr>"
            )
    return scrolling_table(("Metric", "Region", "Mean", "Interval", "Place", "n", "Note"), rows)


def _by_slice(board: Board, entry: Entry) -> str:
    if len(board.slices) < 2:
        return ""
    rows = []
    for part in board.slices:
        found = [next(one for one in board.rows(part, region) if one.entry is entry) for region in board.regions]
        name = "All items" if part is board.slices[0] or part.name == board.slices[0].name else slice_name(part.name)
        cells = "".join(f'<td title="{escape(row.reason or "")}">{escape(row.mean_text)}</td>' for row in found)
        rows.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    heads = ("Slice", *(escape(region_label(region)).capitalize() for region in board.regions))
    return f'<section id="slices"><h2>Mean place in each slice</h2>{scrolling_table(heads, rows)}</section>'


def _missing(entry: Entry) -> str:
    if not entry.missing:
        return ""
    shown = list(entry.missing.items())[:_MOST_MISSING]
    rows = [f'<tr><th scope="row"><code>{escape(item)}</code></th><td>{escape(reason)}</td></tr>' for item, reason in shown]
    more = "" if len(shown) == len(entry.missing) else f'<p class="note">And {len(entry.missing) - len(shown):,} more.</p>'
    return f'<section id="missing"><h2>Missing items</h2>{scrolling_table(("Item", "Reason"), rows)}{more}</section>'


def _provenance(entry: Entry) -> str:
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
    rows = [f'<tr><th scope="row">{escape(name)}</th><td>{breakable(text)}</td></tr>' for name, text in facts.items()]
    return scrolling_table(("Fact", "Value"), rows)
