"""Which files of timed text lie beside a video."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inpaintbench.types import content_id

# Files of timed text, in letters of any case; one of the same name beside a video belongs to it.
TEXT_SUFFIXES = (".srt", ".ass", ".ssa", ".vtt")


class TextFiles:
    """Files of timed text by the names of videos; every folder is listed once."""

    def __init__(self) -> None:
        self._by_stem: dict[Path, dict[str, list[Path]]] = {}

    def of(self, path: Path) -> dict[str, Any]:
        """What there is for the video at ``path``, as part of a payload: ``timed_text``, its percent-encoded path, and its state.

        ``timed_text_doubles`` names them where there are several, ``timed_text_near`` those with a further word before the
        ending (``film.en.srt``) where there is none. An accent may be one sign (Linux) or two (macOS).
        """
        known = self._by_stem.get(path.parent)
        if known is None:
            known = self._by_stem[path.parent] = _listed(path.parent)
        texts = known.get(_alike(path.stem), [])
        if texts:
            found: dict[str, Any] = {"timed_text": quote(os.fsencode(texts[0].absolute()))}
            states = [state(text) for text in texts]
            doubles = {"timed_text_doubles": [_shown(text) for text in texts]} if len(texts) > 1 else {}
            return {**found, "timed_text_state": states[0] if len(states) == 1 else content_id(*states), **doubles}
        near = [_shown(text) for text in known.get(f"{_alike(path.stem)}/", [])]
        return {"timed_text_near": near, "timed_text_state": content_id(*near)} if near else {}


def _listed(folder: Path) -> dict[str, list[Path]]:
    """Stem -> files; ``film.en.srt`` is also listed as ``film/``, which is no stem."""
    found: dict[str, list[Path]] = {}
    with os.scandir(folder) as entries:
        names = sorted(
            (entry.name for entry in entries if entry.name.lower().endswith(TEXT_SUFFIXES) and entry.is_file()), key=os.fsencode
        )
    for path in (folder / name for name in names if not name.startswith(".")):
        found.setdefault(_alike(path.stem), []).append(path)
        if path.with_suffix("").suffix:
            found.setdefault(f"{_alike(Path(path.stem).stem)}/", []).append(path)
    return found


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
