"""A server on this machine that speaks enough of the Hub's language to hold datasets: repositories, LFS uploads, commits, ranges.

It keeps everything in memory. ``spoil`` lets it fail now and then as the real one does.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_AbcDefGhiJklMnoPqrStuVwxYz0123456789"
LFS_SUFFIXES = (".mp4", ".png", ".parquet")
PAGE = 3
"""Entries of one page of a listing, so that small datasets have several."""


@dataclass
class Repository:
    private: bool
    branches: dict[str, dict[str, bytes]] = field(default_factory=lambda: {"main": {".gitattributes": b"*.mp4 filter=lfs\n"}})
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def tree(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        if revision in self.commits:
            return revision, self.commits[revision]
        files = self.branches.get(revision)
        if files is None:
            return None
        told = sorted((name, hashlib.sha1(data).hexdigest()) for name, data in files.items())
        commit = hashlib.sha1(json.dumps(told).encode()).hexdigest()
        self.commits[commit] = dict(files)
        return commit, files


@dataclass
class Fault:
    """What happens to the next ``times`` requests whose method and path match."""

    method: str
    path: str
    status: int = 0
    """0 = hang up instead of answering."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Callable[[Mapping[str, str]], bytes] = lambda headers: b'{"error": "not now"}'
    cut_after: int | None = None
    """Answer properly, and hang up after so many bytes of the body."""
    change: Callable[[bytes], bytes] | None = None
    """Answer with other bytes."""
    times: int = 1


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    status: int = 0


@dataclass
class Answer:
    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)


