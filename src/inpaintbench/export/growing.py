"""The published dataset that a workspace adds to: its rows and files stay as they are, whatever is built around them.

    WORKSPACE/appended.json     where that dataset lies, and its content

The stages that decide over clips ask ``appended`` for it: new clips are labelled by its thresholds, its slices are filled up, and
its splits stay. ``freeze`` takes its rows and files over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from inpaintbench import frozen
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.files import copy_file, write_atomically
from inpaintbench.manifest import MANIFEST, column, content_of, dataset_id, load
from inpaintbench.mirrors import bring_exports
from inpaintbench.types import Clip, Dataset, Plain, canonical_json, stated
from inpaintbench.workspace import Blobs, Workspace

FILE = "appended.json"
# Fields of a recipe that may differ from those of the published dataset: they add items, or say what it is called.
MAY_DIFFER = frozenset({"name", "per_slice", "level_limit", "pictures", "fingers", "dataset", "slices"})


@dataclass(frozen=True)
class Published:
    """A dataset that is added to."""

    folder: Path
    dataset: Dataset

    @cached_property
    def rows(self) -> Mapping[str, Plain]:
        """Item id -> its row."""
        return {row["item_id"]: row for row in self.dataset.items}

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the items."""
        return list(map(str, column(self.dataset, "item_id")))

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Path in the dataset -> SHA-256."""
        return dict(self.dataset.files)

    @cached_property
    def clips(self) -> Mapping[str, Clip]:
        """Clip id -> the clip, its blob named by the hash of its file; without one where nobody has the truth.

        Clips that versions of others are, in a paired design, are not among them: nothing is cut from a film as they are.
        """
        return {row["clip_id"]: self._clip(row) for row in self.dataset.items if not _is_version(row)}

    def _clip(self, row: Plain) -> Clip:
        name = row.get("truth_file_name")
        facts = {column: row[column] for column in ("clip_id", "source_id", "start_frame", "end_frame", "fps", "width", "height",
                                                    "frames", "encode_crf", "encode_psnr_db")}  # fmt: skip
        hashes = {"yuv_sha256": row["truth_yuv_sha256"], "rgb_sha256": row["truth_rgb_sha256"]}
        return Clip(**facts, **hashes, encoder=row.get("encoder"), blob=self.files[name] + Path(name).suffix if name else "")

    @property
    def splits(self) -> dict[str, str]:
        """Clip id -> its split."""
        return {row["clip_id"]: row["split"] for row in self.dataset.items}

    @property
    def members(self) -> dict[str, set[str]]:
        """Slice -> ids of the clips in it."""
        return {part.name: {cut_clip(self.rows[item]) for item in part.item_ids} for part in self.dataset.slices}

    @property
    def films(self) -> dict[str, str]:
        """Id of a clip as it was cut -> source of its items."""
        return {cut_clip(row): frozen.source_of(row) for row in self.dataset.items}

    def values(self, name: str) -> dict[str, Any]:
        """Clip id -> its value of an attribute; clips without a value are not there."""
        values = {row["clip_id"]: row["attributes"].get(name) for row in self.dataset.items}
        return {clip: value for clip, value in values.items() if value is not None}

    def thresholds(self, attribute: str, *, level: str) -> dict[str, float]:
        """The numbers that divide levels: the largest of a clip called ``low``, and the smallest of one called ``high``.

        Args:
            attribute: that the levels rank.
            level: attribute with the levels.
        """
        numbers, levels = self.values(attribute), self.values(level)
        low, high = (
            [numbers[clip] for clip, given in levels.items() if given == name and clip in numbers] for name in ("low", "high")
        )
        return ({"low": max(low)} if low else {}) | ({"high": min(high)} if high else {})

    def keep_truths(self, blobs: Blobs, clips: set[str]) -> None:
        """Have the truths of ``clips`` among the blobs of a workspace, where their frames are looked at."""
        for row in self.dataset.items:
            if row["clip_id"] not in clips or _is_version(row):
                continue
            name = self.clips[row["clip_id"]].blob
            if name and not blobs.path(name).exists():
                blobs.put(Path(name).suffix, partial(copy_file, frozen.proved(self.folder, row, "truth").path))


def cut_clip(row: Plain) -> str:
    """The clip that an item shows as it was cut from a film."""
    return str(row["generator_parameters"].get("of_clip", row["clip_id"]))


def _is_version(row: Plain) -> bool:
    return cut_clip(row) != str(row["clip_id"])


def check_addable(folder: Path) -> None:
    """Raise ``InputError`` unless a dataset lies in ``folder``."""
    if not (folder / MANIFEST).is_file():
        raise InputError(f"there is no published dataset in {str(folder)!r} to add to; build it first, without --append")


def append_to(workspace: Workspace, folder: Path, recipe: Plain, *, usual: Plain) -> Published:
    """Let the workspace add to the dataset in ``folder``, from now until ``begin_anew``.

    Args:
        workspace: where items will be made.
        folder: of the published dataset.
        recipe: that they will be made by, with its ``recipe``.
        usual: defaults of the recipe's fields, for those that the published one did not know yet.

    Raises:
        InputError: no dataset is there, it is a part of one or has its truth held back, or its recipe is another.
    """
    check_addable(folder)
    dataset = load(folder)
    if "part_of" in dataset.facts or "held_back" in dataset.facts:
        lacks = "is a part of a dataset" if "part_of" in dataset.facts else "has items whose truth is held back"
        raise InputError(f"{str(folder)!r} {lacks}; add to the whole one")
    usual, recipe = stated(usual), stated(recipe)
    before = dict(usual) | {name: value for name, value in dataset.recipe.items() if name != "leaves"}
    axes = {axis["name"] for axis in dataset.facts.get("axes", ())}
    more_axes = {"axes"} if axes and axes <= set(recipe.get("axes", ())) else set()
    for name in sorted({*before, *recipe} - MAY_DIFFER - more_axes):
        if canonical_json(before.get(name)) != canonical_json(recipe.get(name)):
            was, now = (json.dumps(value) for value in (before.get(name), recipe.get(name)))
            raise InputError(f"--append keeps the recipe of {dataset_id(dataset)}, and {name} was {was}, not {now}")
    published = Published(folder, dataset)
    _remember(workspace, published)
    return published


def begin_anew(workspace: Workspace) -> None:
    """Add to nothing: what is built next depends on nothing that was published."""
    (workspace.path / FILE).unlink(missing_ok=True)


def appended(workspace: Workspace) -> Published | None:
    """The dataset that a workspace adds to; None where it adds to none.

    Raises:
        InputError: another dataset lies there by now, or none.
        WorkspaceError: the file is damaged.
    """
    path = workspace.path / FILE
    if not path.exists():
        return None
    try:
        told = json.loads(path.read_text())
        folder, content = workspace.path / told["folder"], told["content"]
    except (ValueError, KeyError, TypeError) as error:
        raise WorkspaceError(f"{str(path)!r} is damaged: {error}; delete it, and build again with --append") from error
    bring_exports(workspace.path)
    dataset = load(folder)
    if content_of(dataset) != content:
        raise InputError(
            f"{str(folder)!r} holds another dataset than the items of this workspace add to; build with --append again"
        )
    return Published(folder, dataset)


def follow(workspace: Workspace, folder: Path) -> None:
    """After an export in the place of the dataset that was added to: the next one adds to what lies there now."""
    path = workspace.path / FILE
    if path.exists() and (workspace.path / json.loads(path.read_text())["folder"]).resolve() == folder.resolve():
        _remember(workspace, Published(folder, load(folder)))


def _remember(workspace: Workspace, published: Published) -> None:
    folder, home = published.folder.resolve(), workspace.path.resolve()
    told = folder.relative_to(home) if folder.is_relative_to(home) else folder
    text = canonical_json({"folder": str(told), "content": content_of(published.dataset)})
    write_atomically(workspace.path / FILE, text.encode() + b"\n")


def cut_otherwise(published: Published, clips: Sequence[Clip]) -> list[Clip]:
    """Clips that show what a published clip shows that is not here: another version of the program cuts or scales otherwise."""
    there = {clip.clip_id for clip in clips}
    spans: dict[str, list[tuple[int, int]]] = {}
    for clip in published.clips.values():
        if clip.clip_id not in there:
            spans.setdefault(clip.source_id, []).append((clip.start_frame, clip.end_frame))
    return [
        clip
        for clip in clips
        if clip.clip_id not in published.clips
        and any(clip.start_frame < end and start < clip.end_frame for start, end in spans.get(clip.source_id, ()))
    ]
