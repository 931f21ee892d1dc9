"""Questions to a real local server: signed, counted, tried again, and silent about the key."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from flickr_server import KEY, SECRET, FlickrServer, Trouble, Video, fail

from inpaintbench.errors import InputError, MissingExtraError, NetworkError
from inpaintbench.wings.fetch import flickr_client
from inpaintbench.wings.fetch.flickr_client import ApiError, FlickrClient, TokenBucket, connect

INFO = "flickr.photos.getInfo"
NOISY = ("flickrapi", "requests_oauthlib", "oauthlib", "requests", "urllib3")


def noisy_loggers() -> list[str]:
    return [*NOISY, *(name for name in logging.root.manager.loggerDict if name.split(".")[0] in NOISY)]


@pytest.fixture
def server() -> Iterator[FlickrServer]:
    with FlickrServer([Video("7")]) as running:
        yield running


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """The client quietens loggers; others keep theirs."""
    before = {name: logging.getLogger(name).level for name in noisy_loggers()}
    yield
    for name in noisy_loggers():  # those that a test made too: an own level left on a child outlives its parent's
        logging.getLogger(name).setLevel(before.get(name, logging.NOTSET))


class Waits(list[float]):
    """A sleep that only remembers."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def client(
    server: FlickrServer, folder: Path, *, waits: Waits | None = None, bucket_waits: Waits | None = None, key: str = KEY
) -> FlickrClient:
    bucket = TokenBucket(folder / "b.sqlite", sleep=Waits() if bucket_waits is None else bucket_waits)
    asking = Waits() if waits is None else waits
    return FlickrClient(
        key, SECRET, bucket=bucket, endpoint=server.endpoint, timeout_seconds=0.5, sleep=asking, contact="a contact"
    )


def test_questions_are_signed_and_say_who_asks(server: FlickrServer, tmp_path: Path) -> None:
    asking = client(server, tmp_path)
    assert asking.ask(INFO, {"photo_id": "7"})["photo"]["license"] == "4"
    # Every character that a signature could get wrong.
    asking.ask("flickr.photos.search", {"text": "50% of it's +a/b & ümläut ~*!() 水", "media": "videos"})
    assert server.searches[0]["text"] == "50% of it's +a/b & ümläut ~*!() 水"
    assert all(agent.startswith("inpaintbench/") and agent.endswith("(a contact)") for agent in server.agents)


def test_a_wrong_secret_is_told(server: FlickrServer, tmp_path: Path) -> None:
    wrong = FlickrClient(KEY, "1" * 16, bucket=TokenBucket(tmp_path / "b.sqlite"), endpoint=server.endpoint)
    with pytest.raises(ApiError, match=r"Invalid signature \(error 96\); check FLICKR_API_KEY") as caught:
        wrong.ask(INFO, {"photo_id": "7"})
    assert caught.value.code == 96
    assert server.calls[INFO] == 1


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(status=500, body=b"oops"),
        Trouble(status=503, body=b""),
        Trouble(body=b"<html>maintenance</html>"),
        Trouble(body=b'{"stat": "ok", "photo": {', cut=None),
        Trouble(body=b'{"stat": "ok", "photo": {"id": "7"}}', cut=12),
        Trouble(body=b"[1, 2]"),
        Trouble(body=b"\xff\xfe"),
        Trouble(body=fail(105, "Service currently unavailable")),
        Trouble(body=b"{}", stall_seconds=0.8),
    ],
    ids=["500", "503", "html", "truncated json", "truncated body", "list", "no utf-8", "105", "time-out"],
)
def test_what_may_pass_is_asked_again(server: FlickrServer, tmp_path: Path, trouble: Trouble) -> None:
    waits = Waits()
    server.trouble(INFO, trouble, trouble)
    answer = client(server, tmp_path, waits=waits).ask(INFO, {"photo_id": "7"})
    assert answer["photo"]["id"] == "7"
    assert waits == [1.0, 2.0]
    assert server.calls[INFO] == 3


