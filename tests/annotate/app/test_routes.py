from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest
from annotated_server import answer_to

from inpaintbench.annotate.app.allowed import Buckets, Rate, network_of
from inpaintbench.annotate.app.routes import browser_of, json_object, static_files
from inpaintbench.annotate.journal import Journal
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from conftest import Room


def first_card(room: Room, rater: str) -> dict[str, Any]:
    work = room.server.post("/api/work", {}, token=room.tokens[rater])
    assert work.status == 200, work.body
    return work.json["queue"][0]


def test_an_answer_is_stored_once_and_may_be_undone(room: Room) -> None:
    card = first_card(room, "ada")
    answer = answer_to(card)
    first = room.server.post("/api/answers", answer, token=room.tokens["ada"])
    again = room.server.post("/api/answers", answer, token=room.tokens["ada"])
    assert (first.status, first.json["stored"], first.json["duplicate"]) == (200, True, False)
    assert (again.status, again.json["duplicate"]) == (200, True)
    with Journal(room.folder / "journal.sqlite") as journal:
        stored = [one for one in journal.events(room.study.study_id) if one.body.get("submission_id") == answer["submission_id"]]
    assert [(one.kind, one.rater_id, one.body["given"]) for one in stored] == [
        ("answer", room.raters["ada"], {"verdict": "keep"})
    ]
    undo = {"submission_id": str(uuid.uuid4()), "undoes": answer["submission_id"]}
    undone = room.server.post("/api/undos", undo, token=room.tokens["ada"])
    assert undone.status == 200
    reopened = undone.json["work"]["queue"][0]
    assert (reopened["previous"], reopened["media"]["url"]) == ({"verdict": "keep"}, card["media"]["url"])


def test_a_skip_needs_a_reason_of_the_card(room: Room) -> None:
    card = first_card(room, "ada")
    skip = {"submission_id": str(uuid.uuid4()), "lease_id": card["lease_id"], "reason": "no such reason", "text": ""}
    assert room.server.post("/api/skips", skip, token=room.tokens["ada"]).status == 400
    skip["reason"] = card["skip_reasons"][0]["value"]
    assert room.server.post("/api/skips", skip, token=room.tokens["ada"]).status == 200


def test_a_proxy_comes_whole_and_in_ranges_and_is_kept_by_browsers(room: Room) -> None:
    url = first_card(room, "ada")["media"]["url"]
    whole = room.server.ask("GET", url, token=room.tokens["ada"])
    truth = (room.folder / "proxies" / url.rpartition("/")[2]).read_bytes()
    assert (whole.status, whole.body) == (200, truth)
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["cache-control"] == "private, max-age=31536000, immutable"
    part = room.server.ask("GET", url, token=room.tokens["ada"], Range="bytes=100-299")
    assert (part.status, part.body, part.headers["content-range"]) == (206, truth[100:300], f"bytes 100-299/{len(truth)}")
    tail = room.server.ask("GET", url, token=room.tokens["ada"], Range="bytes=-10")
    assert (tail.status, tail.body) == (206, truth[-10:])
    assert room.server.ask("GET", url, token=room.tokens["ada"], Range=f"bytes={len(truth)}-").status == 416
    many = room.server.ask("GET", url, token=room.tokens["ada"], Range="bytes=" + ",".join(["0-1"] * 100))
    assert (many.status, len(many.body)) == (200, len(truth))


def test_a_proxy_is_for_raters_who_hold_its_task_and_for_admins(room: Room) -> None:
    name = sorted(room.study.proxies)[0]
    assert room.server.ask("GET", f"/media/{name}", token=room.tokens["erin"]).status == 404
    assert room.server.ask("GET", f"/media/{name}", token=room.tokens["root"]).status == 200
    own = first_card(room, "erin")["media"]["url"]
    assert room.server.ask("GET", own, token=room.tokens["erin"]).status == 200


def test_the_pages_files_are_the_packages_own_and_revalidate(room: Room) -> None:
    name, (content, kind, tag) = next((name, one) for name, one in static_files().items() if name.endswith(".js"))
    answer = room.server.ask("GET", f"/static/{name}", token=room.tokens["ada"])
    assert (answer.status, answer.body, answer.headers["content-type"], answer.headers["etag"]) == (200, content, kind, tag)
    assert room.server.ask("GET", f"/static/{name}", token=room.tokens["ada"], If_None_Match=tag).status == 304


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"7", b'"x"', b"\xff\xfe", b"{", b"{}{}", b"[" * 60_000, b'{"a": NaN}', b'{"a": -Infinity}']
)
def test_what_is_no_object_of_plain_json_is_refused(body: bytes) -> None:
    with pytest.raises(InputError):
        json_object(body)


def test_an_object_is_read() -> None:
    assert json_object(b'{"given": {"verdict": "keep"}, "plays": 1}') == {"given": {"verdict": "keep"}, "plays": 1}


def test_a_bucket_gives_its_burst_at_once_and_then_its_rate() -> None:
    bucket = Buckets(Rate(10, 30))
    assert [bucket.wait_seconds("ada", now=0.0) for _ in range(30)] == [0.0] * 30
    assert bucket.wait_seconds("ada", now=0.0) == pytest.approx(0.1)
    assert bucket.wait_seconds("bob", now=0.0) == 0.0
    assert bucket.wait_seconds("ada", now=0.1) == 0.0
    assert bucket.wait_seconds("ada", now=0.15) == pytest.approx(0.05)
    granted = sum(bucket.wait_seconds("ada", now=0.15 + step / 1000) == 0.0 for step in range(10_000))
    assert granted in (100, 101)


def test_buckets_forget_whoever_asked_longest_ago() -> None:
    bucket = Buckets(Rate(1, 1), most=100)
    for number in range(1000):
        bucket.wait_seconds(str(number), now=0.0)
    assert len(bucket) == 100
    assert bucket.wait_seconds("999", now=0.0) > 0
    assert bucket.wait_seconds("0", now=0.0) == 0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
    ],
)
def test_an_address_counts_as_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("agent", "called"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36", "Chrome 130"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/131.0", "Edge 131"),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15", "Safari 18"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox 132"),
        ("curl/8.5.0", "other"),
        ("", "other"),
    ],
)
def test_of_a_browser_its_name_and_main_version_are_kept(agent: str, called: str) -> None:
    assert browser_of(agent) == called
