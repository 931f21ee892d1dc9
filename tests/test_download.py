"""Downloads against a real server that resumes, lies, cuts, stalls, redirects and refuses."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tenacity.nap
from web_server import Answer, WebServer

from inpaintbench import http_client
from inpaintbench.download import Limits, ask, download, forget, safe_name, without_query
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.http_client import ServerGone, ServerRefused

BODY = np.random.default_rng(1).bytes(300_000)
OTHER = np.random.default_rng(2).bytes(250_000)
HERE = Limits(allow_private=True)
Slept = list[float]


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> Slept:
    """The waits between tries, not waited for."""
    waits: Slept = []

    class Clock:
        sleep = staticmethod(waits.append)

    monkeypatch.setattr(tenacity.nap, "time", Clock)
    return waits


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "partial" / "0123abcd"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_arrives_whole_with_what_the_server_said_of_it(server: WebServer, part: Path) -> None:
    url = server.say("/a.mp4", Answer(BODY, etag='"one"', headers={"Content-Type": "Video/MP4; x=1"}))
    received = download(url + "?key=secret#part", part, limits=replace(HERE, contact="mail at home"))
    assert part.read_bytes() == BODY
    assert (received.bytes, received.sha256, received.etag) == (len(BODY), digest(BODY), '"one"')
    assert (received.final_url, received.http_status, received.tries, received.media_type) == (url, 200, 1, "video/mp4")
    assert datetime.fromisoformat(received.retrieved_at) <= datetime.now(UTC)
    asked = server.seen[0].headers
    assert asked["Accept-Encoding"] == "identity"
    assert asked["User-Agent"].startswith("inpaintbench/")
    assert asked["User-Agent"].endswith("(mail at home)")
    assert (
        "secret"
        not in json.dumps([str(path) for path in part.parent.iterdir()]) + (part.parent / f"{part.name}.json").read_text()
    )


def test_a_cut_body_is_gone_on_with_and_not_asked_for_again(server: WebServer, part: Path, slept: Slept) -> None:
    answers = [Answer(BODY, etag='"one"', cut=cut) for cut in (100_000, 50_000, None)]
    received = download(server.say("/a", *answers), part, limits=HERE)
    assert (part.read_bytes(), received.sha256, received.tries) == (BODY, digest(BODY), 3)
    assert [request.headers["Range"] for request in server.seen] == [None, "bytes=100000-", "bytes=150000-"]
    assert server.seen[1].headers["If-Range"] == '"one"'
    assert len(slept) == 2


def test_another_file_upstream_is_begun_anew(server: WebServer, part: Path, slept: Slept) -> None:
    url = server.say("/a", Answer(BODY, etag='"one"', cut=100_000), Answer(OTHER, etag='"two"'))
    received = download(url, part, limits=HERE)
    assert (part.read_bytes(), received.sha256, received.etag) == (OTHER, digest(OTHER), '"two"')


def test_a_server_that_ignores_if_range_does_not_get_two_files_mixed(server: WebServer, part: Path, slept: Slept) -> None:
    half = {"Content-Range": f"bytes 100000-{len(OTHER) - 1}/{len(OTHER)}", "ETag": '"two"'}
    url = server.say(
        "/a",
        Answer(BODY, etag='"one"', cut=100_000),
        Answer(OTHER[100_000:], status=206, headers=half),
        Answer(OTHER, etag='"two"'),
    )
    assert download(url, part, limits=HERE).sha256 == digest(OTHER)
    assert [request.headers["Range"] for request in server.seen] == [None, "bytes=100000-", None]


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_strong_mark_nothing_is_resumed(server: WebServer, part: Path, slept: Slept, etag: str | None) -> None:
    url = server.say("/a", Answer(BODY, etag=etag, cut=100_000), Answer(OTHER, etag=etag))
    assert download(url, part, limits=HERE).sha256 == digest(OTHER)
    assert server.seen[1].headers["Range"] is None


@pytest.mark.parametrize(("age", "resumed"), [(timedelta(days=1), True), (timedelta(0), False)])
def test_a_time_of_change_identifies_a_file_once_it_is_old(
    server: WebServer, part: Path, slept: Slept, age: timedelta, resumed: bool
) -> None:
    changed = format_datetime(datetime.now(UTC) - age, usegmt=True)
    url = server.say("/a", Answer(BODY, headers={"Last-Modified": changed}, cut=100_000), Answer(BODY))
    assert download(url, part, limits=HERE).sha256 == digest(BODY)
    assert server.seen[1].headers["If-Range"] == (changed if resumed else None)


def test_a_complete_part_file_is_not_fetched_again(server: WebServer, part: Path) -> None:
    url = server.say("/a", Answer(BODY, etag='"one"', headers={"Content-Type": "video/mp4"}))
    download(url, part, limits=HERE)
    server.say("/a", Answer(status=416, headers={"Content-Range": f"bytes */{len(BODY)}", "Content-Type": "text/html"}))
    again = download(url, part, limits=HERE)
    assert (again.http_status, again.bytes, again.sha256) == (416, len(BODY), digest(BODY))
    assert (again.etag, again.media_type) == ('"one"', "video/mp4")
    assert server.seen[1].headers["Range"] == f"bytes={len(BODY)}-"


def test_a_part_file_longer_than_the_file_upstream_is_begun_anew(server: WebServer, part: Path, slept: Slept) -> None:
    url = server.say("/a", Answer(BODY, etag='"one"'))
    download(url, part, limits=HERE)
    part.write_bytes(BODY + b"more")
    assert download(url, part, limits=HERE).sha256 == digest(BODY)
    assert part.read_bytes() == BODY


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"unknown": 1}'])
def test_a_torn_sidecar_means_a_new_beginning(server: WebServer, part: Path, spoilt: str) -> None:
    url = server.say("/a", Answer(BODY, etag='"one"'))
    part.parent.mkdir()
    part.write_bytes(b"left over")
    part.with_name(f"{part.name}.json").write_text(spoilt)
    assert download(url, part, limits=HERE).sha256 == digest(BODY)
    assert server.seen[0].headers["Range"] is None


def test_a_killed_process_goes_on_where_it_was(server: WebServer, part: Path) -> None:
    url = server.say("/a", Answer(BODY, etag='"one"', stall_at=200_000))
    program = (
        "import sys; from pathlib import Path; from inpaintbench.download import *; "
        "download(sys.argv[1], Path(sys.argv[2]), limits=Limits(allow_private=True, tries=99))"
    )
    killed = subprocess.Popen([sys.executable, "-c", program, url, str(part)])
    while not (part.exists() and part.stat().st_size >= 150_000):
        assert killed.poll() is None
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    had = part.stat().st_size
    server.say("/a", Answer(BODY, etag='"one"'))
    assert download(url, part, limits=HERE).sha256 == digest(BODY)
    assert server.seen[1].headers["Range"] == f"bytes={had}-"


def test_a_compressed_body_is_unpacked(server: WebServer, part: Path) -> None:
    url = server.say("/a", Answer(gzip.compress(BODY), etag='"one"', headers={"Content-Encoding": "gzip"}))
    received = download(url, part, limits=HERE)
    assert (received.bytes, received.sha256) == (len(BODY), digest(BODY))


def test_a_body_that_stays_short_is_a_network_error(server: WebServer, part: Path, slept: Slept) -> None:
    url = server.say("/a", Answer(BODY, claimed_length=len(BODY) + 1))
    with pytest.raises(NetworkError, match=r"/a could not be fetched, tried 4 times"):
        download(url + "?key=secret", part, limits=HERE)
    assert len(server.seen) == 4


@pytest.mark.parametrize("status", [404, 410])
def test_gone_is_told_apart(server: WebServer, part: Path, status: int) -> None:
    with pytest.raises(Gone, match=rf"/a is not there \(HTTP {status}\)$") as caught:
        download(server.say("/a", Answer(status=status)) + "?key=secret", part, limits=HERE)
    assert isinstance(caught.value, ServerGone)
    assert (caught.value.http_status, caught.value.tries) == (status, 1)


@pytest.mark.parametrize("status", [400, 401, 403, 451, 304, 416])
def test_refusals_are_final(server: WebServer, part: Path, status: int) -> None:
    with pytest.raises(ServerRefused, match=rf"HTTP {status}") as caught:
        download(server.say("/a", Answer(status=status)), part, limits=HERE)
    assert caught.value.http_status == status
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_trouble_that_passes_is_waited_out(server: WebServer, part: Path, slept: Slept, status: int) -> None:
    url = server.say("/a", Answer(status=status), Answer(status=status), Answer(BODY))
    assert download(url, part, limits=HERE).tries == 3
    assert all(0 <= wait <= 60 for wait in slept)


def test_the_server_says_how_long_to_wait(server: WebServer, part: Path, slept: Slept) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=100), usegmt=True)
    answers = [Answer(status=429, headers={"Retry-After": told}) for told in ("17", later, past)]
    download(server.say("/a", *answers, Answer(BODY)), part, limits=HERE)
    assert 17 <= slept[0] <= 18
    assert 97 <= slept[1] <= 101
    assert 0 <= slept[2] <= 1


def test_nobody_waits_longer_than_there_is_time(server: WebServer, part: Path, slept: Slept) -> None:
    url = server.say("/a", Answer(status=429, headers={"Retry-After": "86400"}))
    with pytest.raises(NetworkError, match=r"tried once: HTTP 429"):
        download(url, part, limits=HERE)
    assert slept == []


def test_a_silent_server_is_given_up(server: WebServer, part: Path, slept: Slept) -> None:
    with pytest.raises(NetworkError, match="the server does not answer"):
        download(server.say("/a", Answer(BODY, stall_at=10)), part, limits=replace(HERE, seconds=0.3, tries=2))


def test_nobody_listening_is_a_network_error(part: Path, slept: Slept) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(NetworkError, match="tried 4 times"):
            download(f"http://127.0.0.1:{taken.getsockname()[1]}/a", part, limits=HERE)
    assert len(slept) == 3


def test_too_large_files_are_refused_by_what_they_say_and_by_what_they_are(server: WebServer, part: Path) -> None:
    with pytest.raises(Rejected, match="is larger than 1000 bytes"):
        download(server.say("/a", Answer(BODY)), part, limits=replace(HERE, most_bytes=1000))
    with pytest.raises(Rejected, match="is larger than 1000000 bytes"):
        download(server.say("/b", Answer(endless=True)), part, limits=replace(HERE, most_bytes=1_000_000))
    assert part.stat().st_size <= 1_000_000
    packed = gzip.compress(bytes(50_000_000))
    with pytest.raises(Rejected, match="is larger than 1000000 bytes"):
        download(
            server.say("/c", Answer(packed, headers={"Content-Encoding": "gzip"})),
            part,
            limits=replace(HERE, most_bytes=1_000_000),
        )


def test_an_endless_body_ends_with_the_time(server: WebServer, part: Path) -> None:
    with pytest.raises(Rejected, match=r"takes longer than 0.2 s"):
        download(server.say("/a", Answer(endless=True)), part, limits=replace(HERE, seconds=0.2))


def test_redirects_are_followed_and_end_somewhere(server: WebServer, part: Path) -> None:
    target = server.say("/new/a.mp4", Answer(BODY))
    server.redirect("/old", "new/a.mp4?signature=secret", status=307)
    assert download(server.url("/old"), part, limits=HERE).final_url == target
    with pytest.raises(Rejected, match="redirects more than 10 times"):
        download(server.redirect("/round", "/round"), part, limits=HERE)
    assert len(server.asked("/round")) == 11


def test_headers_stay_with_the_host_they_are_for(server: WebServer, part: Path) -> None:
    server.say("/b", Answer(BODY))
    server.redirect("/same", "/b")
    server.redirect("/other", server.url("/b", host="localhost"))
    for path, kept in (("/same", "key"), ("/other", None)):
        server.seen.clear()
        download(server.url(path), part, limits=HERE, headers={"Authorization": "key"})
        assert [request.headers["Authorization"] for request in server.seen] == ["key", kept]
        forget(part)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "javascript:1", "gopher://127.0.0.1"])
def test_a_redirect_to_another_kind_of_address_is_refused(server: WebServer, part: Path, target: str) -> None:
    with pytest.raises(Rejected, match=r"/a redirects to .* not one of the allowed kinds of address: https, http"):
        download(server.redirect("/a", target), part, limits=HERE)
    assert not part.exists()


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/a", "a.mp4", "", "http://", "http://[::1", "https:///a"]
)
def test_what_is_no_web_address_is_refused(part: Path, url: str) -> None:
    with pytest.raises(Rejected):
        download(url, part, limits=HERE)


def test_schemes_can_be_narrowed(server: WebServer, part: Path) -> None:
    with pytest.raises(Rejected, match=r"allowed kinds of address: https$"):
        download(server.say("/a", Answer(BODY)), part, limits=replace(HERE, schemes=("https",)))
    assert server.seen == []


class Internet:
    """Names and public addresses that lead to the server of the test; it records who was connected to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.connected: list[str] = []
        really, connect = socket.getaddrinfo, socket.create_connection

        def lookup(host: str, *rest: Any, **more: Any) -> Any:
            if host not in self.names:
                return really(host, *rest, **more)
            answers = self.names[host]
            addresses = answers.pop(0) if len(answers) > 1 else answers[0]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

        def connecting(address: tuple[str, int], *rest: Any, **more: Any) -> socket.socket:
            self.connected.append(address[0])
            return connect(("127.0.0.1", port), *rest, **more)

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        monkeypatch.setattr(socket, "create_connection", connecting)


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch, server: WebServer) -> Internet:
    return Internet(monkeypatch, server.port)


