"""Awkward videos, generated: every frame carries its number in the picture, so frame-exactness can be checked by looking.

``MEMBERS`` maps a name to a ``Member``: what writes the file, and what a right reader makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torture_files as files
from numbered_videos import FPS, FRAMES, HEIGHT, WIDTH, encode, frame_number, numbered, pictures, tags, ten_bit_frame

__all__ = [
    "FPS", "FRAMES", "HEIGHT", "MEMBERS", "WIDTH", "Member", "encode", "frame_number", "numbered", "pictures", "tags",
    "ten_bit_frame",
]  # fmt: skip


@dataclass(frozen=True)
class Member:
    """One awkward file and what a right reader makes of it."""

    suffix: str
    make: Callable[..., None]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    numbers: Sequence[int] = range(FRAMES)
    """Of the frames, in the order they are shown."""
    seconds: Sequence[float] | None = None
    """Of each frame after the first; None: evenly at ``FPS``."""
    size: tuple[int, int] = (WIDTH, HEIGHT)
    """Width and height, upright."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Of the probe."""
    refused: str | None = None
    """What the reason must hold where nothing decodes."""
    cut_off: bool = False
    """The first frames decode, or there is a reason."""
    hdr: str | None = None

    def write(self, folder: Path, name: str) -> Path:
        """Write the file and return its path."""
        path = folder / f"{name}{self.suffix}"
        self.make(path, **self.arguments)
        return path

    def shown_at(self) -> list[float]:
        """Seconds of each frame after the first."""
        return [place / FPS for place in range(len(self.numbers))] if self.seconds is None else list(self.seconds)


_X264 = "x264-params"
_X265 = "log-level=none:pools=1:frame-threads=1"
_CLOSED = {"options": {_X264: "keyint=8:min-keyint=8:scenecut=0:bframes=3:b-adapt=0:b-pyramid=normal"}}
_OPEN = {"options": {_X264: "open-gop=1:keyint=8:min-keyint=8:scenecut=0:bframes=3:b-adapt=0:b-pyramid=normal"}}
_OPEN_HEVC = {
    "codec": "libx265",
    "options": {"x265-params": f"{_X265}:open-gop=1:keyint=8:min-keyint=8:scenecut=0:bframes=3:b-adapt=0"},
}
_HEVC = {"codec": "libx265", "options": {"x265-params": _X265}}
_FAST_VP9 = {"cpu-used": "8", "deadline": "realtime"}
_PORTRAIT = (HEIGHT, WIDTH)
_INTERLACED = {"options": {_X264: "tff=1"}}


def _aspect(stream: Any) -> None:
    stream.codec_context.sample_aspect_ratio = Fraction(4, 3)