def test_what_does_not_pass_ends_after_five_tries(server: FlickrServer, tmp_path: Path) -> None:
    waits = Waits()
    server.trouble(INFO, *[Trouble(status=502)] * 6)
    with pytest.raises(NetworkError, match=r"getInfo with HTTP status 502, at each of 5 tries"):
        client(server, tmp_path, waits=waits).ask(INFO, {"photo_id": "7"})
    assert (waits, server.calls[INFO]) == ([1.0, 2.0, 4.0, 8.0], 5)


def test_nobody_there(tmp_path: Path) -> None:
    with FlickrServer() as server:
        asking = client(server, tmp_path)
    with pytest.raises(NetworkError, match="no whole answer from Flickr"):
        asking.ask(INFO, {"photo_id": "7"})


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_holds_for_everybody_with_that_key(server: FlickrServer, tmp_path: Path, form: str) -> None:
    waits, bucket_waits = Waits(), Waits()
    moment = datetime.now(UTC) + timedelta(seconds=70)
    text = "70" if form == "seconds" else format_datetime(moment, usegmt=True)
    server.trouble(INFO, Trouble(status=429, headers={"Retry-After": text}))
    client(server, tmp_path, waits=waits, bucket_waits=bucket_waits).ask(INFO, {"photo_id": "7"})
    client(server, tmp_path, bucket_waits=bucket_waits).ask(INFO, {"photo_id": "7"})
    assert sum(waits) == 0.0
    assert len(bucket_waits) == 2  # the second try, and another client's first
    assert all(60 < seconds <= 72 for seconds in bucket_waits)


def test_a_retry_after_of_an_hour_is_left_to_a_later_run(server: FlickrServer, tmp_path: Path) -> None:
    server.trouble(INFO, Trouble(status=429, headers={"Retry-After": "3500"}))
    with pytest.raises(NetworkError, match=r"another 3[45]\d\d seconds; run again"):
        client(server, tmp_path).ask(INFO, {"photo_id": "7"})
    assert server.calls[INFO] == 1


def test_redirects_are_not_followed(server: FlickrServer, tmp_path: Path) -> None:
    server.trouble(INFO, Trouble(status=307, headers={"Location": f"{server.root}/elsewhere"}))
    with pytest.raises(NetworkError, match="redirect"):
        client(server, tmp_path).ask(INFO, {"photo_id": "7"})
    assert sum(server.calls.values()) == 1


@pytest.mark.parametrize(
    ("code", "said"), [(1, "Photo not found"), (2, "Permission denied"), (116, "Bad URL found"), (112, "No such")]
)
def test_refusals_are_told_once_with_their_code(server: FlickrServer, tmp_path: Path, code: int, said: str) -> None:
    server.trouble(INFO, Trouble(body=fail(code, said)))
    with pytest.raises(ApiError, match=rf"^Flickr refuses flickr\.photos\.getInfo: {said} \(error {code}\)$") as caught:
        client(server, tmp_path).ask(INFO, {"photo_id": "7"})
    assert caught.value.code == code
    assert server.calls[INFO] == 1


def test_a_status_that_no_try_changes(server: FlickrServer, tmp_path: Path) -> None:
    server.trouble(INFO, Trouble(status=404))
    with pytest.raises(NetworkError, match="HTTP status 404"):
        client(server, tmp_path).ask(INFO, {"photo_id": "7"})
    assert server.calls[INFO] == 1


def test_the_licences_are_asked_for_once(server: FlickrServer, tmp_path: Path) -> None:
    asking = client(server, tmp_path)
    assert [asking.licences.of(4, photo="7").name for _ in range(3)] == ["CC-BY-2.0"] * 3
    assert server.calls["flickr.photos.licenses.getInfo"] == 1


