"""Pairing of saved masks with clips: those that bear the name of its source, or any of them where that was asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inpaintbench import video
from inpaintbench.errors import InputError, MediaError, Rejected
from inpaintbench.executors.base import Rejection
from inpaintbench.files import display_name
from inpaintbench.masks.render import MaskRequest, build
from inpaintbench.masks.saved_folder import content_of, folder_polarity, sequence_files
from inpaintbench.pages.words import some_of
from inpaintbench.types import Attribute, Clip, Plain, Source, hash_of
from inpaintbench.workspace import Workspace

_MASK_OF = re.compile(r"_mask[0-9]*$", re.IGNORECASE)
_MOST_NAMED = 5
# Relative difference of two shapes, width by height, that whole pixels make.
_SAME_SHAPE = 0.02


def by_turn(clips: Sequence[Clip], masks: Sequence[str], *, seed: int) -> list[tuple[Clip, str]]:
    """One sequence of masks a clip, whatever they are called: that which a hash of the clip says, whoever else is there."""
    return [(clip, masks[hash_of("masks", seed, clip.clip_id) % len(masks)]) for clip in clips]


def by_name(clips: Sequence[Clip], masks: Iterable[str], *, uris: Mapping[str, str]) -> tuple[list[tuple[Clip, str]], list[str]]:
    """Every clip with each sequence of masks of its source, and the masks that have no source.

    ``dogs_jump``, ``dogs_jump_mask`` and ``dogs_jump_mask000`` are masks of ``films/dogs_jump.mp4``.

    Args:
        clips: that need masks.
        masks: names of sequences.
        uris: source id -> percent-encoded name, of all sources.

    Raises:
        InputError: a source without masks, or two sources of one name; both lists are named.
    """
    owners: dict[str, list[str]] = {}
    for source_id, uri in uris.items():
        # Without folders, the file's ending and what says where it is from, as in `embedded:`; a colon of its own is encoded.
        plain = Path(unicodedata.normalize("NFC", display_name(uri.rpartition(":")[2]))).name
        if Path(plain).suffix.lower() in (*video.VIDEO_SUFFIXES, *video.IMAGE_SUFFIXES):
            plain = Path(plain).stem
        owners.setdefault(plain, []).append(source_id)
    masks_of: dict[str, list[str]] = {}
    alone: list[str] = []
    for mask in masks:
        name = unicodedata.normalize("NFC", mask)
        sources = owners.get(name) or owners.get(_MASK_OF.sub("", name), [])
        if len(sources) > 1:
            both = " and ".join(repr(display_name(uris[source])) for source in sources[:2])
            raise InputError(f"masks {mask!r} may be of {both}: rename one of the sources and its masks")
        masks_of.setdefault(sources[0], []).append(mask) if sources else alone.append(mask)
    bare = list(dict.fromkeys(display_name(uris[clip.source_id]) for clip in clips if clip.source_id not in masks_of))
    if bare:
        without = f"{len(bare)} of {len(uris)} sources have no masks of their name ({some_of(bare, most=_MOST_NAMED)})"
        others = f"without a source are the masks {some_of(alone, most=_MOST_NAMED)}" if alone else "all masks have a source"
        raise InputError(f"{without}, {others}: name them alike, or take masks in turn with --masks-by-turn")
    return [(clip, mask) for clip in clips for mask in masks_of[clip.source_id]], alone


def check_numbers(
    pairs: Iterable[tuple[Clip, str]], sequences: Mapping[str, Sequence[Path]], *, frames: Mapping[str, int]
) -> None:
    """Raise ``InputError`` where masks by their numbers are not those of the first frames of their film, and too few for all.

    YouTube-VOS labels every fifth frame: its masks belong to a film of those frames alone, one by one. On the frames of a whole
    film all but the first would land in the wrong place, as would masks that begin in its middle: whether number 10 is the tenth
    frame or the one after it, no name says.

    Args:
        pairs: clips of films with the names of their masks.
        sequences: files of the masks, in order.
        frames: source id -> frames of the film.
    """
    for clip, name in pairs:
        files, count = sequences[name], frames[clip.source_id]
        if clip.frames > 1 and not video.begin_a_film(files, frames=count):
            step = video.step_of(files)
            how = f"go in steps of {step} ({files[0].name}, {files[1].name} ...)" if step != 1 else f"begin at {files[0].name}"
            counted = "" if step != 1 else ", counted from 0 or 1"
            raise InputError(
                f"masks {name!r} {how} and are {len(files)}, the frames of their film {count}{counted}: "
                "give a mask for each frame, or a film of those frames alone"
            )


def requests(
    workspace: Workspace, clips: Sequence[Clip], folder: Path | None, constants: Plain,
    *, in_turn: bool, stills: bool, seed: int,
) -> list[MaskRequest]:  # fmt: skip
    """Every clip with its saved masks; masks that have no source are told in ``rejected``.

    Args:
        workspace: with sources and clips.
        clips: that need masks.
        folder: of the masks.
        constants: of the generator ``saved_masks``, less the folder.
        in_turn: take any masks, by a hash of each clip, whatever they are called.
        stills: the clips are pictures, of which each mask is a whole one.
        seed: of the recipe; another one shares masks out otherwise.

    Raises:
        InputError: masks that cannot be read, a source without masks, or masks of every n-th frame or a later part of a film.
    """
    settled, sequences = _settled(folder, constants, stills=stills)
    uris = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    pairs, alone = (by_turn(clips, list(sequences), seed=seed), list[str]()) if in_turn else by_name(clips, sequences, uris=uris)
    refused = [Rejection(name, "saved_masks", quote(name), "no source has the name of these masks") for name in alone]
    workspace.write_table("rejected", "saved_masks", refused, Rejection)
    if not in_turn:
        probed = workspace.table("attributes", Attribute, step="probe")
        frames = {row.subject_id: int(row.value or 0) for row in probed if row.name == "probe.frames"}
        check_numbers(pairs, sequences, frames=frames)
    if not in_turn and settled.get("resize") == "cover":
        pairs, misfits = _of_their_shape(workspace, pairs, sequences)
        workspace.write_table("rejected", "saved_masks", [*refused, *misfits], Rejection)
        if not pairs:
            raise InputError(misfits[0].reason)
    contents = {name: content_of(sequences[name]) for name in dict.fromkeys(name for _, name in pairs)}
    made = []
    for clip, name in pairs:
        # Masks of a whole film go on where the clip begins.
        start = {} if in_turn or not clip.start_frame else {"first_frame": clip.start_frame}
        own = {**settled, "sequence": name, "content": contents[name], **start}
        made.append(MaskRequest(clip, "saved_masks", own, seed, where={"folder": str(folder)}))
    return made


def _of_their_shape(
    workspace: Workspace, pairs: Sequence[tuple[Clip, str]], sequences: Mapping[str, Sequence[Path]]
) -> tuple[list[tuple[Clip, str]], list[Rejection]]:
    """The pairs whose masks have the shape of their source or the size of the clip, and the others with the reason."""
    probed = {(row.subject_id, row.name): row.value for row in workspace.table("attributes", Attribute, step="probe")}
    fitting, refused = [], []
    for clip, name in pairs:
        try:
            rows, columns = video.read_index_image(sequences[name][0]).shape
        except MediaError:  # told when the mask itself is made
            fitting.append((clip, name))
            continue
        width, height, aspect, turned = (
            probed.get((clip.source_id, f"probe.{side}")) for side in ("width", "height", "pixel_aspect", "rotation_degrees")
        )
        shape = float(width or columns) * float(aspect or 1) / float(height or rows)
        shape = 1 / shape if float(turned or 0) % 180 else shape
        if (columns, rows) == (clip.width, clip.height) or abs(columns / rows / shape - 1) < _SAME_SHAPE:
            fitting.append((clip, name))
            continue
        wanted = f"the shape of its source ({shape:.3g}:1) or be {clip.width}x{clip.height}"
        why = f"masks {name!r} are {columns}x{rows}, but should have {wanted}"
        refused.append(Rejection(f"{clip.clip_id}:{name}", "saved_masks", quote(name), why))
    return fitting, refused


def check(folder: Path | None, constants: Plain, *, stills: bool) -> None:
    """Raise ``InputError`` when the masks are not there, or cannot be read with these constants."""
    settled, sequences = _settled(folder, constants, stills=stills)
    build("saved_masks", {**settled, "folder": str(folder), "sequence": next(iter(sequences))})


def _settled(folder: Path | None, constants: Plain, *, stills: bool) -> tuple[dict[str, Any], Mapping[str, tuple[Path, ...]]]:
    """The constants for all masks, and the files of each sequence."""
    if folder is None:
        raise InputError("this recipe takes its holes from saved masks; say where they lie: --saved-masks FOLDER")
    # A picture has one mask, so that masks beside each other are of one picture each, even where both are numbered.
    settled = {**({"layout": "pictures"} if stills else {}), **constants}
    sequences = sequence_files(folder, layout=settled.get("layout", "auto"))
    if settled.get("polarity", "detect") == "detect":
        # Asked once: which colour is the hole is a matter of the folder, and so part of every mask's constants.
        try:
            settled["folder_says"] = folder_polarity(sequences, threshold=settled.get("threshold"))
        except Rejected as error:
            raise InputError(f"{error}; with the option --saved polarity=white_is_hole, for example") from error
    return settled, sequences
