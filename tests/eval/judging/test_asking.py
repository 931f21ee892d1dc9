"""A judge behind a server of the chat-completion form and as a program: what it is given, what is kept, what goes wrong."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import brought
import cv2
import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable, Unavailable
from inpaintbench.eval import judging
from inpaintbench.eval.adapters import posting
from inpaintbench.eval.metrics.judge import Judge
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.view import ItemView

FRAMES = np.full((5, 40, 60, 3), 90, np.uint8)
HOLE = np.zeros(FRAMES.shape[:3], np.bool_)
HOLE[:, 10:30, 20:40] = True


class Answering(BaseHTTPRequestHandler):
    """Says what ``words`` has for a question; its paths behave as their names say."""

    words: ClassVar[dict[str, str]] = {"anything of": "ANSWER: no", "shadow": "ANSWER: a trace", "natural": "ANSWER: 4"}
    asked: ClassVar[list[dict[str, Any]]] = []
    busy = 0

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Answering.asked.append(given)
        if self.path == "/busy" and Answering.busy:
            Answering.busy -= 1
            return self.send_error(503)
        if self.path == "/broken":
            return self.send_error(500, "out of memory")
        if self.path == "/torn":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices"')
            self.close_connection = True
            return None
        if self.path == "/chatter":
            self.wfile.write(b"good day\r\n\r\n")
            self.close_connection = True
            return None
        # The question stands between what the pictures show and how to answer.
        question = given["messages"][0]["content"][0]["text"].split("\n\n")[1]
        said = next(words for part, words in Answering.words.items() if part in question)
        message = {"/silent": {"content": None}, "/other": {}}.get(self.path, {"content": said})
        made = json.dumps({"choices": [{"message": message}]}).encode()
        told = {"/text": b"done", "/bytes": b"\xff\xfe", "/deep": b"[" * 100_000}.get(self.path, made)
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
        return None

    def log_request(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def judged(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(judging.PROGRAM.variable, f"{server}/v1/chat/completions")
    monkeypatch.setenv(judging.MODEL, "made-up-7b")
    monkeypatch.setattr(posting, "_FIRST_PAUSE_SECONDS", 0.01)
    Answering.asked.clear()
    return server


def measured(**constants: Any) -> Any:
    metric = Judge(
        **{**PROTOCOLS.get("judge/removal").metrics["judge"], **constants}, regions=("frame",), band_radius_pixels=8
    )  # fmt: skip
    view = ItemView.of_arrays(input=FRAMES, composite=FRAMES // 2, hole=HOLE)
    return metric.measure(view.declaring(metric.name, metric.parts))["frame"]


def test_all_questions_are_asked_and_all_is_kept(judged: str) -> None:
    found = measured(seed=11)
    assert found.value == pytest.approx((1 + 0.5 + 0.75) / 3)
    assert (found.details["model"], found.details["seed"]) == ("made-up-7b", 11)
    kept = found.details["answers"]
    assert [(one["question"], one["answer"]) for one in kept] == [("object", "no"), ("effects", "a trace"), ("natural", "4")]
    assert [one["said"] for one in kept] == list(Answering.words.values())
    assert [one["prompt"] for one in kept] == [body["messages"][0]["content"][0]["text"] for body in Answering.asked]
    for body in Answering.asked:
        assert (body["model"], body["seed"], body["temperature"]) == ("made-up-7b", 11, 0)
    pictures = [part["image_url"]["url"] for part in Answering.asked[0]["messages"][0]["content"][1:]]
    assert len(pictures) == 3
    shown = cv2.imdecode(np.frombuffer(base64.b64decode(pictures[1].partition(",")[2]), np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    assert shown.shape == (40, 128, 3)
    assert shown[5, 5].tolist() == [90, 90, 90]
    assert shown[7, 25].tolist() == [255, 0, 0]  # the outline, three pixels around the hole
    assert shown[10, 25].tolist() == [90, 90, 90]
    assert shown[20, 68 + 30].tolist() == [45, 45, 45]


def test_few_frames_and_large_ones_are_shown_as_they_fit(judged: str) -> None:
    metric = Judge(questions="removal", moments=9, longer_side=30, seed=0, regions=("frame",), band_radius_pixels=8)
    pictures = metric.pictures(ItemView.of_arrays(input=FRAMES, composite=FRAMES, hole=HOLE))
    assert [one.shape for one in pictures] == [(20, 64, 3)] * 5


def test_moments_are_those_in_which_there_is_something_to_see() -> None:
    metric = Judge(questions="removal", moments=3, longer_side=512, seed=0, regions=("frame",), band_radius_pixels=8)
    late, clip = HOLE.copy(), np.arange(5, dtype=np.uint8)[:, None, None, None] + FRAMES
    late[:3] = False
    pictures = metric.pictures(ItemView.of_arrays(input=clip, composite=clip, hole=late))
    assert [int(one[0, 0, 0]) for one in pictures] == [93, 94]
    with pytest.raises(NotMeasurable, match="the mask is empty in every frame"):
        metric.pictures(ItemView.of_arrays(input=clip, composite=clip, hole=np.zeros_like(HOLE)))


def test_an_answer_that_cannot_be_read_leaves_no_value_and_is_kept(judged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Answering.words, "natural", "It depends.")
    found = measured()
    assert (found.value, found.reason) == (None, "no answer can be read from what the model said about natural")
    assert found.details["answers"][2]["said"] == "It depends."


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/broken", "answered 500: .*out of memory"), ("/text", "is no chat completion"), ("/other", "is no chat completion"),
        ("/bytes", "is no chat completion"), ("/deep", "is no chat completion"), ("/silent", "holds no text"),
        ("/torn", "broke off or is no HTTP"), ("/chatter", "broke off or is no HTTP: good day"),
    ],
)  # fmt: skip
def test_a_server_that_fails_is_asked_again_by_the_next_run(
    judged: str, path: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(judging.PROGRAM.variable, judged + path)
    with pytest.raises(Unavailable, match=reason):
        measured()


def test_a_busy_server_is_asked_again_at_once(judged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(judging.PROGRAM.variable, f"{judged}/busy")
    monkeypatch.setattr(Answering, "busy", 2)
    assert measured().value is not None


def test_a_program_answers_all_questions_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
assert item["model"] == "mine 1" and item["seed"] == 0 and len(frames) == 3
said = {name: "ANSWER: " + {"object": "yes", "effects": "all", "natural": "1"}[name] for name in item["questions"]}
(target / "numbers.json").write_text(json.dumps({"answers": said}))
"""
    brought.give(judging.PROGRAM, body, tmp_path, monkeypatch)
    monkeypatch.setenv(judging.MODEL, "mine 1")
    assert measured().value == 0
    before = Judge.state()
    assert before.startswith("mine 1 ")
    brought.give(judging.PROGRAM, "(target / 'numbers.json').write_text('{}')", tmp_path, monkeypatch)
    assert Judge.state() != before
    with pytest.raises(Unavailable, match="wrote no answers to object, effects, natural"):
        measured()


