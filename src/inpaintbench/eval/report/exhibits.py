"""The gallery as data: a strip of slices, and for each item its tiles, scores and values over time.

Without scripts each item is an ordinary video of all its tiles; the player replaces it by one canvas for each tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from inpaintbench.eval.report.effects import Group
from inpaintbench.eval.report.findings import slice_tag, with_unit
from inpaintbench.eval.report.gallery import Exhibit
from inpaintbench.eval.report.headline import Headline
from inpaintbench.eval.report.items import six_digits
from inpaintbench.eval.report.media import MASK, OUTLINE, rounded
from inpaintbench.eval.results.quantity import Quantity, metric_leaf, quantity_label
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages import Sentence, Tagged, data_uri
from inpaintbench.pages.words import count
from inpaintbench.types import Plain

_NAMES = {"truth": "Truth", "input": "Input", OUTLINE: "Outline of the hole", MASK: "Hole"}


def _name(exhibit: Exhibit, channel: str) -> str:
    """Caption of a tile; a clip that is to be edited is called the original, since no result should come back to it."""
    return "Original" if channel == "truth" and not _has_input(exhibit) else _NAMES.get(channel, channel)


def _has_input(exhibit: Exhibit) -> bool:
    return "input" in exhibit.layout.channels


def has_input(exhibits: Sequence[Exhibit]) -> bool:
    """Return whether they show inputs beside the truth; clips that are to be edited are both."""
    return not exhibits or any(map(_has_input, exhibits))


def exhibit_id(index: int) -> str:
    """The id of the element that shows the exhibit ``index``."""
    return f"exhibit-{index}"


class Thumb(NamedTuple):
    """A small picture that leads to an item."""

    slice: str
    words: Sentence
    exhibit: int
    """Its place among the exhibits."""


def strip(results: Results, exhibits: Sequence[Exhibit]) -> list[Thumb]:
    """A small picture for each slice and item, in the order of the tables."""
    order = [part.name for part in in_reading_order(results.slices)] or [results.everything.name]
    thumbs = [
        Thumb(name, (slice_tag(name),), index)
        for name in order
        for index, exhibit in enumerate(exhibits)
        if name in exhibit.choice.reasons
    ]
    labelled = [(label, index) for index, exhibit in enumerate(exhibits) for label in exhibit.choice.labels]
    # "Hardest 2" before "Hardest 10"
    labelled.sort(key=lambda entry: (entry[0].rstrip("0123456789"), len(entry[0]), entry[0]))
    return thumbs + [Thumb(label, (label,), index) for label, index in labelled]


def posters(exhibits: Sequence[Exhibit]) -> str:
    """Style rules with the picture of each exhibit, so that one that stands for several slices is held once."""
    return "\n".join(
        f'[data-poster="{index}"] {{ background-image: url("{data_uri(exhibit.poster, "image/png")}"); }}'
        for index, exhibit in enumerate(exhibits)
    )


def shown_items(exhibits: Sequence[Exhibit]) -> dict[str, str]:
    """Item -> id of the element that plays it."""
    return {exhibit.choice.item_id: exhibit_id(index) for index, exhibit in enumerate(exhibits)}


def shown_groups(groups: Sequence[Group], exhibits: Sequence[Exhibit]) -> dict[str, dict[str, str]]:
    """Axis -> level -> id of the element that plays its item, of the groups whose items all have a video."""
    shown = shown_items(exhibits)
    return {
        group.axis: {level: shown[item_id] for level, item_id in group.items.items()}
        for group in groups
        if all(item_id in shown for item_id in group.items.values())
    }


class Tile(NamedTuple):
    """One picture of an item."""

    name: str
    method: str | None
    """None for truth and input."""
    place: int | None
    """Among the tiles of the video; None where there is no prediction."""
    reason: str
    values: tuple[tuple[Quantity, str], ...]
    """Quantity and value as printed; none is bold, since one item tells nobody from anybody."""


class Figure(NamedTuple):
    """All that the page shows of one exhibit."""

    id: str
    layout: dict[str, Any]
    first: bool
    """Shown when the page is opened."""
    heads: Sentence
    reasons: str
    prompts: tuple[str | None, str] | None
    """Prompts of an edit: of the original, where it is known, and of the wished result."""
    item: str
    source: str
    facts: str
    channels: tuple[str, ...]
    tiles: tuple[Tile, ...]
    traced: bool
    """Has values of frames to draw."""


class ProofFigure(NamedTuple):
    """The truth and one method's result of an item that has a figure."""

    figure: str
    """Id of the item's figure, whose video it plays too."""
    layout: dict[str, Any]
    truth: int
    """Place of the truth among the tiles of the video."""
    place: int
    """Of the method's."""
    method: str
    caption: str


