"""Faults of the videos of a list, all found before anything is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from inpaintbench.errors import MissingExtraError
from inpaintbench.eval.adapters.fitting import sizes_in_words
from inpaintbench.eval.metrics import METRICS
from inpaintbench.models.clip import MOST_TOKENS, tokens
from inpaintbench.wings.editboard import media
from inpaintbench.wings.editboard.media import Edit, Looked, Wanted

Kind = Literal["fault", "gap", "note"]
# Tokens of a prompt's beginning and end.
_MARKS = 2
# Pixels: the square that EditBoard's script squashes all videos to.
_PUBLISHED_SIDE = 512


@dataclass(frozen=True)
class Finding:
    """One thing to know of an edit, or of several."""

    kind: Kind
    """``fault``: it cannot be scored; ``gap``: some metrics will have no value; ``note``: good to know."""
    where: str
    text: str
    """One sentence without a full stop."""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


@dataclass(frozen=True)
class Checked:
    """An edit with what is known of its videos."""

    edit: Edit
    edited: Looked
    original: Looked | None
    mask: Looked | None
    fault: str | None
    """Reason why it cannot be scored: its faults in one line."""


def needed(edit: Edit, metrics: Sequence[str]) -> list[Wanted]:
    """The videos that some metrics need of an edit."""
    parts = {part for name in metrics for part in METRICS.get(name).needs}
    wanted: list[Wanted] = [(edit.edited, "frames")]
    if edit.original is not None and "truth" in parts:
        wanted.append((edit.original, "frames"))
    if edit.mask is not None and "object_mask" in parts:
        wanted.append((edit.mask, "mask"))
    return wanted


def check(
    edits: Sequence[Edit], looked: Mapping[Wanted, Looked], *, metrics: Sequence[str], side_pixels: int | None, published: bool
) -> tuple[list[Checked], list[Finding]]:
    """The edits with what is known of them, and everything that there is to say, by the order of the list.

    Args:
        edits: of a list.
        looked: what there is under the paths that they need.
        metrics: that are to be measured.
        side_pixels: squares that all frames are squashed to; None = they stay as they are.
        published: numbers are to be those of the released code, which takes 512x512.
    """
    checked, findings = [], list[Finding]()
    for edit in edits:
        wanted = needed(edit, metrics)
        edited = looked[edit.edited, "frames"]
        original = looked[edit.original, "frames"] if edit.original and (edit.original, "frames") in wanted else None
        mask = looked[edit.mask, "mask"] if edit.mask and (edit.mask, "mask") in wanted else None
        faults = list(_faults(edited, original, mask, squashed=side_pixels is not None))
        findings += [Finding("fault", edit.where, text) for text in faults]
        if not faults:
            findings += [Finding("gap", edit.where, text) for text in _gaps(edit, edited, mask, metrics)]
        checked.append(Checked(edit, edited, original, mask, "; ".join(faults) or None))
    return checked, [*findings, *_notes(checked, side_pixels=side_pixels, published=published)]


def _faults(edited: Looked, original: Looked | None, mask: Looked | None, *, squashed: bool) -> Iterator[str]:
    broken = list(dict.fromkeys(one.fault for one in (original, edited, mask) if one and one.fault))
    yield from broken
    if broken or original is None:
        return
    for what, other in (("the edit", edited), ("the mask", mask)):
        if other and (other.frames != original.frames or (not squashed and other.shape != original.shape)):
            found, asked = sizes_in_words(other.shape, original.shape)
            yield f"{what} is {found}, its original {asked}{_way_out(other, original)}"
        elif other and None not in (steps := (media.step(other.found), media.step(original.found))) and steps[0] != steps[1]:
            yield f"the numbers of {what} go in steps of {steps[0]}, those of its original in steps of {steps[1]}"
        elif other is mask and other and not media.count_alike(other.found, original.found):
            these, those = (media.begin(one.found) for one in (other, original))
            yield f"the mask is {these}, its original {those}: give the mask of these frames, numbered as they are"


def _way_out(one: Looked, original: Looked) -> str:
    if one.frames == original.frames:
        return "; --side 512 squashes all videos to squares of 512, as EditBoard's script does"
    merged = one.frames < original.frames and str(one.found.get("path", "")).lower().endswith(".gif")
    return "; programs that write GIFs merge equal frames in a row: give the frames themselves" if merged else ""


def _gaps(edit: Edit, edited: Looked, mask: Looked | None, metrics: Sequence[str]) -> Iterator[str]:
    """Reasons why a metric will have no value, as far as can be known before measuring."""
    pairs = [name for name in metrics if edited.frames < METRICS.get(name).fewest_frames]
    if pairs:
        yield f"has 1 frame, so there will be no {_listed(pairs)}"
    sources = [name for name in metrics if "truth" in METRICS.get(name).needs]
    if edit.original is None and sources:
        yield f"there is no original_video_path, so there will be no {_listed(sources)}"
    elif "semantic_score" in metrics:
        yield from _mask_gaps(edit, mask)
    prompted = [name for name in metrics if "prompts" in METRICS.get(name).needs]
    if prompted:
        for name, text, hit in (
            ("source_prompt", edit.source_prompt, [metric for metric in prompted if metric == "success_rate"]),
            ("target_prompt", edit.target_prompt, prompted),
        ):
            if not hit:
                continue
            if text is None:
                yield f"there is no {name}, so there will be no {_listed(hit)}"
            elif (length := _tokens(text)) > MOST_TOKENS:
                yield (
                    f"the {name} has {length} tokens with the marks of its beginning and end, CLIP takes {MOST_TOKENS} at most, "
                    f"so there will be no {_listed(hit)}"
                )


def _mask_gaps(edit: Edit, mask: Looked | None) -> Iterator[str]:
    if edit.task not in (None, "SOSA"):
        return
    without = "so there will be no semantic_score"
    if mask is None:
        yield f"there is no semantic_mask_path, {without}"
    elif mask.inside_share == 0:
        yield f"the mask {mask.found['name']!r} is empty in every frame, {without}"
    elif mask.inside_share == 1:
        yield f"the mask {mask.found['name']!r} covers every frame whole, {without}"


def _tokens(text: str) -> int:
    """Number of CLIP's tokens; 0 where they are too few to matter, or nobody can tell."""
    if len(text.encode()) <= MOST_TOKENS - _MARKS:  # none is shorter than a byte, and asking takes seconds of imports
        return 0
    try:
        return len(tokens(text))
    except MissingExtraError:  # success rate and CLIP similarity say so then
        return 0


def _notes(checked: Sequence[Checked], *, side_pixels: int | None, published: bool) -> Iterator[Finding]:
    told: set[str] = set()
    for one in checked:
        for video in (one.original, one.edited, one.mask):
            note = media.order_note(video.found) if video and video.found else None
            if note and note not in told:
                told.add(note)
                yield Finding("note", one.edit.where, note)
    squashed = {(side_pixels, side_pixels)} if side_pixels else set()
    sizes = squashed or {(one.edited.width, one.edited.height) for one in checked if one.fault is None}
    if published and (odd := sizes - {(_PUBLISHED_SIDE, _PUBLISHED_SIDE)}):
        width, height = min(odd)
        text = f"frames are measured at {width}x{height}; EditBoard's numbers are for 512x512, see --side"
        yield Finding("note", "sizes", text)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
