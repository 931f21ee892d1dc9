"""A crowd study behind a real server, and a local imitation of the platform that sends people."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from studies_made import write_study
from study_world import pictures, run_by_hand, study_file

from inpaintbench import video
from inpaintbench.annotate import study as studies
from inpaintbench.annotate.preparing.prepare import prepare
from inpaintbench.annotate.study import Study

CODES = {"completed": "C0MPLETE", "failed_checks": "F41LED", "screened_out": "SCR33N", "no_more_tasks": "N0NE"}
CONSENT = "We are a laboratory.\n\nWe store your answers, their times and the size of your pictures.\n\nYou may stop at any time."


@dataclass
class Platform:
    """The imitation: hands out links, takes people back with a code, and shows a study in a frame (``/task?page=...``)."""

    origin: str
    came_back: dict[str, list[str]] = field(default_factory=dict)
    """Participant -> codes, in order."""

    def link(self, study: str, participant: str, session: str = "") -> str:
        """The study's address as the platform fills it in."""
        return f"{study}/enter?PROLIFIC_PID={participant}&STUDY_ID=study1&SESSION_ID={session or 's' + participant}"


@contextlib.contextmanager
def platform() -> Iterator[Platform]:
    """A running imitation."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            said = dict(parse_qsl(parts.query))
            if parts.path == "/submissions/complete":
                made.came_back.setdefault(said["pid"], []).append(said["cc"])
            shown = f'<iframe src="{escape(said["page"])}" width=1200 height=850></iframe>' if "page" in said else ""
            body = f"<!doctype html><title>platform</title>{shown or '<h1>Submission received</h1>'}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Platform(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def write_crowd_study(
    folder: Path, back: str, *, training: int = 1, test: int = 2, right: int = 1, gold: int = 4, subjects: int = 20,
    raters_per_task: int = 3, checks: dict[str, Any] | None = None, **crowd: Any,
) -> Study:  # fmt: skip
    """Clips to keep or reject; the first are practice, a test and gold, of which ``keep`` is right."""
    settings = {
        "platform": "link", "consent_text": CONSENT, "tasks_per_person": 3, "codes": CODES,
        "link": {
            "participant": "PROLIFIC_PID", "session": "SESSION_ID", "study": "STUDY_ID",
            "back": f"{back}/submissions/complete?cc={{code}}&pid={{participant}}",
        },
        "qualify": {"test": "test.csv", "right": right} if test else {}, **crowd,
    }  # fmt: skip
    spec = {"leaf": "keep_reject", "must_watch": False, "raters_per_task": raters_per_task}
    made = write_study(
        folder, [spec], subjects=subjects, crowd=settings, welcome="Look at short films.",
        checks=checks or {"gold_share": 0.0, "repeat_share": 0.0},
    )  # fmt: skip
    uses = ["training"] * training + ["test"] * test + [""] * gold
    known = [
        replace(task, use=use, gold=("keep",), why="Nothing is wrong with it.")  # type: ignore[arg-type]
        for task, use in zip(made.tasks, uses, strict=False)
    ]
    made = replace(made, tasks=(*known, *made.tasks[len(known) :]))
    studies.save(made, folder)
    return made


def prepare_honey_study(folder: Path, *, honey: int = 2, **fields: Any) -> Study:
    """Two pictures by four methods and a decoy, prepared: half of the tasks have known answers, and the pictures of some say what
    to choose."""
    folder.mkdir(exist_ok=True)
    items = pictures(folder / "dataset")
    truths = {path.stem: video.read_frames(path) for path in items.glob("*.png") if " " not in path.stem}
    made = {
        (method, f"item-{name}"): np.full_like(truth, 200) if method == "decoy" else np.roll(truth, shift, axis=2)
        for name, truth in truths.items()
        for shift, method in enumerate(("deep", "flow", "patch", "wave", "decoy"))
    }
    run_by_hand(folder / "run", made, full=False)
    lines = "".join(f"item-{name},pairwise,deep|flow|patch|wave\n" for name in truths)
    (folder / "gold.csv").write_text(f"subject,question,answers\n{lines}")
    crowd = {
        "platform": "link", "consent_text": CONSENT, "codes": CODES, "tasks_per_person": 8, "honey": honey, "places": 40,
        "link": {"participant": "PROLIFIC_PID", "session": "SESSION_ID", "study": "STUDY_ID"},
    }  # fmt: skip
    stated = {
        "seed": 4, "subjects": {"dataset": "dataset", "runs": ["run"], "decoys": ["decoy"]}, "viewing": {"least_width": 0},
        "checks": {"gold": "gold.csv", "gold_share": 0.5, "repeat_share": 0.0, "window": 4},
        "screening": {"signs_of_a_program": {}, "failed_gold": {"least": 4}}, "crowd": crowd,
    }  # fmt: skip
    pair = {"leaf": "pairwise", "raters_per_task": 9}
    return prepare(study_file(folder, [pair], **{**stated, **fields}), folder / "study")
