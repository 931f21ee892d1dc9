"""Videos or pictures in a folder of the user's own."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.base import Footage, Origin, Sidecars, SourceLeaf, quoted_path, unquoted_path
from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.types import content_id

_SUFFIXES = {"video": video.VIDEO_SUFFIXES, "image": video.IMAGE_SUFFIXES}


class FolderSource(SourceLeaf):
    """Every file below ``folder`` whose name ends like a video's (or, with ``media="image"``, a picture's), in name order.

    Symbolic links are followed, each real folder once, so links in a circle do no harm. Hidden files and folders are left
    alone, and so are workspaces and frozen datasets: what we made is not footage. Names may hold any bytes: they are
    percent-encoded in every table. ``sidecars`` says whose it is.

    Args (all constants):
        folder: where it lies.
        media: ``video`` or ``image``.
        licence, author: of what no file beside it says anything of.

    Raises:
        InputError: ``folder`` is not a folder or cannot be listed, or a file beside footage says something else than whose it is.
    """

    name = "folder"
    version = "1"

    def __init__(self, *, folder: str, media: str = "video", licence: str | None = None, author: str | None = None) -> None:
        if media not in _SUFFIXES:
            raise UnknownNameError(unknown_name("kind of media", media, list(_SUFFIXES)))
        self.folder, self.suffixes = Path(folder), _SUFFIXES[media]
        if not self.folder.is_dir():
            raise InputError(f"source folder {str(folder)!r} does not exist or is not a folder")
        self._otherwise = Origin(licence, author)

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a file; its content is judged by size and time of change, and by whose it is."""
        texts, sidecars = TextFiles(), Sidecars(self.folder, otherwise=self._otherwise)
        for path in sorted(self._files(), key=os.fsencode):
            relative = quoted_path(path.relative_to(self.folder))
            payload = {"path": quoted_path(path.absolute()), **texts.of(path)}
            said = sidecars.of(path)
            content = content_id(state(path), *said.state) if said.state else state(path)
            yield Footage(name=relative, uri=relative, origin=self.name, content=content, payload=payload, **said.columns)

    def _files(self) -> Iterator[Path]:
        def unlistable(error: OSError) -> None:
            raise InputError(f"source folder {error.filename!r} cannot be listed: {error.strerror}") from error

        seen: set[str] = set()
        for parent, folders, files in os.walk(self.folder, followlinks=True, onerror=unlistable):
            real = os.path.realpath(parent)
            ours = any(Path(parent, marker).is_file() for marker in ("workspace.json", "dataset.json"))
            if real in seen or ours:
                folders.clear()
                continue
            seen.add(real)
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in files:
                path = Path(parent, name)
                if name.startswith(".") or path.suffix.lower() not in self.suffixes:
                    continue
                # A broken link is worth a row with a reason; pipes and devices are not footage and would block.
                if path.is_file() or (path.is_symlink() and not path.exists()):
                    yield path

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:  # noqa: ARG002 - nothing to make
        """The file where it lies.

        Raises:
            Rejected: the file cannot be read.
        """
        path = unquoted_path(payload["path"])
        try:
            with Path(path).open("rb"):
                return path
        except OSError as error:
            raise Rejected(f"cannot be read: {error.strerror}") from error


# Files of timed text, in letters of any case; one of the same name beside a video belongs to it.
TEXT_SUFFIXES = (".srt", ".ass", ".ssa", ".vtt")


class TextFiles:
    """Files of timed text by the names of videos; every folder is listed once."""

    def __init__(self) -> None:
        self._by_stem: dict[Path, dict[str, list[Path]]] = {}

    def of(self, path: Path) -> dict[str, Any]:
        """Timed text beside the video at ``path``, as part of a payload: ``timed_text``, its percent-encoded path, and its state.

        ``timed_text_doubles`` names them where there are several, ``timed_text_near`` those with a further word before the
        ending (``film.en.srt``) where there is none. An accent may be one sign (Linux) or two (macOS).
        """
        if path.parent not in self._by_stem:
            # Stem -> files; `film.en.srt` is also listed as `film/`, which is no stem.
            files = self._by_stem[path.parent] = {}
            for text in sorted(path.parent.iterdir(), key=lambda one: os.fsencode(one.name)):
                if text.name.startswith(".") or not text.name.lower().endswith(TEXT_SUFFIXES) or not text.is_file():
                    continue
                files.setdefault(_alike(text.stem), []).append(text)
                if text.with_suffix("").suffix:
                    files.setdefault(f"{_alike(Path(text.stem).stem)}/", []).append(text)
        known = self._by_stem[path.parent]
        texts = known.get(_alike(path.stem), [])
        if texts:
            payload: dict[str, Any] = {"timed_text": quoted_path(texts[0].absolute())}
            states = [state(text) for text in texts]
            doubles = {"timed_text_doubles": [_shown(text) for text in texts]} if len(texts) > 1 else {}
            return {**payload, "timed_text_state": states[0] if len(states) == 1 else content_id(*states), **doubles}
        near = [_shown(text) for text in known.get(f"{_alike(path.stem)}/", [])]
        return {"timed_text_near": near, "timed_text_state": content_id(*near)} if near else {}


def _shown(path: Path) -> str:
    return os.fsencode(path.name).decode(errors="replace")


def _alike(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def state(path: Path) -> str:
    """Changes with size and time of a file, and with whether it can be read."""
    try:
        status = path.stat()
    except OSError as error:
        return content_id("unreadable", error.errno)
    return content_id(status.st_size, status.st_mtime_ns, os.access(path, os.R_OK))
