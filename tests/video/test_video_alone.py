"""A stranger's file opens itself and nothing else, whatever its name ends in."""

from __future__ import annotations

import shutil
from pathlib import Path

import hazards
import pytest

from inpaintbench import video
from inpaintbench.errors import MediaError
from inpaintbench.export import second_decoder

LISTS = {
    "ffconcat": "ffconcat version 1.0\nfile film.mp4\n",
    "ffconcat with an absolute name": "ffconcat version 1.0\nfile {folder}/film.mp4\n",
    "a playlist": "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfilm.mp4\n#EXT-X-ENDLIST\n",
    "a session": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 50000 RTP/AVP 96\n"
    "a=rtpmap:96 H264/90000\n",
    "a manifest": '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles='
    '"urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">'
    '<Representation id="1" bandwidth="1"><BaseURL>film.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>\n',
}  # fmt: skip


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A film beside which a list lies: whoever decodes the list gets its frames."""
    hazards.good(tmp_path / "film.mp4")
    return tmp_path / "film.mp4"


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".m3u8", ".ffconcat"])
@pytest.mark.parametrize("kind", LISTS)
def test_a_list_of_films_is_not_followed(kind: str, suffix: str, film: Path) -> None:
    path = film.with_name(f"list{suffix}")
    path.write_text(LISTS[kind].format(folder=film.parent))

    def upright(path: Path) -> object:
        return list(video.upright_frames(path))

    for read in (video.probe, video.read_frames, video.read_hole, video.decoded_hashes, upright):
        with pytest.raises(MediaError):
            read(path)


def test_without_the_list_of_readers_ffmpeg_would_follow_one(film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = film.with_name("list.mp4")
    path.write_text(LISTS["ffconcat"])
    monkeypatch.setattr("inpaintbench.video.decoding._ALONE", {})
    assert len(video.read_frames(path)) == len(video.read_frames(film))


def test_a_numbered_name_opens_one_file(film: Path) -> None:
    shutil.move(film, film.with_name("film%d.mp4"))
    shutil.copy(film.with_name("film%d.mp4"), film.with_name("film1.mp4"))
    assert len(video.read_frames(film.with_name("film%d.mp4"))) == 60
    with pytest.raises(MediaError):
        video.read_frames(film.with_name("film%d.mkv"))


@pytest.mark.parametrize("name", ["concat:film.mp4|film.mp4", "subfile,,start,0,end,0,,:film.mp4", "http://127.0.0.1/film.mp4"])
def test_a_name_is_no_address(name: str, film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(film.parent)
    if "/" not in name:
        Path(name).write_bytes(film.read_bytes())
        assert len(video.read_frames(name)) == 60  # that file itself
        Path(name).write_text("nothing")
    with pytest.raises(MediaError):
        video.read_frames(name)


@pytest.mark.parametrize("name", ["ffmpeg", "torchcodec", "decord"])
def test_second_decoders_follow_no_list(name: str, film: Path) -> None:
    if name not in second_decoder.available():
        pytest.skip(f"{name} is not installed")
    path = film.with_name("list.mp4")
    path.write_text(LISTS["ffconcat"])
    with pytest.raises(MediaError, match="list of other files"):
        second_decoder._difference(str(path), "0" * 64, name)


def test_a_picture_starts_no_program(tmp_path: Path) -> None:
    """Pillow runs Ghostscript for EPS, whatever the name of the file ends in."""
    path = tmp_path / "truth.png"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n")
    for read in (video.read_image, video.read_index_image):
        with pytest.raises(MediaError, match="no image that Pillow knows"):
            read(path)
