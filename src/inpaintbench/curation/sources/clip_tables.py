"""Tables of clips that others wrote: where the films of each clip lie, what is said of it, and which of their columns says what.

A column of films is known by its name, and by what stands in it: paths that are there. One whose name says nothing is known by
the folders of these paths.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench import video
from inpaintbench.curation.sources import user_tables
from inpaintbench.curation.sources.removal_layouts import Film, Found, Shot, film_at
from inpaintbench.curation.sources.user_tables import Entry
from inpaintbench.errors import InputError
from inpaintbench.files import read_text
from inpaintbench.pages.words import some_of

# The layout of a table in the place of folders.
TABLE = "table"
FILMS = ("input", "mask", "truth")
# What a column says of a clip -> what that is called of an item.
SAID: Mapping[str, str] = {"caption": "caption", "object": "object_name", "effects": "after_effects"}
COLUMNS = (*FILMS, "name", *SAID)
_NEEDED = FILMS[:2]
# What others call our columns, the likeliest first.
_THEIRS: Mapping[str, tuple[str, ...]] = {
    "mask": ("mask_path", "mask_video", "mask_video_path", "mask_file", "masks", "object_mask", "segmentation", "seg", "matte"),
    "truth": (
        "gt", "gt_path", "gt_video", "ground_truth", "ground_truth_path", "background", "background_video", "bg", "bg_video",
        "clean", "clean_video", "removed", "object_not_present", "target_video", "target",
    ),
    "input": (
        "input_path", "input_video", "input_video_path", "video_path", "video", "video_file", "source_video", "original_video",
        "clip", "clip_path", "fg_video", "objects_added", "source", "file_name", "filename", "file", "path",
    ),
    "name": ("clip_name", "clip_id", "video_name", "video_id", "id", "uid"),
    "caption": ("video_caption", "description", "prompt", "text"),
    "object": ("object_name", "fg_object", "target_object", "label", "category", "class"),
    "effects": ("after_effects", "after_effect_type", "effect", "effect_type", "side_effects", "side_effect"),
}  # fmt: skip
# Words of folders and heads that say which films a column has; any other column has the clips with the object.
_WORDS: Mapping[str, frozenset[str]] = {
    "mask": frozenset({"mask", "masks", "matte", "mattes", "annotations", "segmentation", "segmentations", "seg"}),
    "truth": frozenset({"gt", "gts", "truth", "truths", "background", "backgrounds", "bg", "clean", "removed", "without", "not"}),
}


class Matched(NamedTuple):
    """The rows of a table, and which of its columns is which."""

    path: Path
    entries: list[Entry]
    columns: Mapping[str, str]
    """Ours -> theirs."""
    sentence: str
    """What was guessed, and how to say it otherwise; empty where nothing was."""


def read_columns(text: str) -> dict[str, str]:
    """``user_tables.read_columns`` of tables of clips."""
    return user_tables.read_columns(text, COLUMNS)


def matched(path: Path, columns: Mapping[str, str] | None = None, *, films: Sequence[str] = FILMS) -> Matched:
    """The rows of a table of clips, and its columns.

    Args:
        path: as ``user_tables.entries`` reads it; paths of films count from its folder.
        columns: ours -> what the table calls it, where that is not to be guessed.
        films: those that are looked for; of these ``input`` and ``mask`` have to be there.

    Raises:
        InputError: not readable, no rows, or columns that cannot be told apart, with a mapping to be filled in.
    """
    given = dict(columns or {})
    entries = user_tables.entries(path, kind="clips", known={*COLUMNS, *given.values()})
    if not entries:
        of_text = path.is_file() and path.suffix.lower() in (*user_tables.TABLES[:2], "", ".txt")
        first = read_text(path).strip().partition("\n")[0] if of_text else ""
        broken = first and not re.search(r"[,;\t]", first)  # one column cannot be a table: two have to be there
        what = f"are no table: their only line is {first[:40]!r}" if broken else "have no rows"
        raise InputError(f"clips {str(path)!r} {what}; give columns such as input,mask and below them a row for each clip")
    there = user_tables.heads(entries, given, where=f"clips {str(path)!r}")
    known = given | {name: name for name in COLUMNS if name in there and name not in given and name not in given.values()}
    free = [name for name in there if name not in known.values()]
    of_films = [name for name in free if films and _has_films(entries, name, path.parent)]
    guessed = user_tables.guessed(of_films, {*known, *SAID, "name"}, _THEIRS)
    for name in of_films:
        kind = _kind(name, entries)
        if name not in guessed.values() and kind in films and kind not in {*known, *guessed}:
            rivals = [one for one in of_films if one not in guessed.values() and _kind(one, entries) == kind]
            guessed |= {kind: name} if len(rivals) == 1 else {}
    if lacking := [name for name in films if name in _NEEDED and name not in {*known, *guessed}]:
        way_out = user_tables.option({**given, **guessed, **dict.fromkeys(lacking, "THEIRS")})
        raise InputError(
            f"clips {str(path)!r} have no column {' and no '.join(map(repr, lacking))} that can be told, they have "
            f"{', '.join(there)}, of which {some_of(of_films) if of_films else 'none'} name films that are there; say what they "
            f"call these: {way_out}"
        )
    guessed |= user_tables.guessed([name for name in free if name not in of_films], {*known, *FILMS, *guessed}, _THEIRS)
    found = {ours: theirs for ours, theirs in {**known, **guessed}.items() if ours in films or ours not in FILMS}
    told = {ours: found[ours] for ours in COLUMNS if ours in guessed and ours in found}
    parts = ", ".join(f"{ours} is its column {theirs!r}" for ours, theirs in told.items())
    sentence = f"{path.name}: {parts}, by names and values; say it otherwise with {user_tables.option(told)}" if told else ""
    return Matched(path, entries, found, sentence)


def _has_films(entries: Sequence[Entry], name: str, root: Path) -> bool:
    """Whether all that stands in a column is a path that is there."""
    values = [entry.fields.get(name) for entry in entries]
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    return bool(texts) and len(texts) == sum(value not in (None, "") for value in values) and all(
        (root / text.strip()).exists() for text in texts
    )  # fmt: skip


def _kind(name: str, entries: Sequence[Entry]) -> str:
    """Which films a column has, by the words of its head, or of the folders and names in its first row."""
    first = next((str(entry.fields[name]) for entry in entries if entry.fields.get(name)), "")
    for text in (name, first):
        words = set(re.split(r"[^a-z]+", text.lower()))
        for kind, of_kind in _WORDS.items():
            if words & of_kind:
                return kind
    return "input"


def clips_of(path: Path, columns: Mapping[str, str] | None = None) -> list[Found]:
    """The clips of a table, in its order; those that are given no name are called as their input, without its ending.

    Raises:
        InputError: what ``matched`` raises; a film that is not there; a clip twice.
    """
    table, found = matched(path, columns), dict[str, Found]()
    said = _said(table)
    for entry in table.entries:
        films: dict[str, Film] = {}
        for side in (side for side in FILMS if side in table.columns):
            text = str(entry.fields.get(table.columns[side]) or "").strip()
            if not text:
                raise InputError(f"{entry.where} has no {side}")
            films[side] = film_at(path.parent / text, where=f"{entry.where}: its {side}")
        name = _name(entry, table)
        if name in found:
            raise InputError(f"{entry.where} names the clip {name!r} again; give each a name of its own")
        found[name] = Found(name, (Shot(films["input"], films["mask"]),), films.get("truth"), said=said.get(name, {}))
    return list(found.values())


def _name(entry: Entry, table: Matched) -> str:
    named = str(entry.fields.get(table.columns.get("name", ""), "") or entry.key or "").strip()
    text = named or str(entry.fields.get(table.columns.get("input", ""), "")).strip()
    path = Path(text.replace("\\", "/"))
    return (path.with_suffix("") if path.suffix.lower() in video.VIDEO_SUFFIXES else path).as_posix().strip("/")


def _said(table: Matched) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for entry in table.entries:
        values = {SAID[ours]: _text(entry.fields.get(table.columns[ours])) for ours in SAID if ours in table.columns}
        found[_name(entry, table)] = {name: text for name, text in values.items() if text}
    return found


def _text(value: Any) -> str:
    """A cell as words: a list as its parts."""
    if isinstance(value, str) and value.strip().startswith("["):
        with suppress(ValueError):
            value = json.loads(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else "" if value is None else str(value).strip()


def with_words(clips: Sequence[Found], path: Path, columns: Mapping[str, str] | None = None) -> list[Found]:
    """The same clips with what a table says of them, by their names.

    Raises:
        InputError: not readable, or it names none of them.
    """
    said = _said(matched(path, columns, films=()))
    if not any(clip.name in said for clip in clips):
        raise InputError(f"{str(path)!r} says nothing of {clips[0].name!r} or another clip; it names {some_of(list(said))}")
    return [replace(clip, said={**clip.said, **said.get(clip.name, {})}) for clip in clips]
