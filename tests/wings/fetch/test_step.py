"""The step that fetches: one row for each candidate, whatever came of it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tenacity.nap
from flickr_server import FlickrServer, Video
from web_footage import HERE, clip_bytes, mixed_site, streamable_bytes, write_list
from web_server import Answer, WebServer

from inpaintbench import video
from inpaintbench.download import Limits
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import file_sha256
from inpaintbench.types import Download
from inpaintbench.wings.fetch.recheck import recheck
from inpaintbench.wings.fetch.step import TABLE, fetch, rows_of
from inpaintbench.workspace import Workspace


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        sleep = staticmethod(lambda seconds: None)

    monkeypatch.setattr(tenacity.nap, "time", Clock)


def statuses(workspace: Workspace) -> dict[str, str]:
    return {row.title or row.name: row.status for row in rows_of(workspace, "urls")}


def test_every_address_leaves_one_row(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    constants = {"list": str(mixed_site(server, tmp_path))}
    outcome = fetch(executor, "urls", constants=constants, limits=replace(HERE, most_bytes=1_000_000))
    rows = {row.title: row for row in rows_of(executor.workspace, "urls")}
    assert {title: row.status for title, row in rows.items()} == {
        "Title 0": "obtained", "Title 1": "obtained", "Title 2": "gone", "Title 3": "refused", "Title 4": "refused",
        "Title 5": "refused", "Title 6": "failed", "Title 7": "refused",
    }  # fmt: skip
    assert len(outcome.records) == 7
    one, two = rows["Title 0"], rows["Title 1"]
    assert one.blob is not None
    assert file_sha256(executor.workspace.blobs.path(one.blob)) == one.sha256 == one.blob.removesuffix(".mp4")
    assert (one.http_status, one.tries, one.etag, one.bytes) == (200, 1, '"1"', len(clip_bytes(tmp_path, 1)))
    assert (one.licence, one.author, one.page_url, one.details) == (
        "CC-BY-2.0", "Ann, B.", "https://page.test/0", {"uploaded": 2018.0},
    )  # fmt: skip
    assert two.url == server.url("/two.mp4")
    assert two.details == {"uploaded": 2018.0, "query_left_out": True}
    gone = rows["Title 2"]
    assert (gone.http_status, gone.blob, gone.licence) == (410, None, "CC-BY-2.0")
    assert gone.retrieved_at is not None
    assert rows["Title 3"].http_status == 403
    assert "does not decode" in (rows["Title 4"].reason or "")
    assert "HTTP 503" in (rows["Title 6"].reason or "")
    assert "larger than 1000000 bytes" in (rows["Title 7"].reason or "")
    assert list((executor.workspace.path / "partial").iterdir()) == []


def test_no_file_of_the_workspace_holds_a_query(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    fetch(executor, "urls", constants={"list": str(mixed_site(server, tmp_path))}, limits=replace(HERE, most_bytes=1_000_000))
    for path in executor.workspace.path.rglob("*"):
        assert not path.is_file() or b"secret" not in path.read_bytes(), path


def test_only_what_failed_is_asked_for_again(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    constants = {"list": str(mixed_site(server, tmp_path))}
    limits = replace(HERE, most_bytes=1_000_000)
    fetch(executor, "urls", constants=constants, limits=limits)
    server.seen.clear()
    server.say("/busy.mp4", Answer(clip_bytes(tmp_path, 3)))
    server.say("/forbidden.mp4", Answer(clip_bytes(tmp_path, 4)))
    fetch(executor, "urls", constants=constants, limits=limits)
    assert {request.path for request in server.seen} == {"/busy.mp4"}
    assert statuses(executor.workspace)["Title 6"] == "obtained"
    server.seen.clear()
    fetch(executor, "urls", constants=constants, limits=limits, retry_refused=True)
    assert {request.path for request in server.seen} == {"/forbidden.mp4", "/page.mp4", "/half.mp4", "/endless.mp4"}
    assert statuses(executor.workspace)["Title 3"] == "obtained"
    server.seen.clear()
    fetch(executor, "urls", constants=constants, limits=limits)
    assert server.seen == []


def test_a_lost_blob_is_fetched_again(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    path = write_list(tmp_path / "a.csv", server.say("/one.mp4", Answer(clip_bytes(tmp_path, 1))), columns="url")
    for _ in range(2):
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
        (row,) = rows_of(executor.workspace, "urls")
        executor.workspace.blobs.path(str(row.blob)).unlink()
    assert len(server.seen) == 2


def test_what_is_no_longer_listed_keeps_its_proof(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    one = server.say("/one.mp4", Answer(clip_bytes(tmp_path, 1)))
    two = server.say("/two.mp4", Answer(clip_bytes(tmp_path, 2)))
    gone, away = server.say("/gone.mp4", Answer(status=404)), server.say("/away.mp4", Answer(status=403))
    path = write_list(tmp_path / "a.csv", f"{one},CC0", f"{gone},CC0", f"{away},CC0", columns="url,licence")
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    write_list(path, f"{two},CC0", columns="url,licence")
    for _ in range(2):
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
        found = {row.url: (row.status, row.licence) for row in rows_of(executor.workspace, "urls")}
        assert found == {one: ("obtained", "CC0"), two: ("obtained", "CC0"), gone: ("gone", "CC0")}
    write_list(path, f"{one},CC0", f"{two},CC0", columns="url,licence")
    server.seen.clear()
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    assert server.seen == []
    rows = executor.workspace.table(TABLE, Download)
    assert sorted(row.url for row in rows) == sorted([one, two, gone])


def by_status(workspace: Workspace, **options: bool) -> dict[str, tuple[str, str | None]]:
    return {row.url.rpartition("/")[2]: (row.status, row.licence) for row in rows_of(workspace, "urls", **options)}


def test_the_filter_looks_at_the_licence_of_when_it_was_fetched(
    executor: LocalExecutor, server: WebServer, tmp_path: Path
) -> None:
    url = server.say("/one.mp4", Answer(clip_bytes(tmp_path, 1)))
    path = write_list(tmp_path / "a.csv", f"{url},CC-BY-ND-4.0", columns="url,licence")
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    proof = rows_of(executor.workspace, "urls")
    for stated, asked in (("CC-BY-4.0", ["CC-BY"]), ("CC-BY-ND-4.0", ["CC0"])):
        write_list(path, f"{url},{stated}", columns="url,licence")
        for _ in range(2):
            fetch(executor, "urls", constants={"list": str(path)}, limits=HERE, licences=asked)
            assert by_status(executor.workspace, earlier=False) == {"one.mp4": ("refused", stated)}
            assert rows_of(executor.workspace, "urls") == proof
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    assert rows_of(executor.workspace, "urls", earlier=False) == proof
    assert len(server.seen) == 1


def test_a_file_is_not_given_up_for_a_refusal(executor: LocalExecutor, tmp_path: Path) -> None:
    with FlickrServer([Video("7", files={"HD MP4": clip_bytes(tmp_path, 1)})]) as flickr, pytest.MonkeyPatch.context() as patch:
        flickr.set_environment(patch, cache=tmp_path / "cache")
        fetch(executor, "flickr", constants={"query": "scenic"}, limits=HERE)
        (before,) = rows_of(executor.workspace, "flickr", earlier=False)
        assert before.status == "obtained"
        flickr.videos["7"].uploaded += 1  # so that it counts as another one
        flickr.videos["7"].files = {}
        for _ in range(2):
            fetch(executor, "flickr", constants={"query": "scenic"}, limits=HERE)
            assert rows_of(executor.workspace, "flickr", earlier=False) == [before]
            assert rows_of(executor.workspace, "flickr") == [before]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("writes", range(7))
def test_a_kill_between_two_tables_loses_no_proof(
    executor: LocalExecutor, server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    one, two = (server.say(f"/{name}.mp4", Answer(clip_bytes(tmp_path, place))) for place, name in enumerate(("one", "two")))
    gone = server.say("/gone.mp4", Answer(status=404))
    path = write_list(tmp_path / "a.csv", f"{one},CC0", f"{gone},CC0", columns="url,licence")
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    write_list(path, f"{two},CC0", columns="url,licence")
    write, done = Workspace.write_rows, []

    def killed(self: Workspace, *given: Any) -> Path:
        if len(done) == writes:
            raise Killed
        done.append(given[1])
        return write(self, *given)

    expected = {"one.mp4": ("obtained", "CC0"), "gone.mp4": ("gone", "CC0")}
    with monkeypatch.context() as patch:
        patch.setattr(Workspace, "write_rows", killed)
        with contextlib.suppress(Killed):
            fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    assert len(done) == min(writes, 6)
    assert {**by_status(executor.workspace), **expected} == by_status(executor.workspace)
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    assert by_status(executor.workspace) == {**expected, "two.mp4": ("obtained", "CC0")}


def test_licences_are_looked_at_before_anything_is_fetched(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    body = Answer(clip_bytes(tmp_path, 1))
    licences = ("CC-BY-2.0", "cc by 4.0", "CC-BY-SA-2.0", "")
    urls = [server.say(f"/{place}.mp4", body) for place in range(len(licences))]
    rows = [f"{url},{licence}" for url, licence in zip(urls, licences, strict=True)]
    path = write_list(tmp_path / "a.csv", *rows, columns="url,licence")
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE, licences=["CC-BY"])
    found = {row.url[-5]: (row.status, row.reason) for row in rows_of(executor.workspace, "urls")}
    assert found == {
        "0": ("obtained", None),
        "1": ("obtained", None),
        "2": ("refused", "the licence 'CC-BY-SA-2.0' is not among those asked for"),
        "3": ("refused", "no licence is stated"),
    }
    assert {request.path for request in server.seen} == {"/0.mp4", "/1.mp4"}


def test_pictures_are_verified_as_pictures(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    video.write_image(tmp_path / "a.png", np.random.default_rng(1).integers(0, 256, (20, 30, 3), dtype=np.uint8))
    picture = (tmp_path / "a.png").read_bytes()
    good = server.say("/picture", Answer(picture, headers={"Content-Type": "image/png"}))
    bad = server.say("/half.jpg", Answer(picture[:40]))
    path = write_list(tmp_path / "a.csv", good, bad, columns="url")
    fetch(executor, "urls", constants={"list": str(path), "media": "image"}, limits=HERE)
    found = {row.url: row for row in rows_of(executor.workspace, "urls")}
    assert found[good].blob == f"{found[good].sha256}.png"
    assert found[bad].status == "refused"


def test_a_video_whose_end_is_missing_is_refused(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    whole = streamable_bytes(tmp_path)
    urls = [server.say(f"/{share}.mp4", Answer(whole[: len(whole) * share // 100])) for share in (50, 100)]
    path = write_list(tmp_path / "a.csv", *urls, columns="url")
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    found = {row.url: row for row in rows_of(executor.workspace, "urls")}
    assert found[urls[1]].status == "obtained"
    assert found[urls[0]].status == "refused"
    assert "of 40 frames decode" in (found[urls[0]].reason or "")


def test_wrong_names_are_told_before_any_work(executor: LocalExecutor, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'urls'"):
        fetch(executor, "url", constants={}, limits=HERE)
    for label in ("a/b", "a.failed", "earlier"):
        with pytest.raises(InputError, match="cannot be part of a table's name"):
            fetch(executor, "urls", constants={"list": "x.csv"}, limits=HERE, label=label)


def test_two_lists_stay_apart_by_their_labels(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    for name in ("a", "b"):
        url = server.say(f"/{name}.mp4", Answer(clip_bytes(tmp_path, 1)))
        path = write_list(tmp_path / f"{name}.csv", url, columns="url")
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE, label=name)
    for name in ("a", "b"):
        assert [row.url for row in rows_of(executor.workspace, "urls", name)] == [server.url(f"/{name}.mp4")]


@pytest.mark.long
def test_workers_and_kills_change_nothing(server: WebServer, tmp_path: Path) -> None:
    clips = [clip_bytes(tmp_path, seed, frames=40) for seed in range(5)]
    rows = [server.say(f"/{seed}.mp4", Answer(clip, etag=f'"{seed}"')) for seed, clip in enumerate(clips)]
    slow = len(clips[0]) // 2
    server.say("/0.mp4", Answer(clips[0], etag='"0"', stall_at=slow))
    path = write_list(tmp_path / "a.csv", *rows, columns="url")
    out = tmp_path / "workspace"
    program = (
        "import sys\nfrom inpaintbench.wings.fetch.step import fetch\nfrom inpaintbench.download import Limits\n"
        "from inpaintbench.executors.local import LocalExecutor\nfrom inpaintbench.workspace import Workspace\n"
        "if __name__ == '__main__':\n"
        "    with LocalExecutor(Workspace(sys.argv[2]), workers=int(sys.argv[3])) as executor:\n"
        "        fetch(executor, 'urls', constants={'list': sys.argv[1]}, limits=Limits(allow_private=True))\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    running = subprocess.Popen([sys.executable, str(script), str(path), str(out), "2"], start_new_session=True)
    while not server.asked("/4.mp4") or not any(part.stat().st_size for part in (out / "partial").glob("*[0-9a-f]")):
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    time.sleep(0.5)  # its workers die with it
    server.say("/0.mp4", Answer(clips[0], etag='"0"'))
    server.seen.clear()
    subprocess.run([sys.executable, str(script), str(path), str(out), "0"], check=True)
    found = rows_of(Workspace(out, create=False), "urls")
    assert sorted(row.url for row in found) == sorted(rows)
    assert {row.status for row in found} == {"obtained"}
    assert len({row.blob for row in found}) == 5
    (again,) = server.asked("/0.mp4")
    assert again.headers["Range"] == f"bytes={slow}-"


def test_a_bad_line_is_a_refused_row_and_the_rest_goes_on(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    good = server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1)))
    path = write_list(tmp_path / "list.csv", "file:///etc/passwd", good, "", columns="url")
    path.write_text(path.read_text() + "nowhere\n")
    for _ in range(2):
        fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
        rows = {row.name: (row.status, row.reason) for row in rows_of(executor.workspace, "urls")}
        assert [status for status, _ in rows.values()].count("obtained") == 1
        assert rows["list.csv, line 2"] == ("refused", "'file:///etc/passwd' is not an address such as https://host/video.mp4")
        assert rows["list.csv, line 5"][0] == "refused"
        assert len(rows) == 3
    path.write_text(path.read_text().replace("nowhere", server.say("/b.mp4", Answer(clip_bytes(tmp_path, 2)))))
    fetch(executor, "urls", constants={"list": str(path)}, limits=HERE)
    assert sorted(row.status for row in rows_of(executor.workspace, "urls")) == ["obtained", "obtained", "refused"]


@pytest.mark.parametrize("allowing", [{"allow_private": True}, {"allow_hosts": ("127.0.0.1",)}, {"allow_nets": ("127.0.0.0/8",)}])
def test_what_was_refused_for_its_address_is_tried_again_once_that_is_allowed(
    executor: LocalExecutor, server: WebServer, tmp_path: Path, allowing: dict[str, Any]
) -> None:
    urls = [server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1))), server.say("/page.mp4", Answer(b"<html>no video</html>"))]
    constants = {"list": str(write_list(tmp_path / "list.csv", *urls, columns="url"))}

    def statuses_with(limits: Limits) -> list[str]:
        fetch(executor, "urls", constants=constants, limits=limits)
        return [row.status for row in sorted(rows_of(executor.workspace, "urls"), key=lambda row: row.url)]

    assert statuses_with(Limits()) == ["refused", "refused"]
    assert statuses_with(Limits(allow_nets=("10.0.0.0/8",), allow_hosts=("localhost",))) == ["refused", "refused"]
    assert server.seen == []
    assert statuses_with(Limits(**allowing)) == ["obtained", "refused"]
    asked = len(server.seen)
    assert statuses_with(Limits(**allowing)) == ["obtained", "refused"]  # what is no video is not asked for once more
    assert len(server.seen) == asked


def test_a_file_keeps_its_name_when_its_title_changes(executor: LocalExecutor, server: WebServer, tmp_path: Path) -> None:
    url = server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1)))
    path = tmp_path / "list.csv"
    constants = {"list": str(path), "allow_private": True}
    for title in ("", "Waves at the pier", "Waves"):
        write_list(path, f"{url},{title}", columns="url,title")
        fetch(executor, "urls", constants=constants, limits=HERE)
        (row,) = rows_of(executor.workspace, "urls")
        assert (row.status, row.name[:2]) == ("obtained", "a-")
        (check,) = recheck(executor, "urls", constants=constants, stamp=title or "first")
        assert (check.name, check.status) == (row.name, "same")
    assert [seen.method for seen in server.seen].count("GET") == 1
