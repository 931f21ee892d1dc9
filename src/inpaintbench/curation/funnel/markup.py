"""Small pieces of HTML. Everything that comes from data is escaped here or by the caller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from inpaintbench.curation.calibration import Share
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.judging import Judged

_BREAK = re.compile(r"([_/]|\.(?=[A-Za-z]))(?![^<>]*>)")
_ID_SHOWN = 10


def count(n: int, word: str) -> str:
    """``1 clip``, ``12 clips``."""
    return f"{n:,} {word if n == 1 else word + 's'}"


def percent(part: float, whole: float) -> str:
    """A share in per cent, one decimal below ten: ``4.2 %``; a dash of nothing."""
    if not whole:
        return "–"
    share = 100 * part / whole
    return f"{share:.{1 if 0 < share < 9.95 else 0}f} %"


def number(value: float | None, *, digits: int = 3) -> str:
    """A number with so many digits and a true minus sign, whole from a thousand on, or a dash for None."""
    if value is None:
        return "–"
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}").replace("-", "−")


def breakable(name: str) -> str:
    """An escaped name that may break after underscores, slashes, and dots before a letter."""
    return _BREAK.sub(r"\1<wbr>", escape(name))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, label: str, numeric: Sequence[int] = ()) -> str:
    """A table that scrolls sideways where it must; cells are finished HTML, columns in ``numeric`` stand to the right."""

    def cells(row: Sequence[str], tag: str) -> str:
        marks = [' class="n"' if place in numeric else "" for place in range(len(row))]
        return "".join(f"<{tag}{mark}>{cell}</{tag}>" for cell, mark in zip(row, marks, strict=True))

    body = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(label)}"><table><thead><tr>{cells(heads, "th")}</tr>'
        f"</thead><tbody>\n{body}\n</tbody></table></div>"
    )


def interval(share: Share) -> str:
    """A share with its 95 % interval where it has one: words, and a line from 0 to 1."""
    if share.value is None:
        return f'<span class="note">{escape(share.reason or "")}</span>'
    if share.low is None or share.high is None:
        return f'<span class="share">{share.value:.0%} <small>{share.count} of {share.total}</small></span>'
    words = f"{share.value:.0%} <small>{share.low:.0%} – {share.high:.0%} · {share.count} of {share.total}</small>"
    left, width, dot = (f"{100 * part:.1f}%" for part in (share.low, share.high - share.low, share.value))
    bar = f'<i style="left:{left};width:{width}"></i><u style="left:{dot}"></u>'
    return f'<span class="share">{words}</span><span class="whisker" aria-hidden="true">{bar}</span>'


def tile(thumbnails: Thumbnails, place: int, *, name: str, lines: Sequence[str], state: str) -> str:
    """A picture of the clip at ``place`` that leads to its file, with lines of text, its name and the beginning of its id below.

    ``state`` is kept, dropped or waiting.
    """
    clip = clip_name(thumbnails.judged, place, name)
    clip_id = thumbnails.judged.clip_ids[place].as_py()
    style, ratio = thumbnails.style(place)
    shape, title = f'style="aspect-ratio:{ratio:.4f}"', escape(f"{clip} · {thumbnails.why(place)}")
    drawn = f'<div class="picture gone" {shape}><span>no picture</span></div>'
    if style:
        to = f'href="{escape(thumbnails.link(place))}" target="_blank" rel="noopener" aria-label="Play {escape(clip)}"'
        drawn = f'<a class="picture {style}" {shape} {to}></a>'
    words = "".join(f"<p>{breakable(line)}</p>" for line in lines) + f'<p class="name">{breakable(clip)}</p>'
    if clip_id not in lines:
        words += f'<p class="name"><code class="id">{escape(clip_id[:_ID_SHOWN])}</code></p>'
    return f'<figure class="tile {state}" title="{title}">{drawn}<figcaption>{words}</figcaption></figure>'


def clip_name(judged: Judged, place: int, source: str) -> str:
    """``SOURCE:FRAME``, which `curation why` understands."""
    return f"{source}:{judged.facts.clips['start_frame'][place].as_py()}"


def folded(summary: str, inside: str) -> str:
    """Something to open; both are finished HTML."""
    return f"<details><summary>{summary}</summary>{inside}</details>"


def tiles(figures: Sequence[str]) -> str:
    """Pictures side by side."""
    return f'<div class="tiles">{"".join(figures)}</div>'
