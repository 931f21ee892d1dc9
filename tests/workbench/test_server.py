"""`view`: what is found, what the page asks for, files whole and in parts, and what strangers do not get."""

from __future__ import annotations

import csv
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import time
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

import cv2
import numpy as np
import pytest
from tests.eval.report.hand_made import SLICES, VALUES, FlatMedia, dataset, scores
from tests.workbench.conftest import _served

from inpaintbench import video
from inpaintbench.curation.sheets import import_labels
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import write_report
from inpaintbench.eval.scoring.predict import LOGS
from inpaintbench.pages.colours import method_styles
from inpaintbench.pages.page import render
from inpaintbench.pages.words import interval, number
from inpaintbench.types import Clip, Corruption
from inpaintbench.workbench import exporting, pixels
from inpaintbench.workbench.exporting import two_reports
from inpaintbench.workbench.finding import Folders, Thing
from inpaintbench.workbench.joining import Joined
from inpaintbench.workbench.notes import FILE, Notes
from inpaintbench.workbench.server import Bench, Server, opening
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")


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
    things = server.bench.listed()["things"]
    found = [(one["kind"], one["key"]) for one in things]
    assert {("dataset", "0/waves"), ("dataset", "0/other"), *(("run", f"0/runs/{name}") for name in "abcdef")} <= set(found)
    run = next(one for one in things if one["key"] == "0/runs/a")
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
    names = [name for part in ("truth", "input", "telea") for name in (part, f"{part} ({other[:6]})")]
    assert shown["group"] == 2
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
    question = {"key": "psnr/hole", "base": "telea", "items": [0, 1]}
    rows = server.bench.leads({"runs": ["0/runs/b"]}, question)["rows"]
    assert [row["name"] for row in rows] == ["navier_stokes", "telea"]
    assert rows[0]["lead"]["n"] == 2
    assert rows[0]["lead"]["mean"] == pytest.approx(rows[0]["mean"]["mean"] - rows[1]["mean"]["mean"])
    assert rows[1]["lead"] is None
    status, page, _ = asked(server, "/api/leads?runs=0/runs/b", question)
    assert (status, page.count(b"<tr>"), page.count(b">base</button>")) == (200, 3, 1)
    assert f"<b>{number(rows[0]['mean']['mean'], 2)}</b>" in page.decode()
    status, data, _ = asked(server, "/api/leads?runs=0/runs/b", {"key": "psnr/hole", "items": [99]})
    assert (status, json.loads(data)["sentence"]) == (400, "there are no such items")


def test_unlike_datasets_are_refused_with_a_sentence(server: Server) -> None:
    status, data, _ = asked(server, "/api/set?runs=0/runs/a&runs=0/of_other")
    assert status == 404
    assert "their scores cannot be compared" in json.loads(data)["sentence"]


def test_notes_tags_and_flags_are_kept_in_one_file(own: Path) -> None:
    bench = Bench([own], own)
    before = set(own.rglob("*"))
    bench.notes.annotate("run 0/runs/a", {"name": "Monday", "note": "with a larger radius", "tags": "weekly, telea"})
    flags = bench.notes.flag("c0", "look_again", "yes")
    assert flags == [{"subject": "c0", "name": "look_again", "value": "yes"}]
    assert set(own.rglob("*")) - before == {own / FILE}
    assert next(one for one in bench.listed()["things"] if one["key"] == "0/runs/a")["notes"]["name"] == "Monday"
    both = {"runs": ["0/runs/a", "0/runs/b"]}
    assert {"telea · Monday", "telea · b"} <= {one.name for one in bench.joined(both).methods}
    bench.notes.annotate("run 0/runs/a", {"name": ""})
    assert "telea · a" in {one.name for one in bench.joined(both).methods}
    Workspace(own / "runs" / "a", create=False).write_table("clips", "split", [], Clip)
    bench.notes.annotate("workspace 0/runs/a", {"name": "Films"})
    shared = {one["kind"]: one["notes"].get("name") for one in bench.listed()["things"] if one["key"] == "0/runs/a"}
    assert shared.get("run") is None
    bench.notes.flag("c0", "look_again", "")
    assert bench.notes.read()["flags"] == []
    with pytest.raises(InputError, match="a note has no 'colour'"):
        bench.notes.annotate("0/runs/a", {"colour": "red"})


