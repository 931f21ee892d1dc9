"""Makers of awkward files: each writes one file to a path."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from numbered_videos import BRIGHT, FPS, FRAMES, HEIGHT, WIDTH, add_cover, encode, numbered, pictures, tags, ten_bit_frame

ODD = (65, 49)
HDR_LEVELS = (150, 500)
"""10-bit codes of dark and bright cells in HDR members: about 0.3 and 80 nits in PQ."""


def plain(path: Path, **arguments: Any) -> None:
    encode(path, pictures(), **arguments)


# Containers


def times(path: Path, *, pts: Sequence[int], rate: int = 30) -> None:
    encode(path, pictures(), pts=pts, rate=rate)


VARIED: Sequence[int] = (0, *np.cumsum(np.random.default_rng(0).integers(1, 5, FRAMES - 1)).tolist())


def edit_list(path: Path, *, first: int, last: int) -> None:
    """Patch the edit list so that frames [first, last) are shown; key frames are at 0, 12, 24 ..."""
    options = {"x264-params": "keyint=12:min-keyint=12:scenecut=0:bframes=2"}
    encode(path, pictures(range(40)), options=options)
    data = bytearray(path.read_bytes())
    place = data.index(b"elst") + 4
    entries, _, media_time = struct.unpack(">III", data[place + 4 : place + 16])
    assert (entries, data[place]) == (1, 0)
    ticks, movie_ticks = _timescale(data, b"mdhd") // FPS, _timescale(data, b"mvhd") // FPS
    data[place + 8 : place + 16] = struct.pack(">II", (last - first) * movie_ticks, media_time + first * ticks)
    path.write_bytes(bytes(data))


def _timescale(data: bytearray, box: bytes) -> int:
    place = data.index(box) + 4
    assert data[place] == 0
    return int(struct.unpack(">I", data[place + 12 : place + 16])[0])


def cover_first(path: Path) -> None:
    """The box with the cover moved in front of the track, so that the cover is stream 0."""
    plain(path, cover=True)
    data = path.read_bytes()
    start = data.index(b"moov") - 4
    boxes, place = [], start + 8
    while place < start + struct.unpack(">I", data[start : start + 4])[0]:
        size = struct.unpack(">I", data[place : place + 4])[0]
        boxes.append(data[place : place + size])
        place += size
    boxes.sort(key=lambda box: (b"mvhd", b"udta", b"trak").index(box[4:8]))
    path.write_bytes(data[: start + 8] + b"".join(boxes) + data[place:])


def cover_only(path: Path) -> None:
    with av.open(str(path), "w") as container:
        sound = container.add_stream("aac", rate=44100)
        cover = add_cover(container)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 44100), np.float32), format="fltp", layout="mono")
        frame.rate = 44100
        container.mux(sound.encode(frame))
        container.mux(cover)
        container.mux(sound.encode(None))


def cut_off(path: Path, *, share: float, suffix: str = ".mkv") -> None:
    muxing = {"movflags": "frag_keyframe+empty_moov+default_base_moof"} if suffix == ".mp4" else {}
    plain(path, options={"x264-params": "keyint=8:bframes=2", "qp": "10"}, muxing=muxing)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


def wrong_count(path: Path) -> None:
    plain(path, codec="mpeg4")
    data = bytearray(path.read_bytes())
    header, stream = data.index(b"avih") + 24, data.index(b"strh") + 40
    data[header : header + 4] = data[stream : stream + 4] = struct.pack("<I", 9999)
    path.write_bytes(bytes(data))


def without_first_group(path: Path, **arguments: Any) -> None:
    """Copy the packets from the second key frame on: pictures before it in time lack what they refer to."""
    whole = path.with_name(f"whole_{path.name}")
    plain(whole, **arguments)
    with av.open(str(whole)) as source, av.open(str(path), "w", options={"fflags": "+bitexact"}) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        keys = 0
        for packet in source.demux(video=0):
            keys += packet.is_keyframe
            if packet.dts is not None and keys > 1:
                packet.stream = stream
                target.mux(packet)
    whole.unlink()


# Pictures


def _with_alpha(number: int, pixel_format: str) -> Any:
    """The number in opaque pixels; the bright cells of a second, wrong number are there but transparent."""
    colour, wrong = numbered(number), numbered((number + 1000) % 4096)
    opacity = np.where(colour[..., :1] == wrong[..., :1], 255, 0).astype(np.uint8)
    opacity = np.where(colour[..., :1] == BRIGHT, 255, opacity)  # what is transparent is dark in the end
    mixed = np.concatenate([np.where(opacity == 255, colour, wrong), opacity], axis=2)
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(mixed), format="rgba")
    return frame.reformat(format=pixel_format)


def alpha(path: Path, *, codec: str, pixel_format: str) -> None:
    frames = (_with_alpha(number, pixel_format) for number in range(FRAMES))
    encode(path, frames, codec=codec, pixel_format=pixel_format)


def hdr(path: Path, *, transfer: int, codec: str = "libx265") -> None:
    dark, bright = HDR_LEVELS
    frames = (ten_bit_frame(np.where(numbered(number)[..., 0] == BRIGHT, bright, dark)) for number in range(FRAMES))
    options = {"x265-params": "log-level=none:pools=1:frame-threads=1"}
    prepare = tags(matrix=9, primaries=9, transfer=transfer, colour_range=1)
    encode(path, frames, codec=codec, pixel_format="yuv420p10le", options=options, prepare=prepare)


def turned(path: Path, *, turn: Callable[[np.ndarray], np.ndarray], matrix: tuple[int, int, int, int]) -> None:
    """Upright pictures as a camera stores them, and the matrix that sets them upright: x' = ax + cy, y' = bx + dy."""
    a, b, c, d = (value << 16 for value in matrix)

    def prepare(stream: Any) -> None:
        stream.set_display_matrix((a, b, 0, c, d, 0, 0, 0, 1 << 30))

    encode(path, (np.ascontiguousarray(turn(picture)) for picture in pictures(width=HEIGHT, height=WIDTH)), prepare=prepare)


def odd(path: Path, **arguments: Any) -> None:
    encode(path, pictures(width=ODD[0], height=ODD[1]), **arguments)


def tagged(path: Path, *, matrix: int, colour_range: int, primaries: int = 2, transfer: int = 2) -> None:
    prepare = tags(matrix=matrix, primaries=primaries, transfer=transfer, colour_range=colour_range)
    encode(path, pictures(), prepare=prepare)


def large(path: Path, *, pixel_format: str) -> None:
    encode(path, pictures(range(10), width=1280, height=720), pixel_format=pixel_format, options={"preset": "ultrafast"})


def too_wide(path: Path) -> None:
    encode(path, pictures([0], width=20000, height=16), codec="rawvideo")


def one(path: Path) -> None:
    encode(path, pictures([77]))


def hour(path: Path) -> None:
    encode(path, pictures(range(3600), width=32, height=32), rate=1, options={"preset": "ultrafast"})


# Bombs: files of a few kilobytes that claim pictures of gigabytes


def _vp9_size(data: bytearray, place: int, *, width: int, height: int) -> None:
    """Overwrite the size in the VP9 key frame whose first byte is at ``place`` (profile 0): bits 36 to 67."""
    assert data[place + 1 : place + 4] == b"\x49\x83\x42"
    bits = int.from_bytes(data[place + 4 : place + 9], "big")
    bits = bits & ~(0xFFFFFFFF << 4) | (width - 1) << 20 | (height - 1) << 4
    data[place + 4 : place + 9] = bits.to_bytes(5, "big")


def vp9_bomb(path: Path, *, frame: int, side: int) -> None:
    plain(path, codec="libvpx-vp9", options={"g": "10", "cpu-used": "8", "deadline": "realtime", "lag-in-frames": "0"})
    data, place = bytearray(path.read_bytes()), -1
    for _ in range(frame // 10 + 1):
        place = data.index(b"\x49\x83\x42", place + 2)
    _vp9_size(data, place - 1, width=side, height=side)
    path.write_bytes(bytes(data))


def png_bomb(path: Path, *, side: int) -> None:
    """A QuickTime file of PNG pictures whose header claims another size."""
    plain(path, codec="png", pixel_format="rgb24")
    data = bytearray(path.read_bytes())
    place = -1
    while (place := data.find(b"IHDR", place + 1)) >= 0:
        data[place + 4 : place + 12] = struct.pack(">II", side, side)
        data[place + 17 : place + 21] = struct.pack(">I", zlib.crc32(data[place : place + 17]))
    path.write_bytes(bytes(data))


def gif_bomb(path: Path, *, side: int) -> None:
    """A GIF whose canvas is huge and whose pictures are small."""
    plain(path, codec="gif", pixel_format="rgb8")
    data = bytearray(path.read_bytes())
    data[6:10] = struct.pack("<HH", side, side)
    path.write_bytes(bytes(data))


def raw_bomb(path: Path, *, side: int) -> None:
    """Uncompressed AVI whose headers claim another size than its data have."""
    plain(path, codec="rawvideo", pixel_format="yuv420p")
    data = bytearray(path.read_bytes())
    header, picture = data.index(b"avih") + 8, data.index(b"strf") + 8
    data[header + 32 : header + 40] = data[picture + 4 : picture + 12] = struct.pack("<II", side, side)
    path.write_bytes(bytes(data))
