from __future__ import annotations

import base64
import hashlib
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from annotated_server import Answer, answer_to

from inpaintbench.annotate.app.allowed import RULES, Limits, Origins, WrongHost, is_own, page_policy
from inpaintbench.annotate.app.security import REMEMBERED_SECONDS
from inpaintbench.annotate.journal import Journal
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from conftest import Room

DOCUMENT = Path(__file__).parents[3] / "docs" / "annotate_security.md"
PASSWD = "/etc/passwd"
UP = (
    "../",
    "..%2f",
    "..%5c",
    "..\\",
    "%2e%2e/",
    "%2e%2e%2f",
    "%252e%252e%252f",
    "..%252f",
    "..;/",
    "....//",
    "%c0%ae%c0%ae/",
    "%ef%bc%8e%ef%bc%8e/",
)
"""Ways to write the folder above."""
PREFIXES = ("/media/", "/static/", "/assets/", "/", "/admin/assets/")
GRADIO = (
    "/config", "/gradio_api/info", "/gradio_api/openapi.json", "/gradio_api/startup-events", "/gradio_api/heartbeat/abc",
    "/gradio_api/queue/data?session_hash=abc", "/gradio_api/app_id", "/gradio_api/user", "/gradio_api/token", "/gradio_api/runs",
    "/gradio_api/stream/a/b/c/playlist.m3u8", "/gradio_api/upload_progress?upload_id=1", "/gradio_api/vibe-code",
    "/gradio_api/dev/reload",
    "/monitoring", "/monitoring/summary", "/manifest.json", "/pwa_icon", "/robots.txt", "/docs", "/redoc", "/openapi.json",
    "/svelte/x.js",
    "/custom_component/1/client/component/index.js", "/gradio_api/deep_link", "/login_check", "/theme.css/", "/admin/config",
)  # fmt: skip
GRADIO_POSTS = (
    "/gradio_api/upload", "/gradio_api/queue/join", "/gradio_api/component_server", "/gradio_api/reset", "/gradio_api/cancel",
    "/gradio_api/run/predict", "/gradio_api/api/predict", "/gradio_api/call/refresh", "/gradio_api/call/v2/refresh",
    "/gradio_api/stream/1", "/gradio_api/process_recording", "/gradio_api/vibe-edit", "/gradio_api/profiling/clear",
    "/run/predict",
    "/admin/gradio_api/queue/join", "/admin/gradio_api/upload", "/admin/gradio_api/component_server",
    "/admin/gradio_api/run/refresh",
)  # fmt: skip
Attempt = Callable[["Room"], Iterator[Answer]]
ATTEMPTS: dict[str, tuple[str, Attempt]] = {}


def attempt(name: str, status: str) -> Callable[[Attempt], Attempt]:
    """Names an attempt and the status that each of its forms gets, as in the document's table."""

    def keep(one: Attempt) -> Attempt:
        ATTEMPTS[name] = (status, one)
        return one

    return keep


@attempt("Path traversal on the file routes, 120 forms (encoded, doubly encoded, backslashes, overlong, full-width)", "404")
def _traversal(room: Room) -> Iterator[Answer]:
    for prefix in PREFIXES:
        for up in UP:
            yield room.server.ask("GET", f"{prefix}{up * 8}etc/passwd", token=room.tokens["root"])
            yield room.server.ask("GET", f"{prefix}{up}study.json", token=room.tokens["root"])


@attempt("Absolute paths, NUL, spaces and other names on the file routes", "404")
def _odd_names(room: Room) -> Iterator[Answer]:
    name = sorted(room.study.proxies)[0]
    odd = (
        PASSWD, "%2fetc%2fpasswd", f"{name}%00", f"{name}%00.png", f"{name}/", f"{name.upper()}", f"./{name}", f"{name}.",
            f"{name}%20",
        "journal.sqlite", "study.json", ".hidden", "", f"{name};a=b", f"{name}%2e", "C:%5cwindows%5cwin.ini",
        "file:///etc/passwd",
        "0" * 32 + ".mp4", name.replace(".mp4", ".png"), name.replace(".mp4", ".json"), name[:-4],
    )  # fmt: skip
    for one in odd:
        yield room.server.ask("GET", f"/media/{one}", token=room.tokens["root"])
        yield room.server.ask("GET", f"/static/{one}", token=room.tokens["root"])


