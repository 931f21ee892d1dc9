"""Videos or pictures in a folder of the user's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.curation.sources.text_files import TextFiles, state
from inpaintbench.errors import InputError, Rejected, UnknownNameError

_SUFFIXES = {"video": video.VIDEO_SUFFIXES, "image": video.IMAGE_SUFFIXES}


class FolderSource(SourceLeaf):
    """Every file below ``folder`` whose name ends like a video's (or, with ``media="image"``, a picture's), in name order.

    Symbolic links are followed, each real folder once, so links in a circle do no harm. Hidden files and folders are left
    alone, and so are workspaces and frozen datasets: what we made is not footage. Names may hold any bytes: they are
    percent-encoded in every table.

    Raises:
        InputError: ``folder`` is not a folder or cannot be listed.
    """

    name = "folder"
    version = "1"

    def __init__(self, *, folder: str, media: str = "video") -> None:
        if media not in _SUFFIXES:
            raise UnknownNameError(unknown_name("kind of media", media, list(_SUFFIXES)))
        self.folder, self.suffixes = Path(folder), _SUFFIXES[media]
        if not self.folder.is_dir():
            raise InputError(f"source folder {str(folder)!r} does not exist or is not a folder")

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a file; its content is judged by size and time of change."""
        texts = TextFiles()
        for path in sorted(self._files(), key=os.fsencode):
            relative = quote(os.fsencode(path.relative_to(self.folder)))
            payload = {"path": quote(os.fsencode(path.absolute())), **texts.of(path)}
            yield Footage(name=relative, uri=relative, origin=self.name, content=state(path), payload=payload)

    def _files(self) -> Iterator[Path]:
        seen: set[str] = set()
        for parent, folders, files in os.walk(self.folder, followlinks=True, onerror=self._unlistable):
            real = os.path.realpath(parent)
            ours = any(Path(parent, marker).is_file() for marker in ("workspace.json", "dataset.json"))
            if real in seen or ours:
                folders.clear()
                continue
            seen.add(real)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in files:
                path = Path(parent, name)
                if not name.startswith(".") and path.suffix.lower() in self.suffixes and _plain_or_broken(path):
                    yield path

    def _unlistable(self, error: OSError) -> None:
        raise InputError(f"source folder {error.filename!r} cannot be listed: {error.strerror}") from error

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:  # noqa: ARG002 - nothing to make
        """The file where it lies.

        Raises:
            Rejected: the file cannot be read.
        """
        path = os.fsdecode(unquote_bytes(payload["path"]))
        try:
            with Path(path).open("rb"):
                return path
        except OSError as error:
            raise Rejected(f"cannot be read: {error.strerror}") from error


def unquote_bytes(text: str) -> bytes:
    """The bytes that ``quote`` encoded; names need not be UTF-8."""
    return unquote(text, encoding="latin-1").encode("latin-1")


def _plain_or_broken(path: Path) -> bool:
    # A broken link is worth a row with a reason; pipes and devices are not footage and would block.
    return path.is_file() or (path.is_symlink() and not path.exists())
