"""Videos or pictures in a folder of the user's own."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources.base import OF_FILE, Footage, Origin, Sidecars, SourceLeaf, local_file, quoted_path
from inpaintbench.errors import InputError, Rejected, UnknownNameError
from inpaintbench.storage import Address, Entry, listed, place, read
from inpaintbench.types import content_id

# A file, its state, and what a worker needs to know of it beside its place.
_File = tuple[Path, str, Mapping[str, str]]
_MARKERS = ("workspace.json", "dataset.json")
_SUFFIXES = {"video": video.VIDEO_SUFFIXES, "image": video.IMAGE_SUFFIXES}


class FolderSource(SourceLeaf):
    """Every file below ``folder`` whose name ends like a video's (or, with ``media="image"``, a picture's), in name order.

    Symbolic links are followed, each real folder once, so links in a circle do no harm. Hidden files and folders are left
    alone, and so are workspaces and frozen datasets: what we made is not footage. Names may hold any bytes: they are
    percent-encoded in every table. ``sidecars`` says whose it is. A folder may be one of a bucket, by its address.

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
        self.folder, self.suffixes = place(folder), _SUFFIXES[media]
        if isinstance(self.folder, Path) and not self.folder.is_dir():
            raise InputError(f"source folder {str(folder)!r} does not exist or is not a folder")
        self._otherwise = Origin(licence, author)
        # By the paths that they would have on this machine.
        self._entries = dict[Path, Entry]()

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a file; its content is judged by size and time of change, and by whose it is."""
        if isinstance(self.folder, Path):
            files: Iterable[_File] = ((path, state(path), {}) for path in sorted(self._files(self.folder), key=os.fsencode))
            yield from self._told(self.folder, files)
            return
        with tempfile.TemporaryDirectory(prefix="inpaintbench-") as beside:
            try:
                yield from self._told(Path(beside), self._objects(self.folder, Path(beside)))
            except InputError as error:
                raise InputError(str(error).replace(beside, str(self.folder))) from error

    def nothing(self) -> str | None:
        """That no file of the folder is of its kind of media. Raises what ``_listed`` raises."""
        files = self._files(self.folder) if isinstance(self.folder, Path) else (Path(one.name) for one in self._listed)
        if any(path.suffix.lower() in self.suffixes for path in files):
            return None
        kind = "video files" if self.suffixes == _SUFFIXES["video"] else "pictures"
        return f"the source folder holds no {kind}"

    def _told(self, folder: Path, files: Iterable[_File]) -> Iterator[Footage]:
        """Footage of files below ``folder``."""

        def quoted(path: Path) -> str:
            known = isinstance(self.folder, Path)
            return quoted_path(path.absolute() if known else str(self.folder / self._entries[path].name))

        texts, sidecars = TextFiles(quoted), Sidecars(folder, otherwise=self._otherwise)
        for path, changes, more in files:
            relative = quoted_path(path.relative_to(folder))
            payload = {"path": quoted(path), **more, **texts.of(path, self._entries)}
            said = sidecars.of(path)
            content = content_id(changes, *said.state) if said.state else changes
            yield Footage(name=relative, uri=relative, origin=self.name, content=content, payload=payload, **said.columns)

    @cached_property
    def _listed(self) -> list[Entry]:
        """Objects below the address, kept from ``nothing`` to ``footage``.

        Raises:
            InputError: there is nothing, or it cannot be listed.
        """
        assert isinstance(self.folder, Address)
        entries = [one for one in listed(self.folder) if not any(part.startswith(".") for part in one.name.split("/"))]
        if not entries:
            raise InputError(f"there is nothing at {self.folder}")
        ours = {parent for parent, _, name in (one.name.rpartition("/") for one in entries) if name in _MARKERS}
        return [one for one in entries if not any(one.name.startswith(f"{folder}/" if folder else "") for folder in ours)]

    def _objects(self, address: Address, beside: Path) -> Iterator[_File]:
        """The same of objects below an address, as if they lay in ``beside``, where their texts and sidecars do."""
        self._entries = {beside / one.name.lstrip("/"): one for one in self._listed}
        del self._listed  # whoever asks again looks again
        for path, one in self._entries.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if one.name.lower().endswith((*TEXT_SUFFIXES, OF_FILE)):
                path.write_bytes(read(address / one.name))
                # Its state is that of the object, on all machines.
                seconds = int(content_id(one.state)[:8], 16)
                os.utime(path, (seconds, seconds))
        for path, one in self._entries.items():
            if path.suffix.lower() in self.suffixes:
                yield path, content_id(one.state), {"state": one.state}

    def _files(self, folder: Path) -> Iterator[Path]:
        def unlistable(error: OSError) -> None:
            raise InputError(f"source folder {error.filename!r} cannot be listed: {error.strerror}") from error

        seen: set[str] = set()
        for parent, folders, files in os.walk(folder, followlinks=True, onerror=unlistable):
            real = os.path.realpath(parent)
            ours = any(Path(parent, marker).is_file() for marker in _MARKERS)
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
        """The file where it lies, or one of the cache with what lies at an address.

        Raises:
            Rejected: the file cannot be read. NetworkError: it cannot be brought for now.
        """
        path = local_file(payload["path"], state=payload.get("state"))
        try:
            with Path(path).open("rb"):
                return path
        except OSError as error:
            raise Rejected(f"cannot be read: {error.strerror}") from error


# Files of timed text, in letters of any case; one of the same name beside a video belongs to it.
TEXT_SUFFIXES = (".srt", ".ass", ".ssa", ".vtt")


class TextFiles:
    """Files of timed text by the names of videos; every folder is listed once."""

    def __init__(self, quoted: Callable[[Path], str]) -> None:
        """``quoted`` gives the percent-encoded place of a file."""
        self._quoted = quoted
        self._by_stem: dict[Path, dict[str, list[Path]]] = {}

    def of(self, path: Path, entries: Mapping[Path, Entry] | None = None) -> dict[str, Any]:
        """Timed text beside the video at ``path``, as part of a payload: ``timed_text``, its percent-encoded path, and its state.

        Of one among ``entries``, ``timed_text_object`` is the state that the listing had.

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
            payload: dict[str, Any] = {"timed_text": self._quoted(texts[0])}
            if entries and texts[0] in entries:
                payload["timed_text_object"] = entries[texts[0]].state
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
