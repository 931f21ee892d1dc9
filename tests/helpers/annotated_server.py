"""A real study behind a real server in a process of its own, with people who may enter it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inpaintbench.annotate.study import Study

QUESTIONS = [
    {"leaf": "keep_reject", "must_watch": False},
    {"leaf": "keep_reject", "name": "watched"},
]
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
"""Text that would change the title of a page that takes it for HTML."""
_SERVE = """
import json, sys
from pathlib import Path
from inpaintbench.annotate.app.allowed import Limits, Rate
from inpaintbench.annotate.app.serve import serve

options = json.loads(sys.argv[2])
limits = Limits(**{name: Rate(*rate) for name, rate in options.pop("rates").items()}, **options.pop("limits", {}))
options |= {name: Path(options[name]) for name in ("certificate", "key", "backup") if name in options}
say = lambda kind: lambda text: print(json.dumps([kind, text]), flush=True)
serve(Path(sys.argv[1]), port=0, ready=say("ready"), warn=say("warn"), limits=limits, **options)
print(json.dumps(["ended", ""]), flush=True)
"""
FAST = {"strangers": (1000, 1000), "answers": (1000, 1000), "files": (1000, 1000)}
"""Rates that no test reaches."""


@dataclass
class Answer:
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Served:
    """A running server."""

    process: subprocess.Popen[str]
    address: str
    warnings: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.address.rpartition(":")[2])

    def raw(self, request: bytes) -> Answer:
        """Send bytes as they are and read one answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as wire:
            # A server that refuses early may close while we still send.
            with contextlib.suppress(ConnectionError):
                wire.sendall(request)
            answer = http.client.HTTPResponse(wire, method=request.partition(b" ")[0].decode())
            answer.begin()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())

    def ask(self, method: str, path: str, *, token: str | None = None, body: bytes = b"", **headers: str) -> Answer:
        """One request whose path is sent as it is; underscores in ``headers`` stand for hyphens."""
        given = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        if token:
            given["Cookie"] = f"inpaintbench_session={token}"
        if body or method == "POST":
            given["Content-Length"] = str(len(body))
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value)
        return self.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)

    def post(self, path: str, fields: Any, *, token: str | None = None, **headers: str) -> Answer:
        """A request as the page sends it."""
        body = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
        known = {"Content-Type": "application/json", "X-Inpaintbench": "1", "Origin": f"http://127.0.0.1:{self.port}"}
        return self.ask("POST", path, token=token, body=body, **known | headers)

    def enter(self, secret: str) -> str:
        """Open an invitation; the session's token."""
        answer = self.ask("GET", f"/join/{secret}")
        assert answer.status == 303, answer
        return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]

    def stop(self) -> float:
        """End it as Ctrl-C does; the seconds that it took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)
        return time.monotonic() - begun


@contextlib.contextmanager
def served(
    folder: Path, *, rates: Mapping[str, tuple[float, float]] = FAST, cwd: Path | None = None, **options: Any
) -> Iterator[Served]:
    """The server of the study in ``folder``; ``options`` as ``serve`` takes them, ``limits`` those that are no rates."""
    command = [sys.executable, "-c", _SERVE, str(folder), json.dumps({"rates": dict(rates), **options})]
    errors = (cwd or folder) / f"errors-{uuid.uuid4().hex[:6]}.txt"
    with errors.open("w") as log:
        environment = {**os.environ, "SECRET_OF_THE_SERVER": "environment-1234"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=cwd or folder, env=environment)
        warned: list[str] = []
        try:
            assert process.stdout is not None
            for line in process.stdout:
                kind, text = json.loads(line)
                if kind == "ready":
                    break
                warned.append(text)
            else:
                raise AssertionError(f"the server did not start: {errors.read_text()}")
            yield Served(process, text, warned)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=30)
            assert process.stdout is not None
            process.stdout.close()


def answer_to(card: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """An answer that keeps the clip of ``card``, with ``changes``."""
    made = {
        "submission_id": str(uuid.uuid4()), "lease_id": card["lease_id"], "given": {"verdict": "keep"}, "seconds": 1.5,
        "watched_frames": card["media"]["frames"], "dropped_frames": 0, "plays": 1.0, "stuttered": False,
    }  # fmt: skip
    return {**made, **changes}


def media_of(study: Study) -> list[str]:
    """Names of the proxies."""
    return sorted(study.proxies)


def certificate_in(folder: Path) -> tuple[Path, Path]:
    """A certificate of ``localhost`` that signed itself, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-nodes", "-days", "2", "-subj", "/CN=localhost"]
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *subject]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key