def test_a_public_host_is_asked_by_its_name(server: WebServer, part: Path, internet: Internet) -> None:
    internet.names["videos.test"] = [["93.184.216.34"]]
    server.say("/a", Answer(BODY))
    assert download("http://videos.test/a", part, limits=Limits()).final_url == "http://videos.test/a"
    assert internet.connected == ["93.184.216.34"]
    assert server.seen[0].headers["Host"] == "videos.test"


def test_a_name_that_changes_its_address_gains_nothing(server: WebServer, part: Path, internet: Internet) -> None:
    internet.names["rebinding.test"] = [["93.184.216.34"], ["127.0.0.1"]]
    server.say("/a", Answer(BODY))
    download("http://rebinding.test/a", part, limits=Limits())
    assert internet.connected == ["93.184.216.34"]
    with pytest.raises(Rejected, match=r"rebinding.test \(127.0.0.1\) is a loopback address"):
        download("http://rebinding.test/a", part, limits=Limits())
    assert internet.connected == ["93.184.216.34"]


@pytest.mark.parametrize("target", ["http://127.0.0.1/b", "http://169.254.169.254/latest", "http://inside.test/b", "//[::1]/b"])
def test_every_redirect_is_judged(server: WebServer, part: Path, internet: Internet, target: str) -> None:
    internet.names |= {"outside.test": [["93.184.216.34"]], "inside.test": [["10.0.0.1"]]}
    server.redirect("/a", target)
    with pytest.raises(Rejected, match=r"--allow-private fetches from your own network|clouds tell their machines secrets"):
        download("http://outside.test/a", part, limits=Limits())
    assert internet.connected == ["93.184.216.34"]