def proofs(finding: Headline, exhibits: Sequence[Exhibit]) -> list[ProofFigure]:
    """One for each item of the headline whose method has a picture there."""
    places = {exhibit.choice.item_id: index for index, exhibit in enumerate(exhibits)}
    return [
        ProofFigure(
            exhibit_id(place),
            _layout(exhibit),
            exhibit.layout.channels.index("truth"),
            exhibit.layout.channels.index(proof.method),
            proof.method,
            proof.caption,
        )
        for proof in finding.proofs
        if (place := places.get(proof.item_id)) is not None and proof.method in (exhibit := exhibits[place]).layout.channels
    ]


def _layout(exhibit: Exhibit) -> dict[str, Any]:
    return {**exhibit.layout._asdict(), "centres": exhibit.centres}


def figures(results: Results, exhibits: Sequence[Exhibit], *, default: Quantity, first: str | None = None) -> list[Figure]:
    """One for each exhibit, in their order; the page opens with the item ``first``, else with the most interesting one."""
    opened = max(
        exhibits,
        key=lambda exhibit: (exhibit.choice.item_id == first, len(exhibit.errors), exhibit.choice.interest),
        default=None,
    )
    rows = {row["item_id"]: row for row in results.dataset.items}
    return [
        _figure(results, exhibit, rows[exhibit.choice.item_id], index, default, first=exhibit is opened)
        for index, exhibit in enumerate(exhibits)
    ]


def _figure(results: Results, exhibit: Exhibit, row: Plain, index: int, default: Quantity, *, first: bool) -> Figure:
    choice, layout = exhibit.choice, exhibit.layout
    given = ("truth", "input") if _has_input(exhibit) else ("truth",)
    heads: list[str | Tagged] = [part for name in choice.reasons for part in (" · ", slice_tag(name))]
    heads += [part for label in choice.labels for part in (" · ", label)]
    reasons = "; ".join(dict.fromkeys((*choice.reasons.values(), *choice.labels.values())))
    prompt = row.get("target_prompt")
    return Figure(
        id=exhibit_id(index),
        layout=_layout(exhibit),
        first=first,
        heads=tuple(heads[1:]),
        reasons=f"Chosen because {reasons} (by {quantity_label(default)}).",
        prompts=None if prompt is None else (row.get("source_prompt"), str(prompt)),
        item=str(row["item_id"]),
        source=str(row["source_id"]),
        facts=" · ".join(_facts(row, exhibit)),
        channels=tuple(_name(exhibit, channel) for channel in layout.channels),
        tiles=tuple(_tile(results, exhibit, channel) for channel in (*given, *results.methods)),
        traced=bool(frame_data(exhibit, edit=not _has_input(exhibit))),
    )


def _facts(row: Plain, exhibit: Exhibit) -> Iterator[str]:
    yield f"{row['width']}×{row['height']}"
    if row["frames"] > 1:
        yield f"{count(int(row['frames']), 'frame')} at {float(row['fps']):g} per second"
    if exhibit.hole_fraction is not None:
        yield f"hole {exhibit.hole_fraction:.1%} of the picture"


def _tile(results: Results, exhibit: Exhibit, channel: str) -> Tile:
    channels = exhibit.layout.channels
    method = channel if channel in results.methods else None
    measured = [quantity for quantity in results.quantities if not quantity.of_sets] if method else []
    return Tile(
        name=_name(exhibit, channel),
        method=method,
        place=channels.index(channel) if channel in channels else None,
        reason=results.reason(channel, exhibit.choice.item_id) or "" if channel not in channels else "",
        values=tuple((one, with_unit(results.value(channel, exhibit.choice.item_id, one), one.metric)) for one in measured),
    )


def all_frame_data(exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """Id of each exhibit -> what its plot over time draws."""
    return {exhibit_id(index): frame_data(exhibit, edit=not _has_input(exhibit)) for index, exhibit in enumerate(exhibits)}


# Key of the root mean square error, which is there for every clip.
ERROR = "error"


def frame_data(exhibit: Exhibit, *, edit: bool) -> list[dict[str, Any]]:
    """One entry for each thing measured: its name and unit, and the lines of the methods; none for a still image."""
    if exhibit.layout.frames < 2 or not exhibit.errors:
        return []
    quantities = list(dict.fromkeys(quantity for found in exhibit.by_frame.values() for quantity in found))
    return [*(_of_quantity(exhibit, one) for one in quantities), _of_error(exhibit, edit=edit)]


def _of_quantity(exhibit: Exhibit, one: Quantity) -> dict[str, Any]:
    leaf = metric_leaf(one.metric)
    lines = {method: rounded(found[one], six_digits) for method, found in exhibit.by_frame.items() if one in found}
    label = quantity_label(one)
    return {"key": f"{one.metric}/{one.region}", "label": label, "unit": leaf.unit, "decimals": leaf.decimals, "lines": lines}


def _of_error(exhibit: Exhibit, *, edit: bool) -> dict[str, Any]:
    where = "in the hole" if exhibit.hole_fraction is not None else "in the whole frame"
    what = "Root mean square difference from the original" if edit else "Root mean square error"
    lines: dict[str, Sequence[float | None]] = dict(exhibit.errors)
    return {"key": ERROR, "label": f"{what} {where}", "unit": "of 255 grey levels", "decimals": 1, "lines": lines}
