"""The gallery as HTML: a strip of slices, and for each item its tiles, scores and error over time.

Without scripts each item is an ordinary video of all its tiles; the player replaces it by one canvas for each tile.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.labels import method_colours, metric_label, region_label
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
        (name, index, exhibit) for name in order for index, exhibit in enumerate(exhibits) if name in exhibit.choice.reasons
    ]
    return "\n".join(
        f'<a class="thumb" href="#{exhibit_id(index)}" data-slice="{escape(name)}">'
        f'<img src="{data_uri(exhibit.poster, "image/png")}" alt="">'
        f"<span>{slice_name(name)}</span></a>"
        for name, index, exhibit in entries
    )


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
{_timeline(results, exhibit)}
</figure>"""


def _caption(results: Results, exhibit: Exhibit, default: Quantity) -> str:
    row = next(row for row in results.dataset.items if row["item_id"] == exhibit.choice.item_id)
    heads = " ".join(f'<span class="title">{slice_name(name)}</span>' for name in exhibit.choice.reasons)
    reasons = "; ".join(dict.fromkeys(exhibit.choice.reasons.values()))
    judged = f"{metric_label(default.metric)} in the {region_label(default.region)}"
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
    values = {name: results.value(name, item_id, quantity) for name in results.methods}
    place = rank(values, higher_is_better=quantity.higher_is_better)[method]
    words = escape(with_unit(values[method], quantity.metric))
    hidden = "" if quantity == default else " hidden"
    words = f"<b>{words}</b>" if place == 1 and len(values) > 1 and quantity.ranked else words
    return f'<span class="value" {only_for(quantity)}{hidden}>{words}</span>'


def _timeline(results: Results, exhibit: Exhibit) -> str:
    """Error over time, a line for each method; empty for a still image or without predictions."""
    frames = exhibit.layout.frames
    peak = max((error for errors in exhibit.errors.values() for error in errors if error is not None), default=0.0)
    if frames < 2 or not peak:
        return ""
    colours = method_colours(results.methods)
    lines = "".join(
        f'<path d="{_path(errors, peak)}" stroke="{colours[method]}"><title>{escape(method)}</title></path>'
        for method, errors in exhibit.errors.items()
    )
    where = "in the hole" if exhibit.hole_fraction is not None else "in the whole frame"
    what = "Error of each frame" if _has_input(exhibit) else "Difference of each frame from the original"
    words = f"{what} {where}: root mean square, 0 to {peak:.0f} of 255 grey levels"
    return (
        f'<div class="timeline"><p class="axis">{words}</p><div class="chart">'
        f'<svg viewBox="0 0 {frames - 1} 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{what.lower()} {where}">{lines}</svg><i class="playhead"></i></div></div>'
    )


def _path(errors: Sequence[float | None], peak: float) -> str:
    """An SVG path with gaps where a frame has no error."""
    commands, pen_down = [], False
    for index, error in enumerate(errors):
        if error is not None:
            commands.append(f"{'L' if pen_down else 'M'}{index} {100 - 96 * error / peak:.1f}")
        pen_down = error is not None
    return "".join(commands)
