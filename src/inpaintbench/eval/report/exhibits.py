"""The gallery as HTML: a strip of slices, and for each item its tiles, scores and error over time.

Without scripts each item is an ordinary video of all its tiles; the player replaces it by one canvas for each tile.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from inpaintbench.claims import too_few
from inpaintbench.eval.report.frame_data import frame_data
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.labels import method_colours, quantity_label
from inpaintbench.eval.report.markup import breakable, count, data_uri, method_name, only_for, slice_name, with_unit
from inpaintbench.eval.report.proxy import MASK, OUTLINE
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import Results, in_reading_order
from inpaintbench.eval.statistics import rank
from inpaintbench.types import Plain

_NAMES = {"truth": "Truth", "input": "Input", OUTLINE: "Outline of the hole", MASK: "Hole"}


def _name(exhibit: Exhibit, channel: str) -> str:
    """What a tile is called; a clip that is to be edited is no truth to come back to."""
    return "Original" if channel == "truth" and not _has_input(exhibit) else _NAMES.get(channel, channel)


def _has_input(exhibit: Exhibit) -> bool:
    return "input" in exhibit.layout.channels


def has_input(exhibits: Sequence[Exhibit]) -> bool:
    """Whether they show inputs beside the truth; clips that are to be edited are both."""
    return not exhibits or any(map(_has_input, exhibits))


def exhibit_id(index: int) -> str:
    """The id of the element that shows the exhibit ``index``."""
    return f"exhibit-{index}"


def slices_shown(exhibits: Sequence[Exhibit]) -> dict[str, str]:
    """Slice -> id of the first element that shows it."""
    shown: dict[str, str] = {}
    for index, exhibit in enumerate(exhibits):
        for name in exhibit.choice.reasons:
            shown.setdefault(name, exhibit_id(index))
    return shown


def strip(results: Results, exhibits: Sequence[Exhibit]) -> str:
    """A small picture for each slice and item, in the order of the tables."""
    order = [one.name for one in in_reading_order(results.slices)] or [results.everything.name]
    entries = [
        (name, slice_name(name), index)
        for name in order
        for index, exhibit in enumerate(exhibits)
        if name in exhibit.choice.reasons
    ]
    labelled = [(label, index) for index, exhibit in enumerate(exhibits) for label in exhibit.choice.labels]
    # "Hardest 2" before "Hardest 10"
    labelled.sort(key=lambda entry: (entry[0].rstrip("0123456789"), len(entry[0]), entry[0]))
    entries += [(label, f"<b>{escape(label)}</b>", index) for label, index in labelled]
    return "\n".join(
        f'<a class="thumb" href="#{exhibit_id(index)}" data-slice="{escape(name)}">'
        f'<i class="poster" data-poster="{index}" aria-hidden="true"></i><span>{words}</span></a>'
        for name, words, index in entries
    )


def posters(exhibits: Sequence[Exhibit]) -> str:
    """Style rules with the picture of each exhibit, so that one that stands for several slices is held once."""
    return "\n".join(
        f'[data-poster="{index}"] {{ background-image: url("{data_uri(exhibit.poster, "image/png")}"); }}'
        for index, exhibit in enumerate(exhibits)
    )


def shown_items(exhibits: Sequence[Exhibit]) -> dict[str, str]:
    """Item -> id of the element that plays it."""
    return {exhibit.choice.item_id: exhibit_id(index) for index, exhibit in enumerate(exhibits)}


def figures(results: Results, exhibits: Sequence[Exhibit], addresses: Sequence[str], *, default: Quantity) -> str:
    """One figure for each exhibit; ``addresses`` say where its video is."""
    first = max(exhibits, key=lambda exhibit: (len(exhibit.errors), exhibit.choice.interest), default=None)
    return "\n".join(
        _figure(results, exhibit, index=index, address=address, default=default, first=exhibit is first)
        for index, (exhibit, address) in enumerate(zip(exhibits, addresses, strict=True))
    )


def _figure(results: Results, exhibit: Exhibit, *, index: int, address: str, default: Quantity, first: bool) -> str:
    layout = json.dumps({**exhibit.layout._asdict(), "centres": exhibit.centres}, separators=(",", ":"))
    given = ("truth", "input") if _has_input(exhibit) else ("truth",)
    tiles = "\n".join(_tile(results, exhibit, channel, default) for channel in (*given, *results.methods))
    names = escape("tiles, row by row: " + ", ".join(_name(exhibit, channel) for channel in exhibit.layout.channels))
    return f"""<figure class="exhibit" id="{exhibit_id(index)}" data-layout="{escape(layout)}"{" data-first" if first else ""}>
{_caption(results, exhibit, default)}
<video muted loop playsinline controls preload="none" src="{escape(address)}" aria-label="{names}"></video>
<div class="tiles">
{tiles}
</div>
{_timeline(exhibit)}
</figure>"""


def _caption(results: Results, exhibit: Exhibit, default: Quantity) -> str:
    row = next(row for row in results.dataset.items if row["item_id"] == exhibit.choice.item_id)
    choice = exhibit.choice
    heads = " ".join(f'<span class="title">{slice_name(name)}</span>' for name in choice.reasons)
    heads += " ".join(f'<span class="title">{escape(label)}</span>' for label in choice.labels)
    reasons = "; ".join(dict.fromkeys((*choice.reasons.values(), *choice.labels.values())))
    judged = quantity_label(default)
    return (
        f'<figcaption><h3>{heads}</h3><p class="why">Chosen because {escape(reasons)} (by {escape(judged)}).</p>'
        f'{_prompts(row)}<p class="facts">{" · ".join(_facts(row, exhibit))}</p></figcaption>'
    )


def _prompts(row: Plain) -> str:
    """What an edit is to make of what; nothing for other items."""
    if row.get("target_prompt") is None:
        return ""
    source = f"“{escape(str(row['source_prompt']))}” → " if row.get("source_prompt") else ""
    return f'<p class="prompts">{source}<b>“{escape(str(row["target_prompt"]))}”</b></p>'


def _facts(row: Plain, exhibit: Exhibit) -> list[str]:
    facts = [
        f"item <code>{breakable(str(row['item_id']))}</code>",
        f"source <code>{breakable(str(row['source_id']))}</code>",
        f"{row['width']}×{row['height']}",
    ]
    if row["frames"] > 1:
        facts.append(f"{count(int(row['frames']), 'frame')} at {float(row['fps']):g} per second")
    if exhibit.hole_fraction is not None:
        facts.append(f"hole {exhibit.hole_fraction:.1%} of the picture")
    return facts


def _tile(results: Results, exhibit: Exhibit, channel: str, default: Quantity) -> str:
    colour = method_colours(results.methods).get(channel)
    if colour is None:
        label = f'<div class="label"><span class="method">{_name(exhibit, channel)}</span></div>'
    else:
        measured = [one for one in results.quantities if not one.of_sets]
        scores = "".join(_tile_score(results, exhibit.choice.item_id, channel, one, default) for one in measured)
        label = f'<div class="label">{method_name(channel, colour)}{scores}</div>'
    layout = exhibit.layout
    if channel not in layout.channels:
        shape = f"aspect-ratio:{layout.tile_width}/{layout.tile_height}"
        reason = escape(results.reason(channel, exhibit.choice.item_id) or "")
        return f'<div class="tile"><div class="absent" style="{shape}"><p>no prediction</p><p>{reason}</p></div>{label}</div>'
    subject = escape(_name(exhibit, channel))
    return (
        f'<div class="tile" data-tile="{layout.channels.index(channel)}">'
        f'<canvas width="{layout.tile_width}" height="{layout.tile_height}" role="img" aria-label="{subject}"></canvas>'
        f"{label}</div>"
    )


def _tile_score(results: Results, item_id: str, method: str, quantity: Quantity, default: Quantity) -> str:
    values = {name: results.value(name, item_id, quantity) for name in results.contenders}
    place = rank(values, higher_is_better=quantity.higher_is_better).get(method)
    words = escape(with_unit(results.value(method, item_id, quantity), quantity.metric))
    hidden = "" if quantity == default else " hidden"
    best = place == 1 and len(values) > 1 and quantity.ranked and not too_few(results.n_sources(results.everything))
    words = f"<b>{words}</b>" if best else words
    return f'<span class="value" {only_for(quantity)}{hidden}>{words}</span>'


def _timeline(exhibit: Exhibit) -> str:
    """Where a script draws the values over time; empty for a still image or without predictions."""
    if not frame_data(exhibit, edit=not _has_input(exhibit)):
        return ""
    return '<div class="traces js-only"></div>'


def all_frame_data(exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """Id of each exhibit -> what its plot over time draws."""
    return {exhibit_id(index): frame_data(exhibit, edit=not _has_input(exhibit)) for index, exhibit in enumerate(exhibits)}