def test_one_private_address_among_public_ones_is_enough(part: Path, internet: Internet) -> None:
    internet.names["both.test"] = [["93.184.216.34", "192.168.0.1"]]
    with pytest.raises(Rejected, match=r"192.168.0.1"):
        download("http://both.test/a", part, limits=Limits())
    assert internet.connected == []


def test_the_environment_does_not_name_a_proxy(server: WebServer, part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert download(server.say("/a", Answer(BODY)), part, limits=HERE).bytes == len(BODY)


def test_asking_fetches_nothing(server: WebServer, slept: Slept) -> None:
    assert ask(server.say("/a", Answer(BODY)), limits=HERE) == 200
    assert [request.method for request in server.seen] == ["HEAD"]
    assert ask(server.say("/b", Answer(status=405), Answer(BODY, etag='"1"')), limits=HERE) == 206
    with pytest.raises(Gone):
        ask(server.say("/c", Answer(status=410)), limits=HERE)
    with pytest.raises(NetworkError):
        ask(server.say("/d", Answer(status=500)), limits=HERE)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:password@host.test:8080/a/b.mp4?key=1#x", "https://host.test:8080/a/b.mp4"),
        ("http://user@[::1/a?key=1", "http://[::1/a"),
        ("not an address?key=1", "not an address"),
        ("", ""),
    ],
)
def test_queries_and_passwords_are_left_out(url: str, shown: str) -> None:
    assert without_query(url) == shown


