"""Films of which parts alone are read give the frames that reading from the front gives, or say that they do not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coded_films import write_film

from inpaintbench import video
from inpaintbench.video.decoding import packets_of

FRONT = {"movflags": "+faststart"}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "index in front": ("a.mp4", {"container": FRONT}),
    "index at the end": ("a.mov", {}),
    "frames between": ("a.mp4", {"options": {"bf": "3", "preset": "fast"}}),
    "open groups": ("a.mp4", {"options": {"bf": "3", "preset": "fast", "x264-params": "open-gop=1"}}),
    "H.265": ("a.mp4", {"codec": "libx265", "options": {"x265-params": "log-level=none:open-gop=1"}}),
    "MPEG-4": ("a.mp4", {"codec": "mpeg4", "options": {"bf": "2"}}),
    "uneven times": ("a.mp4", {"jitter": True}),
}


@contextmanager
def film_of(path: Path) -> Iterator[tuple[video.IndexedFilm, list[int]]]:
    """A film, and how many bytes were read each time."""
    sizes: list[int] = []
    with path.open("rb") as file:

        def read(begin: int, end: int) -> bytes:
            sizes.append(end - begin)
            return os.pread(file.fileno(), end - begin, begin)

        yield video.IndexedFilm(read, path.stat().st_size), sizes


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_spans_are_those_of_the_whole(kind: str, tmp_path: Path) -> None:
    name, how = KINDS[kind]
    path = write_film(tmp_path / name, frames=130, **how)
    with film_of(path) as (film, _):
        assert film.foreseen() == video.probe(path)
        for fps in (None, 10.0, 30000 / 1001):
            count = 130 if fps is None else video.frames_at(video.probe(path).duration_seconds, fps)
            whole = [frame for frame, _ in islice(video.upright_frames(path, fps=fps), count)]
            for start, end in ((0, 9), (20, 21), (count // 2 - 3, count // 2 + 9), (count - 7, count)):
                frames = video.upright_frames(path, frames=film.frames(start, end, fps=fps))
                assert np.array_equal(np.stack([frame for frame, _ in frames]), np.stack(whole[start:end]))


def test_of_a_long_film_little_is_read(tmp_path: Path) -> None:
    path = write_film(tmp_path / "long.mp4", frames=1500, width=320, height=180, group=25, container=FRONT)
    with film_of(path) as (film, sizes):
        assert film.foreseen()
        packets = packets_of(path)
        index = min(packet.begin for packet in packets)
        assert sum(sizes) < index + 4 * (1 << 16)
        sizes.clear()
        assert len(list(film.frames(1000, 1100))) == 100
        needed = sum(packet.bytes for packet in packets[1000:1100])
        assert (sum(sizes) < 1.3 * needed, len(sizes)) == (True, 2)
        assert needed < 0.1 * path.stat().st_size


@pytest.mark.parametrize("kind", ["fragments", "another container", "cut off", "hidden frames", "empty", "no film"])
def test_films_whose_index_does_not_tell_are_to_be_read_whole(kind: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.mkv" if kind == "another container" else "a.mp4")
    write_film(path, frames=60, container={"movflags": "frag_keyframe+empty_moov"} if kind == "fragments" else FRONT)
    if kind == "cut off":
        path.write_bytes(path.read_bytes()[: -path.stat().st_size // 3])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "no film":
        path.write_bytes(b"\0\0\0\x18ftypmp42" + bytes(100))
    elif kind == "hidden frames":  # an edit list begins the film in the middle of a group
        made, path = path, tmp_path / "cut.mp4"
        _begin_later(made, path)
    with film_of(path) as (film, _):
        assert film.foreseen() is None


def _begin_later(made: Path, path: Path) -> None:
    import av

    with av.open(str(made)) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for packet in given.demux(given.streams.video[0]):
            if packet.size:
                packet.pts, packet.dts, packet.stream = packet.pts - 5000, packet.dts - 5000, stream
                out.mux(packet)


def test_what_is_not_as_promised_is_told(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.mp4", frames=100, container=FRONT)
    packets = packets_of(path)
    data = bytearray(path.read_bytes())
    data[packets[45].begin : packets[45].begin + packets[45].bytes] = bytes(packets[45].bytes)
    path.write_bytes(data)
    with film_of(path) as (film, _):
        assert film.foreseen()
        assert len(list(film.frames(0, 40))) == 40
        with pytest.raises(video.Misread):
            list(film.frames(30, 60))
    gradual = write_film(tmp_path / "b.mp4", frames=100, options={"preset": "fast", "x264-params": "intra-refresh=1:keyint=20"})
    with film_of(gradual) as (film, _):
        assert film.foreseen()
        with pytest.raises(video.Misread):
            list(film.frames(42, 47))


@pytest.mark.parametrize("kind", ["frames between", "open groups", "H.265", "MPEG-4"])
def test_of_damaged_frames_come_those_of_the_whole_or_none(kind: str, tmp_path: Path) -> None:
    name, how = KINDS[kind]
    made = write_film(tmp_path / name, frames=60, **how)
    packets, told = packets_of(made), 0
    for seed in range(14):
        rng, data = np.random.default_rng(seed), bytearray(made.read_bytes())
        packet = packets[int(rng.integers(21, 39))]
        for _ in range(6):
            data[packet.begin + 12 + int(rng.integers(packet.bytes - 12))] ^= 1 << int(rng.integers(8))
        (path := tmp_path / f"{seed}{made.suffix}").write_bytes(data)
        with film_of(path) as (film, _):
            assert film.foreseen()
            try:
                found = [frame for frame, _ in video.upright_frames(path, frames=film.frames(25, 45))]
            except video.Misread:
                told += 1
                continue
        assert np.array_equal(found, [frame for frame, _ in islice(video.upright_frames(path), 25, 45)])
    assert bool(told) == (kind != "H.265")  # whose decoder does what it can, the same each time


def test_what_fails_while_it_is_read_is_told_as_it_is(tmp_path: Path) -> None:
    path = write_film(tmp_path / "a.mp4", frames=400, width=320, height=180, container=FRONT)
    data, is_over = path.read_bytes(), False

    def read(begin: int, end: int) -> bytes:
        if is_over:
            raise RuntimeError("the network went")
        return data[begin:end]

    film = video.IndexedFilm(read, len(data))
    assert film.foreseen()
    is_over = True
    with pytest.raises(RuntimeError, match="the network went"):
        list(film.frames(300, 310))
