"""`view`: what is found, what the page asks for, files whole and in parts, and what strangers do not get."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, dataset, scores

from inpaintbench import video
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.protocols.devil import CORRECTED
from inpaintbench.eval.report import write_report
from inpaintbench.eval.scoring.predict import LOGS
from inpaintbench.workbench.exporting import two_reports
from inpaintbench.workbench.finding import Folders
from inpaintbench.workbench.notes import FILE
from inpaintbench.workbench.server import Bench, Server, opening


def asked(server: Server, path: str, body: object = None, **heads: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    method = "GET" if body is None else "POST"
    own = {} if body is None else {"X-Inpaintbench": "1", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), {**own, **heads})
    answer = connection.getresponse()
    return answer.status, answer.read(), dict(answer.getheaders())


def told(server: Server, path: str, body: object = None) -> Any:
    status, data, _ = asked(server, path, body)
    assert status == 200, data
    return json.loads(data)


def report(folder: Path, values: dict[str, dict[str, float | None]]) -> None:
    write_report(folder, title="Hand-made", dataset=dataset(SLICES), scores=scores(values), protocol=CORRECTED, media=FlatMedia())


def test_everything_below_a_folder_is_found(server: Server) -> None:
    found = [(one["kind"], one["key"]) for one in told(server, "/api/things")["things"]]
    assert {("dataset", "0/waves"), ("dataset", "0/other"), *(("run", f"0/runs/{name}") for name in "abcdef")} <= set(found)
    run = next(one for one in told(server, "/api/things")["things"] if one["key"] == "0/runs/a")
    assert run["dataset"] == "0/waves"
    assert run["predicted"] == {"blank": 3, "telea": 3}
    status, page, heads = asked(server, f"/files/{run['page']}")
    assert (status, b"<title>" in page) == (200, True)
    assert heads["Content-Security-Policy"].startswith("sandbox allow-scripts")


def test_every_predicted_item_plays_with_all_methods(server: Server, tmp_path: Path) -> None:
    ids = _head(server, "runs=0/runs/a&runs=0/runs/b")["ids"]
    for item in ids:
        shown = told(server, f"/api/sheet?runs=0/runs/a&runs=0/runs/b&item={item}")
        names = ["truth", "input", "telea · a", "navier_stokes", "telea · b", "blank"]
        assert [one["label"] for one in shown["players"]] == names
        assert shown["missing"] == {}
        assert [one["name"] for one in shown["curves"]] == names[2:]
        status, data, heads = asked(server, shown["media"]["url"], Range="bytes=0-99")
        assert (status, len(data), heads["Accept-Ranges"]) == (206, 100, "bytes")
        film = tmp_path / "film.mp4"
        film.write_bytes(asked(server, shown["media"]["url"])[1])
        frames = video.read_frames(film)
        assert frames.shape[:3] == (3, shown["media"]["height"], shown["media"]["width"])


def _head(server: Server, query: str) -> Any:
    data = asked(server, f"/api/set?{query}")[1]
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


def test_an_error_is_measured_on_the_pixels(server: Server, world: Path, tmp_path: Path) -> None:
    """Four times the distance from the truth: nothing where pixels are known, something in the hole that is left empty."""
    item = _head(server, "runs=0/runs/a")["ids"][0]
    shown = told(server, f"/api/sheet?runs=0/runs/a&item={item}&manner=error")
    film = tmp_path / "film.mp4"
    film.write_bytes(asked(server, shown["media"]["url"])[1])
    frames = video.read_frames(film)
    tile = next(one for one in shown["players"] if one["label"] == "blank ×4 from truth")
    inside = frames[0, tile["y"] : tile["y"] + tile["height"], tile["x"] : tile["x"] + tile["width"]]
    assert inside[5:11, 10:22].mean() > 120
    assert inside[20:30, 30:46].max() < 40


def test_a_difference_is_from_the_base_and_says_so(server: Server) -> None:
    item = _head(server, "runs=0/runs/a")["ids"][0]
    for base in ("telea", "blank"):
        shown = told(server, f"/api/sheet?runs=0/runs/a&item={item}&manner=difference&base={base}")
        labels = {one["label"] for one in shown["players"]}
        assert labels == {"truth", "input", f"telea ×4 from {base}", f"blank ×4 from {base}"}
        assert f"from {base}" in shown["caption"]


def test_the_other_of_a_pair_stands_beside_it(server: Server, tmp_path: Path) -> None:
    one, other = _head(server, "runs=0/runs/a")["ids"][:2]
    shown = told(server, f"/api/sheet?runs=0/runs/a&item={one}&methods=telea&beside={other}")
    names = ["truth", "input", "telea", f"truth ({other[:6]})", f"telea ({other[:6]})"]
    assert [player["label"] for player in shown["players"]] == names
    alone = told(server, f"/api/sheet?runs=0/runs/a&item={other}&methods=telea")
    pictures = []
    for place, of in ((shown, f"truth ({other[:6]})"), (alone, "truth")):
        (tmp_path / "film.mp4").write_bytes(asked(server, place["media"]["url"])[1])
        tile = next(player for player in place["players"] if player["label"] == of)
        frame = video.read_frames(tmp_path / "film.mp4")[0].astype(int)
        pictures.append(frame[tile["y"] : tile["y"] + tile["height"], tile["x"] : tile["x"] + tile["width"]])
    assert abs(pictures[0] - pictures[1]).mean() < 8
    assert shown["curves"][1]["values"] == alone["curves"][0]["values"]


def test_the_log_of_a_program_is_offered_where_there_is_one(own: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    asked_for = {"runs": ["0/runs/a"], "item": ["i0"]}
    assert bench.shown(asked_for)["logs"] == {}
    log = own / "runs" / "a" / LOGS / "telea" / "i0.txt"
    log.parent.mkdir(parents=True)
    log.write_text("it went wrong")
    assert bench.shown(asked_for)["logs"] == {"telea": f"0/runs/a/{LOGS}/telea/i0.txt"}


def test_what_a_page_opens_with_is_read_ahead(world: Path, tmp_path: Path) -> None:
    for name in ("waves", "runs/a"):
        shutil.copytree(world / name, tmp_path / name)
    listening = Server([tmp_path])
    deadline = time.monotonic() + 60
    while not listening.bench._sets and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [key[0] for key in listening.bench._sets] == [("0/runs/a",)]
    listening.server_close()


def test_a_set_is_made_ready_without_being_sent(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("HEAD", "/api/set?runs=0/runs/d")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    assert ("0/runs/d",) in [key[0] for key in server.bench._sets]


def test_means_and_differences_come_from_the_server(server: Server) -> None:
    rows = told(server, "/api/leads?runs=0/runs/b", {"key": "psnr/hole", "base": "telea", "items": [0, 1]})["rows"]
    assert [row["name"] for row in rows] == ["navier_stokes", "telea"]
    assert rows[0]["lead"]["n"] == 2
    assert rows[0]["lead"]["mean"] == pytest.approx(rows[0]["mean"]["mean"] - rows[1]["mean"]["mean"])
    assert rows[1]["lead"] is None
    status, data, _ = asked(server, "/api/leads?runs=0/runs/b", {"key": "psnr/hole", "items": [99]})
    assert (status, json.loads(data)["sentence"]) == (400, "there are no such items")


def test_unlike_datasets_are_refused_with_a_sentence(server: Server) -> None:
    status, data, _ = asked(server, "/api/set?runs=0/runs/a&runs=0/of_other")
    assert status == 404
    assert "their scores cannot be compared" in json.loads(data)["sentence"]


def test_notes_tags_and_flags_are_kept_in_one_file(own: Path) -> None:
    bench = Bench([own], own)
    before = set(own.rglob("*"))
    bench.notes.annotate("0/runs/a", {"name": "Monday", "note": "with a larger radius", "tags": "weekly, telea"})
    flags = bench.notes.flag("c0", "look_again", "yes")
    assert flags == [{"subject": "c0", "name": "look_again", "value": "yes"}]
    assert set(own.rglob("*")) - before == {own / FILE}
    assert next(one for one in bench.listed()["things"] if one["key"] == "0/runs/a")["notes"]["name"] == "Monday"
    assert bench.notes.labels_csv() == "subject,name,value\nc0,look_again,yes\n"
    bench.notes.flag("c0", "look_again", "")
    assert bench.notes.labels_csv() == "subject,name,value\n"
    with pytest.raises(InputError, match="a note has no 'colour'"):
        bench.notes.annotate("0/runs/a", {"colour": "red"})


def test_what_is_seen_can_be_sent(server: Server, tmp_path: Path) -> None:
    query, item = "runs=0/runs/b", _head(server, "runs=0/runs/b")["ids"][1]
    status, data, heads = asked(server, f"/api/film?{query}&item={item}")
    assert (status, heads["Content-Type"]) == (200, "video/mp4")
    (tmp_path / "film.mp4").write_bytes(data)
    assert len(video.read_frames(tmp_path / "film.mp4")) == 3
    film = {"runs": ["0/runs/b"], "item": [item]}
    body = {"items": [0, 1], "key": "psnr/hole", "label": "PSNR", "words": "<b>two</b>", "film": film}
    status, page, _ = asked(server, f"/api/page?{query}", body)
    assert status == 200
    assert b"data:video/mp4;base64," in page
    assert b"&lt;b&gt;two" in page
    points = {"navier_stokes": [1, 2, None]}
    figure = {"x": {"title": "x", "values": points}, "y": {"title": "PSNR", "values": points}}
    status, svg, heads = asked(server, f"/api/figure?{query}", figure)
    assert (status, heads["Content-Type"], svg[:4]) == (200, "image/svg+xml", b"<svg")


def test_parts_of_files_are_sent_so_that_videos_can_be_sought(server: Server) -> None:
    place = server.bench.folders.roots[0] / "runs/a/report/report.json"
    data = place.read_bytes()
    for range_, expected in (("bytes=5-14", data[5:15]), ("bytes=-7", data[-7:]), (f"bytes={len(data) - 3}-", data[-3:])):
        assert asked(server, "/files/0/runs/a/report/report.json", Range=range_)[:2] == (206, expected)
    assert asked(server, "/files/0/runs/a/report/report.json", Range=f"bytes={len(data)}-")[0] == 416


def test_nothing_outside_the_folders_is_shown(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    link = server.bench.folders.roots[0] / "link.txt"
    link.symlink_to(secret)
    for path in (
        "/files/0/../secret.txt", "/files/0/%2e%2e/secret.txt", "/files/0/link.txt", f"/files/0/{quote(str(secret))}",
        "/files/7/x", f"/api/set?dataset=0/{quote('../..')}", "/compare?one=0/../..&other=0/waves", "/media/../secret.txt",
        "/static/own/..%2fapp.js",
    ):  # fmt: skip
        status, page, _ = asked(server, path)
        assert status == 404, path
        assert b"secret" not in page.replace(path.encode(), b"").replace(str(secret).encode(), b"").replace(b"secret.txt", b""), (
            path
        )
    link.unlink()


def test_pages_of_other_sites_can_neither_look_nor_write(server: Server) -> None:
    assert asked(server, "/api/things", Host="evil.example")[0] == 403
    assert asked(server, "/api/flag", {"subject": "a", "name": "b", "value": "c"}, Origin="http://evil.example")[0] == 403
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request("POST", "/api/flag", json.dumps({"subject": "a", "name": "b", "value": "c"}))
    assert connection.getresponse().status == 403
    assert told(server, "/api/things")["flags"] == []


def test_others_need_the_token(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    listening = Server([world], host="0.0.0.0")
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        assert listening.address("files/0/a.html#x=1").endswith(f"/files/0/a.html?token={listening.token}#x=1")
        assert asked(listening, "/api/things")[0] == 403
        status, _, heads = asked(listening, f"/compare?one=a%26b&token={listening.token}&other=b")
        assert (status, heads["Location"]) == (302, "/compare?one=a%26b&other=b")
        assert asked(listening, f"//evil.example/?token={listening.token}")[2]["Location"] == "/evil.example/"
        assert "HttpOnly" in heads["Set-Cookie"]
        cookie = heads["Set-Cookie"].partition(";")[0]
        name = f"inpaintbench-{listening.server_port}"
        assert cookie == f"{name}={listening.token}"
        assert asked(listening, "/api/things", Cookie=cookie)[0] == 200
        for path in (
            "/",
            "/style.css",
            "/static/own/app.js",
            "/media/x",
            "/api/set?runs=0/runs/a",
            "/files/0/waves/dataset.json",
        ):
            for wrong in ({}, {"Cookie": f"{name}=x"}, {"Cookie": f"{name}="}):
                assert asked(listening, path, **wrong)[0] == 403, path
            assert asked(listening, f"{path}{'&' if '?' in path else '?'}token=x")[0] == 403, path
        assert asked(listening, "/api/flag", {"subject": "a", "name": "b", "value": "c"})[0] == 403
        status, _, heads = asked(listening, "/files/0/runs/a/report/report.html", Cookie=cookie)
        place = heads["Location"]
        assert status == 302
        status, page, heads = asked(listening, place)
        assert (status, b"<title>" in page) == (200, True)
        assert heads["Content-Security-Policy"].startswith("sandbox allow-scripts")
        assert "allow-same-origin" not in heads["Content-Security-Policy"]
        folder = place.removesuffix("/0/runs/a/report/report.html")
        assert asked(listening, f"{folder}/0/runs/a/report/report.json")[0] == 200
        for key in ("0/waves/dataset.json", "0/runs/a/report/../workspace.json", "0/runs/a/report/%2e%2e/workspace.json", "0/"):
            assert asked(listening, f"{folder}/{key}")[0] == 403, key
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def test_a_page_opens_its_own_folder_alone(tmp_path: Path) -> None:
    report(tmp_path / "alone", VALUES)
    report(tmp_path / "several", VALUES)
    report(tmp_path / "several" / "inner", VALUES)
    (tmp_path / "cache").mkdir()
    bench = Bench([tmp_path / "alone", tmp_path / "several"], tmp_path / "cache")
    keys = {"0/report.html": "0", "1/report.html": "", "1/inner/report.html": "1/inner", "x.html": "", "1/./x.html": ""}
    assert {key: bench.folder_of_page(key) for key in keys} == keys


@pytest.mark.parametrize("length", ["abc", "-1", "1_0"])
def test_a_length_that_is_none_is_refused(server: Server, length: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request("POST", "/api/flag", headers={"X-Inpaintbench": "1", "Content-Length": length})
    assert connection.getresponse().status == 400


def test_a_run_is_read_again_when_its_dataset_changed(own: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    query = {"runs": ["0/runs/a"]}
    first = bench.joined(query)
    assert bench.joined(query) is first
    os.utime(own / "waves" / "dataset.json", (1, 1))
    assert bench.joined(query) is not first


def test_two_reports_are_compared_by_method_and_slice(tmp_path: Path) -> None:
    report(tmp_path / "first run" / "report", VALUES)
    better = {**VALUES, "good": {name: (value or 0) + 1.5 for name, value in VALUES["good"].items()}}
    report(tmp_path / "second" / "report", better)
    folders = Folders([tmp_path])
    text = two_reports(folders, "0/first run/report", "0/second/report")
    for words in ("30.00 → 31.50", "+1.50", "the same", "Both are of the same dataset under the same protocol."):
        assert words in text
    place = tmp_path / "second" / "report" / "report.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "fingerprint": "other"}))
    with pytest.raises(InputError, match="by protocols with other constants: their means cannot be compared"):
        two_reports(folders, "0/first run/report", "0/second/report")


def test_a_damaged_report_hides_no_other(tmp_path: Path) -> None:
    report(tmp_path / "whole" / "report", VALUES)
    shutil.copytree(tmp_path / "whole", tmp_path / "damaged")
    (tmp_path / "damaged" / "report" / "report.json").write_text("{")
    found = Folders([tmp_path]).things()
    assert [one.what for one in found] == ["report.json cannot be read", "devil/corrected"]
    assert opening(found, [tmp_path]) == ""
    assert opening(found[:1], [tmp_path]) == "files/0/damaged/report/report.html"


def test_a_folder_without_anything_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no report, run, leaderboard or dataset down to 4 folders below it"):
        Folders([tmp_path]).things()
    with pytest.raises(InputError, match="is no folder"):
        Folders([tmp_path / "nowhere"])
    (tmp_path / "dataset.json").write_text("{")
    with pytest.raises(VerifyError, match=r"dataset\.json' is damaged"):
        Folders([tmp_path]).things()


def test_the_page_runs_no_script_but_its_own(server: Server) -> None:
    status, page, heads = asked(server, "/")
    assert status == 200
    assert "script-src 'self'" in heads["Content-Security-Policy"]
    assert b'<script type="module" src=' in page
    assert asked(server, "/static/own/app.js")[0] == asked(server, "/static/player/player.js")[0] == 200
    assert asked(server, f"/?{urlencode({'x': '<script>'})}")[1] == page
