"""A judge through scoring: everything is stored, a server that was away is asked again, and nobody is asked twice."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from every_metric import HEIGHT, WIDTH, moving_picture, noisy, wandering_hole

from inpaintbench import video
from inpaintbench.eval import judging
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace


class Content(BaseHTTPRequestHandler):
    """Is content with everything."""

    asked = 0

    def do_POST(self) -> None:
        Content.asked += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        said = json.dumps({"choices": [{"message": {"content": "no" if Content.asked % 2 else "ANSWER: 5"}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_request(self, *args: object) -> None:
        """Say nothing."""


def test_answers_are_stored_and_a_server_is_asked_until_it_has_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, hole = moving_picture(3), wandering_hole(3)
    video.write_lossless(tmp_path / "truth.mp4", truth, fps=25.0)
    video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    yuv, rgb = video.decoded_hashes(tmp_path / "truth.mp4")
    row = {
        "item_id": "item", "truth_file_name": "truth.mp4", "hole_file_name": "hole.mp4", "fps": 25.0, "frames": 3,
        "height": HEIGHT, "width": WIDTH, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb, "hole_sha256": "same",
        "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test", "source_id": "source",
    }  # fmt: skip
    dataset = Dataset("judged", {}, (row,), (), {}, {}, {})
    workspace = Workspace(tmp_path / "run")
    blob, _ = workspace.blobs.put(".mp4", partial(video.write_lossless, frames=noisy(truth, levels=20), fps=25.0))
    predicted = Predicted("noise", [Prediction("noise", "1", "item", blob, True, 0)])
    monkeypatch.setenv(judging.MODEL, "made-up-7b")

    def scored() -> Score:
        with LocalExecutor(workspace, workers=0) as executor:
            [outcome] = score(executor, dataset, root=tmp_path, methods=[predicted], protocol="judge/inpainting").values()
        [found] = outcome.records
        assert isinstance(found, Score)
        return found

    with ThreadingHTTPServer(("127.0.0.1", 0), Content) as running:
        address = f"http://127.0.0.1:{running.server_port}/v1/chat/completions"
        monkeypatch.setenv(judging.PROGRAM.variable, "http://127.0.0.1:1/v1/chat/completions")
        assert "cannot be asked" in str(scored().reason)
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setenv(judging.PROGRAM.variable, address)
        found = scored()
        assert (found.value, Content.asked) == (1.0, 2)
        assert (found.details["model"], found.details["seed"]) == ("made-up-7b", 0)
        assert [one["said"] for one in found.details["answers"]] == ["no", "ANSWER: 5"]
        assert "outlined in red" in found.details["answers"][0]["prompt"]
        assert scored() == found
        assert Content.asked == 2
        # Another model answers anew.
        monkeypatch.setenv(judging.MODEL, "made-up-8b")
        assert scored().details["model"] == "made-up-8b"
        assert Content.asked == 4
        running.shutdown()