@attempt("Gradio's file route: `file=`, `file/`, `proxy=`, with paths and with addresses", "404")
def _gradio_files(room: Room) -> Iterator[Answer]:
    for path in (PASSWD, "etc/passwd", str(room.folder / "journal.sqlite"), str(room.folder / "study.json"), "/proc/self/environ",
                 "http://127.0.0.1:1/", "https:%2f%2fexample.org", "//example.org"):  # fmt: skip
        for route in ("/gradio_api/file=", "/file=", "/gradio_api/file/", "/gradio_api/proxy=", "/proxy=",
            "/admin/gradio_api/file=",
                      "/admin/gradio_api/proxy="):  # fmt: skip
            for who in (None, "ada", "root"):
                yield room.server.ask("GET", route + path, token=room.tokens[who] if who else None)


@attempt("The rest of Gradio's routes and FastAPI's documentation", "404")
def _gradio_rest(room: Room) -> Iterator[Answer]:
    for who in (None, "ada", "root"):
        token = room.tokens[who] if who else None
        for path in GRADIO:
            yield room.server.ask("GET", path, token=token)
        for path in GRADIO_POSTS:
            yield room.server.post(path, {"fn_index": 0, "data": [], "session_hash": "abc"}, token=token)


@attempt("The journal, `study.json` or the environment by their names", "404")
def _journal(room: Room) -> Iterator[Answer]:
    for path in ("/journal.sqlite", "/journal.sqlite-wal", "/study.json", "/proxies/", "/.env", "/proc/self/environ", "/env",
                 "/api/journal", "/admin/journal.sqlite", "/media/journal.sqlite", "/static/journal.sqlite"):  # fmt: skip
        yield room.server.ask("GET", path, token=room.tokens["root"])


@attempt("A proxy of a task that the rater does not hold", "404")
def _others_proxy(room: Room) -> Iterator[Answer]:
    stranger = room.people.add(room.study.study_id, f"new {uuid.uuid4().hex[:8]}").rater_id
    token = room.server.enter(room.people.invite(room.study.study_id, stranger))
    for name in room.study.proxies:
        yield room.server.ask("GET", f"/media/{name}", token=token)


@attempt("The app without a session, with a forged or a malformed cookie: pages", "303 to `/login`")
def _strangers_pages(room: Room) -> Iterator[Answer]:
    for token in (None, "x" * 43, "' OR 1=1 --", "..", "%00", room.tokens["ada"][:-1], room.tokens["ada"] + "A"):
        for path in ("/", "/admin", "/admin/"):
            yield room.server.ask("GET", path, token=token)


@attempt("The same: answers, proxies, files, downloads", "401")
def _strangers_rest(room: Room) -> Iterator[Answer]:
    name = sorted(room.study.proxies)[0]
    for token in (None, "x" * 43, room.tokens["ada"][:-1]):
        for path in (
            f"/media/{name}",
            "/static/rater.js",
            "/theme.css",
            "/assets/index.js",
            "/admin/judgements.csv",
            "/admin/theme.css",
        ):
            yield room.server.ask("GET", path, token=token)
        for path in ("/api/work", "/api/answers", "/api/skips", "/api/undos", "/logout", "/admin/gradio_api/run/predict"):
            yield room.server.post(path, {}, token=token)


@attempt("An invitation that is wrong, or was replaced by a newer one", "403")
def _wrong_secret(room: Room) -> Iterator[Answer]:
    old = room.people.invite(room.study.study_id, room.raters["carl"])
    room.people.invite(room.study.study_id, room.raters["carl"])
    for secret in (old, "x", "A" * 43, "0" * 200, "-" * 43):
        yield room.server.ask("GET", f"/join/{secret}")


@attempt("A wrong password, an unknown name, a name of another form", "403")
def _wrong_password(room: Room) -> Iterator[Answer]:
    for name, password in (("ada", "wrong"), ("nobody", "wrong"), ("bob", ""), ("ada' --", "x"), ("root", "root")):
        yield _login(room, f"name={name}&password={password or 'x'}")


@attempt("A login without fields, with doubled or endless ones", "400")
def _malformed_login(room: Room) -> Iterator[Answer]:
    for body in (
        "",
        "name=ada",
        "password=x",
        "name=ada&name=bob&password=x",
        "name=" + "a" * 300 + "&password=x",
        "&".join(["a=1"] * 99),
    ):
        yield _login(room, body)


