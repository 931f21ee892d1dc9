"""Videos of Flickr by their ids: what is fetched, and the report of what is there and under which licence."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flickr_server import KEY, SECRET, FlickrServer, Video
from program import run_here

from inpaintbench import storage, video
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.types import Clip, Download
from inpaintbench.wings.fetch.flickr import Flickr
from inpaintbench.wings.fetch.lists import IS_ID, read_ids
from inpaintbench.workspace import Workspace


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    video.write_lossless(path, np.random.default_rng(0).integers(0, 255, (8, 48, 64, 3), dtype=np.uint8), fps=25.0)
    return path


@pytest.fixture
def server(film: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlickrServer]:
    videos = [
        Video("101", files={"HD MP4": film}, title="A pier"),
        Video("102", files={"HD MP4": film}, gone=True),
        Video("103", files={"HD MP4": film}, hidden=True),
        Video("104", files={"HD MP4": film}, licence=0, title="Mine alone"),
        Video("105", files={"HD MP4": film}, licence=9, states_size=False),
        Video("106", files={"HD MP4": film}, width=1280, height=720),
        Video("107", files={}, media="photo"),
        Video("108", files={"HD MP4": film}, title="asked for by nobody"),
    ]
    with FlickrServer(videos) as running:
        running.set_environment(monkeypatch, cache=tmp_path / "cache")
        yield running


IDS = ["105", "101", "102", "103", "104", "106", "107", "101", "harbour"]
STATUSES = {
    "105": "there", "101": "there", "102": "gone", "103": "not public", "104": "other licence", "106": "other size",
    "107": "no video", "harbour": "no id",
}  # fmt: skip
LEAST = {"orientation": "landscape", "minimum_width": 1920, "minimum_height": 1080}


# Flickr's limit would make a test of many ids last minutes.
UNHURRIED = ("--per-hour", "1000000")


def test_the_report_says_what_became_of_each_and_nothing_is_fetched(server: FlickrServer, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("# mine\n" + "\n".join(IDS) + "\n")
    command = ("curation", "fetch", "flickr", "--ids", tmp_path / "ids.txt", "--report", tmp_path / "report.csv")
    done = run_here(*command, "--orientation", "landscape", "--minimum-width", "1920", "--minimum-height", "1080")
    assert done.returncode == 0, done.stderr
    assert "2 of 8 are there under a licence that was asked for" in done.stdout
    rows = {row["id"]: row for row in csv.DictReader((tmp_path / "report.csv").read_text().splitlines())}
    assert {name: row["status"] for name, row in rows.items()} == STATUSES
    assert list(rows) == list(dict.fromkeys(IDS))
    assert {name: row["licence"] for name, row in rows.items() if row["licence"]} == {
        "105": "CC0-1.0", "101": "CC-BY-2.0", "104": "all-rights-reserved", "106": "CC-BY-2.0", "107": "CC-BY-2.0",
    }  # fmt: skip
    assert (rows["101"]["author"], rows["101"]["title"]) == ("walker", "A pier")
    assert (rows["101"]["page"], rows["101"]["uploaded"]) == (
        "https://www.flickr.com/photos/11111111@N01/101/", "2017-07-14T02:40:00Z",
    )  # fmt: skip
    assert rows["106"]["reason"] == "it is 1280x720, not landscape of 1920x1080 or more"
    assert "Permission denied" in rows["103"]["reason"]
    assert server.searches == []
    assert not any(path.startswith("/videos/") for path in server.calls)
    assert not any(secret in (tmp_path / "report.csv").read_text() + done.stdout for secret in (KEY, SECRET))


def test_what_ids_name_is_fetched_and_the_rest_is_told_with_its_reason(server: FlickrServer, tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text(
        "flickr_id,kind,what\n" + "".join(f"{photo},video,used\n" for photo in IDS) + "108,video,excluded\n"
    )
    command = ("curation", "fetch", "flickr", "--ids", tmp_path / "ids.csv", "--out", tmp_path / "out", "--allow-private")
    size = ("--minimum-width", "1920")
    done = run_here(*command, *size, "--workers", "0", "--report", tmp_path / "report.csv")
    assert done.returncode == 0, done.stderr
    assert "2 obtained, 1 gone, 5 refused, 0 failed" in done.stdout
    table = Workspace(tmp_path / "out").table("downloads", Download)
    rows = {row.name: row for row in table}
    assert {name: row.status for name, row in rows.items()} == {
        **dict.fromkeys(("101", "105"), "obtained"), "102": "gone",
        **dict.fromkeys(("103", "104", "106", "107", "harbour"), "refused"),
    }  # fmt: skip
    assert (rows["104"].licence, rows["104"].reason) == (
        "all-rights-reserved", "the licence 'all-rights-reserved' is not among those asked for",
    )  # fmt: skip
    assert rows["harbour"].reason == "'harbour' is not an id of Flickr's, such as 40678437973"
    asked = server.calls[server.file_path("101", "HD MP4")]
    server.videos["106"] = replace(server.videos["106"], width=1920, height=1080)
    again = run_here(*command, *size, "--workers", "0")
    assert "3 obtained, 1 gone, 4 refused, 0 failed" in again.stdout
    assert server.calls[server.file_path("101", "HD MP4")] == asked == 1


def test_what_is_fetched_into_object_storage_is_cut_elsewhere(
    server: FlickrServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ids.txt").write_text("101\n105\n")
    out, cut = "memory://fetched", ("--splitter", "windows,length=4,shortest=4", "--size", "64x48", "--workers", "0")
    command = ("curation", "fetch", "flickr", "--ids", tmp_path / "ids.txt", "--allow-private", "--workers", "0", "--out")
    for place in (out, tmp_path / "own"):
        done = run_here(*command, place)
        assert (done.returncode, f"MB in {place}" in done.stdout) == (0, True), done.stderr
    monkeypatch.setenv(storage.CACHE, str(tmp_path / "another machine"))
    for place in (out, tmp_path / "own"):
        done = run_here("curation", "clips", "--out", place, *cut)
        assert done.returncode == 0, done.stdout + done.stderr
    clips = [Workspace(place, create=False).table("clips", Clip) for place in (out, tmp_path / "own")]
    assert clips[0] == clips[1] != []


def test_a_licence_that_flickr_does_not_list_refuses_its_video_alone(server: FlickrServer) -> None:
    server.videos["101"].licence = 99
    found = {one.candidate.name: one for one in Flickr(ids=["101", "105"]).found()}
    assert {name: one.status for name, one in found.items()} == {"101": "other licence", "105": "there"}
    assert "Flickr states licence id '99' for photo 101" in str(found["101"].candidate.refused)


def test_a_misspelt_licence_is_told_before_any_video_is_asked_for(server: FlickrServer) -> None:
    with pytest.raises(UnknownNameError, match="unknown licence 'CC-BUY'"):
        Flickr(ids=IDS, licences=["CC-BUY"]).found()
    assert server.calls["flickr.photos.getInfo"] == 0


def test_a_video_is_the_same_whether_found_or_named(server: FlickrServer) -> None:
    (named,) = Flickr(ids=["101"]).candidates()
    (found,) = [one for one in Flickr(query="pier").candidates() if one.name == "101"]
    assert named == found


def test_the_footage_of_devil_comes_with_the_program(server: FlickrServer, film: Path, tmp_path: Path) -> None:
    ids = read_ids("devil")
    assert (len(ids), len(set(ids)), all(map(IS_ID.fullmatch, ids))) == (234, 234, True)
    assert {"23467104578", "40678437973"} < set(ids)
    assert "35697707560" not in ids  # its filter excludes it
    server.videos[ids[3]] = Video(ids[3], files={"HD MP4": film}, licence=5)
    done = run_here(
        "curation", "fetch", "flickr", "--ids", "devil", "--report", tmp_path / "devil.csv", "--most", "30", *UNHURRIED
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "devil.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == list(ids[:30])
    assert {(row["status"], row["licence"]) for row in rows} == {("gone", ""), ("there", "CC-BY-SA-2.0")}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.txt", "https://www.flickr.com/photos/someone/123/in/album-7\n\n 456 \n123\n# 9\n", ("123", "456")),
        ("a.csv", "id,note\n123,x\n456,y\n", ("123", "456")),
        ("a.csv", "page\nhttps://flickr.com/photos/a@N01/123/\n", ("123",)),
        ("a.csv", "flickr_id,kind,what\n1,video,used\n2,video,excluded\n3@N1,user,searched\n", ("1",)),
    ],
)
def test_lists_of_ids_come_in_several_forms(tmp_path: Path, name: str, text: str, expected: tuple[str, ...]) -> None:
    (tmp_path / name).write_text(text)
    assert read_ids(str(tmp_path / name)) == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--ids", "nowhere.csv", "--out", "out"],
            "the list of ids 'nowhere.csv' cannot be read: No such file or directory",
        ),
        (
            ["--ids", "devl", "--out", "out"],
            "the list of ids 'devl' cannot be read: No such file or directory; lists that come with",
        ),
        (
            ["--ids", "words.txt", "--out", "out"],
            "holds no id of a video of Flickr, such as 40678437973, but 'harbour'",
        ),
        (["--ids", "empty.csv", "--out", "out"], "'empty.csv' has none of the columns flickr_id, photo_id, id, url, page"),
        (["--ids", "devil", "--query", "scenic", "--out", "out"], "ids name single videos, and query is of a search"),
        (["--ids", "devil"], "say where the videos go, --out WORKSPACE, or what to write of them without fetching"),
        (["--ids", "devil", "--out", "out", "--label", "a/b"], "the label 'a/b' cannot be part of a table's name"),
        (["--out", "out"], "Flickr has no list of everything; give a query, users, tags or ids"),
    ],
)
def test_a_list_that_makes_no_sense_is_one_sentence(server: FlickrServer, tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "words.txt").write_text("harbour\n")
    (tmp_path / "empty.csv").write_text("\n")
    done = run_here("curation", "fetch", "flickr", *options, cwd=tmp_path)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode in (1, 2), (tmp_path / "out").exists()) == (True, False)


def test_a_list_is_read_before_the_key_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLICKR_API_KEY", raising=False)
    with pytest.raises(InputError, match="FLICKR_API_KEY"):
        list(Flickr(ids=["1"]).candidates())
