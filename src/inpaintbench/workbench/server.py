"""The server: the page, what it asks for, and files of the folders, whole and in parts. There it writes nothing but notes."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import pyarrow as pa

from inpaintbench.annotate.study import PROXIES
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.scoring.predict import LOGS
from inpaintbench.pages.page import TOKENS, as_json, asset
from inpaintbench.types import Plain
from inpaintbench.workbench import diagnosing, exporting, joining, pixels, studying
from inpaintbench.workbench.finding import BOARDS, JOURNAL, Folders, Thing, opened
from inpaintbench.workbench.joining import Joined
from inpaintbench.workbench.notes import Notes
from inpaintbench.workspace import Workspace

_PLAYER, _OWN = "pages/static/player", "workbench/static"
_FOLDERS = {"player": _PLAYER, "items": "pages/static/items", "own": _OWN}
_SCRIPTS = re.compile(rf"/static/({'|'.join(_FOLDERS)})/([a-z_]+\.js)")
# Only our own scripts run in our page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; connect-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
# Pages of folders run their scripts as if they came from nowhere: they can ask this server for nothing, and change nothing.
_SANDBOX = "sandbox allow-scripts allow-popups allow-downloads allow-modals"
# Header that no page of another site can send.
_PURPOSE = "X-Inpaintbench"
_MOST_BODY = 8 << 20
# How long the folders are taken to be as they were, seconds.
_SAME_SECONDS = 2.0
_KEPT_SETS = 6
# Things of a folder that is made to be shown as it is.
_PAGES = frozenset({"report", "leaderboard", "page"})
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Bench:
    """What is shown, and what was made of it.

    Args:
        roots: folders.
        cache: for films and pictures.

    Raises:
        InputError: a folder is none, or they hold nothing.
    """

    def __init__(self, roots: Sequence[Path], cache: Path) -> None:
        self.folders, self.cache = Folders(roots), cache
        self.notes = Notes(self.folders.roots[0])
        self._things: tuple[float, list[Thing]] = (0.0, [])
        self._sets: OrderedDict[tuple[object, ...], tuple[list[tuple[int, ...]], Joined]] = OrderedDict()
        self._votes: dict[str, studying.Votes] = {}
        self._joining = threading.Lock()
        self.things()

    def things(self) -> list[Thing]:
        """What lies below the folders, as it was some seconds ago at most."""
        looked, found = self._things
        if time.monotonic() - looked > _SAME_SECONDS or not found:
            found = self.folders.things()
            self._things = (time.monotonic(), found)
        return found

    def listed(self) -> dict[str, Any]:
        """All things with their notes and, of runs, how far they are."""
        notes, rows = self.notes.read(), []
        for thing in self.things():
            steps: list[dict[str, Any]] = []
            with suppress(InpaintBenchError, OSError, pa.ArrowException):  # opening it tells what is wrong
                steps = joining.progress(Workspace(self.folders.place(thing.key), create=False)) if thing.kind == "run" else []
            rows.append({**asdict(thing), "progress": steps, **{"notes": notes["things"].get(thing.key, {})}})
        return {"things": rows, "folders": [str(root) for root in self.folders.roots], "flags": notes["flags"]}

    def joined(self, query: Mapping[str, Sequence[str]]) -> Joined:
        """What ``runs``, ``dataset`` or ``workspace`` of a query name, kept until its files change.

        Raises:
            InputError: they cannot be looked at together.
        """
        runs, protocol = tuple(query.get("runs", ())), _one(query, "protocol")
        kinds = ("dataset", "workspace", "study", "board")
        kind = next((name for name in kinds if name in query), "dataset")
        place = _one(query, kind)
        changed = [_changed(self.folders.place(key)) for key in (*runs, *([place] if place else []))]
        key = (runs, protocol, kind, place)
        with self._joining:  # what is asked for twice at once is made once
            was, found = self._sets.get(key, ([], None))
            if found is None or was != changed + self._changed_beside(found, place):
                if runs:
                    found = joining.of_runs(self.folders, self.things(), runs, protocol)
                elif kind == "study":
                    self._votes[place] = votes = studying.Votes(self.folders.place(place), self.cache, self.folders.roots)
                    found = studying.of_study(self.folders, self.things(), place, votes)
                else:
                    made = {"dataset": joining.of_dataset, "workspace": joining.of_workspace, "board": joining.of_board}
                    found = made[kind](self.folders, place)
                self._sets.pop(key, None)
                self._sets[key] = (changed + self._changed_beside(found, place), found)
                for old in list(self._sets)[:-_KEPT_SETS]:
                    self._sets.pop(old, None)  # another request may have
        return found

    def _changed_beside(self, joined: Joined, place: str) -> list[tuple[int, ...]]:
        """Times of what a set is made of and lies elsewhere: its dataset, and a study's journal."""
        votes, times = self._votes.get(place), list[tuple[int, ...]]()
        if joined.root:
            with suppress(InputError):  # it is gone
                times.append(_changed(self.folders.place(joined.root)))
        if joined.kind == "study" and votes:
            files = [votes.journal, votes.journal.with_name(f"{votes.journal.name}-wal")]
            times.append(tuple(file.stat().st_mtime_ns for file in files if file.exists()))
        return times

    def folder_of_page(self, key: str) -> str:
        """Key of the folder whose files a page may show; empty where that would be a whole root with more in it than pages."""
        folder = PurePosixPath(key).parent
        own = [thing for thing in self.things() if thing.key.startswith(f"{folder}/")] if len(folder.parts) == 1 else []
        alone = own and all(thing.key == f"{folder}/" and thing.kind in _PAGES for thing in own)
        return str(folder) if len(folder.parts) > 1 or alone else ""

    def prepare(self, place: str) -> None:
        """Have ready what a page that begins at ``place`` (see ``opening``) asks for first; what is wrong is told then."""
        letter, _, key = unquote(place).removeprefix("#").partition("=")
        if name := {"r": "runs", "d": "dataset", "w": "workspace"}.get(letter):
            with suppress(InpaintBenchError, OSError, pa.ArrowException):
                _ = self.joined({name: [key]}).packed

    def leads(self, query: Mapping[str, Sequence[str]], asked: Plain) -> dict[str, Any]:
        """Of the items that are shown: the mean of each method, and its difference from the one that is the base."""
        joined, key, base = self.joined(query), str(asked["key"]), str(asked.get("base") or "")
        items = [int(item) for item in asked["items"]]
        if not all(0 <= item < len(joined.ids) for item in items):
            raise InputError("there are no such items")
        names = [*(one.name for one in joined.methods), *(f"|{one.base}" for one in joined.against)]
        if key not in {one.key for one in joined.quantities} or (base and base not in names):
            raise InputError(f"there is no quantity {key!r}, or no method {base!r}")
        rows = []
        study = self._votes.get(_one(query, "study"))
        notes = study.standings(key.rpartition("/")[0], [joined.ids[item] for item in items]) if study else {}
        for one in joined.methods:
            other = joined.base_of(one.name, base)
            lead = joined.lead(key, one.name, other, items)._asdict() if other else None
            rows.append({"name": one.name, "mean": joined.mean(key, one.name, items)._asdict(), "lead": lead})
            rows[-1]["note"] = notes.get(one.name, "")
        return {"rows": rows}

    def diagnosis(self, query: Mapping[str, Sequence[str]], asked: Plain) -> dict[str, Any]:
        """Where methods fail, of the items and methods that are shown."""
        joined, items = self.joined(query), [int(item) for item in asked["items"]]
        quantity = next((one for one in joined.quantities if one.key == asked["key"]), None)
        methods = [one.name for one in joined.methods if one.name in asked["methods"]]
        if quantity is None or not methods or not items or not all(0 <= item < len(joined.ids) for item in items):
            raise InputError("there are no such items, or no such methods or quantity")
        if joined.kind != "run":
            raise InputError("effects are told of runs")
        dataset = opened(self.folders.place(joined.root))
        of = Quantity(quantity.metric, quantity.region)
        results = diagnosing.results_of(joined, dataset, of, methods, items)
        return diagnosing.diagnosed(results, of, str(asked.get("base") or ""))

    def film(self, query: Mapping[str, Sequence[str]]) -> tuple[pixels.ItemMedia, str, list[pixels.Part]]:
        """Media, item and parts that a query names; ``methods`` all by default."""
        joined, item = self.joined(query), _one(query, "item")
        if not joined.root:
            raise InputError("there are no films of a dataset below these folders to make this from")
        media = pixels.ItemMedia(self.folders.place(joined.root), self.cache, protocol=joined.protocol)
        wanted = query.get("methods")
        own = media.parts(item) if joined.methods else media.alone(item)
        parts = [one for one in own if not query.get("parts") or one.name in query["parts"]]
        methods = {one.name: pixels.Part(one.name, one.label, self.folders.place(one.run)) for one in joined.methods}
        parts += [methods[name] for name in (methods if wanted is None else wanted) if name in methods]
        if other := _one(query, "beside"):
            called = joined.called(other, item)
            both = [part for part in parts if part.run or part.label != pixels.INPUT]
            parts += [replace(part, name=f"{part.name} ({called})", item=other) for part in both]
        return media, item, parts

    def shown(self, query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The films of an item as the player takes them."""
        if "workspace" in query:
            root, item = _one(query, "workspace"), _one(query, "item")
            found = pixels.of_clip(self.folders.place(root), item)
            found["media"]["url"] = f"/clip?{_query(workspace=root, item=item)}"
            return found
        study = _one(query, "study")
        if not self.joined(query).root and study:
            return self._said(query, studying.sheet_of(self._votes[study], study, _one(query, "item"), query.get("methods", ())))
        media, item, parts = self.film(query)
        found = pixels.sheet(media, self.cache, item, parts, manner=_one(query, "manner"), base=_one(query, "base"))
        pixels.tidy(self.cache)
        found["media"]["url"] = f"/media/{found['file']}"
        found["logs"] = {}
        for one in self.joined(query).methods:
            with suppress(InputError):  # there is none: nothing was said, or it was no program
                key = f"{one.run.rstrip('/')}/{LOGS}/{one.label}/{item}.txt"
                self.folders.place(key)
                found["logs"][one.name] = key
        return self._said(query, found)

    def _said(self, query: Mapping[str, Sequence[str]], found: dict[str, Any]) -> dict[str, Any]:
        """The films of an item with what people said of it."""
        votes = self._votes.get(_one(query, "study"))
        return found | {"judged": votes.said(_one(query, "item")) if votes else []}

    def thumb(self, query: Mapping[str, Sequence[str]]) -> Path:
        """A small picture of an item: of the method that is asked for, else of its truth."""
        if "workspace" in query:
            return pixels.thumb_of_clip(self.folders.place(_one(query, "workspace")), _one(query, "item"), self.cache)
        study, item = _one(query, "study"), _one(query, "item")
        if study and not self.joined(query).root:
            name = self._votes[study].proxy(item, query.get("methods", ())).proxy
            return pixels.thumb_of_film(self.folders.place(study) / PROXIES / name, self.cache)
        return pixels.thumb_of(*self.film(query), self.cache)


def _query(**words: str) -> str:
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in words.items())


def _one(query: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(query.get(name, ())), "")


def _changed(place: Path) -> tuple[int, ...]:
    """Times of what a set is made of."""
    paths = [
        place / "dataset.json",
        *(place / name for name in ("study.json", "journal.json", JOURNAL, f"{JOURNAL}-wal", *BOARDS)),
        *(place / name for name in ("tables/scores", "tables/predictions", "tables/attributes", "tables/selection")),
    ]
    running = [
        *(place / "unfinished").glob("*"),
        *((place / "ledger").glob("score.*") if any((place / "unfinished").glob("*")) else []),
    ]
    return tuple(path.stat().st_mtime_ns for path in [*paths, *running] if path.exists())


def is_local(host: str) -> bool:
    """Whether an address is that of this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def opening(things: Sequence[Thing], given: Sequence[Path]) -> str:
    """What stands behind the address where one thing alone is to be looked at: its run, dataset or page; else nothing."""
    if len(given) == 1 and given[0].is_file():
        return f"files/0/{quote(given[0].name)}"
    kinds = {"run": "r", "dataset": "d", "workspace": "w"}
    for kind, letter in kinds.items():
        found = [thing for thing in things if thing.kind == kind]
        if len(found) == 1:
            return f"#{letter}={quote(found[0].key, safe='')}"
    return f"files/{quote(things[0].page)}" if len(things) == 1 and things[0].page else ""


class Server(ThreadingHTTPServer):
    """It listens; ``serve_forever`` answers."""

    daemon_threads = True

    def __init__(self, roots: Sequence[Path], *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="inpaintbench-view-")
        self.bench = Bench(roots, Path(self._scratch.name))
        threading.Thread(target=self.bench.prepare, args=(opening(self.bench.things(), roots),), daemon=True).start()
        self.token = "" if is_local(host) else secrets.token_urlsafe(24)
        self.host = host
        super().__init__((host, port), _Handler)
        self.cookie = f"inpaintbench-{self.server_port}"  # cookies know no ports

    def address(self, place: str = "") -> str:
        """Where to open a place of it, ``files/...`` or ``#...``, with the token where one is needed."""
        path, hash_, view = place.partition("#")
        return f"http://{self.host}:{self.server_port}/{path}{f'?token={self.token}' if self.token else ''}{hash_}{view}"

    def seal(self, folder: str) -> str:
        """What opens the files of one folder without the cookie: a page that runs apart asks for its films as a stranger."""
        return hmac.new(self.token.encode(), folder.encode(), "sha256").hexdigest()

    def server_close(self) -> None:
        """Stop, and take away what was made."""
        super().server_close()
        self._scratch.cleanup()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of pages that went away before they were answered."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@cache
def _page() -> bytes:
    return asset(f"{_OWN}/index.html").encode()


@cache
def _style() -> bytes:
    """Colours and look of all pages' own, and of the player inside the element that holds it."""
    player = "\n".join(asset(f"{_PLAYER}/{name}.css") for name in ("basics", "player"))
    own = "".join(asset(path) for path in (TOKENS, f"{_PLAYER}/colours.css", f"{_OWN}/workbench.css"))
    return f"{own}\n.player-room {{\n{player}\n}}\n".encode()


Answer = tuple[bytes, str]


class _Handler(SimpleHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    _left: int | None = None
    """Bytes that are still to be sent of the part that was asked for; None for whole files."""

    def do_GET(self) -> None:
        """Answer with what was asked for."""
        asked = urlsplit(self.path)
        query = parse_qs(asked.query, keep_blank_values=True)
        sealed = self._sealed(unquote(asked.path))
        if not sealed and not self._may(query):
            return
        if not sealed and self.server.token and "token" in query:
            rest = urlencode([(name, one) for name, values in query.items() if name != "token" for one in values])
            place = "/" + asked.path.lstrip("/\\")
            self._send_on(place + (f"?{rest}" if rest else ""), welcome=True)
            return
        bench = self.server.bench
        routes: dict[str, Callable[[], Answer]] = {
            "/": lambda: (_page(), "text/html; charset=utf-8"),
            "/style.css": lambda: (_style(), _KINDS[".css"]),
            "/api/things": lambda: _json(bench.listed()),
            "/api/set": lambda: (bench.joined(query).packed, "application/octet-stream"),
            "/api/sheet": lambda: _json(bench.shown(query)),
            "/api/flags.csv": lambda: (bench.notes.labels_csv().encode(), "text/csv; charset=utf-8"),
            "/compare": lambda: (
                exporting.two_reports(bench.folders, _one(query, "one"), _one(query, "other")).encode(),
                "text/html; charset=utf-8",
            ),
        }
        files: dict[str, Callable[[], Path]] = {
            "/api/thumb": lambda: bench.thumb(query),
            "/api/film": lambda: exporting.film(bench.cache, *bench.film(query)),
            "/clip": lambda: pixels.clip_file(bench.folders.place(_one(query, "workspace")), _one(query, "item")),
        }
        try:
            if found := _SCRIPTS.fullmatch(asked.path):
                self._send(asset(f"{_FOLDERS[found[1]]}/{found[2]}").encode(), _KINDS[".js"])
            elif asked.path in routes:
                self._send(*routes[asked.path]())
            elif asked.path in files:
                self._file(files[asked.path]())
            elif asked.path.startswith("/media/"):
                self._file(self._cached(asked.path.removeprefix("/media/")))
            elif sealed:
                self._file(bench.folders.place(sealed), foreign=True)
            elif asked.path.startswith("/files/") and asked.path.endswith(".html") and self.server.token:
                key = asked.path.removeprefix("/files/")
                folder = bench.folder_of_page(unquote(key))
                if folder:
                    self._send_on(f"/page/{self.server.seal(folder)}/{key}")
                else:
                    self._file(bench.folders.place(unquote(key)), foreign=True)
            elif asked.path.startswith("/files/"):
                self._file(bench.folders.place(unquote(asked.path.removeprefix("/files/"))), foreign=True)
            else:
                raise InputError(f"there is nothing at {asked.path!r}")
        except (InpaintBenchError, ValueError, KeyError, OSError, pa.ArrowException) as error:
            self._refuse(HTTPStatus.NOT_FOUND, str(error))

    do_HEAD = do_GET  # noqa: N815 - the name that the library looks for

    def do_POST(self) -> None:
        """Questions too long for an address, and notes and flags."""
        asked = urlsplit(self.path)
        query = parse_qs(asked.query, keep_blank_values=True)
        if not self._may(query):
            return
        origin = self.headers.get("Origin")
        if self.headers.get(_PURPOSE) is None or (origin and urlsplit(origin).netloc != self.headers.get("Host")):
            self._refuse(HTTPStatus.FORBIDDEN, "only the page itself may ask for this")
            return
        told_length = self.headers.get("Content-Length") or "0"
        if not re.fullmatch(r"[0-9]{1,18}", told_length):
            self._refuse(HTTPStatus.BAD_REQUEST, "Content-Length is no number of bytes")
            return
        length = int(told_length)
        if length > _MOST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "that is too long")
            return
        bench = self.server.bench
        try:
            told = json.loads(self.rfile.read(length))
            routes: dict[str, Callable[[], Answer]] = {
                "/api/leads": lambda: _json(bench.leads(query, told)),
                "/api/diagnosis": lambda: _json(bench.diagnosis(query, told)),
                "/api/notes": lambda: _json({"flags": bench.notes.annotate(str(told["key"]), told["fields"])}),
                "/api/flag": lambda: _json(
                    {"flags": bench.notes.flag(*(str(told[name]) for name in ("subject", "name", "value")))}
                ),
                "/api/page": lambda: (
                    exporting.page(bench.joined(query), told, cache=bench.cache, media=bench.film).encode(),
                    "text/html; charset=utf-8",
                ),
                "/api/figure": lambda: (exporting.figure(bench.joined(query), told), "image/svg+xml"),
            }
            if asked.path not in routes:
                raise InputError(f"there is nothing at {asked.path!r}")
            self._send(*routes[asked.path]())
        except (InpaintBenchError, ValueError, KeyError, TypeError, RecursionError, OSError, pa.ArrowException) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))

    def _may(self, query: Mapping[str, Sequence[str]]) -> bool:
        """Whether who asks may look; else it is answered."""
        if token := self.server.token:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
            given = _one(query, "token") or (cookie.value if cookie else "")
            if not secrets.compare_digest(given.encode(), token.encode()):
                self._refuse(HTTPStatus.FORBIDDEN, "open the address that `inpaintbench view` printed, with its token")
                return False
        elif not is_local(urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""):
            # A name of another site that was made to mean this machine.
            self._refuse(HTTPStatus.FORBIDDEN, "this is shown at 127.0.0.1 and localhost alone")
            return False
        return True

    def _sealed(self, path: str) -> str:
        """The key of a file whose address holds the seal of a folder above it; else nothing."""
        _, start, seal, key = [*path.split("/", 3), "", "", ""][:4]
        if start != "page" or not self.server.token or ".." in key.split("/"):
            return ""
        above = [self.server.seal(str(folder)) for folder in PurePosixPath(key).parents[:-1]]
        return key if any(secrets.compare_digest(seal.encode(), one.encode()) for one in above) else ""

    def _send_on(self, place: str, *, welcome: bool = False) -> None:
        """To another address; who is welcome gets the cookie, so that no token stays in the address."""
        self._left = None
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", place)
        if welcome:  # Lax: the address may be opened from a mail
            self.send_header("Set-Cookie", f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Lax; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _cached(self, name: str) -> Path:
        path = self.server.bench.cache / name
        if not re.fullmatch(r"[0-9a-f]{40}\.(mp4|png)", name) or not path.is_file():
            raise InputError("that film is no longer kept: open the item again")
        return path

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self.close_connection = True
        self._send(*_json({"sentence": sentence}), status=status)

    def _send(self, data: bytes, kind: str, *, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._left = None
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _file(self, place: Path, *, foreign: bool = False) -> None:
        """A file, or the part of it that was asked for."""
        if not place.is_file():
            raise InputError(f"{place.name!r} is no file")
        size = place.stat().st_size
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        begin, end = 0, size - 1
        if asked:
            begin = int(asked[1]) if asked[1] else max(0, size - int(asked[2] or 0))
            end = min(int(asked[2]), size - 1) if asked[1] and asked[2] else size - 1
        if begin > end and asked:
            self._refuse(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, f"the file has {size} bytes")
            return
        self.send_response(HTTPStatus.PARTIAL_CONTENT if asked else HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(place)))
        self.send_header("Content-Length", str(end - begin + 1))
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        if foreign:
            self.send_header("Content-Security-Policy", _SANDBOX)
        self.end_headers()
        if self.command == "HEAD":
            return
        with place.open("rb") as file:
            file.seek(begin)
            self._left = end - begin + 1 if asked else None
            self.copyfile(file, self.wfile)

    def end_headers(self) -> None:
        """Files may be written anew while they are looked at, so nothing is kept."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        super().end_headers()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file, or as much of it as was asked for."""
        if self._left is None:
            shutil.copyfileobj(source, outputfile)
            return
        while self._left > 0 and (piece := source.read(min(1 << 16, self._left))):
            outputfile.write(piece)
            self._left -= len(piece)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name that the library gives it
        """Say nothing of requests."""


def _json(told: object) -> Answer:
    return as_json(told).encode(), "application/json"