@attempt("A session that was planted before joining or logging in (fixation)", "303, and another session")
def _fixation(room: Room) -> Iterator[Answer]:
    planted = "A" * 43
    secret = room.people.invite(room.study.study_id, room.raters["bob"])
    joined = room.server.ask("GET", f"/join/{secret}", token=planted)
    entered = _login(room, "name=ada&password=correct%20horse%20battery", Cookie=f"inpaintbench_session={planted}")
    for answer in (joined, entered):
        cookie = answer.headers["set-cookie"]
        assert planted not in cookie
        assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
        assert answer.headers["location"] == "/"
        yield answer
    assert room.server.post("/api/work", {}, token=planted).status == 401


@attempt("The session of a rater who was shut out, or who left", "401")
def _revoked(room: Room) -> Iterator[Answer]:
    gone = room.people.add(room.study.study_id, f"gone {uuid.uuid4().hex[:8]}").rater_id
    secret = room.people.invite(room.study.study_id, gone)
    left, token = room.server.enter(secret), room.server.enter(secret)
    assert room.server.post("/logout", {}, token=left).status == 200
    yield room.server.post("/api/work", {}, token=left)
    assert room.server.post("/api/work", {}, token=token).status == 200
    room.people.revoke(room.study.study_id, gone)
    time.sleep(REMEMBERED_SECONDS)
    yield room.server.post("/api/work", {}, token=token)


@attempt("The admin page, its events or downloads as a rater", "403")
def _role(room: Room) -> Iterator[Answer]:
    for path in (
        "/admin",
        "/admin/",
        "/admin/judgements.csv",
        "/admin/results",
        f"/admin/pictures/{'0' * 32}.jpg",
        "/admin/theme.css",
        "/admin/assets/index.js",
    ):
        yield room.server.ask("GET", path, token=room.tokens["ada"])
    for number in range(8):
        call = {"fn_index": number, "data": [room.raters["bob"]], "session_hash": "abc"}
        yield room.server.post("/admin/gradio_api/run/predict", call, token=room.tokens["ada"])


@attempt("Asking for work, answering, skipping or undoing as an admin", "403")
def _admin_answers(room: Room) -> Iterator[Answer]:
    token, card = room.tokens["root"], _card(room, "ada")
    skip = {"submission_id": str(uuid.uuid4()), "lease_id": card["lease_id"], "reason": "unclear", "text": ""}
    done = answer_to(_card(room, "ada"))
    assert room.server.post("/api/answers", done, token=room.tokens["ada"]).status == 200
    undo = {"submission_id": str(uuid.uuid4()), "undoes": done["submission_id"]}
    sent = (("work", {}), ("answers", answer_to(card)), ("skips", skip), ("undos", undo), ("answers", {"rater_id": "x"}))
    for route, fields in sent:
        yield room.server.post(f"/api/{route}", fields, token=token)
    with Journal(room.folder / "journal.sqlite") as journal:
        assert room.raters["root"] not in {event.rater_id for event in journal.events(room.study.study_id)}


@attempt("The raters' page as an admin", "303 to `/admin/`")
def _admin_at_raters_page(room: Room) -> Iterator[Answer]:
    answer = room.server.ask("GET", "/?next=//example.org", token=room.tokens["root"])
    assert answer.headers["location"] == "/admin/"
    yield answer


@attempt("Answering or skipping a task that another rater holds", "403")
def _others_lease(room: Room) -> Iterator[Answer]:
    card = _card(room, "bob")
    yield room.server.post("/api/answers", answer_to(card), token=room.tokens["ada"])
    skip = {
        "submission_id": str(uuid.uuid4()),
        "lease_id": card["lease_id"],
        "reason": card["skip_reasons"][0]["value"],
        "text": "",
    }
    yield room.server.post("/api/skips", skip, token=room.tokens["ada"])


@attempt("Undoing the answer of another rater", "403 or 404")
def _others_answer(room: Room) -> Iterator[Answer]:
    answer = answer_to(_card(room, "bob"))
    assert room.server.post("/api/answers", answer, token=room.tokens["bob"]).status == 200
    undo = {"submission_id": str(uuid.uuid4()), "undoes": answer["submission_id"]}
    yield room.server.post("/api/undos", undo, token=room.tokens["ada"])