class HubServer:
    """Use it as a context manager; ``url`` is what HF_ENDPOINT has to say."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.stored: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.seen: list[Request] = []
        self.lock = threading.RLock()
        self.on_request: Callable[[Request], None] = lambda request: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self}))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def spoil(self, method: str, path: str, **how: Any) -> None:
        self.faults.append(Fault(method, path, **how))

    def asked(self, method: str, path: str) -> list[Request]:
        return [one for one in self.seen if one.method == method and re.search(path, one.path)]

    def files(self, name: str, revision: str = "main") -> dict[str, bytes]:
        return {path: data for path, data in self.repositories[name].branches[revision].items() if path != ".gitattributes"}

    def take_fault(self, request: Request) -> Fault | None:
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and fault.method == request.method and re.search(fault.path, request.path):
                    fault.times -= 1
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # answers in one piece: two make the other side wait

    def log_message(self, *_: object) -> None:
        """Silent."""

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) if not self._chunked() else self._chunks()
        request = Request(self.command, unquote(self.path), {name.lower(): value for name, value in self.headers.items()})
        with self.hub.lock:
            self.hub.seen.append(request)
        self.hub.on_request(request)
        fault = self.hub.take_fault(request)
        if fault and fault.cut_after is None and fault.change is None:
            if not fault.status:
                self.close_connection = True
                return
            answer = Answer(fault.status, fault.body(request.headers), dict(fault.headers))
        else:
            with self.hub.lock:
                answer = _answer(self.hub, request, body)
        request.status = answer.status
        self._send(answer, fault)

    def do_GET(self) -> None:
        self.handle_any()

    def do_HEAD(self) -> None:
        self.handle_any()

    def do_POST(self) -> None:
        self.handle_any()

    def do_PUT(self) -> None:
        self.handle_any()

    def _chunked(self) -> bool:
        return "chunked" in self.headers.get("Transfer-Encoding", "")

    def _chunks(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, answer: Answer, fault: Fault | None) -> None:
        data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        if fault and fault.change and self.command == "GET":
            data = fault.change(data)
        self.send_response(answer.status)
        if not isinstance(answer.body, bytes):
            answer.headers.setdefault("Content-Type", "application/json")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            if fault and fault.cut_after is not None:
                data, self.close_connection = data[: fault.cut_after], True
            self.wfile.write(data)


def _answer(hub: HubServer, request: Request, body: bytes) -> Answer:
    address = urlsplit(request.path)
    known = request.headers.get("authorization") == f"Bearer {TOKEN}"
    if address.path.startswith("/lfs/"):  # signed addresses need no token
        return _store(hub, address.path.removeprefix("/lfs/"), body)
    if address.path == "/api/whoami-v2":
        return Answer(body={"name": "somebody", "type": "user"}) if known else Answer(401, {"error": "Invalid credentials"})
    if address.path == "/api/validate-yaml":
        return Answer(body={"errors": [], "warnings": []})
    if address.path == "/api/repos/create":
        return _create(hub, json.loads(body)) if known else Answer(401, {"error": "Invalid username or password."})
    for pattern, work in _ROUTES:
        if found := re.fullmatch(pattern, address.path):
            repository = hub.repositories.get(found[1])
            if repository is None or (not known and (repository.private or request.method not in ("GET", "HEAD"))):
                status = 404 if known else 401
                return Answer(status, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            return work(hub, repository, found, request, body)
    return Answer(404, {"error": f"nothing at {address.path}"})


def _create(hub: HubServer, asked: dict[str, Any]) -> Answer:
    name = f"{asked['organization']}/{asked['name']}"
    assert asked["type"] == "dataset"
    if name in hub.repositories:
        return Answer(409, {"error": "You already created this dataset repo", "url": f"{hub.url}/datasets/{name}"})
    private = asked.get("private") or asked.get("visibility") == "private"
    hub.repositories[name] = Repository(bool(private))
    return Answer(body={"url": f"{hub.url}/datasets/{name}", "name": name})


def _info(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    tree = repository.tree(found[2] or "main")
    if tree is None:
        return Answer(404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"})
    siblings = [{"rfilename": name} for name in tree[1]]
    return Answer(body={"id": found[1], "sha": tree[0], "private": repository.private, "siblings": siblings, "tags": []})


def _tree(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    tree = repository.tree(found[2])
    if tree is None:
        return Answer(404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"})
    asked, below = parse_qs(urlsplit(request.path).query), (found[3] or "").strip("/")
    inside = {name: data for name, data in tree[1].items() if not below or name.startswith(f"{below}/")}
    rows = [_entry(name, data) for name, data in sorted(inside.items())]
    if asked.get("recursive", ["false"])[0].lower() != "true":
        depth = below.count("/") + 2 if below else 1
        folders = sorted({"/".join(name.split("/")[:depth]) for name in inside if name.count("/") >= depth})
        rows = [row for row in rows if row["path"].count("/") < depth]
        rows += [
            {"type": "directory", "path": name, "oid": hashlib.sha1(name.encode()).hexdigest(), "size": 0} for name in folders
        ]
    elif folders := sorted({name.rpartition("/")[0] for name in inside} - {""}):
        rows += [
            {"type": "directory", "path": name, "oid": hashlib.sha1(name.encode()).hexdigest(), "size": 0} for name in folders
        ]
    start = int(asked.get("cursor", ["0"])[0])
    headers = {}
    if start + PAGE < len(rows):
        recursive = asked.get("recursive", ["false"])[0]
        where = f"{hub.url}{urlsplit(request.path).path}?recursive={recursive}&cursor={start + PAGE}"
        headers["Link"] = f'<{where}>; rel="next"'
    return Answer(body=rows[start : start + PAGE], headers=headers)


def _entry(name: str, data: bytes) -> dict[str, Any]:
    entry = {"type": "file", "path": name, "size": len(data), "oid": _git_sha1(data)}
    if name.endswith(LFS_SUFFIXES):
        entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    return entry


def _git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob " + str(len(data)).encode() + b"\0" + data).hexdigest()


def _preupload(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    files = repository.branches.get(found[2], {})
    told = []
    for one in json.loads(body)["files"]:
        lfs, old = one["path"].endswith(LFS_SUFFIXES), files.get(one["path"])
        oid = None if old is None else hashlib.sha256(old).hexdigest() if lfs else _git_sha1(old)
        told.append({"path": one["path"], "uploadMode": "lfs" if lfs else "regular", "shouldIgnore": False, "oid": oid})
    return Answer(body={"files": told})


def _batch(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    objects = []
    for one in json.loads(body)["objects"]:
        actions = {"upload": {"href": f"{hub.url}/lfs/{one['oid']}"}} if one["oid"] not in hub.stored else None
        objects.append({"oid": one["oid"], "size": one["size"], **({"actions": actions} if actions else {})})
    return Answer(body={"transfer": "basic", "objects": objects}, headers={"Content-Type": "application/vnd.git-lfs+json"})


def _store(hub: HubServer, oid: str, body: bytes) -> Answer:
    if hashlib.sha256(body).hexdigest() != oid:
        return Answer(400, {"error": "other bytes than announced"})
    hub.stored[oid] = body
    return Answer()


def _commit(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    if found[2] not in repository.branches:
        return Answer(404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"})
    files, branch = dict(repository.branches[found[2]]), found[2]
    asks = parse_qs(urlsplit(request.path).query).get("create_pr") == ["1"]
    if asks:
        branch = f"refs/pr/{1 + sum(name.startswith('refs/pr/') for name in repository.branches)}"
    for line in body.splitlines():
        key, value = (entry := json.loads(line))["key"], entry["value"]
        if key == "header":
            repository.messages.append(value["summary"])
        elif key == "file":
            files[value["path"]] = base64.b64decode(value["content"])
        elif key == "lfsFile":
            if value["oid"] not in hub.stored:
                return Answer(400, {"error": f"{value['path']} was never uploaded"})
            files[value["path"]] = hub.stored[value["oid"]]
        elif key == "deletedFile":
            del files[value["path"]]
        else:
            return Answer(400, {"error": f"unknown operation {key}"})
    repository.branches[branch] = files
    commit = repository.tree(branch)[0]
    place = f"{hub.url}/{'' if request.path.startswith('/api/models/') else 'datasets/'}{found[1]}"
    opened = {"pullRequestUrl": f"{place}/discussions/{branch.rpartition('/')[2]}"} if asks else {}
    return Answer(body={"success": True, "commitOid": commit, "commitUrl": f"{place}/commit/{commit}", **opened})


def _branch(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    if found[2] in repository.branches:
        return Answer(409, {"error": "Reference already exists"})
    repository.branches[found[2]] = dict(repository.branches["main"])
    return Answer()


def _resolve(hub: HubServer, repository: Repository, found: re.Match[str], request: Request, body: bytes) -> Answer:
    tree = repository.tree(found[2])
    if tree is None:
        return Answer(404, {"error": "Invalid rev id"}, {"X-Error-Code": "RevisionNotFound"})
    data = tree[1].get(found[3])
    if data is None:
        return Answer(404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": tree[0]})
    etag = hashlib.sha256(data).hexdigest() if found[3].endswith(LFS_SUFFIXES) else _git_sha1(data)
    headers = {
        "ETag": f'"{etag}"',
        "X-Repo-Commit": tree[0],
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
    }
    if part := re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", "")):
        first, last = int(part[1]), min(int(part[2] or len(data) - 1), len(data) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return Answer(206, data[first : last + 1], headers)
    return Answer(200, data, headers)


_ROUTES: tuple[tuple[str, Callable[..., Answer]], ...] = (
    (r"/api/(?:datasets|models)/([\w.-]+/[\w.-]+)(?:/revision/(.+))?", _info),
    (r"/api/(?:datasets|models)/([\w.-]+/[\w.-]+)/tree/([\w.-]+)(/.+)?", _tree),
    (r"/api/(?:datasets|models)/([\w.-]+/[\w.-]+)/preupload/(.+)", _preupload),
    (r"/api/(?:datasets|models)/([\w.-]+/[\w.-]+)/commit/(.+)", _commit),
    (r"/api/(?:datasets|models)/([\w.-]+/[\w.-]+)/branch/(.+)", _branch),
    (r"/datasets/([\w.-]+/[\w.-]+)\.git/info/lfs/objects/batch", _batch),
    (r"/datasets/([\w.-]+/[\w.-]+)/resolve/([\w.-]+)/(.+)", _resolve),
)