FLAGS = "import sys; from pathlib import Path; from inpaintbench.workbench.notes import Notes; notes = Notes(Path(sys.argv[1])); "
FLAGS += "input(); [notes.flag(sys.argv[2] + str(at), 'look_again', 'yes') for at in range(100)]"


def test_two_programs_that_write_notes_of_a_folder_lose_none(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", FLAGS, str(tmp_path), name], stdin=subprocess.PIPE, text=True) for name in "ab"
    ]
    for writer in writers:
        print(file=writer.stdin, flush=True)
    assert [(writer.communicate(), writer.returncode)[1] for writer in writers] == [0, 0]
    flagged = {row["subject"] for row in Notes(tmp_path).read()["flags"]}
    assert flagged == {f"{name}{at}" for name in "ab" for at in range(100)}
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_flags_of_items_are_labels_of_their_clips(pairs: Path, tmp_path: Path) -> None:
    """`curation label` takes the file as it is: one value a clip and name, of the clips that are open alone."""
    root = Path(shutil.copytree(pairs / "data", tmp_path / "ours" / "data")).parent
    workspace = Workspace(root / "workspace")
    clips = [Clip(f"c{at}", "s", 0, 3, 25.0, 64, 48, 3, "0" * 64, "", "", 0, 99.0) for at in range(2)]
    workspace.write_table("clips", "split", clips, Clip)
    (tmp_path / "cache").mkdir()
    bench = Bench([root], tmp_path / "cache")
    for subject, name, value in (
        ("i0low", "look_again", "yes"), ("i0high", "look_again", "yes"), ("i1low", "fault", "blurred"), ("c1", "fault", "dark"),
        ("i5low", "look_again", "yes"), ("elsewhere", "look_again", "yes"),
    ):  # fmt: skip
        bench.notes.flag(subject, name, value)
    ours = "subject,name,value\nc0,look_again,yes\nc1,fault,blurred; dark\n"
    assert bench.labels_csv({"workspace": ["0/workspace"]}) == ours
    assert bench.labels_csv({"dataset": ["0/data"]}) == f"{ours}c5,look_again,yes\n"
    assert bench.labels_csv({}) == f"{ours}c5,look_again,yes\nelsewhere,look_again,yes\n"
    (tmp_path / "labels.csv").write_text(ours)
    rows = import_labels(workspace, tmp_path / "labels.csv")
    assert [(row.subject_id, row.value) for row in rows] == [("c0", "yes"), ("c1", "blurred; dark")]
    for name, value, why in (("camera_motion", "1", "is measured, not labelled"), ("size_level", "yes", "choose from low, high")):
        with pytest.raises(InputError, match=why):
            bench.notes.flag("c0", name, value)


def test_what_is_seen_can_be_sent(server: Server, tmp_path: Path) -> None:
    query, item = "runs=0/runs/b", _head(server, "runs=0/runs/b")["ids"][1]
    status, data, heads = asked(server, f"/api/film?{query}&item={item}")
    assert (status, heads["Content-Type"]) == (200, "video/mp4")
    (tmp_path / "film.mp4").write_bytes(data)
    assert len(video.read_frames(tmp_path / "film.mp4")) == 3
    points = {"navier_stokes": [1, 2, None]}
    figure = {"x": {"title": "x", "values": points}, "y": {"title": "PSNR", "values": points}}
    columns = [
        {"label": "Lead", "decimals": 2, "signed": True, "values": [0.2, None]}, {"label": "A", "values": ["<i>low</i>", None]},
    ]  # fmt: skip
    body = {"items": [0, 1], "key": "psnr/hole", "label": "PSNR", "words": "<b>two</b>", "film": f"{query}&item={item}"}
    status, page, _ = asked(server, f"/api/page?{query}", body | {"plot": figure, "columns": columns})
    assert status == 200
    assert b"data:video/mp4;base64," in page
    assert b"data:image/svg+xml;base64," in page
    for words in ("&lt;b&gt;two", "+0.20", "&lt;i&gt;low"):
        assert words.encode() in page
    status, svg, heads = asked(server, f"/api/figure?{query}", figure)
    assert (status, heads["Content-Type"], svg[:4]) == (200, "image/svg+xml", b"<svg")


