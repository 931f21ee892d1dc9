"""`view`: what is found, the pages of it, and files sent whole and in parts."""

from __future__ import annotations

import http.client
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from publishing_data import make_dataset
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, dataset, scores

from inpaintbench.errors import InputError
from inpaintbench.eval.protocols.devil import CORRECTED
from inpaintbench.eval.report import write_report
from inpaintbench.eval.viewing import entries, server


def report(folder: Path, values: dict[str, dict[str, float | None]]) -> None:
    write_report(folder, title="Hand-made", dataset=dataset(SLICES), scores=scores(values), protocol=CORRECTED, media=FlatMedia())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shown")
    report(root / "first run" / "report", VALUES)
    better = {**VALUES, "good": {name: (value or 0) + 1.5 for name, value in VALUES["good"].items()}}
    report(root / "second" / "report", better)
    made = make_dataset(root / "made", name="waves")
    shutil.move(made, root / "waves")
    shutil.rmtree(root / "made")
    return root


@pytest.fixture(scope="module")
def asked(folder: Path) -> Iterator[http.client.HTTPConnection]:
    listening = server(folder)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield http.client.HTTPConnection("127.0.0.1", listening.server_port)
    listening.shutdown()
    listening.server_close()
    thread.join()


def get(asked: http.client.HTTPConnection, path: str, **heads: str) -> tuple[int, bytes]:
    asked.request("GET", path, headers=heads)
    answer = asked.getresponse()
    return answer.status, answer.read()


def test_reports_and_datasets_are_found_and_listed(folder: Path, asked: http.client.HTTPConnection) -> None:
    found = [(entry.kind, entry.path.as_posix()) for entry in entries(folder)]
    assert found == [("report", "first run/report/report.html"), ("report", "second/report/report.html"), ("dataset", "waves")]
    status, page = get(asked, "/")
    assert status == 200
    for address in ("/first%20run/report/report.html", "/.dataset?at=waves", "/.compare?one=first+run%2Freport&amp;other=second"):
        assert address in page.decode()
    assert get(asked, "/first%20run/report/report.html")[1] == (folder / "first run/report/report.html").read_bytes()


def test_two_reports_are_compared_by_method_and_slice(asked: http.client.HTTPConnection) -> None:
    status, page = get(asked, f"/.compare?one={quote('first run/report')}&other=second/report")
    text = page.decode()
    assert status == 200
    assert "30.00 → 31.50" in text
    assert "+1.50" in text
    assert "the same" in text  # of the method that did not change
    assert "Both are of the same dataset under the same protocol." in text
    status, page = get(asked, "/.compare?one=waves&other=second/report")
    assert (status, b"cannot be read" in page) == (404, True)


def test_the_items_of_a_dataset_and_of_a_slice_are_shown_with_their_media(
    folder: Path, asked: http.client.HTTPConnection
) -> None:
    text = get(asked, "/.dataset?at=waves")[1].decode()
    assert "All items, 1 to 3 of 3" in text
    videos = [part.partition('"')[0] for part in text.split('<video src="')[1:]]
    assert len(videos) == 6  # truth and hole of each
    assert get(asked, videos[0])[1] == (folder / videos[0].lstrip("/")).read_bytes()
    assert "Low, 1 to 2 of 2" in get(asked, "/.dataset?at=waves&part=low")[1].decode()
    status, page = get(asked, "/.dataset?at=waves&part=nope")
    assert (status, b"waves has no slice" in page) == (404, True)


def test_parts_of_files_are_sent_so_that_videos_can_be_sought(folder: Path, asked: http.client.HTTPConnection) -> None:
    place = folder / "second/report/report.json"
    data = place.read_bytes()
    for asked_for, expected in (("bytes=5-14", data[5:15]), ("bytes=-7", data[-7:]), (f"bytes={len(data) - 3}-", data[-3:])):
        assert get(asked, "/second/report/report.json", Range=asked_for) == (206, expected)
    assert get(asked, "/second/report/report.json", Range=f"bytes={len(data)}-")[0] == 416


def test_nothing_outside_the_folder_is_shown(folder: Path, asked: http.client.HTTPConnection, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (folder / "link.txt").symlink_to(secret)
    for path in (
        "/../secret.txt",
        "/link.txt",
        f"/.dataset?at={quote(str(tmp_path))}",
        "/.compare?one=../..&other=second/report",
    ):
        status, page = get(asked, path)
        assert status == 404
        assert b"secret" not in page.replace(path.encode(), b"")
    (folder / "link.txt").unlink()


def test_a_damaged_report_hides_no_other(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "second", tmp_path / "whole")
    shutil.copytree(folder / "second", tmp_path / "damaged")
    (tmp_path / "damaged" / "report" / "report.json").write_text("{")
    assert [entry.what for entry in entries(tmp_path)] == ["report.json cannot be read", "devil/corrected"]


def test_a_folder_without_anything_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no report, leaderboard or dataset down to 4 folders below it"):
        entries(tmp_path)
    with pytest.raises(InputError, match="is no folder"):
        entries(tmp_path / "nowhere")
