"""What a dataset is meant for, and what it cannot tell."""

from __future__ import annotations

from collections.abc import Callable

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.claims import too_few
from inpaintbench.export.card import content
from inpaintbench.export.card.words import counted, listed, number
from inpaintbench.types import Dataset

_FEW_SOURCES = 30
_FEW_ITEMS = 10
# Source leaf -> what the footage is, where it is none of the world.
_GENERATED = {
    "embedded": "made by a virtual camera over pictures, and by drawing water",
    "embedded_photographs": "the few photographs that come with the program",
    "embedded_edits": "made by a virtual camera over pictures",
    "drawn_people": "people drawn over photographs",
    "fingerprints": "prints of fingers that nobody has",
}


def limits(dataset: Dataset) -> list[str]:
    """The uses it is made for, then its limits: of its recipe, and of these items."""
    benchmark = benchmark_of(dataset)
    told = [line for one in _OF_THESE_ITEMS for line in one(dataset)]
    lines = [f"- {line}" for line in (*told, *benchmark.limits)]
    return ["## Intended use and limits", "", benchmark.use, "", *lines, ""]


def _footage(dataset: Dataset) -> list[str]:
    leaves = dataset.recipe.get("leaves", {}).get("source", {})
    drawn = [_GENERATED[name] for name in leaves if name in _GENERATED]
    count = len(content.sources(dataset.items))
    unsure = "numbers of these items bear no interval and no rank" if too_few(count) else "intervals are wide"
    few = f"There {'is' if count == 1 else 'are'} only {counted(count, 'source')}: {unsure}, and the items of one source"
    return [
        *([f"The footage is not of the world: it is {listed(drawn)}."] if drawn else []),
        *([f"{few} resemble each other."] if count < _FEW_SOURCES else []),
    ]


def _slices(dataset: Dataset) -> list[str]:
    small = [part.name for part in dataset.slices if len(part.item_ids) < _FEW_ITEMS]
    shown = ", ".join(f"`{name}`" for name in small[:8]) + (f" and {len(small) - 8} more" if len(small) > 8 else "")
    items, members = len(dataset.items), sum(len(part.item_ids) for part in dataset.slices)
    told = [f"Fewer than {_FEW_ITEMS} items: {shown}. Their means are unsure."] if small else []
    if empty := len(dataset.left_out):
        told.append(f"{counted(empty, 'slice')} had no items and {'is' if empty == 1 else 'are'} left out.")
    if members > items:
        told.append("Slices share items, so their scores are not independent of each other.")
    return told


def _labels(dataset: Dataset) -> list[str]:
    asked = bool(dataset.facts.get("raters"))
    people = "the answers of raters apart, they" if asked else "they"
    told = [f"Labels and attributes are measured or drawn by a program; {people} were not checked by people."]
    doubts = [row["attributes"].get("label_doubts") for row in dataset.items]
    doubted = sum(text not in (None, "none") for text in doubts)
    if doubted:
        told.append(
            f"Of {counted(doubted, 'item')} the hole as it was drawn does not measure what its preset promises: `label_doubts` in"
            " `attributes` names the labels."
        )
    return told


def _thresholds(dataset: Dataset) -> list[str]:
    found = dataset.facts.get("selection")
    if not found or not found["rules"] or dataset.facts.get("rules"):
        return []
    return ["The thresholds of the rules were not compared with the judgement of people."]


def _encoding(dataset: Dataset) -> list[str]:
    coded = [row["encode_psnr_db"] for row in dataset.items if row.get("encode_crf") != 0]
    known = [float(value) for value in coded if value is not None]  # nothing is told of truths that are held back
    if not known:
        return []
    worst = min(known)
    return [
        f"Clips are encoded with losses, {number(worst)} dB or better against the frames before. What decoding gives is the"
        " truth; what was lost before is nobody's to recover."
    ]


def _exposed(dataset: Dataset) -> list[str]:
    """A challenge whose inputs give its truth away."""
    found = dataset.facts.get("held_back", {}).get("shown_by_other_inputs")
    if not found:
        return []
    told = f"Inputs of one clip show {100 * found['hole_pixels']:.1f} % of what lies under the held-back holes of others"
    return [f"{told}: a method that copies from them recovers it without inpainting."]


_OF_THESE_ITEMS: tuple[Callable[[Dataset], list[str]], ...] = (_exposed, _footage, _slices, _labels, _thresholds, _encoding)
