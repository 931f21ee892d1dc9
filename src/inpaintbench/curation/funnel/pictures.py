"""Thumbnails of clips: one small picture each, encoded in memory, and each only once on a page."""

from __future__ import annotations

import base64
import io
import os
import shlex
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import cv2
from PIL import Image

from inpaintbench import video
from inpaintbench.curation.judging import Judged
from inpaintbench.errors import MediaError
from inpaintbench.workspace import Workspace

_SIDE, _QUALITY = 256, 70
_FRAME = 15
"""The picture shows this frame or the middle one, whichever comes first: half a second in, few frames are black."""


@dataclass
class Thumbnails:
    """The pictures of a page; each is decoded when it is first asked for."""

    workspace: Workspace
    judged: Judged
    folder: Path | None = None
    """Where the page lies, since links to clips begin there; None for the workspace."""
    _ratios: dict[int, float] = field(default_factory=dict)
    _data: dict[int, bytes] = field(default_factory=dict)

    def style(self, place: int) -> tuple[str, float]:
        """The style class of the picture of the clip at ``place``, empty without one, and its width over its height."""
        if place not in self._ratios:
            self._ratios[place] = self._draw(place)
        return f"p{place}" if place in self._data else "", self._ratios[place]

    def link(self, place: int) -> str:
        """The address of the clip at ``place``, as the page has to give it."""
        blob = self.workspace.blobs.path(self.judged.facts.clips["blob"][place].as_py())
        return quote(os.path.relpath(blob.resolve(), (self.folder or self.workspace.path).resolve()))

    def why(self, place: int) -> str:
        """The command that tells everything about the clip at ``place``."""
        clip_id = self.judged.clip_ids[place].as_py()
        return f"inpaintbench curation why {shlex.quote(str(self.workspace.path))} {clip_id}"

    def rules(self) -> str:
        """The style rules of all pictures that were asked for."""
        address = {place: base64.b64encode(data).decode() for place, data in self._data.items()}
        return "\n".join(f".p{place}{{background-image:url(data:image/webp;base64,{text})}}" for place, text in address.items())

    def _draw(self, place: int) -> float:
        row = {name: self.judged.facts.clips[name][place].as_py() for name in ("blob", "frames", "width", "height")}
        path = self.workspace.blobs.path(row["blob"])
        frame = min(_FRAME, int(row["frames"]) // 2)
        try:
            pixels = next(islice(video.upright_frames(path), frame, None))[0]
        except (MediaError, OSError, StopIteration):
            return float(row["width"]) / float(row["height"])
        scale = min(1.0, _SIDE / max(pixels.shape[:2]))
        size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        buffer = io.BytesIO()
        Image.fromarray(small).save(buffer, "WEBP", quality=_QUALITY, method=4)
        self._data[place] = buffer.getvalue()
        return float(size[0] / size[1])