def test_without_a_judge_or_its_name_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(judging.PROGRAM.variable, raising=False)
    monkeypatch.delenv(judging.MODEL, raising=False)
    with pytest.raises(NotMeasurable, match="no judge is named: set INPAINTBENCH_JUDGE to a program that writes the answers"):
        measured()
    assert Judge.state() == "missing"
    monkeypatch.setenv(judging.PROGRAM.variable, "http://127.0.0.1:1/v1/chat/completions")
    with pytest.raises(NotMeasurable, match="set INPAINTBENCH_JUDGE_MODEL to the name and version of its model"):
        measured()
    monkeypatch.setenv(judging.MODEL, "made-up-7b")
    assert Judge.state() == "made-up-7b"
    with pytest.raises(Unavailable, match="cannot be asked"):
        measured()


def test_no_benchmark_is_scored_by_a_model_unless_somebody_asks() -> None:
    from inpaintbench.benchmarks import BENCHMARKS

    benchmarks = list(map(BENCHMARKS.get, BENCHMARKS))
    usual = {one.protocol for one in benchmarks} | {one.unpaired_protocol for one in benchmarks}
    assert len(usual) > 2
    assert not any(str(name).startswith("judge/") for name in usual)
    assert all("judge" not in PROTOCOLS.get(name).metrics for name in PROTOCOLS if not name.startswith("judge/"))