@attempt("A lease or a submission that does not exist", "404")
def _unknown_lease(room: Room) -> Iterator[Answer]:
    card = {**_card(room, "ada"), "lease_id": "0" * 32}
    yield room.server.post("/api/answers", answer_to(card), token=room.tokens["ada"])
    undo = {"submission_id": str(uuid.uuid4()), "undoes": str(uuid.uuid4())}
    yield room.server.post("/api/undos", undo, token=room.tokens["ada"])


@attempt("The same task answered twice, with another submission", "409")
def _twice(room: Room) -> Iterator[Answer]:
    card = _card(room, "ada")
    assert room.server.post("/api/answers", answer_to(card), token=room.tokens["ada"]).status == 200
    yield room.server.post("/api/answers", answer_to(card, given={"verdict": "reject"}), token=room.tokens["ada"])


@attempt("Values that the form does not offer, another rater's name, unknown or missing fields", "400")
def _forged_values(room: Room) -> Iterator[Answer]:
    card = _card(room, "ada")
    for given in ({"verdict": "place-9"}, {"verdict": "maybe"}, {}, {"verdict": "keep", "reason": "overlay"},
        {"verdict": "reject"},
                  {"verdict": "keep", "extra": "x"}, {"verdict": "reject", "reason": "other", "reason_text": "x" * 501},
                  {"verdict": "reject", "reason": "other"}, {"__proto__": "x"}, {"verdict": ["keep"]}, [], "keep",
                      None):  # fmt: skip
        yield room.server.post("/api/answers", answer_to(card, given=given), token=room.tokens["ada"])
    for changes in (
        {"rater_id": room.raters["bob"]},
        {"task_id": "x"},
        {"lease_id": ["x"]},
        {"submission_id": "../1"},
        {"at": 0},
    ):
        yield room.server.post("/api/answers", answer_to(card, **changes), token=room.tokens["ada"])


@attempt("NaN, infinities, negative or huge numbers, numbers as text, deep arrays, broken JSON", "400")
def _forged_numbers(room: Room) -> Iterator[Answer]:
    known = answer_to(_card(room, "ada"))
    for name in ("seconds", "watched_frames", "plays"):
        for value in ("NaN", "Infinity", "-Infinity", "-1", "1e999", "9" * 5000, '"1"', "[1]", "{}", "null", "true"):
            rest = json.dumps({key: one for key, one in known.items() if key != name})
            yield room.server.post("/api/answers", f'{rest[:-1]}, "{name}": {value}}}'.encode(), token=room.tokens["ada"])
    for body in (b"[" * 30_000, b"", b"null", b"\xff\xfe\x00", b"{", b'{"a": 1', b"[]"):
        yield room.server.post("/api/answers", body, token=room.tokens["ada"])


@attempt("NUL or half of a surrogate pair in words, values or names of fields", "400")
def _unstorable(room: Room) -> Iterator[Answer]:
    token, card = room.tokens["ada"], _card(room, "ada")
    skip = {"submission_id": str(uuid.uuid4()), "lease_id": card["lease_id"], "reason": "other", "text": "WORDS"}
    whole = json.dumps(answer_to(card, given={"verdict": "reject", "reason": "other", "reason_text": "WORDS"})).encode()
    for bad in (b"\\u0000", b"a\\ud800", b"\\udc00\\ud83d", b"\xed\xa0\x80"):
        yield room.server.post("/api/skips", json.dumps(skip).encode().replace(b"WORDS", bad), token=token)
        yield room.server.post("/api/answers", whole.replace(b"WORDS", bad), token=token)
        yield room.server.post("/api/answers", whole.replace(b"reason_text", bad), token=token)
        yield room.server.post("/api/undos", b'{"undoes": "x", "submission_id": "' + bad + b'"}', token=token)
        yield room.server.post("/api/work", b'{"' + bad + b'": 1}', token=token)


@attempt("An answer before every frame was shown, where the study asks for that", "400")
def _unwatched(room: Room) -> Iterator[Answer]:
    for _ in range(60):
        card = _card(room, "carl")
        if card["must_watch"]:
            yield room.server.post("/api/answers", answer_to(card, watched_frames=1), token=room.tokens["carl"])
            return
        assert room.server.post("/api/answers", answer_to(card), token=room.tokens["carl"]).status == 200
    raise AssertionError("no task came that must be watched")


