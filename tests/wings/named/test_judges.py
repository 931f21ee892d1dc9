"""Columns that a model answers, asked of a server of the common form: what is put to it, how it is read, what comes of it."""

from __future__ import annotations

import base64
import csv
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import cv2
import numpy as np
import pytest
import trees_made
from program import run_here

from inpaintbench import frozen
from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval import judging
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import ABOUT_OBJECTS, QUESTIONS, Prompts
from inpaintbench.view import ItemView
from inpaintbench.wings.named import JOINS
from inpaintbench.wings.named.definition import named
from inpaintbench.wings.named.judges import RUBRIC

FIVE = ("five_yn", "five_mc", "five_union", "five_intersection", "five_acc")
ASKED = dict(zip(QUESTIONS, ("Is it a swan?", "Is it a flamingo?", "What is it? \na) a swan \nb) a flamingo"), strict=True))
EVAL = 'import nothing_there\nPROMPT_TEMPLATE = """\nWas {fg_object} with its {focus_effect} removed?\n"""\nMODEL = "none"\n'


class Server(BaseHTTPRequestHandler):
    """Says what ``words`` makes of a text."""

    words: ClassVar[Callable[[str], str]]
    asked: ClassVar[list[list[dict[str, Any]]]] = []

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        Server.asked.append(content)
        text = "\n".join(part["text"] for part in content if part["type"] == "text")
        said = json.dumps({"choices": [{"message": {"content": Server.words(text)}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_request(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/v1/chat/completions"
        running.shutdown()


@pytest.fixture(autouse=True)
def _judged(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(judging.PROGRAM.variable, server)
    monkeypatch.setenv(judging.MODEL, "made-up-7b")
    (tmp_path / "eval.py").write_text(EVAL)
    monkeypatch.setenv(RUBRIC.variable, str(tmp_path / "eval.py"))
    Server.asked.clear()


def says(*answers: str) -> None:
    """Have the server answer the questions of ``ASKED`` so."""
    known = dict(zip(ASKED.values(), answers, strict=True))
    Server.words = lambda text: next(words for question, words in known.items() if question in text)


def frames(count: int, level: int = 0) -> Any:
    """Frames whose level is their number and ``level``."""
    return np.full((count, 24, 32, 3), level, np.uint8) + np.arange(count, dtype=np.uint8)[:, None, None, None]


def view(count: int = 9, *, more: dict[str, str] | None = None, fps: float = 4.0) -> ItemView:
    films = {"input": frames(count, 10), "truth": frames(count, 60), "composite": frames(count, 110)}
    return ItemView.of_arrays(**films, prompts=Prompts(None, "a flamingo", more=more), fps=fps, shared=Shared())


def values(protocol: str, seen: ItemView) -> dict[str, Any]:
    """Metric -> measurement, of one item as it is scored."""
    found = {}
    for name, constants in PROTOCOLS.get(protocol).metrics.items():
        metric = METRICS.get(name)(**constants, regions=("frame",), band_radius_pixels=8)
        found[name] = metric.measure(seen.declaring(name, metric.parts))["frame"]
    return found


def pictures(content: list[dict[str, Any]]) -> list[Any]:
    """The pictures of a request."""
    texts = [part["image_url"]["url"].partition(",")[2] for part in content if part["type"] == "image_url"]
    return [cv2.imdecode(np.frombuffer(base64.b64decode(text), np.uint8), cv2.IMREAD_COLOR) for text in texts]


def level_of(picture: Any) -> int:
    return int(picture[0, 0, 0])


@pytest.mark.parametrize(("source", "target", "choice"), list(product(("No.", "Yes"), ("YES", "no"), ("B) a flamingo", "a"))))
def test_the_five_columns_are_the_released_formulas_of_the_answers(source: str, target: str, choice: str) -> None:
    says(source, target, choice)
    found = values("judge/five", view(more=ASKED))
    yes_no, chosen = source == "No." and target == "YES", choice.startswith("B")
    right = [int(yes_no), int(chosen)]
    released = [*right, int(sum(right) > 0), int(sum(right) >= 2)]
    assert [found[name].value for name in FIVE] == [*released, sum(released) / 4]
    assert len(Server.asked) == 3  # of five metrics
    details = found["five_acc"].details
    assert (details["model"], details["seed"]) == ("made-up-7b", 0)
    assert [one["said"] for one in details["answers"]] == [source, target, choice]


def test_without_a_question_about_the_source_the_one_about_the_target_counts_alone() -> None:
    says("yes", "Yes, it is.", "<think>a or b?</think> b")
    asked = {name: text for name, text in ASKED.items() if name != QUESTIONS[0]}
    found = values("judge/five", view(more=asked))
    assert [found[name].value for name in FIVE] == [1.0] * 5
    assert len(Server.asked) == 2


@pytest.mark.parametrize(
    ("count", "shown"), [(4, [2]), (7, [3]), (8, [2, 6]), (9, [2, 6]), (11, [2, 7]), (32, list(range(2, 32, 4)))]
)
def test_frames_are_those_that_the_released_code_takes(count: int, shown: list[int]) -> None:
    says("no", "yes", "b")
    values("judge/five", view(count, more=ASKED))
    assert [level_of(picture) - 110 for picture in pictures(Server.asked[0])] == shown


def test_what_the_data_do_not_ask_has_no_value() -> None:
    with pytest.raises(NotMeasurable, match="put no target_yes_no_question and multiple_choice_question about the edit"):
        values("judge/five", view(more={QUESTIONS[0]: "Is it?"}))
    with pytest.raises(NotMeasurable, match="3 frames, fewer than the 4 moments"):
        values("judge/five", view(3, more=ASKED))
    assert not Server.asked


def test_the_score_of_a_removal_is_asked_by_the_authors_text_and_read_as_they_read_it() -> None:
    Server.words = lambda text: "Step 1: gone.\nAftereffectScore: 2, objectscore : 4\nObjectScore: 1"
    told = dict(zip(ABOUT_OBJECTS, ("a swan", "shadow, reflection"), strict=True))
    found = values("judge/core", view(9, more=told))
    assert {name: one.value for name, one in found.items()} == {"core_object": 4.0, "core_effects": 2.0}
    [content] = Server.asked
    parts = [part["text"] if part["type"] == "text" else "" for part in content]
    assert parts == [
        "INPUT VIDEO", "", "", "", "GT VIDEO", "", "", "", "RESULT VIDEO", "", "", "",
        "\nWas a swan with its shadow, reflection removed?\n",
    ]  # fmt: skip
    shown = pictures(content)
    assert {one.shape for one in shown} == {(480, 720, 3)}
    assert [level_of(one) for one in shown] == [10, 14, 18, 60, 64, 68, 110, 114, 118]  # at 4 frames a second
    [kept] = found["core_object"].details["answers"]
    assert kept["said"].startswith("Step 1")
    assert "removed?" not in json.dumps(kept)  # the authors' text stays where it is


def test_a_score_that_is_not_there_is_no_value() -> None:
    Server.words = lambda text: "ObjectScore: 3, AftereffectScore: 7"
    told = dict.fromkeys(ABOUT_OBJECTS, "it")
    found = values("judge/core", view(more=told))
    assert found["core_object"].value == 3
    assert (found["core_effects"].value, found["core_effects"].reason) == (
        None, "the model's words hold no AftereffectScore of 1 to 5",
    )  # fmt: skip
    with pytest.raises(NotMeasurable, match="do not say after_effects of the clip"):
        values("judge/core", view(more={ABOUT_OBJECTS[0]: "a swan"}))


def test_a_text_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = METRICS.get("core_object").state()
    assert before.startswith("made-up-7b ")
    (tmp_path / "eval.py").write_text(EVAL.replace("Was", "Is"))
    assert METRICS.get("core_object").state() != before  # another question is another score
    for text, told in (("x = 1", "has no text called PROMPT_TEMPLATE"), ("x = (", "cannot be read")):
        (tmp_path / "eval.py").write_text(text)
        with pytest.raises(NotMeasurable, match=told):
            RUBRIC.text()
    monkeypatch.delenv(RUBRIC.variable)
    assert METRICS.get("core_object").state() == "missing"
    with pytest.raises(NotMeasurable, match=r"set INPAINTBENCH_CORE to the eval.py of BeyondMasks' data"):
        RUBRIC.text()


def test_what_is_for_judges_reaches_scoring_and_no_method() -> None:
    row = {
        "item_id": "a", "frames": 9, "height": 24, "width": 32, "fps": 4.0, "truth_file_name": None,
        "attributes": {"object_name": "a swan", "after_effects": "shadow"}, "generator_parameters": {"questions": ASKED},
        "source_prompt": None, "target_prompt": "a flamingo", "task": "SE", "hole_file_name": None, "hole_is_given": False,
    }  # fmt: skip
    [scored] = frozen.scoring_views("", row, predictions=[lambda: frames(9)])
    assert scored.prompts.more == ASKED | {"object_name": "a swan", "after_effects": "shadow"}
    assert frozen.input_view("", row).prompts == Prompts(None, "a flamingo")


def test_every_metric_of_the_wing_is_told_of() -> None:
    facts = {
        **dict.fromkeys(FIVE, (True, 4, (0.0, 1.0))),
        **dict.fromkeys(("core_object", "core_effects"), (True, 3, (1.0, 5.0))),
    }
    assert set(facts) == set(JOINS["metric"])
    for name, fact in facts.items():
        leaf = METRICS.get(name)
        assert (leaf.higher_is_better, leaf.decimals, leaf.bounds) == fact
        assert leaf.by_judge


def row_of(name: str, folder: Path, method: str) -> dict[str, str]:
    """The measured row of a table by `bench`, by the labels of its columns."""
    words = ("--method", method, "--out", "t.csv", "--no-report", "--workers", "0")
    done = run_here("bench", name, "--data", "data", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    heads, *rows = list(csv.reader((folder / "t.csv").read_text().splitlines()))
    return dict(zip((re.sub(r" [↑↓].*", "", head) for head in heads), rows[-1], strict=True))


@pytest.mark.long
def test_the_columns_stand_in_the_table_of_a_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    trees_made.make(tmp_path / "five" / "data", named("five").tree[0])
    [path] = (tmp_path / "five" / "data" / "edit_prompt").iterdir()
    edits = json.loads(path.read_text())
    asked = [{**ASKED, QUESTIONS[1]: text} for text in (ASKED[QUESTIONS[1]], "Is it a goose?")]
    path.write_text(json.dumps([{**edit, **more} for edit, more in zip(edits, asked, strict=True)]))
    known = {"Is it a swan?": "No", "Is it a flamingo?": "Yes", "Is it a goose?": "No", "What is it?": "b"}
    Server.words = lambda text: next(words for question, words in known.items() if question in text)
    row = row_of("five", tmp_path / "five", "edit_recolour")
    found = {label: row[label] for label in ("YN", "MC", "Union", "Intersection", "FiVE-Acc")}
    assert found == dict(zip(found, ("50.00", "100.00", "100.00", "50.00", "75.00"), strict=True))
    assert len(Server.asked) == 6

    trees_made.make(tmp_path / "core" / "data", named("beyondmasks").tree[0])
    told = [{"id": f"clip_{number}", "fg_object": "a swan", "after_effect_type": ["shadow"]} for number in range(2)]
    (tmp_path / "core" / "data" / "data.json").write_text(json.dumps(told))
    Server.words = lambda text: f"AftereffectScore: 2, ObjectScore: {4 + ('a swan with its shadow' in text)}"
    row = row_of("beyondmasks", tmp_path / "core", "telea")
    assert (row["CORE-OS"], row["CORE-AES"]) == ("5.000", "2.000")


@pytest.mark.long
def test_a_table_of_clips_stands_for_a_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    lines = ["video,matte,clean"]
    for number in range(2):
        made = trees_made.films(number)
        for side in ("inputs", "masks", "truths"):
            trees_made.write(tmp_path / side / f"{number}.mp4", made[side])
        lines.append(f"inputs/{number}.mp4,masks/{number}.mp4,truths/{number}.mp4")
    (tmp_path / "clips.csv").write_text("\n".join(lines) + "\n")
    words = ("--method", "telea", "--out", "t.csv", "--no-report", "--workers", "0", "--set", "size=64x48")
    done = run_here("bench", "vor", "--data", "clips.csv", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "input is its column 'video', mask is its column 'matte', truth is its column 'clean'" in " ".join(done.stdout.split())
    assert "2 clips in the place of 43" in (tmp_path / "t.csv").read_text() + done.stderr
    made = frozen.load(tmp_path / "bench" / "vor" / "exports" / "removal")
    of = named("vor").source
    assert of.paper in made.facts["dataset"]["citation"]  # which `eval paper` cites
    assert {row["licence"] for row in made.items} == {of.licence}
    refused = run_here("bench", "five", "--data", "clips.csv", *words, cwd=tmp_path)
    assert (refused.returncode, "no folder 'clips.csv'" in refused.stderr) == (1, True)
