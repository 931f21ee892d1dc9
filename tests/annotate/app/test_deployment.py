"""Proxies in front, heads that never end, frames of other sites, and what file times would tell."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from annotated_server import QUESTIONS, answer_to, certificate_in, served
from starlette.datastructures import Headers
from studies_made import write_study

from inpaintbench.annotate.app.allowed import Delivery, Forwarded
from inpaintbench.annotate.app.serve import serve
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.space import write_space
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from conftest import Room

PROXY = "10.0.0.1"


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        (PROXY, "192.0.2.7", "192.0.2.7"),
        (PROXY, "6.6.6.6, 192.0.2.7", "192.0.2.7"),  # the left is what the client wrote
        (PROXY, "192.0.2.7, 10.9.9.9", "192.0.2.7"),
        (PROXY, "10.1.1.1, 10.9.9.9", "10.1.1.1"),
        (PROXY, "2001:db8::7", "2001:db8::7"),
        (f"::ffff:{PROXY}", "192.0.2.7", "192.0.2.7"),
        (PROXY, "", PROXY),
        (PROXY, "no address", PROXY),
        (PROXY, "192.0.2.7, unknown", PROXY),
        (PROXY, ", ".join(["192.0.2.7"] * 11), PROXY),
        ("192.0.2.1", "192.0.2.7", "192.0.2.1"),  # no trusted proxy says so
    ],
)
def test_the_address_of_a_client_is_what_trusted_proxies_say(peer: str, said: str, client: str) -> None:
    headers = Headers({"x-forwarded-for": said} if said else {})
    assert Forwarded(["10.0.0.0/8"]).client(headers, peer=peer) == client
    assert Forwarded().client(headers, peer=peer) == peer


def test_header_lines_of_several_proxies_are_one_list() -> None:
    raw = [(b"x-forwarded-for", b"6.6.6.6"), (b"x-forwarded-for", b"192.0.2.7, 10.2.2.2")]
    assert Forwarded(["10.0.0.0/8"]).client(Headers(raw=raw), peer=PROXY) == "192.0.2.7"


def test_the_scheme_is_believed_of_a_trusted_proxy_alone() -> None:
    headers = Headers({"x-forwarded-proto": "https"})
    assert Forwarded([PROXY]).scheme(headers, peer=PROXY, scheme="http") == "https"
    assert Forwarded([PROXY]).scheme(headers, peer="192.0.2.1", scheme="http") == "http"
    assert Forwarded([PROXY]).scheme(Headers({"x-forwarded-proto": "gopher"}), peer=PROXY, scheme="http") == "http"
    with pytest.raises(InputError, match="an address or a network"):
        Forwarded(["the proxy"])


@pytest.mark.long
def test_strangers_behind_a_proxy_do_not_lock_out_newcomers_and_slow_heads_end(room: Room) -> None:
    rates = {"strangers": (0.5, 20), "answers": (1000, 1000), "files": (1000, 1000)}
    with served(room.folder, rates=rates, trusted_proxies=["127.0.0.1"], limits={"head_seconds": 0.5}) as server:
        bad = [server.ask("GET", "/join/wrong", X_Forwarded_For="192.0.2.66").status for _ in range(60)]
        assert bad.count(403) == 20
        assert bad.count(429) == 40
        assert server.ask("GET", "/login", X_Forwarded_For="192.0.2.7").status == 200
        # The left of the list is the client's own invention: it opens no new bucket.
        assert server.ask("GET", "/login", X_Forwarded_For="1.2.3.4, 192.0.2.66").status == 429
        for begun in (b"", b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
                slow.sendall(begun)
                assert slow.recv(1) == b""
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as kept:
            kept.sendall(b"GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert kept.recv(65_536).startswith(b"HTTP/1.1 200")
            kept.sendall(b"GET /favi")  # the next head on a connection that is kept
            with contextlib.suppress(ConnectionError):
                while kept.recv(65_536):
                    pass


def test_a_thousand_half_sent_heads_do_not_close_the_app(room: Room) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(1_050):
            wire = stack.enter_context(socket.create_connection(("127.0.0.1", room.server.port), timeout=20))
            wire.sendall(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        deadline, answered = time.monotonic() + 8, 0
        while answered < 3 and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                answered += room.server.ask("GET", "/login").status == 200
        assert answered == 3  # long before the ten seconds that a head may take


def test_no_answer_tells_when_a_file_was_made(room: Room) -> None:
    """Proxies made method by method gave the order of methods away in 15 of 20 items."""
    token = room.tokens["root"]
    seen = {}
    for number, name in enumerate(sorted(room.study.proxies)):
        before = room.server.ask("GET", f"/media/{name}", token=token)
        os.utime(room.folder / "proxies" / name, (1_000_000 + number, 1_000_000 + number))
        after = room.server.ask("GET", f"/media/{name}", token=token)
        assert "last-modified" not in after.headers
        assert before.headers["etag"] == after.headers["etag"] == f'"{name.partition(".")[0]}"'
        assert _made_at(after.body) == 0
        seen[name] = after
    assert len(seen) == len(room.study.proxies)
    for path in ("/theme.css", "/static/rater.js", "/", "/admin/judgements.csv"):
        assert "last-modified" not in room.server.ask("GET", path, token=token).headers


def _made_at(video: bytes) -> int:
    """The creation time that an MP4's header states."""
    at = video.index(b"mvhd") + 8
    return int.from_bytes(video[at : at + 4], "big")


