"""Thumbnails of clips: one small picture each, encoded in memory, and each only once on a page."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import cv2
from PIL import Image

from inpaintbench import video
from inpaintbench.curation.judging import Judged
from inpaintbench.errors import MediaError, VerifyError
from inpaintbench.pages import Tile, data_uri
from inpaintbench.workspace import Workspace

_SIDE, _QUALITY = 256, 70
# The picture shows this frame or the middle one, whichever comes first: half a second in, few frames are black.
_FRAME = 15
_ID_SHOWN = 10


@dataclass
class Thumbnails:
    """The pictures of a page; each is decoded when it is first asked for."""

    workspace: Workspace
    judged: Judged
    names: Mapping[str, str]
    """Source id -> what people call it."""
    folder: Path | None = None
    """Folder of the page, since links to clips begin there; None for the workspace."""
    _ratios: dict[int, float] = field(default_factory=dict)
    _data: dict[int, bytes] = field(default_factory=dict)

    def tile(self, place: int, *, lines: Sequence[str] = (), state: str) -> Tile:
        """The clip at ``place`` with ``lines`` below, its name and the beginning of its id; the picture leads to its file.

        ``state`` is kept, dropped or waiting.
        """
        clip_id, name = self.judged.clip_ids[place].as_py(), self.name(place)
        if place not in self._ratios:
            self._ratios[place] = self._draw(place)
        return Tile(
            label=name, picture=f"p{place}" if place in self._data else "", ratio=self._ratios[place], lines=tuple(lines),
            names=(name,), code="" if clip_id in lines else clip_id[:_ID_SHOWN], href=self._link(place),
            title=f"{name} · inpaintbench curation why {shlex.quote(str(self.workspace.path))} {clip_id}", state=state,
        )  # fmt: skip

    def name(self, place: int) -> str:
        """``SOURCE:FRAME`` of the clip at ``place``, which `curation why` understands."""
        return f"{self.source(place)}:{self.judged.facts.clips['start_frame'][place].as_py()}"

    def source(self, place: int) -> str:
        """Display name of the source of the clip at ``place``."""
        source_id = self.judged.facts.clips["source_id"][place].as_py()
        return self.names.get(source_id, source_id)

    def rules(self) -> str:
        """The style rules of all pictures that were asked for."""
        return "\n".join(
            f".p{place}{{background-image:url({data_uri(data, 'image/webp')})}}" for place, data in self._data.items()
        )

    def _link(self, place: int) -> str:
        """The address of the clip at ``place``, as the page has to give it."""
        blob = self.workspace.blobs.path(self.judged.facts.clips["blob"][place].as_py())
        return quote(os.path.relpath(blob.resolve(), (self.folder or self.workspace.path).resolve()))

    def _draw(self, place: int) -> float:
        row = {name: self.judged.facts.clips[name][place].as_py() for name in ("blob", "frames", "width", "height")}
        frame = min(_FRAME, int(row["frames"]) // 2)
        try:
            path = self.workspace.blobs.proved(row["blob"])
            pixels = next(islice(video.upright_frames(path), frame, None))[0]
        except (VerifyError, MediaError, OSError, StopIteration):
            return float(row["width"]) / float(row["height"])
        scale = min(1.0, _SIDE / max(pixels.shape[:2]))
        size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        buffer = io.BytesIO()
        Image.fromarray(small).save(buffer, "WEBP", quality=_QUALITY, method=4)
        self._data[place] = buffer.getvalue()
        return float(size[0] / size[1])
