"""What was done to the frames of a clip before it was encoded, in words: a row for each clip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from inpaintbench.curation import bars
from inpaintbench.curation.footage import without_name
from inpaintbench.curation.normalizers import NORMALIZERS
from inpaintbench.types import Attribute, Clip, Plain
from inpaintbench.workspace import Blobs

NAME = "normalised"
VERSION = "1"


def normalised(
    clips: Sequence[Clip], facts: Sequence[Attribute], *, normalizer: Plain, fps: float | None, blobs: Blobs
) -> list[Attribute]:
    """A row for each clip: turned, colours, bars, size, rate; whatever was done, in that order.

    Args:
        clips: as they were cut.
        facts: rows of ``probe`` and of ``bars`` of their sources.
        normalizer: ``{"name": ..., constant: value}`` of the leaf that gave them their size.
        fps: the rate that films were brought to; None where they keep theirs.
        blobs: holds the bars of sources where those change.
    """
    sized = NORMALIZERS.get(normalizer["name"])(**without_name(normalizer)).describe()
    of_source: dict[str, dict[str, Any]] = {}
    for row in facts:
        of_source.setdefault(row.subject_id, {})[row.name] = row.blob if row.name == bars.SPANS else row.value
    return [
        Attribute(clip.clip_id, NAME, "; ".join(_done(clip, of_source[clip.source_id], sized, fps, blobs)), None, NAME, VERSION)
        for clip in clips
    ]


def _done(clip: Clip, facts: Mapping[str, Any], sized: str, fps: float | None, blobs: Blobs) -> list[str]:
    done = [f"{int(facts['probe.width'])}x{int(facts['probe.height'])} {_colours(facts)}"]
    if facts.get("probe.mirrored"):
        done.append("mirrored back")
    if facts["probe.rotation_degrees"]:
        done.append(f"turned by {int(facts['probe.rotation_degrees'])} degrees")
    if facts["probe.has_alpha"]:
        done.append("laid over black")
    if abs(facts["probe.pixel_aspect"] - 1) > 1e-6:
        done.append(f"pixels of {facts['probe.pixel_aspect']:.4g}:1 made square")
    cut = _bars(clip, facts, fps, blobs)
    if cut:
        done.append(cut)
    done.append(sized)
    rate = "variable" if facts["probe.variable_frame_rate"] else f"{facts['probe.fps']:.6g} fps"
    if clip.frames > 1:
        done.append(f"{rate} brought to {clip.fps:g} fps by timestamps" if fps else f"every frame ({rate})")
    return done


def _colours(facts: Mapping[str, Any]) -> str:
    if facts["probe.hdr"] != "none":
        return f"tone-mapped from {facts['probe.hdr']}"
    tags = [str(facts[f"probe.{name}"]) for name in ("matrix", "colour_range")]
    tagged = " ".join(tag for tag in tags if tag != "unknown") or "untagged"
    return f"{facts['probe.pixel_format']} {tagged}"


def _bars(clip: Clip, facts: Mapping[str, Any], fps: float | None, blobs: Blobs) -> str:
    source_fps = float(facts["probe.fps"]) if fps else clip.fps
    found = bars.bars_of_clip(
        facts, blobs, start_frame=clip.start_frame, end_frame=clip.end_frame, source_fps=source_fps, fps=clip.fps
    )
    cut = ", ".join(f"{lines} {side}" for side, lines in asdict(found).items() if lines)
    return f"bars cut off: {cut}" if cut else ""