@attempt("CSRF: a form of another site (form content types)", "415")
def _form_post(room: Room) -> Iterator[Answer]:
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""):
        for path in ("/api/answers", "/api/work", "/logout", "/admin/gradio_api/run/predict"):
            yield room.server.post(path, {}, token=_allowed(room, path), Content_Type=kind)
    yield _login(room, "{}", Content_Type="application/json")


@attempt("CSRF: another `Origin`, `Sec-Fetch-Site`, or no `X-Inpaintbench`", "403")
def _other_origin(room: Room) -> Iterator[Answer]:
    port = room.server.port
    token = room.tokens["ada"]
    for origin in ("https://example.org", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", "http://127.0.0.1",
                   f"http://127.0.0.1:{port}.example.org", f"http://localhost:{port}"):  # fmt: skip
        for path in ("/api/work", "/logout", "/admin/gradio_api/run/predict"):
            yield room.server.post(path, {}, token=_allowed(room, path), Origin=origin)
        yield _login(room, "name=ada&password=x", Origin=origin)
    for site in ("cross-site", "same-site", "nonsense"):
        yield room.server.post("/api/work", {}, token=token, Sec_Fetch_Site=site)
    for purpose in ("", "0", "true"):
        yield room.server.post("/api/work", {}, token=token, X_Inpaintbench=purpose)
    yield room.server.post("/admin/gradio_api/run/predict", {}, token=room.tokens["root"], Origin="")
    yield _login(room, "name=ada&password=x", Origin="")


@attempt("A body larger than 64 KiB, by its length or in chunks", "413")
def _oversized(room: Room) -> Iterator[Answer]:
    for path in ("/api/answers", "/api/work", "/logout", "/admin/gradio_api/run/predict"):
        token = _allowed(room, path)
        yield room.server.post(path, b"x" * (Limits().body_bytes + 1), token=token)
        yield room.server.post(path, b"", token=token, Content_Length="99999999999")
        chunks = b"".join(b"1000\r\n" + b"x" * 4096 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
        yield room.server.post(path, chunks, token=token, Content_Length="", Transfer_Encoding="chunked")
    yield _login(room, "name=" + "a" * 70_000)


@attempt("An address longer than 4,096 characters", "414")
def _long_address(room: Room) -> Iterator[Answer]:
    yield room.server.ask("GET", "/?" + "a" * 5_000, token=room.tokens["ada"])
    yield room.server.ask("GET", "/join/" + "a" * 5_000)


@attempt("More than 64 headers", "431")
def _many_headers(room: Room) -> Iterator[Answer]:
    yield room.server.ask("GET", "/login", **{f"X_{number}": "1" for number in range(70)})


@attempt("A `Host` that is not the server's (DNS rebinding), or none", "400")
def _wrong_host(room: Room) -> Iterator[Answer]:
    port = room.server.port
    for host in (
        "example.org",
        f"example.org:{port}",
        f"127.0.0.1.example.org:{port}",
        "192.0.2.1",
        f"user@127.0.0.1:{port}",
        "[::1",
        "",
    ):
        for path in ("/login", "/", "/static/rater.js"):
            yield room.server.ask("GET", path, token=room.tokens["ada"], Host=host)


@attempt("Forwarding headers that claim another host, scheme, address or path", "200, and they change nothing")
def _forwarded(room: Room) -> Iterator[Answer]:
    headers = {"X_Forwarded_Host": "example.org", "X_Forwarded_Proto": "https", "X_Forwarded_For": "192.0.2.1",
        "Forwarded": "host=example.org",
               "X_Original_URL": "/admin/", "X_Rewrite_URL": "/admin/", "X_Forwarded_Prefix": "/evil"}  # fmt: skip
    plain = room.server.ask("GET", "/", token=room.tokens["ada"])
    answer = room.server.ask("GET", "/", token=room.tokens["ada"], **headers)
    assert answer.body == plain.body
    assert b"example.org" not in answer.body
    yield answer


@attempt("Open redirects: `next`, doubled slashes, backslashes", "200, 303 to `/login` or 404")
def _redirects(room: Room) -> Iterator[Answer]:
    for path in ("/?next=https://example.org", "/login?next=//example.org", "/admin?next=https://example.org", "//example.org",
        "/\\example.org",
                 "/%5cexample.org", "/login/", "/admin//example.org", "/join//example.org", "///example.org/%2e%2e",
                 "/login?_target_url=//x"):  # fmt: skip
        answer = room.server.ask("GET", path)
        assert answer.headers.get("location", "/login") == "/login"
        yield answer


@attempt("Other methods: TRACE, PUT, DELETE, PATCH, OPTIONS, CONNECT, HEAD, and POST for GET", "405")
def _methods(room: Room) -> Iterator[Answer]:
    for method in ("TRACE", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "HEAD", "PROPFIND", "get"):
        for path in ("/", "/api/answers", "/login", "/media/" + "0" * 32 + ".mp4"):
            yield room.server.ask(method, path, token=room.tokens["root"])
    yield room.server.post("/", {}, token=room.tokens["root"])
    yield room.server.ask("GET", "/api/answers", token=room.tokens["ada"])
    yield room.server.ask("GET", "/logout", token=room.tokens["ada"])


@attempt("Method override headers on a GET", "405")
def _override(room: Room) -> Iterator[Answer]:
    for name in ("X_HTTP_Method_Override", "X_HTTP_Method", "X_Method_Override"):
        yield room.server.ask("GET", "/api/work", token=room.tokens["ada"], **{name: "POST"})


@attempt("A websocket, or a stream of events", "404 or 405")
def _sockets(room: Room) -> Iterator[Answer]:
    wish = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec_WebSocket_Version": "13",
    }
    for path in ("/gradio_api/queue/join", "/ws", "/queue/join", "/api/work"):
        yield room.server.ask("GET", path, token=room.tokens["root"], **wish)
        yield room.server.ask("GET", path, token=room.tokens["root"], Accept="text/event-stream")


