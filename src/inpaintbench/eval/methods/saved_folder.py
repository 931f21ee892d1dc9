"""Predictions made elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from itertools import product
from pathlib import Path

from inpaintbench import video
from inpaintbench.errors import InputError, MediaError, NotMeasurable
from inpaintbench.eval.adapters.fitting import sizes_in_words
from inpaintbench.eval.methods.base import Method
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# How the file of a prediction may end, in letters of any case.
SUFFIXES = (".mp4", ".mkv", *video.IMAGE_SUFFIXES)
# Asking for each spelling is quicker than listing a folder of many thousand predictions for every item.
_SPELLINGS = tuple(
    "".join(letters)
    for suffix in SUFFIXES
    for letters in product(*((ending, ending.upper()) if ending.isalpha() else ending for ending in suffix))
)


class SavedFolder(Method):
    """Reads ``<folder>/<item id>.mp4``, ``.mkv``, ``.png``, ``.jpg``, ``.jpeg``, ``.bmp``, ``.webp``, ``.tif``, ``.tiff``, or the
    images in ``<folder>/<item id>/`` by their numbers, endings in letters of any case. Of each item there may be only one.

    Frames of another size than the item's are refused where a hole is given. Where whole frames are judged they are passed on:
    the protocol says what becomes of them.

    Args:
        folder: where the predictions lie.

    Raises:
        InputError: there is no such folder.
    """

    name = "saved_folder"
    version = "3"
    stateless = True
    unwatched = True
    needs = ("input",)
    uses = ("hole",)
    any_size = True
    computes = False

    def __init__(self, *, folder: str) -> None:
        if not Path(folder).is_dir():
            raise InputError(f"no folder {folder!r} to read predictions from")
        self.folder = Path(folder)

    def inpaint(self, view: ItemView) -> Frames:
        """``uint8[T, H, W, 3]`` as stored.

        Raises:
            NotMeasurable: no prediction of this item or several, one that cannot be read, whose frames have no clear order, or
                one of another shape beside a hole.
        """
        paths = self._find(view.item_id)
        if not paths:
            raise NotMeasurable(f"no prediction for item {view.item_id!r} in {str(self.folder)!r}")
        if len(paths) > 1:
            names = " and ".join(repr(path.name) for path in paths)
            raise NotMeasurable(f"item {view.item_id!r} has {len(paths)} predictions in {str(self.folder)!r}, {names}: keep one")
        path = paths[0]
        try:
            frames = video.read_image_folder(path) if path.is_dir() else video.read_frames(path)
        except (MediaError, ValueError) as error:
            raise NotMeasurable(f"prediction {path.name!r} cannot be read: {_why(error, path.name)}") from error
        wanted = (view.frames, view.height, view.width, 3)
        if frames.shape != wanted and (view.has("hole") or len(frames) != view.frames):
            shape, asked = sizes_in_words(frames.shape, wanted)
            raise NotMeasurable(f"prediction {path.name!r} is {shape}, the item is {asked}")
        return frames

    def content(self, item_id: str) -> str:
        """Changes whenever the stored prediction of an item does: names, sizes and times of its files; "" without one."""
        files = [file for path in self._find(item_id) for file in (video.list_images(path) if path.is_dir() else [path])]
        # A broken link has no state of its own; it is told when it is read.
        facts = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) if file.exists() else file.name for file in files]
        return repr(facts) if facts else ""

    def _find(self, item_id: str) -> list[Path]:
        """Every file and folder that is a prediction of the item."""
        folder = self.folder / item_id
        files = [path for suffix in _SPELLINGS if (path := self.folder / f"{item_id}{suffix}").is_file()]
        # A file system that ignores case has one file under many spellings.
        distinct = list({os.stat(path).st_ino: path for path in reversed(files)}.values())[::-1]
        return distinct + [folder] * folder.is_dir()


def strangers(folder: Path, item_ids: Collection[str]) -> list[str]:
    """Names of the files and folders in ``folder`` that could hold predictions, but of none of the items, sorted."""
    paths = [path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES or path.is_dir()]
    names = {path.name: path.name if path.is_dir() else path.stem for path in paths if not video.is_hidden(path.name)}
    return sorted(name for name, item_id in names.items() if item_id not in item_ids)


def _why(error: Exception, name: str) -> str:
    """Return what ``error`` says of the file ``name``, less what the sentence around it says already."""
    words = str(error).removeprefix(name).removeprefix(":").strip()
    words = re.sub(r"^cannot be opened as (an image|video): ", "", words)
    return re.sub(r"^(holds|has) ", r"it \1 ", words)
