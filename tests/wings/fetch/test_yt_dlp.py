"""The leaf that fetches through yt-dlp, against a real server and yt-dlp's extractor for plain addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from web_footage import HERE, clip_bytes, write_list
from web_server import Answer, WebServer

from inpaintbench import http_client
from inpaintbench.download import Limits
from inpaintbench.errors import Gone, NetworkError, Rejected
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.wings.fetch.base import Candidate
from inpaintbench.wings.fetch.step import fetch, rows_of
from inpaintbench.wings.fetch.yt_dlp import YtDlp, _without_queries

pytest.importorskip("yt_dlp")
VIDEO = {"Content-Type": "video/mp4"}


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as running:
        yield running


def candidate_of(tmp_path: Path, url: str) -> tuple[YtDlp, Candidate]:
    leaf = YtDlp(list=str(write_list(tmp_path / "a.csv", f"{url},CC-BY-4.0", columns="url,licence")), allow_private=True)
    (candidate,) = leaf.candidates()
    return leaf, candidate


def test_the_video_of_an_address_is_fetched(
    executor: LocalExecutor, server: WebServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    url = server.say("/beach.mp4", Answer(clip_bytes(tmp_path, 1), etag='"1"', headers=VIDEO))
    path = write_list(tmp_path / "a.csv", f"{url},CC-BY-4.0,Ann", columns="url,licence,author")
    fetch(executor, "yt_dlp", constants={"list": str(path)}, limits=HERE)
    (row,) = rows_of(executor.workspace, "yt_dlp")
    assert (row.status, row.licence, row.author, row.bytes) == ("obtained", "CC-BY-4.0", "Ann", len(clip_bytes(tmp_path, 1)))
    assert row.title == "beach"  # as yt-dlp finds it; the list states none
    assert executor.workspace.blobs.path(str(row.blob)).read_bytes() == clip_bytes(tmp_path, 1)
    assert row.http_status is None
    assert list((executor.workspace.path / "partial").iterdir()) == []
    assert "".join(capfd.readouterr()) == ""


def test_private_addresses_are_refused(server: WebServer, tmp_path: Path) -> None:
    url = server.say("/beach.mp4", Answer(clip_bytes(tmp_path, 1), headers=VIDEO))
    leaf, candidate = candidate_of(tmp_path, url)
    with pytest.raises(Rejected, match="loopback"):
        leaf.fetch(candidate, part=tmp_path / "part", limits=Limits(tries=1))
    assert server.seen == []
    for other in ("http://169.254.169.254/latest", "ftp://ftp.test/a.mp4", "http://[::1]/x"):
        with pytest.raises(Rejected):
            leaf.fetch(replace(candidate, url=other), part=tmp_path / "part", limits=Limits(tries=1))


def test_every_address_of_a_redirect_is_judged(server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first name stands for a public host; it is asked at the address that was judged, and redirects to this machine."""
    asked: list[str] = []
    plain = http_client.resolve

    def resolve(host: str, *, limits: Limits) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if host == "public.test" else plain(host, limits=limits)

    monkeypatch.setattr(http_client, "resolve", resolve)
    server.redirect("/beach.mp4", server.say("/inner.mp4", Answer(clip_bytes(tmp_path, 1), headers=VIDEO)))
    server.redirect("/other.mp4", "ftp://files.test/a.mp4")
    leaf, candidate = candidate_of(tmp_path, server.url("/beach.mp4", host="public.test"))
    with pytest.raises(Rejected, match=r"127\.0\.0\.1 is a loopback address"):
        leaf.fetch(candidate, part=tmp_path / "part", limits=Limits(tries=1))
    assert {request.path for request in server.seen} == {"/beach.mp4"}
    assert asked == ["public.test", "127.0.0.1"]
    other = replace(candidate, url=server.url("/other.mp4", host="public.test"))
    with pytest.raises(Rejected, match=r"redirects to 'ftp://files\.test/a\.mp4', which is not one of the allowed kinds"):
        leaf.fetch(other, part=tmp_path / "part", limits=Limits(tries=1))