def test_a_page_that_is_sent_claims_no_more_than_the_screen(server: Server, paired_server: Server) -> None:
    """No interval where scores chose the items, no difference of too few films; a reference is one there too."""
    body = {"items": list(range(16)), "key": "psnr/hole", "label": "PSNR", "base": "telea"}
    usual, chosen = (
        asked(paired_server, "/api/page?runs=0/run", body | {"filters": filters})[1].decode()
        for filters in (["a|size_level", "source"], ["v|telea"])
    )
    sentence = "nothing is claimed: there are no intervals"
    of_means = [text.partition('id="means"')[2].partition("</section>")[0] for text in (usual, chosen)]
    [interval_of] = {*re.findall(r">([^<>]+ to [^<>]+)<", of_means[0])} & {
        f"{number(low, 2)} to {number(high, 2)}"
        for row in paired_server.bench.leads({"runs": ["0/run"]}, body)["rows"]
        if row["lead"]
        for low, high in [(row["lead"]["interval_low"], row["lead"]["interval_high"])]
    }
    assert interval_of
    assert (sentence in usual, sentence in of_means[1]) == (False, True)
    assert not re.findall(r"\d to [−\d]", of_means[1])
    few = asked(server, "/api/page?runs=0/runs/a", body | {"items": [0, 1, 2]})[1].decode()
    assert "too few films" in few
    assert "blank (reference)" in few
    assert not re.search(r">[+−]\d+\.\d\d<", few)


def test_a_figure_has_its_lines_whatever_it_holds(server: Server) -> None:
    """A line of means a method, names on either axis, and of very many points those that are drawn."""
    rng, query = np.random.default_rng(0), "/api/figure?runs=0/runs/b"
    names = [one["name"] for one in _head(server, "runs=0/runs/b")["methods"]]
    figures = {}
    for kind, count in (("few", 40), ("many", 15_000)):
        values = {axis: {name: rng.normal(size=count).tolist() for name in names} for axis in "xy"}
        status, svg, _ = asked(server, query, {axis: {"title": axis, "values": values[axis]} for axis in "xy"})
        assert status == 200
        figures[kind] = svg.decode()
        assert figures[kind].count("mark-line role-mark") == len(names)
    assert figures["few"].count('aria-roledescription="point"') == 40 * len(names)
    assert figures["many"].count('aria-roledescription="point"') == 10_000
    assert "10,000 of 30,000 points, drawn by chance" in figures["many"]
    words, numbers = ({name: [one] * 30 for name in names} for one in ("low", 1.5))
    for x, y in ((words, numbers), (numbers, words), (words, words)):
        status, svg, _ = asked(server, query, {"x": {"title": "x", "values": x}, "y": {"title": "y", "values": y}})
        assert (status, svg[:4]) == (200, b"<svg")


def test_lines_of_a_figure_are_the_means_that_the_page_draws() -> None:
    xs, ys = [*range(20), None, 3.5], [*map(float, range(19)), None, 1.0, 3.5]
    line = exporting._bin_means("mine", xs, ys)
    assert [(one["x"], one["y"]) for one in line][:2] == [(0.5, 0.5), (8.5 / 3, 8.5 / 3)]
    assert (len(line), line[-1]["x"]) == (8, 17.5)
    assert exporting._bin_means("mine", xs[:16], ys[:16]) == []


