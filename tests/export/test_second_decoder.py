from __future__ import annotations

import colorsys
import hashlib
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.errors import MissingExtraError, UnknownNameError
from inpaintbench.export import second_decoder
from inpaintbench.export.second_decoder import SecondDecoder


class Film(NamedTuple):
    path: str
    frames: np.ndarray
    """As PyAV decodes them."""
    rgb_sha256: str


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Film:
    """Five frames of a truth."""
    path = str(tmp_path_factory.mktemp("film") / "truth.mp4")
    video.write_clip(path, np.random.default_rng(0).integers(40, 200, (5, 48, 64, 3), np.uint8), fps=25)
    frames = video.read_frames(path)
    return Film(path, frames, hashlib.sha256(frames.tobytes()).hexdigest())


@pytest.mark.parametrize("decoder", [pytest.param("torchcodec", marks=pytest.mark.long), "ffmpeg", "decord"])
def test_every_decoder_gives_the_bytes_of_all_frames(decoder: str, film: Film) -> None:
    if decoder not in second_decoder.available():
        pytest.skip(f"{decoder} is not installed")
    decoded = second_decoder._DECODERS[decoder](film.path)
    assert decoded.dtype == np.uint8
    assert decoded.tobytes() == film.frames.tobytes()


def test_pictures_are_decoded_by_opencv_whatever_the_decoder(film: Film, tmp_path: Path) -> None:
    picture = tmp_path / "truth.png"
    video.write_lossless(picture, film.frames[:1], fps=1)
    with SecondDecoder({str(picture): "other"}, decoder="ffmpeg") as child:
        assert child.results(time_limit_seconds=60) == {str(picture): {"path": str(picture), "max_difference": 0}}
    picture.write_bytes(b"no picture")
    with pytest.raises(ValueError, match="OpenCV cannot read the picture"):
        second_decoder._opencv(str(picture))


def test_pyav_decodes_again_only_what_has_another_hash(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = list[str]()
    monkeypatch.setattr(video, "read_frames", lambda path: decoded.append(path) or film.frames)
    other = film.frames.copy()
    monkeypatch.setitem(second_decoder._DECODERS, "ffmpeg", lambda path: other.ravel())
    assert (second_decoder._difference(film.path, film.rgb_sha256, "ffmpeg"), decoded) == (0, [])
    place = tuple(np.argwhere((film.frames >= 4) & (film.frames < 252))[0])
    for change in (4, -4):
        other[place] = int(film.frames[place]) + change
        assert second_decoder._difference(film.path, film.rgb_sha256, "ffmpeg") == 4
    assert decoded == [film.path] * 2
    monkeypatch.setitem(second_decoder._DECODERS, "ffmpeg", lambda path: other[1:])
    with pytest.raises(ValueError, match="cannot reshape"):
        second_decoder._difference(film.path, film.rgb_sha256, "ffmpeg")


def test_frames_of_four_channels_are_no_pixels_of_decord(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    """So decord gives the exact truths of datasets of format 3."""
    for channels in (3, 4):
        frames = np.zeros((2, 8, 8, channels), np.uint8)

        class Reader(list[np.ndarray]):
            def get_batch(self, places: range) -> SimpleNamespace:
                return SimpleNamespace(asnumpy=lambda: np.stack([self[place] for place in places]))

        reader = Reader(frames)
        decord = SimpleNamespace(VideoReader=lambda path, num_threads, reader=reader: reader)
        monkeypatch.setitem(sys.modules, "decord", decord)
        if channels == 3:
            assert second_decoder._decord(film.path).shape == frames.shape
        else:
            with pytest.raises(second_decoder._UnableError, match="store colours as RGB"):
                second_decoder._decord(film.path)


def test_a_damaged_file_and_a_decoder_that_ends_early_are_told(film: Film, tmp_path: Path) -> None:
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(b"no video")
    with SecondDecoder({film.path: "", str(bad): ""}, decoder="torchcodec") as child:
        found = child.results(time_limit_seconds=60)
    assert found[film.path] == {"path": film.path, "max_difference": 0}
    assert found[str(bad)]["error"].startswith(
        "PyAV: cannot be opened as video: "
    )  # which looks first whether it leads elsewhere
    with SecondDecoder({film.path: ""}, decoder="nonsense") as child:
        assert child.results(time_limit_seconds=60)[film.path] == {"error": "nonsense gave no result (exit status 1)"}


def test_a_child_is_ended_when_its_time_is_over_or_nobody_waits_for_it(film: Film) -> None:
    with SecondDecoder({film.path: ""}, decoder="torchcodec") as child:
        found = child.results(time_limit_seconds=0)
    assert found == {film.path: {"error": "torchcodec gave no result (stopped after 0 s)"}}
    with SecondDecoder({film.path: ""}, decoder="torchcodec") as child:
        assert child._child.poll() is None
    assert child._child.poll() == -signal.SIGKILL


def test_the_compiler_is_imported_when_something_of_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_decoder, "_COMPILER", colorsys.__name__)
    stand_in = second_decoder._CompilerOnDemand(colorsys.__name__)
    monkeypatch.setitem(sys.modules, colorsys.__name__, stand_in)
    assert stand_in.disallow_in_graph(len) is len
    assert not hasattr(stand_in, "__wrapped__")
    assert sys.modules[colorsys.__name__] is stand_in
    assert stand_in.rgb_to_hsv(1.0, 0.0, 0.0) == (0.0, 1.0, 1.0)


def test_a_decoder_is_known_and_installed_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    second_decoder.require(second_decoder.available()[0])
    with pytest.raises(UnknownNameError, match="unknown decoder 'ffmepg', did you mean 'ffmpeg'"):
        second_decoder.require("ffmepg")
    monkeypatch.setattr(second_decoder.shutil, "which", lambda name: None)
    monkeypatch.setattr(second_decoder.importlib.util, "find_spec", lambda name: None)
    assert second_decoder.available() == []
    for name, extra in (("torchcodec", "export"), ("decord", "decord"), ("ffmpeg", "export")):
        with pytest.raises(MissingExtraError, match=f'decoding with {name} needs the extra "{extra}"'):
            second_decoder.require(name)