@attempt("Two lengths, an unknown transfer encoding, bytes that no address has, line breaks in headers", "400 or 501")
def _smuggling(room: Room) -> Iterator[Answer]:
    host = f"Host: 127.0.0.1:{room.server.port}\r\n"
    for head in ("POST /login HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
        "POST /login HTTP/1.1\r\nTransfer-Encoding: identity, chunked",
                 "GET /media/．．/study.json HTTP/1.1", "GET /\x00 HTTP/1.1", "GET /login HTTP/1.1\r\nHost: a.example",
                 "GET / HTTP/9.9.9", "GET  / HTTP/1.1", "GET /login HTTP/1.1\r\nX: a\r\n b: c\x00"):  # fmt: skip
        yield room.server.raw(f"{head}\r\n{host}\r\n".encode())


@attempt("A GET with a body (request smuggling)", "400")
def _body_of_get(room: Room) -> Iterator[Answer]:
    yield room.server.ask("GET", "/login", body=b"x" * 10)
    yield room.server.ask("GET", "/login", body=b"0\r\n\r\n", Content_Length="", Transfer_Encoding="chunked")


def _login(room: Room, body: str, **headers: str) -> Answer:
    known = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{room.server.port}"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return room.server.ask("POST", "/login", body=body.encode(), **known | given)


@attempt("Arriving from a platform, or a stranger's steps, in a study that takes no strangers", "404")
def _no_strangers(room: Room) -> Iterator[Answer]:
    yield room.server.ask("GET", "/enter?PROLIFIC_PID=somebody&STUDY_ID=s&SESSION_ID=t")
    for step in ("consent", "reread", "leave", "withdraw"):
        yield room.server.post("/api/steps", {"step": step}, token=room.tokens["bob"])


@attempt("A query that claims another person or session, where none is read", "200")
def _queries(room: Room) -> Iterator[Answer]:
    for query in ("PROLIFIC_PID=somebody", "session=1", "__theme=dark", "view=api"):
        yield room.server.ask("GET", f"/?{query}", token=room.tokens["ada"])


def _card(room: Room, rater: str) -> dict[str, object]:
    work = room.server.post("/api/work", {}, token=room.tokens[rater])
    card: dict[str, object] = work.json["queue"][0]
    return card