ECHO = f"key={KEY}&secret={SECRET}&oauth_signature=Zm9v%3D"


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(status=400),
        Trouble(status=500),
        Trouble(status=429, headers={"Retry-After": "3000"}),
        Trouble(),
        Trouble(body=fail(100, f"Invalid API Key {ECHO}")),
        Trouble(body=fail(0, f"oops {ECHO}")),
        Trouble(status=302, headers={"Location": f"/somewhere?{ECHO}"}),
        Trouble(body=ECHO.encode(), cut=20),
        Trouble(status=418, body=ECHO.encode()),
    ],
    ids=["400", "500", "429", "200 text", "100", "0", "redirect", "cut", "418"],
)
def test_the_key_is_in_no_log_and_no_error(
    server: FlickrServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, trouble: Trouble
) -> None:
    asking = client(server, tmp_path)
    for name in noisy_loggers():
        logging.getLogger(name).setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    server.trouble(INFO, *[trouble] * 5)
    with pytest.raises((NetworkError, InputError)) as caught:
        asking.ask(INFO, {"photo_id": "7"})
    heard = {record.name.split(".")[0] for record in caplog.records}
    assert {"flickrapi", "oauthlib", "requests_oauthlib", "urllib3"} <= heard
    assert "oauth_consumer_key" in caplog.text  # what would have carried the key was logged
    texts = [caplog.text, str(caught.value), repr(caught.value), "".join(traceback.format_exception(caught.value)), repr(asking)]
    texts += [str(record.__dict__) for record in caplog.records]
    for text in texts:
        assert KEY not in text
        assert SECRET not in text


def test_a_usual_run_logs_nothing(server: FlickrServer, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.trouble(INFO, Trouble(status=500))
    client(server, tmp_path).ask(INFO, {"photo_id": "7"})
    assert [record.name for record in caplog.records if record.name.split(".")[0] in NOISY] == []


def test_answers_that_hold_the_key_do_not_bring_it_in(server: FlickrServer, tmp_path: Path) -> None:
    server.trouble(INFO, Trouble(body=f'{{"stat": "ok", "photo": {{"title": "by {KEY}"}}}}'.encode()))
    assert client(server, tmp_path).ask(INFO, {"photo_id": "7"})["photo"] == {"title": "by ***"}


@pytest.mark.parametrize("keys", [(KEY,), ("f" * 32, KEY), (KEY, "f" * 32)])
def test_logged_exceptions_are_cleaned_too(
    server: FlickrServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, keys: tuple[str, ...]
) -> None:
    for key in keys:
        client(server, tmp_path, key=key)
    caplog.set_level(logging.DEBUG)
    try:
        raise ValueError(f"sent {KEY}")
    except ValueError:
        logging.getLogger("urllib3.connectionpool").exception("broken by %s", KEY)
    assert "broken by ***" in caplog.text
    assert "sent ***" in caplog.text
    assert KEY not in caplog.text


def test_the_client_of_the_environment(server: FlickrServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.set_environment(monkeypatch, cache=tmp_path)
    assert connect() is connect()
    assert connect().ask(INFO, {"photo_id": "7"})["photo"]["id"] == "7"
    assert [path.suffix for path in (tmp_path / "rates").iterdir()] == [".sqlite"]
    assert repr(connect()) == f"FlickrClient({server.endpoint!r})"


@pytest.mark.parametrize("names", [["FLICKR_API_KEY"], ["FLICKR_API_SECRET"], ["FLICKR_API_KEY", "FLICKR_API_SECRET"]])
def test_a_missing_key_says_how_to_set_it(monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    monkeypatch.setenv("FLICKR_API_KEY", KEY)
    monkeypatch.setenv("FLICKR_API_SECRET", SECRET)
    for name in names:
        monkeypatch.setenv(name, "  ")
    with pytest.raises(InputError, match=rf"^{' and '.join(names)} not set.*export FLICKR_API_KEY") as caught:
        connect()
    assert KEY not in str(caught.value)


def test_an_endpoint_that_is_no_address(server: FlickrServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.set_environment(monkeypatch, cache=tmp_path)
    monkeypatch.setenv("INPAINTBENCH_FLICKR_ENDPOINT", "file:///etc/passwd")
    with pytest.raises(InputError, match="INPAINTBENCH_FLICKR_ENDPOINT is 'file:///etc/passwd'"):
        connect()


def test_the_official_endpoint_is_the_default() -> None:
    assert "INPAINTBENCH_FLICKR_ENDPOINT" not in os.environ
    assert flickr_client.ENDPOINT == "https://api.flickr.com/services/rest/"


def test_without_the_extra(server: FlickrServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flickrapi", None)
    with pytest.raises(MissingExtraError, match=r'pip install "PATH_TO_CLONE\[flickr\]"'):
        client(server, tmp_path)