def test_the_cookie_follows_the_frame() -> None:
    assert Delivery().cookie("name", "token", seconds=5) == "name=token; HttpOnly; Max-Age=5; Path=/; SameSite=lax"
    framed = Delivery(secure=True, embed=("https://hub.test",)).cookie("name", "token", seconds=5)
    assert framed.endswith("; SameSite=none; Secure; Partitioned")


@pytest.mark.parametrize("embed", ["https://hub.test", "hub.test"])
def test_a_frame_needs_tls_and_an_origin(room: Room, embed: str) -> None:
    with pytest.raises(InputError, match=r"over TLS alone|is no origin"):
        serve(room.folder, port=0, embed=[embed], ready=lambda _: None)


class _Embedder(BaseHTTPRequestHandler):
    """A page of another site with the app in a frame."""

    source = ""

    def do_GET(self) -> None:
        body = f'<!doctype html><title>frame</title><iframe src="{self.source}" width=1000 height=700></iframe>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def _embedding(source: str, *, port: int) -> Iterator[None]:
    handler = type("Handler", (_Embedder,), {"source": source})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_a_rater_answers_in_a_frame_of_the_named_site_and_of_no_other(room: Room, chromium: Any, tmp_path: Path) -> None:
    certificate, key = certificate_in(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    rater = room.people.add(room.study.study_id, "framed").rater_id
    secret = room.people.invite(room.study.study_id, rater)
    with served(room.folder, certificate=str(certificate), key=str(key), embed=[f"http://localhost:{port}"]) as server:
        context = chromium.new_context(ignore_https_errors=True)
        with _embedding(f"https://127.0.0.1:{server.port}/join/{secret}", port=port):
            page = context.new_page()
            page.goto(f"http://localhost:{port}/")
            frame = page.frame_locator("iframe")
            frame.get_by_role("button", name="Begin").click(timeout=30_000)  # the welcome: the session's cookie came back
            frame.locator(".option").first.wait_for(timeout=30_000)
            # Another name of the same machine is another site.
            other = context.new_page()
            other.goto(f"http://127.0.0.1:{port}/")
            other.wait_for_timeout(500)
            assert other.frames[-1].url.startswith("chrome-error")
        cookies = {cookie["name"]: cookie for cookie in context.cookies()}
        assert cookies["inpaintbench_session"]["sameSite"] == "None"
        context.close()


@pytest.mark.long
def test_a_journal_on_a_disk_that_does_not_last_comes_back_from_its_backup(tmp_path: Path) -> None:
    folder, kept = tmp_path / "study", tmp_path / "bucket" / "journal-backup.sqlite"
    kept.parent.mkdir()
    made = write_study(folder, QUESTIONS, subjects=4)
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(made.study_id, title="x")
        people = People(journal)
        secret = people.invite(made.study_id, people.add(made.study_id, "ada").rater_id)
    with served(folder, backup=str(kept), backup_seconds=0.2) as server:
        token = server.enter(secret)
        card = server.post("/api/work", {}, token=token).json["queue"][0]
        assert server.post("/api/answers", answer_to(card), token=token).status == 200
        deadline = time.monotonic() + 120
        while not answers_in(kept, made.study_id) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert answers_in(kept, made.study_id) == 1  # long before the end
        card = server.post("/api/work", {}, token=token).json["queue"][0]
        assert server.post("/api/answers", answer_to(card), token=token).status == 200
        server.stop()
    assert answers_in(kept, made.study_id) == 2
    for path in folder.glob("journal.sqlite*"):
        path.unlink()
    with served(folder, backup=str(kept)) as server:
        assert server.post("/api/work", {}, token=token).json["progress"]["answered"] == 2


@pytest.mark.long
def test_a_space_serves_its_study(tmp_path: Path) -> None:
    """The start script with the program itself, as the image runs it."""
    write_study(tmp_path / "home" / "study", QUESTIONS, subjects=2)
    write_space(tmp_path / "space", title="A study")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]), "HOME": str(tmp_path / "home"),
        "PORT": str(port), "ORIGIN": "https://me-study.hf.space", "EMBED": "https://huggingface.co",
        "BACKUP": str(tmp_path / "journal.sqlite"),
    }  # fmt: skip
    started = subprocess.Popen(["sh", tmp_path / "space" / "start.sh"], env=environment, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 60
        answer: Any = None
        while answer is None and started.poll() is None and time.monotonic() < deadline:
            try:
                asked = urllib.request.Request(f"http://127.0.0.1:{port}/login", headers={"Host": "me-study.hf.space"})
                answer = urllib.request.urlopen(asked, timeout=5)
            except urllib.error.HTTPError:
                raise
            except OSError:
                time.sleep(0.2)
        assert answer is not None, "see what the server wrote above"
        answer.close()
        assert answer.status == 200
        assert "https://huggingface.co" in answer.headers["Content-Security-Policy"], "the Hub's page may frame it"
    finally:
        started.terminate()
        started.wait(20)
    assert (tmp_path / "journal.sqlite").is_file(), "what a Space's disk loses is kept at the end"


def answers_in(file: Path, study_id: str) -> int:
    if not file.is_file():
        return 0
    copy = shutil.copy(file, file.with_name("copy.sqlite"))  # a backup that is open is not replaced
    with Journal(Path(copy)) as journal:
        return sum(event.kind == "answer" for event in journal.events(study_id))


def test_a_space_has_what_frames_and_disks_need_and_nothing_of_the_study(tmp_path: Path) -> None:
    wheel = tmp_path / "inpaintbench-0-py3-none-any.whl"
    wheel.touch()
    out = tmp_path / "space"
    with pytest.raises(InputError, match="is no wheel"):
        write_space(out, title="empty", wheel=wheel)
    zipfile.ZipFile(wheel, "w").close()
    write_space(out, title='Which is "better"?', wheel=wheel)
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        "Dockerfile", "README.md", "requirements.lock", "start.sh", "wheels/.keep", f"wheels/{wheel.name}"
    ]  # fmt: skip
    header = yaml.safe_load((out / "README.md").read_text().split("---")[1])
    assert (header["title"], header["sdk"], header["app_port"]) == ('Which is "better"?', "docker", 7860)
    dockerfile = (out / "Dockerfile").read_text()
    assert "{{" not in dockerfile
    assert "LABEL org.opencontainers.image.licenses=" in dockerfile
    assert "/wheels/inpaintbench-" in dockerfile  # a file: the name is nobody's on the package index
    with pytest.raises(InputError, match="not empty"):
        write_space(out, title="again")
    # The script calls the program with what the container's variables say.
    program = tmp_path / "bin" / "inpaintbench"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    told = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": "/home/user", "SPACE_HOST": "me-study.hf.space"}
    more = {"EMBED": "https://huggingface.co", "BACKUP": "/data/journal.sqlite"}
    said = subprocess.run(["sh", out / "start.sh"], env=told | more, check=True, capture_output=True, text=True).stdout.split()
    assert said == [
        "annotate", "serve", "/home/user/study", "--host", "0.0.0.0", "--port", "7860", "--origin", "https://me-study.hf.space",
        "--embed", "https://huggingface.co", "--backup", "/data/journal.sqlite",
    ]  # fmt: skip
