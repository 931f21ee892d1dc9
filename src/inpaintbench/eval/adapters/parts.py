"""Finished windows of an item, which a call that was stopped leaves to the next."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from inpaintbench import video
from inpaintbench.errors import MediaError
from inpaintbench.eval.adapters.layouts import Window
from inpaintbench.eval.adapters.starting import Usage
from inpaintbench.files import file_sha256, write_atomically, written_atomically
from inpaintbench.types import Frames

# Frames are stored without times of their own.
_FPS = 24.0


class Parts:
    """A folder of an item with one lossless clip a window, and beside it a note of the clip's SHA-256, written last, and of what
    it took.

    Args:
        folder: of the item.
        key: changes whenever the method does, or what it is given: a window under another is not read.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._key = folder, key

    def read(self, window: Window) -> tuple[Frames, Usage] | None:
        """The frames ``uint8[T, H, W, 3]`` that count of a window, and what they took; None unless they are whole."""
        clip, note = self._files(window)
        try:
            told = json.loads(note.read_text(encoding="utf-8"))
            if told["sha256"] == file_sha256(clip):
                return video.read_frames(clip), Usage(*told["usage"])
        except (OSError, ValueError, MediaError):  # never written, or not to the end
            pass
        return None

    def keep(self, window: Window, frames: Frames, usage: Usage) -> None:
        """Write them for ``read``."""
        clip, note = self._files(window)
        with written_atomically(clip) as path:
            made = path.with_suffix(clip.suffix)  # encoders go by it
            video.write_lossless(made, frames, fps=_FPS)
            made.replace(path)
        write_atomically(note, json.dumps({"sha256": file_sha256(clip), "usage": usage}).encode())

    def forget(self) -> None:
        """Remove all of them, of whatever key: the item is done."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _files(self, window: Window) -> tuple[Path, Path]:
        name = "-".join([self._key, *map(str, window)])
        return self._folder / f"{name}{video.suffix_for(window.last - window.first)}", self._folder / f"{name}.json"