# fmt: off
MEMBERS: dict[str, Member] = {
    "plain": Member(".mp4", files.plain, facts={"interlaced": False, "has_alpha": False, "hdr": "none"}),
    "transport_stream": Member(".ts", files.plain),
    "mpeg4_b_frames": Member(".avi", files.plain, {"codec": "mpeg4", "options": {"bf": "2"}}),
    "variable": Member(
        ".mp4", files.times, {"pts": files.VARIED}, seconds=[p / 30 for p in files.VARIED],
        facts={"variable_frame_rate": True}
    ),
    "variable_mkv": Member(
        ".mkv", files.times, {"pts": files.VARIED}, seconds=[p / 30 for p in files.VARIED],
        facts={"variable_frame_rate": True}
    ),
    "edit_list": Member(".mp4", files.edit_list, {"first": 15, "last": 40}, numbers=range(15, 40)),
    "edit_list_ends": Member(".mp4", files.edit_list, {"first": 7, "last": 30}, numbers=range(7, 30)),
    "late_start": Member(".mkv", files.plain, {"pts": range(250, 250 + FRAMES)}, facts={"start_seconds": 10.0}),
    "late_start_mp4": Member(".mp4", files.plain, {"pts": range(50, 50 + FRAMES)}, facts={"start_seconds": 2.0}),
    "turned_90": Member(
        ".mp4", files.turned, {"turn": lambda p: np.rot90(p, -1), "matrix": (0, -1, 1, 0)}, size=_PORTRAIT,
        facts={"rotation_degrees": 90}
    ),
    "turned_180": Member(
        ".mp4", files.turned, {"turn": lambda p: np.rot90(p, 2), "matrix": (-1, 0, 0, -1)}, size=_PORTRAIT,
        facts={"rotation_degrees": 180},
    ),
    "turned_270": Member(
        ".mp4", files.turned, {"turn": lambda p: np.rot90(p, 1), "matrix": (0, 1, -1, 0)}, size=_PORTRAIT,
        facts={"rotation_degrees": 270}
    ),
    "mirrored": Member(".mp4", files.turned, {"turn": lambda p: p[:, ::-1], "matrix": (-1, 0, 0, 1)}, size=_PORTRAIT),
    "mirrored_and_turned": Member(
        ".mov", files.turned, {"turn": lambda p: p.transpose(1, 0, 2), "matrix": (0, 1, 1, 0)}, size=_PORTRAIT
    ),
    "odd_420": Member(".webm", files.odd, {"codec": "libvpx-vp9", "options": _FAST_VP9}, size=files.ODD),
    "odd_420_mpeg4": Member(".avi", files.odd, {"codec": "mpeg4"}, size=files.ODD),
    "odd_444": Member(".mp4", files.odd, {"pixel_format": "yuv444p"}, size=files.ODD),
    "pixel_aspect": Member(".mp4", files.plain, {"prepare": _aspect}, facts={"pixel_aspect": 4 / 3}),
    "pixel_aspect_mkv": Member(".mkv", files.plain, {"prepare": _aspect}, facts={"pixel_aspect": 4 / 3}),
    "ten_bit": Member(".mp4", files.plain, {"pixel_format": "yuv420p10le"}, facts={"bit_depth": 10}),
    "ten_bit_hevc": Member(".mp4", files.plain, {"pixel_format": "yuv420p10le", **_HEVC}, facts={"bit_depth": 10}),
    "full_range": Member(
        ".mp4", files.tagged, {"matrix": 6, "colour_range": 2},
        facts={"matrix": "smpte170m", "colour_range": "full"}
    ),
    "bt601": Member(
        ".mp4", files.tagged, {"matrix": 6, "colour_range": 1},
        facts={"matrix": "smpte170m", "colour_range": "limited"}
    ),
    "bt709": Member(
        ".mp4", files.tagged, {"matrix": 1, "colour_range": 1, "primaries": 1, "transfer": 1},
        facts={"matrix": "bt709", "transfer": "bt709", "primaries": "bt709", "colour_range": "limited"},
    ),
    "bt709_full": Member(
        ".mp4", files.tagged, {"matrix": 1, "colour_range": 2},
        facts={"matrix": "bt709", "colour_range": "full"}
    ),
    "untagged": Member(
        ".mp4", files.plain, facts={"matrix": "unknown", "transfer": "unknown", "primaries": "unknown", "colour_range": "unknown"}
    ),
    "untagged_hd": Member(
        ".mp4", files.large, {"pixel_format": "yuv420p"}, size=(1280, 720), numbers=range(10),
        facts={"matrix": "unknown"}
    ),
    "closed_groups": Member(".mp4", files.plain, _CLOSED),
    "closed_groups_mkv": Member(".mkv", files.plain, _CLOSED),
    "open_group": Member(".mp4", files.plain, _OPEN),
    "open_group_mkv": Member(".mkv", files.plain, _OPEN),
    "open_group_hevc": Member(".mp4", files.plain, _OPEN_HEVC),
    "open_group_cut": Member(".mkv", files.without_first_group, _OPEN, numbers=range(8, FRAMES)),
    "open_group_cut_hevc": Member(".mp4", files.without_first_group, _OPEN_HEVC, numbers=range(8, FRAMES)),
    "wrong_count": Member(".avi", files.wrong_count, facts={"frames": FRAMES, "header_frames": 9999}),
    "cover_after": Member(".mp4", files.plain, {"cover": True}),
    "cover_before": Member(".mp4", files.cover_first),
    "cover_mkv": Member(".mkv", files.plain, {"cover": True}),
    "cover_only": Member(".mp4", files.cover_only, refused="no video stream, only audio, cover art"),
    **{
        f"cut_off_{tenth}": Member(".mkv", files.cut_off, {"share": tenth / 10 + 0.03}, cut_off=True)
        for tenth in range(0, 10, 2)
    },
    **{
        f"cut_off_{tenth}": Member(".mp4", files.cut_off, {"share": tenth / 10 + 0.03, "suffix": ".mp4"}, cut_off=True)
        for tenth in range(1, 10, 2)
    },
    "interlaced": Member(".mp4", files.plain, _INTERLACED, facts={"interlaced": True}),
    "interlaced_mpeg2": Member(
        ".mpg", files.plain, {"codec": "mpeg2video", "options": {"flags": "+ildct+ilme", "bf": "2"}}, facts={"interlaced": True}
    ),
    "alpha_rle": Member(".mov", files.alpha, {"codec": "qtrle", "pixel_format": "argb"}, facts={"has_alpha": True}),
    "alpha_png": Member(".mov", files.alpha, {"codec": "png", "pixel_format": "rgba"}, facts={"has_alpha": True}),
    "alpha_vp9": Member(".webm", files.alpha, {"codec": "libvpx-vp9", "pixel_format": "yuva420p"}, facts={"has_alpha": True}),
    "opaque_rle": Member(".mov", files.plain, {"codec": "qtrle", "pixel_format": "argb"}, facts={"has_alpha": False}),
    "gif": Member(".gif", files.plain, {"codec": "gif", "pixel_format": "rgb8"}, facts={"has_alpha": False}),
    "one_frame": Member(".mp4", files.one, numbers=[77], facts={"frames": 1}),
    "one_hour": Member(
        ".mp4", files.hour, numbers=range(3600), seconds=range(3600), size=(32, 32),
        facts={"fps": 1.0, "duration_seconds": 3600.0}
    ),
    "pq": Member(
        ".mp4", files.hdr, {"transfer": 16}, hdr="pq",
        facts={"hdr": "pq", "transfer": "smpte2084", "primaries": "bt2020"}
    ),
    "hlg": Member(
        ".mp4", files.hdr, {"transfer": 18}, hdr="hlg",
        facts={"hdr": "hlg", "transfer": "arib-std-b67", "matrix": "bt2020nc"}
    ),
    "bomb_vp9": Member(".webm", files.vp9_bomb, {"frame": 0, "side": 65000}, numbers=range(10, FRAMES)),
    "bomb_vp9_later": Member(
        ".webm", files.vp9_bomb, {"frame": 10, "side": 16000}, numbers=range(10),
        facts={"damaged_packets": 20}
    ),
    "bomb_png": Member(".mov", files.png_bomb, {"side": 65000}, refused="not one frame decodes"),
    "bomb_png_8_gb": Member(".mov", files.png_bomb, {"side": 16000}, refused="not one frame decodes"),
    "bomb_gif": Member(".gif", files.gif_bomb, {"side": 16000}, refused="one above 16384 px a side"),
    "too_wide": Member(".avi", files.too_wide, refused="claims pictures of 20000x16, and none above 16384 px a side"),
    "bomb_raw": Member(".avi", files.raw_bomb, {"side": 65000}, refused="not one frame decodes"),
    "bomb_raw_200_mb": Member(".avi", files.raw_bomb, {"side": 12000}, refused="one above 16384 px a side and 67108864 pixels"),
}
# fmt: on