def _allowed(room: Room, path: str) -> str:
    """The session of somebody who may call ``path``."""
    return room.tokens["root" if path.startswith("/admin") else "ada"]


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_is_refused(room: Room, name: str) -> None:
    status, make = ATTEMPTS[name]
    allowed = {int(one) for one in re.findall(r"\b[2-5]\d\d\b", status)}
    answers = list(make(room))
    assert answers
    for number, answer in enumerate(answers):
        assert answer.status in allowed, (number, answer.status, answer.body[:200])
        for secret in (b"root:x:0", b"SQLite format 3", b"environment-1234", b"Traceback", str(room.folder).encode()):
            assert secret not in answer.body
        assert answer.headers.get("x-content-type-options") == "nosniff" or answer.body == b"Invalid HTTP request received."
        assert "server" not in answer.headers


def test_the_document_has_the_same_table() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", DOCUMENT.read_text(), re.MULTILINE)
    told = dict(rows[rows.index(("Attempt", "Status")) + 1 :])
    assert told == {name: status for name, (status, _) in ATTEMPTS.items()}


def test_every_answer_carries_the_headers(room: Room) -> None:
    asked = [
        room.server.ask("GET", path, token=_allowed(room, path))
        for path in ("/", "/admin/", "/login", "/nowhere", "/static/rater.js")
    ]
    asked += [room.server.post("/api/work", {}, token=room.tokens["ada"]), room.server.post("/api/work", {})]
    for answer in asked:
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert "http" not in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] in ("no-referrer", "same-origin")
        assert not any(name.startswith("access-control-") for name in answer.headers)
    for answer in (*asked[:4], *asked[5:]):
        assert answer.headers["cache-control"] == "no-store"
    joined = room.server.ask("GET", "/join/wrong")
    assert joined.headers["referrer-policy"] == "no-referrer"


def test_a_page_allows_its_own_scripts_and_no_others() -> None:
    policy = page_policy(b"<script>one()</script><script src='x'></script><script type='module'>two()</script>")
    assert policy.count("'sha256-") == 2
    assert f"'sha256-{base64.b64encode(hashlib.sha256(b'one()').digest()).decode()}'" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]


@pytest.mark.parametrize(
    ("host", "bound", "public", "origin"),
    [
        ("localhost:80", "127.0.0.1", None, "http://localhost:80"),
        ("127.0.0.1", "127.0.0.1", None, "http://127.0.0.1"),
        ("[::1]:7860", "127.0.0.1", None, "http://[::1]:7860"),
        ("lab.test:9", "lab.test", None, "http://lab.test:9"),
        ("192.0.2.7:1", "0.0.0.0", None, "http://192.0.2.7:1"),
        ("192.0.2.7:1", "127.0.0.1", None, None),
        ("other.test", "0.0.0.0", None, None),
        ("study.test", "127.0.0.1", "https://study.test", "https://study.test"),
        ("STUDY.test", "127.0.0.1", "https://study.test", "https://study.test"),
        ("study.test:1", "127.0.0.1", "https://study.test", None),
        ("127.0.0.1@evil.test", "127.0.0.1", None, None),
    ],
)
def test_the_server_knows_its_names(host: str, bound: str, public: str | None, origin: str | None) -> None:
    from starlette.datastructures import Headers

    origins = Origins(bound=bound, public=public)
    headers = Headers({"host": host})
    if origin is None:
        with pytest.raises(WrongHost):
            origins.of(headers, scheme="http")
    else:
        assert origins.of(headers, scheme="http") == origin


@pytest.mark.parametrize(
    "public", ["study.test", "https://", "https://study.test/", "https://study.test/path", "ftp://study.test"]
)
def test_a_public_origin_is_an_origin(public: str) -> None:
    with pytest.raises(InputError, match="is no origin"):
        Origins(public=public)


def test_programs_may_be_silent_about_their_origin_where_the_header_speaks() -> None:
    from starlette.datastructures import Headers

    assert is_own(Headers({}), origin="http://a", must_tell=False)
    assert not is_own(Headers({}), origin="http://a", must_tell=True)
    assert not is_own(Headers({"origin": "http://a", "sec-fetch-site": "cross-site"}), origin="http://a", must_tell=False)


def test_nothing_of_gradio_is_open_to_raters_but_files_of_the_page() -> None:
    of_raters = [rule for rule in RULES if rule.of_gradio and not rule.path.startswith("/admin")]
    assert {rule.method for rule in of_raters} == {"GET"}
    assert all("gradio_api" not in rule.path for rule in of_raters)