def test_names_of_files_are_plain_and_stay_apart() -> None:
    texts = [
        "clip-1.mp4",
        "../../etc/passwd",
        "a/b",
        "a_b",
        "a b",
        "",
        ".",
        "..",
        "-rf",
        "ü" * 300,
        "x" * 300,
        "x" * 301,
        "a\0b\n",
    ]
    names = [safe_name(text) for text in texts]
    assert names[0] == "clip-1.mp4"
    assert len(set(names)) == len(texts)
    for name in names:
        assert 0 < len(name) < 120
        assert name == os.path.basename(name)
        assert name[0] not in ".-"
        assert name.isascii()
        assert name.isprintable()
        assert "/" not in name


def test_a_contact_that_breaks_headers_is_told() -> None:
    with pytest.raises(InputError, match="one line of plain ASCII"):
        Limits(contact="me\r\nX-Evil: 1")


def certificate_of(folder: Path, host: str) -> Path:
    """A certificate for one host, signed by itself, with its key."""
    path = folder / "certificate.pem"
    command = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}", "-keyout", str(path), "-out", str(folder / "only.pem"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    path.write_text(path.read_text() + (folder / "only.pem").read_text())
    return path


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl program to make a certificate")
def test_certificates_are_those_of_the_name(tmp_path: Path, part: Path, slept: Slept, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = certificate_of(tmp_path, "videos.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "only.pem"))
    http_client._tls.cache_clear()
    here = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, *rest, **more: [(*here, ("127.0.0.1", port or 0))])
    with WebServer(certificate) as server:
        server.say("/a", Answer(BODY))
        assert download(server.url("/a", host="videos.test"), part, limits=HERE).sha256 == digest(BODY)
        with pytest.raises(NetworkError, match="certificate verify failed"):
            download(server.url("/a", host="other.test"), part, limits=replace(HERE, tries=1))
    http_client._tls.cache_clear()
