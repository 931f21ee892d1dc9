from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters import posting
from inpaintbench.eval.methods.brought import HttpEndpoint
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Prompts
from inpaintbench.view import ItemView

PAGES = {
    "/page": "<!doctype html>\n<html><head><title>500</title><style>p { color: red }</style></head>\n<body><h1>Out of memory</h1>"
    "<script>var x = 1</script><p>The server &amp; its card are full.</p></body></html>",
    "/titled": "<html><head><title>Bad\n gateway</title></head><body></body></html>",
    "/trace": "Traceback (most recent call last):\n" + "  File x\n" * 50 + "KeyError: 'frames'",
    "/empty": "",
}


class Answering(BaseHTTPRequestHandler):
    """Fills holes with 200; its paths behave as their names say."""

    busy = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/busy" and Answering.busy:
            Answering.busy -= 1
            return self.send_error(503)
        if self.path == "/broken":
            return self.send_error(500, "out of memory")
        if self.path in PAGES:
            self.send_response(500)
            self.end_headers()
            self.wfile.write(PAGES[self.path].encode())
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as given:
            frames = given["frames"].copy()
            if "hole" in given:
                frames[given["hole"]] = 200
            if "target_prompt" in given:
                frames[given["object_mask"]] = len(str(given["target_prompt"]) or str(given["instruction"]))
        answer = io.BytesIO()
        np.savez(answer, **({"pictures": frames} if self.path == "/misnamed" else {"frames": frames}))
        told = {"/text": b"done", "/half": answer.getvalue()[:50]}.get(self.path, answer.getvalue())
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


class TestContract(MethodContract):
    name = "http_endpoint"

    @pytest.fixture
    def method(self, server: str) -> HttpEndpoint:
        return HttpEndpoint(url=f"{server}/", model="made up 1")


def test_the_server_gets_what_a_method_may_see_and_its_frames_are_taken(server: str) -> None:
    hole = wandering_hole()
    frames = corrupted(world(), hole)
    made = inpaint(HttpEndpoint(url=f"{server}/", model="1"), frames, hole)
    assert set(made[hole].ravel()) == {200}
    np.testing.assert_array_equal(made[~hole], frames[~hole])
    edit = ItemView.of_arrays(input=frames, prompts=Prompts(None, "a blue sky"), object_mask=hole)
    assert set(run(HttpEndpoint(url=f"{server}/", model="1"), edit)[hole].ravel()) == {10}
    told = ItemView.of_arrays(input=frames, prompts=Prompts(None, "", "paint the sky blue"), object_mask=hole)
    assert set(run(HttpEndpoint(url=f"{server}/", model="1"), told)[hole].ravel()) == {18}


def test_a_busy_server_is_asked_again(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "_FIRST_PAUSE_SECONDS", 0.01)
    hole = wandering_hole()
    Answering.busy = 3
    assert set(inpaint(HttpEndpoint(url=f"{server}/busy", model="1"), world(), hole)[hole].ravel()) == {200}
    Answering.busy = 99
    with pytest.raises(NotMeasurable, match=r"/busy answered 503"):
        inpaint(HttpEndpoint(url=f"{server}/busy", model="1"), world(), hole)
    Answering.busy = 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("broken", "/broken answered 500: Error response .*out of memory"),
        ("page", "/page answered 500: Out of memory The server & its card are full.$"),
        ("titled", "/titled answered 500: Bad gateway$"),
        ("trace", r"/trace answered 500: Traceback \(most recent call last\): (File x )+\.\.\.$"),
        ("empty", "/empty answered 500: Internal Server Error$"),
        ("text", "the answer of .*/text is no NumPy archive"),
        ("half", "the answer of .*/half is no NumPy archive"),
        ("misnamed", "the answer of .*/misnamed holds no frames"),
    ],
)
def test_what_a_server_does_wrong_is_one_sentence(server: str, path: str, reason: str) -> None:
    with pytest.raises(NotMeasurable, match=reason):
        inpaint(HttpEndpoint(url=f"{server}/{path}", model="1"), world(), wandering_hole())


@pytest.mark.parametrize(("path", "said"), [("trace", PAGES["/trace"]), ("text", "done")])
def test_the_whole_answer_is_kept(server: str, path: str, said: str, tmp_path: Path) -> None:
    method = HttpEndpoint(url=f"{server}/{path}", model="1")
    method.log = tmp_path / "logs" / "item.txt"
    with pytest.raises(NotMeasurable):
        inpaint(method, world(), wandering_hole())
    assert method.log.read_text() == said


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(NotMeasurable, match=r"http://127\.0\.0\.1:9/ cannot be asked: .*refused"):
        inpaint(HttpEndpoint(url="http://127.0.0.1:9/", model="1"), world(), wandering_hole())
    with pytest.raises(InputError, match=r"'file:///etc/passwd' is no address of a server"):
        HttpEndpoint(url="file:///etc/passwd", model="1")


def test_another_model_is_another_content() -> None:
    assert HttpEndpoint(url="http://127.0.0.1:9/", model="1").content("a") != HttpEndpoint(
        url="http://127.0.0.1:9/", model="2"
    ).content("a")