def test_a_question_that_is_too_long_is_answered(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.workbench.server._MOST_BODY", 4 << 20)
    status, data, _ = asked(server, "/api/figure?runs=0/runs/b", {"x": "x" * (5 << 20)})
    assert status == 413
    assert (
        json.loads(data)["sentence"]
        == "5 MiB are more than the 4 that are taken: filter items, or show fewer methods, and try again"
    )


def test_a_table_of_items_has_the_columns_that_follow(server: Server) -> None:
    body = {"items": [2, 0], "methods": ["telea", "navier_stokes"], "key": "psnr/hole", "base": "telea"}
    status, data, _ = asked(server, "/api/items.csv?runs=0/runs/b", body)
    rows = list(csv.DictReader(data.decode().splitlines()))
    assert (status, len(rows)) == (200, 2)
    for row in rows:
        pair = [float(row[f"psnr/hole {name}"]) for name in ("telea", "navier_stokes")]
        assert float(row["psnr/hole mean"]) == pytest.approx(np.mean(pair))
        assert float(row["psnr/hole spread"]) == pytest.approx(np.std(pair, ddof=1))
        assert float(row["psnr/hole navier_stokes less telea"]) == pytest.approx(pair[1] - pair[0])


def test_what_follows_counts_a_method_once_and_infinite_values_as_the_page_does(own: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    found = Bench([own], tmp_path / "cache").joined({"runs": ["0/runs/a", "0/runs/b"]})
    names = ["telea · a", "telea · b", "navier_stokes"]
    values = ([10.0, np.inf, np.inf], [20.0, 30.0, np.inf], [30.0, 30.0, np.inf])
    found.values |= {("psnr/hole", name): np.array(own) for name, own in zip(names, values, strict=True)}
    (_, mean), (_, spread) = found.derived("psnr/hole", names, "")
    assert mean.tolist() == [22.5, np.inf, np.inf]
    assert spread.tolist() == [10.0, np.inf, 0.0]
    found.values["psnr/hole", "telea · b"] = np.full(3, np.nan)  # not scored yet
    assert found.derived("psnr/hole", names, "")[0][1].tolist() == [20.0, np.inf, np.inf]


def test_what_is_asked_of_places_that_are_of_other_items_by_now_is_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "footage")
    clips = [Clip(f"c{at}", f"s{at}", 0, 3, 25.0, 64, 48, 3, "", "", "", 0, 99.0) for at in range(3)]
    workspace.write_table("clips", "cut", clips[1:], Clip)
    for listening in _served(tmp_path):
        query = "workspace=0/footage"
        stamp = _head(listening, query)["stamp"]
        body = {"stamp": stamp, "items": [0], "methods": []}
        status, data, _ = asked(listening, f"/api/items.csv?{query}", body)
        assert (status, data.decode().splitlines()[1][:3]) == (200, "c1,")
        workspace.write_table("clips", "cut", clips, Clip)
        for path in ("items.csv", "page"):
            status, data, _ = asked(listening, f"/api/{path}?{query}", body)
            assert (status, json.loads(data)["sentence"]) == (
                400, "what lies here was changed since this page read it: load the page again",
            )  # fmt: skip
        for strange in ({**body, "stamp": "", "items": [9]}, {"items": [9], "methods": []}, [1], "x"):
            assert asked(listening, f"/api/items.csv?{query}", strange)[0] == 400


def test_files_of_strangers_that_hold_anything_are_told(own: Path) -> None:
    for name, told in (("a", '{"summary": 5}'), ("b", '{"summary": [5]}'), ("c", '{"summary": [{"metric": []}]}')):
        (own / "runs" / name / "report" / "report.json").write_text(told)
    (own / FILE).write_text('{"things": {"run 0/runs/a": 5}, "flags": [7]}')
    for listening in _served(own):
        for other in "bc":
            status, data, _ = asked(listening, f"/compare?one=0/runs/a/report&other=0/runs/{other}/report")
            assert (status, set(json.loads(data))) == (404, {"sentence"})
        for path in ("/api/things", "/api/flags.csv", "/api/set?runs=0/runs/a"):
            status, data, _ = asked(listening, path)
            assert (status, set(json.loads(data))) == (404, {"sentence"})


def test_who_rated_is_in_no_file_that_is_shown(own: Path) -> None:
    study = own / "study"
    study.mkdir()
    hidden = ("journal.sqlite", "journal.sqlite-wal", "journal.json", "kept.sqlite.bak", ".state")
    for name in (*hidden, "notes.txt"):
        (study / name).write_text("Ada")
    (study / "link.txt").symlink_to(study / "journal.sqlite")
    for listening in _served(own):
        assert asked(listening, "/files/0/study/notes.txt")[:2] == (200, b"Ada")
        for name in (*hidden, "link.txt", "%6aournal.sqlite"):
            status, data, _ = asked(listening, f"/files/0/study/{name}")
            assert (status, b"Ada" in data) == (404, False)


def test_a_film_that_is_let_go_of_while_it_is_asked_for_is_made_again(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache := tmp_path / "cache").mkdir()
    bench, once = Bench([own], cache), pixels.made_once
    query = {"runs": ["0/runs/a"], "item": ["i0"]}

    def and_tidied(path: Path, *of: Any, **more: Any) -> None:
        once(path, *of, **more)
        for film in cache.glob("*.mp4"):
            film.unlink()

    monkeypatch.setattr(pixels, "made_once", and_tidied)
    bench.shown(query)
    monkeypatch.setattr(pixels, "made_once", once)
    assert (cache / bench.shown(query)["file"]).stat().st_size > 0


def test_the_mean_of_what_is_never_negative_has_no_negative_interval(own: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    bench = Bench([own], tmp_path / "cache")
    found = bench.joined({"runs": ["0/runs/a"]})
    found.ids, found.sources = [f"i{at}" for at in range(8)], [f"s{at}" for at in range(8)]
    found.values["mse/hole", "telea"] = np.array([0.1] * 7 + [90.0])
    told = found.mean("mse/hole", "telea", range(8))
    assert told.interval_low == 0.0
    assert told.interval_high is not None


def test_a_film_that_is_sent_shows_what_is_seen(server: Server, tmp_path: Path) -> None:
    """Errors four times as bright, and the other item of a pair, as on the page."""
    items = _head(server, "runs=0/runs/a")["ids"]
    frames = {}
    for more in ("", "&manner=error", f"&beside={items[1]}"):
        (tmp_path / "film.mp4").write_bytes(asked(server, f"/api/film?runs=0/runs/a&item={items[0]}{more}")[1])
        frames[more] = video.read_frames(tmp_path / "film.mp4")
    plain, error, pair = frames.values()
    assert plain.shape == error.shape
    assert abs(plain.astype(int) - error).mean() > 20
    assert pair[0].size > 1.5 * plain[0].size


def test_one_frame_is_sent_with_the_names_of_its_films(server: Server) -> None:
    """Of the part that is zoomed to, each pixel as it is: the same in the half of the picture that the whole has there."""
    query = f"runs=0/runs/a&item={_head(server, 'runs=0/runs/a')['ids'][0]}&frame=1"
    pictures = {}
    for more in ("", "&factor=2&x=1&y=1", "&manner=error"):
        status, data, heads = asked(server, f"/api/frame?{query}{more}")
        assert (status, heads["Content-Type"]) == (200, "image/png")
        pictures[more] = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    whole, part, error = (picture[:432] for picture in pictures.values())  # below stand item, frame and what errors are
    assert whole.shape == error.shape
    assert (whole != error).any()
    # 48 x 32 pixels six times as large, and a quarter of them twelve times; names above are 24 high.
    assert (whole[24 + 96 : 24 + 192 : 6, 144:288:6] == part[24 : 24 + 192 : 12, 0:288:12]).all()
    [method, *_] = [one["name"] for one in _head(server, "runs=0/runs/a")["methods"]]
    wiped = asked(server, f"/api/frame?{query}&{urlencode({'wipe': 0.25, 'under': method, 'over': 'truth'})}")[1]
    wiped = cv2.imdecode(np.frombuffer(wiped, np.uint8), cv2.IMREAD_COLOR)
    truth, *others = [(slice(top, top + 192), slice(left, left + 288)) for top in (24, 240) for left in (0, 288)]
    [changed] = [tile for tile in others if (wiped[tile] != whole[tile]).any()]
    assert (wiped[changed][:, :71] == whole[changed][:, :71]).all()
    assert (wiped[changed][:, 73:] == whole[truth][:, 73:]).all()
    assert (wiped[changed][:, 71:73] == 255).all()  # the line
    for wrong in ("&frame=3", "&factor=0.5", "&factor=2&x=2", "&frame=1&under=truth&over=nobody", "&frame=1&wipe=2"):
        assert asked(server, f"/api/frame?{query.removesuffix('&frame=1')}{wrong}")[0] == 404


def test_two_runs_of_a_method_differ_in_a_figure(server: Server) -> None:
    query = "runs=0/runs/b&runs=0/runs/c"
    names = [one["name"] for one in _head(server, query)["methods"]]
    values = {name: [at, at + 1.5] for at, name in enumerate(names)}
    svg = asked(server, f"/api/figure?{query}", {axis: {"title": axis, "values": values} for axis in "xy"})[1].decode()
    points = re.findall(
        r'<path aria-label="[^"]*method: ([^";]+)[^"]*"[^>]*d="([^"]+)"[^>]*?fill="([^"]+)"[^>]*?stroke="([^"]+)"', svg
    )
    looks = {name: look for name, *look in points}
    assert set(looks) == set(names)
    assert len({tuple(look) for look in looks.values()}) == len(names) == 4


def test_a_workspace_and_a_leaderboard_are_sent_too(tmp_path: Path) -> None:
    """A clip with its masks; a leaderboard has none, and says so."""
    workspace = Workspace(tmp_path / "ours" / "workspace")
    frames = np.full((3, 48, 64, 3), 90, np.uint8)
    hole = np.zeros((3, 48, 64), np.bool_)
    hole[:, 8:20, 8:30] = True
    clip, _ = workspace.blobs.put(".mp4", lambda path: video.write_lossless(path, frames, fps=25.0))
    mask, _ = workspace.blobs.put(".mp4", lambda path: video.write_hole(path, hole, fps=25.0))
    workspace.write_table("clips", "split", [Clip("c0", "s", 0, 3, 25.0, 64, 48, 3, clip, "", "", 0, 99.0)], Clip)
    workspace.write_table("corruptions", "box", [Corruption("h0", "c0", "box", {}, 0, None, mask, "0" * 64)], Corruption)
    (tmp_path / "cache").mkdir()
    bench = Bench([tmp_path / "ours"], tmp_path / "cache")
    query = {"workspace": ["0/workspace"], "item": ["c0"]}
    shown = bench.shown(query)
    assert [one["label"] for one in shown["players"]] == ["clip", "box (h0)"]
    film = video.read_frames(bench.film_file(query))[0]
    clip_tile, tile = (film[one["y"] :, one["x"] :][: one["height"], : one["width"]] for one in shown["players"])
    assert abs(clip_tile.astype(int) - 90).max() < 12
    assert tile[10:18, 10:28].min() > 200
    assert tile[30:, 40:].max() < 50
    frame = cv2.imdecode(np.frombuffer(bench.frame(query | {"frame": ["2"]}), np.uint8), cv2.IMREAD_COLOR)
    of, seen = bench._sheet(shown), pixels.Seen()
    captions = [shown["caption"], "More masks are there."]
    below = [pixels.labelled_frame(pixels.cut(of, shown | {"caption": one}), 2, seen=seen, title="c0") for one in captions]
    assert below[0] != below[1]
    assert abs(frame[24 : 24 + 5 * 48, : 5 * 64].astype(int) - 90).max() < 12
    assert abs(frame[24:, 5 * 64 :].astype(int)[: 5 * 48].max() - 255) < 12
    text = exporting.page(bench.joined(query), {"items": [0], "film": "workspace=0/workspace&item=c0"}, sheet_of=bench.carried)
    assert "data:video/mp4;base64," in text
    board = Joined("Board", [], ["r0"], ["m"], ["m"], [], kind="board")
    assert "Board" in exporting.page(board, {"items": [0], "film": "board=0/board&item=r0"}, sheet_of=bench.carried)


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
        assert "//0.0.0.0" not in listening.address()
        assert listening.address("files/0/a.html#x=1").endswith(f"/files/0/a.html?token={listening.token}#x=1")
        assert asked(listening, "/api/things")[0] == 403
        status, _, heads = asked(listening, f"/compare?one=a%26b&token={listening.token}&other=b")
        assert (status, heads["Location"]) == (302, "/compare?one=a%26b&other=b")
        assert asked(listening, f"//evil.example/?token={listening.token}")[2]["Location"] == "/evil.example/"
        assert "HttpOnly" in heads["Set-Cookie"]
        cookie = heads["Set-Cookie"].partition(";")[0]
        name = f"inpaintbench-{listening.server_port}"
        assert cookie == f"{name}={listening.token}"
        # Other programs of this host have cookies too, with names that no standard knows.
        for others in ("{}", "a,b=1; {}", 'x={{"y": 1}}; {}', "{}; a/b=c d"):
            assert asked(listening, "/api/things", Cookie=others.format(cookie))[0] == 200
        for path in (
            "/",
            "/style.css",
            "/static/own/app.js",
            "/media/x",
            "/api/set?runs=0/runs/a",
            "/files/0/waves/dataset.json",
        ):
            for wrong in ({}, {"Cookie": f"{name}=x"}, {"Cookie": f"{name}="}, {"Cookie": f"{name}"}):
                assert asked(listening, path, **wrong)[0] == 403, path
            assert asked(listening, f"{path}{'&' if '?' in path else '?'}token=x")[0] == 403, path
        status, page, heads = asked(listening, "/", Accept="text/html,*/*;q=0.8")  # who follows a link in a fresh browser
        assert (status, heads["Content-Type"]) == (403, "text/html; charset=utf-8")
        assert "This link needs the token" in page.decode()
        assert listening.token not in page.decode()
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


def test_a_report_is_compared_with_those_of_the_same_dataset(server: Server) -> None:
    html = server.bench.listed_page()["html"]
    offered = set(re.findall(r"/compare\?one=([^&]+)&amp;other=([^\"]+)", html))
    of_waves = {quote(f"0/runs/{name}/report", safe="") for name in "abcdef"}
    assert offered == set(permutations(of_waves, 2))


def test_what_is_beyond_chance_elsewhere_is_all_there() -> None:
    names = ("SSIM", "MSE", "PCons", "Flicker", "LPIPS")
    metrics = [SimpleNamespace(label=name, higher=True, decimals=2) for name in names]
    apart = [(metric, SimpleNamespace(mean=1.0)) for metric in metrics]
    mean = SimpleNamespace(mean=1.0, interval_low=0.5, interval_high=1.5, n=9)
    row = {"name": "telea", "lead": None, "mean": mean, "note": "", "elsewhere": apart}
    page = render(
        "workbench/static/leads.html", rows=[row], measure=SimpleNamespace(label="PSNR", unit="dB", higher=True), decimals=2,
        styles=method_styles(["telea"]), references=[], chosen="", base="", base_title="", films=[], most=1.0,
    )  # fmt: skip
    _, _, more = page.partition('<details class="elsewhere"><summary>beyond chance in 5 more:</summary>')
    assert [name for name in names if f"{name} +1.00 better" in more] == [*names]


def test_two_reports_are_compared_by_method_and_slice(tmp_path: Path) -> None:
    report(tmp_path / "first run" / "report", VALUES)
    better = {**VALUES, "good": {name: (value or 0) + 1.5 for name, value in VALUES["good"].items()}}
    report(tmp_path / "second" / "report", better)
    folders = Folders([tmp_path])
    text = two_reports(folders, "0/first run/report", "0/second/report")
    for words in ("30.00", "31.50", "+1.50", "the same", "All items", "Both are of the same dataset under the same protocol."):
        assert words in text
    place = tmp_path / "second" / "report" / "report.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "fingerprint": "other"}))
    with pytest.raises(InputError, match="by protocols with other constants: their means cannot be compared"):
        two_reports(folders, "0/first run/report", "0/second/report")


def test_reports_that_differ_in_hidden_digits_are_not_the_same(tmp_path: Path) -> None:
    """They are called as their runs; a small change has the metric's decimals, as have means alike with other intervals."""
    for name in ("last week", "now"):
        report(tmp_path / name / "report", VALUES)
    place = tmp_path / "now" / "report" / "report.json"
    told = json.loads(place.read_text())
    rows = [row for row in told["summary"] if isinstance(row["mean"], float)]
    rows[0]["mean"] += 0.00001
    rows[1]["interval_low"] = -1.5
    folders = Folders([tmp_path])
    runs = [Thing("run", "0/now", "after the repair", "")]
    alike = two_reports(folders, "0/last week/report", "0/now/report", runs).count("the same")
    place.write_text(json.dumps(told))
    text = two_reports(folders, "0/last week/report", "0/now/report", runs)
    assert alike - text.count("the same") == 2
    assert text.count(">0.00<") >= 2
    assert "last week against after the repair." in text
    assert "0/now" not in text
    shutil.copytree(tmp_path / "now", tmp_path / "deep" / "now")
    assert f"{tmp_path / 'now'} against {tmp_path / 'deep' / 'now'}." in two_reports(folders, "0/now/report", "0/deep/now/report")


def test_means_of_two_reports_stand_with_their_intervals(pairs: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        shutil.copytree(pairs / "run" / "report", tmp_path / name / "report")
    text = two_reports(Folders([tmp_path]), "0/one/report", "0/other/report")
    rows = json.loads((tmp_path / "one" / "report" / "report.json").read_text())["summary"]
    known = [row for row in rows if (row["metric"], row["region"]) == ("psnr", "hole") and row["interval_low"] is not None]
    assert len(known) >= 6  # two methods on all items and on two slices
    for row in known:
        assert text.count(interval(row["interval_low"], row["interval_high"], 2)) >= 2
    assert "→" not in text.split("<main")[1].split("</main>")[0]


def test_the_page_of_two_reports_runs_its_own_scripts(server: Server) -> None:
    status, page, heads = asked(server, "/compare?one=0/runs/a/report&other=0/runs/b/report")
    assert (status, b"Two reports" in page) == (200, True)
    assert heads["Content-Security-Policy"].startswith("sandbox allow-scripts")
    assert b"script-src 'sha256-" in page.replace(b"&#39;", b"'")


def test_a_damaged_report_hides_no_other(tmp_path: Path) -> None:
    report(tmp_path / "whole" / "report", VALUES)
    shutil.copytree(tmp_path / "whole", tmp_path / "damaged")
    (tmp_path / "damaged" / "report" / "report.json").write_text("{")
    found = Folders([tmp_path]).things()
    assert [one.what for one in found] == ["report.json cannot be read", "devil/corrected"]
    assert opening(found, [tmp_path]) == ""
    runs = [Thing("run", f"0/{name}", name, "") for name in "ab"]
    assert opening([*runs, Thing("dataset", "0/data", "data", "")], [tmp_path]) == ""
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
