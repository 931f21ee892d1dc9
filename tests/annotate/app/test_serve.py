from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from annotated_server import Served, certificate_in, served

from inpaintbench.annotate.app.allowed import Limits
from inpaintbench.annotate.app.serve import exposure, serve
from inpaintbench.annotate.journal.engines import note, parse_url
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from conftest import Room


def never(text: str) -> None:
    raise AssertionError(f"called with {text!r}")


@pytest.mark.long
def test_a_server_with_low_limits_in_a_folder_of_its_own(room: Room, tmp_path: Path) -> None:
    rates = {"strangers": (0.5, 5), "answers": (0.5, 5), "files": (0.5, 5)}
    relative = os.path.relpath(room.folder / "journal.sqlite", tmp_path)
    with served(room.folder, rates=rates, cwd=tmp_path, database=f"sqlite+pysqlite:///{relative}") as server:
        process = Path("/proc") / str(server.process.pid)
        where = (process / "cwd").resolve() if process.exists() else None
        if where:
            assert list(where.iterdir()) == []
            assert where.parent.stat().st_mode & 0o777 == 0o700
            assert where.parent not in (room.folder, tmp_path)
        limits_hold(room, server)
        it_ends_at_once_and_says_so(server)
        assert where is None or not where.parent.exists()
    # The journal was named by a relative path; the people of the room are in it, so it is the same file.
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".txt"]
    assert not (room.folder / "journal.json").exists()


def limits_hold(room: Room, server: Served) -> None:
    statuses = [server.ask("GET", "/join/wrong").status for _ in range(8)]
    assert statuses == [403] * 5 + [429] * 3
    refused = server.ask("GET", "/login")
    assert (refused.status, refused.headers["retry-after"] in ("1", "2")) == (429, True)  # by when it was asked
    works = [server.post("/api/work", {}, token=room.tokens["ada"]).status for _ in range(7)]
    assert works == [200] * 5 + [429] * 2
    # Another rater, and another purpose, have buckets of their own.
    assert server.post("/api/work", {}, token=room.tokens["bob"]).status == 200
    assert server.ask("GET", "/static/rater.js", token=room.tokens["ada"]).status == 200


def it_ends_at_once_and_says_so(server: Served) -> None:
    """Though clients hold connections, one of them in the middle of a request."""
    with (
        socket.create_connection(("127.0.0.1", server.port)) as idle,
        socket.create_connection(("127.0.0.1", server.port)) as half,
    ):
        idle.sendall(b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert idle.recv(1)
        half.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n")
        server.stop()
    assert server.process.returncode == 0
    assert server.process.stdout is not None
    assert json.loads(server.process.stdout.readline()) == ["ended", ""]


def test_limits_by_default() -> None:
    assert (Limits().answers.per_second, Limits().answers.burst) == (10, 30)
    assert (Limits().strangers.per_second, Limits().strangers.burst) == (5, 20)


def test_a_port_that_is_taken_is_one_sentence(room: Room) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is taken; choose another one, or 0"):
            serve(room.folder, port=port, ready=never)


@pytest.mark.parametrize(("host", "port"), [("no such host", 0), ("127.0.0.1", 99_999), ("192.0.2.1", 0)])
def test_a_host_or_port_that_cannot_be_bound_is_one_sentence(room: Room, host: str, port: int) -> None:
    with pytest.raises(InputError, match="cannot be bound"):
        serve(room.folder, host=host, port=port, ready=never)


def test_a_folder_that_is_no_study_is_one_sentence(tmp_path: Path) -> None:
    before = Path.cwd(), dict(os.environ), threading.active_count()
    with pytest.raises(InputError, match="is not a prepared study"):
        serve(tmp_path, port=0, ready=never)
    assert (Path.cwd(), dict(os.environ)) == before[:2]
    assert not (tmp_path / "journal.sqlite").exists()


def test_a_certificate_needs_its_key(room: Room, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="come together"):
        serve(room.folder, port=0, certificate=tmp_path / "c.pem", ready=never)
    (tmp_path / "c.pem").write_text("no certificate")
    with pytest.raises(InputError, match=r"certificate .* cannot be used"):
        serve(room.folder, port=0, certificate=tmp_path / "c.pem", key=tmp_path / "c.pem", ready=never)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_with_tls_the_cookie_is_for_tls_alone_and_the_warning_is_gone(room: Room, tmp_path: Path) -> None:
    certificate, key = certificate_in(tmp_path)
    secret = room.people.invite(room.study.study_id, room.raters["bob"])
    with served(room.folder, host="0.0.0.0", certificate=str(certificate), key=str(key)) as server:
        assert server.warnings == []
        assert server.address.startswith("https://0.0.0.0:")
        context = ssl.create_default_context(cafile=certificate)
        context.check_hostname = False
        with socket.create_connection(("127.0.0.1", server.port)) as wire, context.wrap_socket(wire) as tls:
            tls.sendall(f"GET /join/{secret} HTTP/1.1\r\nHost: localhost:{server.port}\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: tls.recv(65_536), b"")).decode()
    assert answer.startswith("HTTP/1.1 303")
    cookie = next(line for line in answer.splitlines() if line.lower().startswith("set-cookie:"))
    assert "; Secure" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "strict-transport-security: max-age=31536000\r\n" in answer


def test_open_without_tls_is_warned_of() -> None:
    assert exposure("127.0.0.1", has_tls=False) is None
    assert exposure("localhost", has_tls=False) is None
    assert exposure("::1", has_tls=False) is None
    assert exposure("0.0.0.0", has_tls=True) is None
    for host in ("0.0.0.0", "::", "192.0.2.7", "lab.test"):
        sentence = exposure(host, has_tls=False)
        assert sentence is not None
        assert host in sentence
        assert "no TLS" in sentence


def test_a_study_whose_answers_lie_elsewhere_is_not_served_without_them(room: Room, tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(room.folder, study, ignore=shutil.ignore_patterns("journal*", "errors*"))
    note(study, parse_url("postgresql://me:secret@db.test/answers"))
    with pytest.raises(InputError, match=r"lie in 'db\.test:5432/answers'; give it with --database") as raised:
        serve(study, port=0, ready=never)
    assert "secret" not in str(raised.value)
    assert not (study / "journal.sqlite").exists()


def test_a_journal_that_is_none_is_one_sentence(room: Room, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("words " * 100)
    before = Path.cwd(), dict(os.environ)
    for database, said in ((tmp_path / "notes.txt", "is no journal but something else"), (tmp_path, "Is a directory")):
        with pytest.raises(InputError, match=said):
            serve(room.folder, database=str(database), port=0, ready=never)
    assert (Path.cwd(), dict(os.environ)) == before