def test_redirects_are_followed_without_what_is_for_the_first_host(server: WebServer, tmp_path: Path) -> None:
    with WebServer() as elsewhere:
        target = elsewhere.say("/inner.mp4", Answer(clip_bytes(tmp_path, 1), headers=VIDEO))
        url = server.redirect("/beach.mp4", target).replace("http://", "http://ann:secret@")
        leaf, candidate = candidate_of(tmp_path, url)
        fetched = leaf.fetch(candidate, part=tmp_path / "part", limits=HERE)
        assert fetched.path.read_bytes() == clip_bytes(tmp_path, 1)
        assert all(request.headers["Authorization"] for request in server.seen)
        assert elsewhere.seen
        # The last question is for the address that was found, which has no password.
        assert not any(request.headers["Authorization"] for request in elsewhere.seen)


def test_a_page_keeps_its_cookies_to_itself(server: WebServer, tmp_path: Path) -> None:
    page = b'<html><title>t</title><body><video src="/inner.mp4"></video></body></html>'
    told = {"Content-Type": "text/html", "Set-Cookie": "visit=1; Path=/"}
    server.say("/page", Answer(page, headers=told))
    server.say("/inner.mp4", Answer(clip_bytes(tmp_path, 1), headers=VIDEO))
    leaf, candidate = candidate_of(tmp_path, server.url("/page"))
    fetched = leaf.fetch(candidate, part=tmp_path / "part", limits=HERE)
    assert fetched.path.read_bytes() == clip_bytes(tmp_path, 1)
    assert server.asked("/inner.mp4")[-1].headers["Cookie"] == "visit=1"


@pytest.mark.parametrize(
    "text",
    ["Unsupported URL: http://a.test/p?token=SEC%20RET#x", "[generic] p?token=SEC RET: words", "'http://ann:SEC@a.test/p'"],
)
def test_words_of_yt_dlp_hold_no_query(text: str) -> None:
    told = _without_queries(text, "http://a.test/p?token=SEC%20RET")
    assert "SEC" not in told
    assert "RET" not in told
    assert told.startswith(text[:5])


def test_a_refusal_holds_no_query(server: WebServer, tmp_path: Path) -> None:
    page = Answer(b"<html><body>words</body></html>", headers={"Content-Type": "text/html"})
    leaf, candidate = candidate_of(tmp_path, server.say("/page", page) + "?token=SECRETQ")
    with pytest.raises(Rejected, match="Unsupported URL") as caught:
        leaf.fetch(candidate, part=tmp_path / "part", limits=replace(HERE, tries=1))
    assert "SECRETQ" not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(404, Gone), (410, Gone), (403, Rejected), (503, NetworkError)])
def test_what_the_server_says_is_told_apart(server: WebServer, tmp_path: Path, status: int, kind: type[Exception]) -> None:
    leaf, candidate = candidate_of(tmp_path, server.say("/a.mp4", Answer(status=status)) + "?key=secret")
    with pytest.raises(kind) as caught:
        leaf.fetch(candidate, part=tmp_path / "part", limits=replace(HERE, tries=1))
    assert f"HTTP {status}" in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(kind):
        leaf.licence_of(candidate)


def test_a_page_without_a_video_is_refused(server: WebServer, tmp_path: Path) -> None:
    page = Answer(b"<html><body>words</body></html>", headers={"Content-Type": "text/html"})
    leaf, candidate = candidate_of(tmp_path, server.say("/page", page))
    with pytest.raises(Rejected, match=r"/page could not be fetched: .*Unsupported URL"):
        leaf.fetch(candidate, part=tmp_path / "part", limits=replace(HERE, tries=1))


def test_a_large_video_is_refused(server: WebServer, tmp_path: Path) -> None:
    leaf, candidate = candidate_of(tmp_path, server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1), headers=VIDEO)))
    with pytest.raises(Rejected, match="larger than 1000 bytes"):
        leaf.fetch(candidate, part=tmp_path / "part", limits=replace(HERE, most_bytes=1000))


def test_the_licence_is_asked_for_without_the_video(server: WebServer, tmp_path: Path) -> None:
    leaf, candidate = candidate_of(tmp_path, server.say("/a.mp4", Answer(clip_bytes(tmp_path, 1), headers=VIDEO)))
    assert leaf.licence_of(candidate).name == "CC-BY-4.0"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("part")] == []
