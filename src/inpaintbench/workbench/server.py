"""The server: the page, what it asks for, and files of the folders, whole and in parts. There it writes nothing but notes."""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
import secrets
import shutil
import socket
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
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import pyarrow as pa

from inpaintbench.annotate.study import PROXIES
from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.scoring.predict import LOGS
from inpaintbench.manifest import column
from inpaintbench.mirrors import shown
from inpaintbench.pages.page import TOKENS, as_json, asset, data_uri, page, render, shared_style
from inpaintbench.pages.words import count
from inpaintbench.table_files import csv_text
from inpaintbench.types import Plain
from inpaintbench.workbench import diagnosing, exporting, joining, pixels, studying
from inpaintbench.workbench.finding import BOARDS, JOURNAL, Folders, Thing, opened
from inpaintbench.workbench.joining import Joined
from inpaintbench.workbench.notes import FIELDS, Notes
from inpaintbench.workspace import Workspace

_PLAYER, _OWN = "pages/static/player", "workbench/static"
_FOLDERS = {"player": _PLAYER, "items": "pages/static/items", "own": _OWN}
_SCRIPTS = re.compile(rf"/static/({'|'.join(_FOLDERS)})/([a-z_]+\.js)")
# Only our own scripts run in our page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; connect-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
# Pages of folders, and whole pages that are made here, run their scripts as if they came from nowhere: they can ask this server
# for nothing, and change nothing.
_SANDBOX = "sandbox allow-scripts allow-popups allow-downloads allow-modals"
# Header that no page of another site can send.
_PURPOSE = "X-Inpaintbench"
# Bytes of a question, as a figure of 100,000 items and eight methods is, and those that are taken in before they are refused: who
# still sends hears nothing.
_MOST_BODY, _MOST_HEARD = 64 << 20, 1 << 30
# What questions of strangers, and files of theirs, may lead to.
_REFUSED = (
    InpaintBenchError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, pa.ArrowException
)  # fmt: skip
# How long the folders are taken to be as they were, seconds.
_SAME_SECONDS = 2.0
_KEPT_SETS = 6
# Things of a folder that is made to be shown as it is.
_PAGES = frozenset({"report", "leaderboard", "page"})
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
# Of a study: who its raters are, and keys; people who may look on see them under pseudonyms.
_PRIVATE = re.compile(r"\..*|journal\..*|.*\.sqlite.*")
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

    def named(self) -> list[Thing]:
        """The same, runs under the names that people gave them."""
        notes = self.notes.read()["things"]
        names = [_note(notes, one).get("name", "") if one.kind == "run" else "" for one in self.things()]
        return [replace(one, title=name or one.title) for one, name in zip(self.things(), names, strict=True)]

    def listed(self) -> dict[str, Any]:
        """All things with their notes and, of runs, how far they are."""
        notes, rows = self.notes.read(), []
        for thing in self.things():
            steps: list[dict[str, Any]] = []
            with suppress(InpaintBenchError, OSError, pa.ArrowException):  # opening it tells what is wrong
                steps = joining.progress(Workspace(self.folders.place(thing.key), create=False)) if thing.kind == "run" else []
            rows.append({**asdict(thing), "progress": steps, "notes": _note(notes["things"], thing)})
        return {"things": rows, "folders": [shown(str(root)) for root in self.folders.roots], "flags": notes["flags"]}

    def listed_page(self) -> dict[str, Any]:
        """The list as the page shows it, and what may change in it without anybody's doing: flags, and how far runs are."""
        found = self.listed()
        running = [
            [one["key"], one["progress"], one["date"], one["predicted"], one["notes"].get("name", "")]
            for one in found["things"]
            if one["kind"] in ("run", "study")
        ]
        things = [{**one, "notes": dict.fromkeys(FIELDS, "") | one["notes"]} for one in found["things"]]
        html = render(f"{_OWN}/things.html", things=things, folders=found["folders"])
        return {"html": html, "flags": found["flags"], "running": running}

    def joined(self, query: Mapping[str, Sequence[str]]) -> Joined:
        """What ``runs``, ``dataset`` or ``workspace`` of a query name, kept until its files change.

        Raises:
            InputError: they cannot be looked at together.
        """
        runs, protocol = tuple(query.get("runs", ())), _one(query, "protocol")
        things = self.named() if runs else self.things()
        kinds = ("dataset", "workspace", "study", "board")
        kind = next((name for name in kinds if name in query), "dataset")
        place = _one(query, kind)
        changed = [_changed(self.folders.place(key)) for key in (*runs, *([place] if place else []))]
        key = (runs, protocol, kind, place, *(one.title for one in things if one.kind == "run" and one.key in runs))
        with self._joining:  # what is asked for twice at once is made once
            was, found = self._sets.get(key, ([], None))
            if found is None or was != changed + self._changed_beside(found, place):
                if runs:
                    found = joining.of_runs(self.folders, things, runs, protocol)
                elif kind == "study":
                    self._votes[place] = votes = studying.Votes(self.folders.place(place), self.cache, self.folders.roots)
                    found = studying.of_study(self.folders, things, place, votes)
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
        shown = [one.name for one in joined.methods if one.name in asked.get("methods", names)]
        given, items = len(items), joined.common(key, shown, items)
        rows = []
        chosen = _chosen(asked)
        bases = {one.name: joined.base_of(one.name, base) for one in joined.methods}
        elsewhere = joined.elsewhere(key, bases, items) if base and not chosen else {}
        study = self._votes.get(_one(query, "study")) if not chosen else None
        notes = study.standings(key.rpartition("/")[0], [joined.ids[item] for item in items]) if study else {}
        for one in joined.methods:
            other = bases[one.name]
            lead = joined.lead(key, one.name, other, items)._asdict() if other else None
            mean = joined.mean(key, one.name, items)._asdict()
            for summary in filter(None, (mean, lead) if chosen else ()):
                summary |= dict.fromkeys(("standard_error", "interval_low", "interval_high"))
            rows.append({"name": one.name, "mean": mean, "lead": lead, "elsewhere": elsewhere.get(one.name, [])})
            rows[-1]["note"] = notes.get(one.name, "")
        if rows and len(items) < given:
            told = f"All means are over the {count(len(items), 'item')} of {given} that every shown method has a value of."
            rows[0]["note"] = f"{rows[0]['note']} {told}".strip()
        competing = [one for one in joined.scored(key, joined.methods) if one.name in shown and not one.reference]
        own = list({one.label: one.name for one in reversed(competing)}.values())[::-1]  # of several runs the first
        measure = next(one for one in joined.quantities if one.key == key)
        films = joined.films(measure, own, items) if own and measure.ranked else []
        return {"rows": rows, "films": films, "once": own if len(own) < len(competing) else [], "chosen": chosen}

    def leads_page(self, query: Mapping[str, Sequence[str]], asked: Plain) -> str:
        """The leads as the page shows them."""
        told, joined, base = self.leads(query, asked), self.joined(query), str(asked.get("base") or "")
        rows = told["rows"]
        measure = next(one for one in joined.quantities if one.key == asked["key"])
        sure = [row["lead"] for row in rows if row["lead"] and row["lead"]["interval_low"] is not None]
        return render(
            f"{_OWN}/leads.html", **told, base=base, measure=measure, decimals=measure.decimals, styles=joined.styles,
            base_title=_apart(joined, base) or "Difference", enough=ENOUGH_SOURCES,
            references=joined.references,
            most=max((abs(lead[end]) for lead in sure for end in ("interval_low", "interval_high")), default=1.0) or 1.0,
        )  # fmt: skip

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
        results = diagnosing.results_of(joined, dataset, of, [one.name for one in joined.methods], items)
        base = str(asked.get("base") or "")
        bases = {name: joined.base_of(name, base) for name in methods}
        found = diagnosing.diagnosed(results, of, bases, against=bool(base), claims=not (chosen := _chosen(asked)))
        return {**found, "chosen": chosen, "items": len(items)}

    def effects_page(self, query: Mapping[str, Sequence[str]], asked: Plain, *, still: bool = False) -> str:
        """The diagnosis as the page shows it; ``still`` = on a page that filters nothing."""
        found, joined = self.diagnosis(query, asked), self.joined(query)
        measure = next(one for one in joined.quantities if one.key == asked["key"])
        effects = [one for row in found["rows"] for one in row["effects"].values()]
        values = [abs(one[end]) for one in effects for end in ("value", "low", "high") if one[end] is not None]
        return render(
            f"{_OWN}/effects.html", **found, apart=_apart(joined, str(asked.get("base") or "")), measure=measure,
            styles=joined.styles, most=max(values, default=0.0) or 1.0,
            plots=diagnosing.plots(found["curves"], measure.decimals), still=still,
        )  # fmt: skip

    def labels_csv(self, query: Mapping[str, Sequence[str]]) -> str:
        """Flags as rows that `inpaintbench curation label` takes, one a clip and name: of what is open, else all.

        A flag of an item is one of its clip; where those of several items differ, the values stand in one, with semicolons.
        """
        open_one = self.joined(query) if set(query) & {"runs", "dataset", "workspace", "study"} else None
        roots = [open_one.root] if open_one and open_one.root and open_one.kind != "workspace" else []
        clip_of: dict[str, str] = {}
        for root in dict.fromkeys([*roots, *(thing.key for thing in self.things() if thing.kind == "dataset")]):
            with suppress(InpaintBenchError, OSError, pa.ArrowException):  # opening it tells what is wrong
                dataset = opened(self.folders.place(root))
                clip_of = dict(zip(*(column(dataset, name) for name in ("item_id", "clip_id")), strict=True)) | clip_of
        known = {clip_of.get(one, one) for one in open_one.ids} if open_one else None
        values: dict[tuple[str, str], dict[str, None]] = {}
        for row in self.notes.read()["flags"]:
            clip = clip_of.get(row["subject"], row["subject"])
            if known is None or clip in known:
                values.setdefault((clip, row["name"]), {})[row["value"]] = None
        return csv_text([("subject", "name", "value"), *((*key, "; ".join(found)) for key, found in values.items())])

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
            both = [[part, replace(part, name=f"{part.name} ({called})", item=other)] for part in parts]
            parts = [part for pair in both for part in pair]
        return media, item, parts

    def film_file(self, query: Mapping[str, Sequence[str]]) -> Path:
        """The films that a query names side by side, as one file for others to play; of a workspace the clip with its masks.

        Raises:
            InputError: there are none.
        """
        if "workspace" in query:
            return self._sheet(self.shown(query))
        if self._votes.get(_one(query, "study")) and not self.joined(query).root:
            return exporting.film_of_sheet(self.cache, self._sheet(found := self.shown(query)), found)
        return exporting.film(self.cache, *self.film(query), manner=_one(query, "manner"), base=_one(query, "base"))

    def frame(self, query: Mapping[str, Sequence[str]]) -> bytes:
        """One frame of the films that a query names, side by side, as PNG, zoomed and wiped as it says."""
        factor, x, y, wipe = (
            float(_one(query, name) or usual) for name, usual in (("factor", 1), ("x", 0), ("y", 0), ("wipe", 0.5))
        )
        over = dict(zip(query.get("under", ()), query.get("over", ()), strict=True))
        joined, item = self.joined(query), _one(query, "item")
        if joined.kind == "workspace" or (joined.kind == "study" and not joined.root):
            films = pixels.cut(self._sheet(found := self.shown(query)), found)
        else:
            films = pixels.films_of(*self.film(query), _one(query, "manner"), _one(query, "base"))
        title = f"{joined.names[joined.ids.index(item)]}, {'clip' if joined.kind == 'workspace' else 'item'} {item[:8]}"
        return pixels.labelled_frame(films, int(_one(query, "frame")), seen=pixels.Seen((factor, x, y), wipe, over), title=title)

    def _sheet(self, found: Plain) -> Path:
        """The file with the films that ``shown`` tells of."""
        kind, _, name = found["media"]["url"].removeprefix("/").partition("/")
        return self.cache / name if kind == "media" else self.folders.place(unquote(name))

    def shown(self, query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The films of an item as the player takes them."""
        if "workspace" in query:
            root, item = _one(query, "workspace"), _one(query, "item")
            found = pixels.of_clip(self.folders.place(root), item, self.cache)
            found["media"]["url"] = f"/media/{found['file']}"
            return found
        study = _one(query, "study")
        if not self.joined(query).root and study:
            told = studying.sheet_of(self._votes[study], study, _one(query, "item"), query.get("methods", ()))
            return self._said(query, told | {"caption": studying.NO_MANNERS if _one(query, "manner") else ""})
        media, item, parts = self.film(query)
        found = pixels.sheet(media, self.cache, item, parts, manner=_one(query, "manner"), base=_one(query, "base"))
        pixels.tidy(self.cache)
        found["media"]["url"] = f"/media/{found['file']}"
        found["logs"] = {}
        for one in self.joined(query).methods:
            with suppress(InputError):  # there is none: nothing was said, or it was no program
                key = f"{one.run.rstrip('/')}/{LOGS}/{one.label}/{item}.txt"
                self.folders.place(key)
                found["logs"][one.name] = quote(key)
        return self._said(query, found)

    def carried(self, query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """The films of an item as the player takes them, the file inside: for a page that is sent."""
        found = self.shown(query)
        path = self._sheet(found)
        media_type = "image/png" if path.suffix == ".png" else "video/mp4"
        return found | {"media": found["media"] | {"url": data_uri(path.read_bytes(), media_type), "own": True}}

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


def _note(notes: Mapping[str, Any], thing: Thing) -> dict[str, str]:
    """Name, note and tags of a thing: by kind and key, as a run and its workspace share a folder; older ones by key alone."""
    found: dict[str, str] = notes.get(f"{thing.kind} {thing.key}", notes.get(thing.key, {}))
    return found


def _chosen(asked: Plain) -> str:
    """What is told instead of claims where a filter is of scores, which then are what they were chosen to be; else nothing."""
    if all(key == "source" or (key.startswith("a|") and key != "a|disagreement") for key in asked.get("filters", ())):
        return ""
    return "These items were chosen by the scores themselves, so nothing is claimed: there are no intervals."


def _apart(joined: Joined, base: str) -> str:
    """What differences from a base are called: ``less telea``, ``b less a``; nothing without one."""
    return next((one.title for one in joined.against if base == f"|{one.base}"), f"less {base}" if base else "")


def _one(query: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(query.get(name, ())), "")


def _changed(place: Path) -> tuple[int, ...]:
    """Times of what a set is made of."""
    paths = [
        place / "dataset.json",
        *(place / name for name in ("study.json", "journal.json", JOURNAL, f"{JOURNAL}-wal", *BOARDS)),
        *(place / name for name in ("tables/scores", "tables/predictions", "tables/attributes", "tables/selection")),
        *(place / "tables" / name for name in ("clips", "slices", "corruptions", "items", "sources")),
    ]
    running = list((place / "unfinished").glob("*"))
    running += [path for kind in ("predict", "score") for path in (place / "ledger").glob(f"{kind}.*")] if running else []
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
        if found:  # the reader chooses among them
            return ""
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
        return (
            f"http://{_reached(self.host)}:{self.server_port}/{path}{f'?token={self.token}' if self.token else ''}{hash_}{view}"
        )

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


def _reached(host: str) -> str:
    """The name by which others reach what listens at ``host``: of all networks' address, this machine's own in one of them."""
    if host not in ("0.0.0.0", "::", ""):
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        asking.connect(("192.0.2.1", 9))  # nothing is sent: the system says which of its addresses would be used
        return str(asking.getsockname()[0])
    return socket.gethostname()


@cache
def _page() -> bytes:
    return render(f"{_OWN}/index.html").encode()


@cache
def _style() -> bytes:
    """Colours and look of all pages' own, and of the player inside the element that holds it."""
    return "".join((asset(TOKENS), asset(f"{_OWN}/workbench.css"), asset(f"{_OWN}/effects.css"), shared_style())).encode()


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
            "/api/things": lambda: _json(bench.listed_page()),
            "/api/set": lambda: (bench.joined(query).packed, "application/octet-stream"),
            "/api/sheet": lambda: _json(bench.shown(query)),
            "/api/frame": lambda: (bench.frame(query), "image/png"),
            "/api/flags.csv": lambda: (bench.labels_csv(query).encode(), "text/csv; charset=utf-8"),
            "/compare": lambda: (
                exporting.two_reports(bench.folders, _one(query, "one"), _one(query, "other"), bench.named()).encode(),
                "text/html; charset=utf-8",
            ),
        }
        files: dict[str, Callable[[], Path]] = {
            "/api/thumb": lambda: bench.thumb(query),
            "/api/film": lambda: bench.film_file(query),
        }
        try:
            if found := _SCRIPTS.fullmatch(asked.path):
                self._send(asset(f"{_FOLDERS[found[1]]}/{found[2]}").encode(), _KINDS[".js"])
            elif asked.path in routes:
                self._send(*routes[asked.path](), policy=_SANDBOX if asked.path == "/compare" else _POLICY)
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
        except _REFUSED as error:
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
            left = length if length <= _MOST_HEARD else 0
            while left and (piece := self.rfile.read(min(1 << 20, left))):
                left -= len(piece)
            most = f"{length >> 20:,} MiB are more than the {_MOST_BODY >> 20} that are taken"
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{most}: filter items, or show fewer methods, and try again")
            return
        bench = self.server.bench
        try:
            told = json.loads(self.rfile.read(length))
            if "stamp" in told and told["stamp"] != bench.joined(query).stamp:
                raise InputError("what lies here was changed since this page read it: load the page again")
            routes: dict[str, Callable[[], Answer]] = {
                "/api/leads": lambda: _part(bench.leads_page(query, told)),
                "/api/diagnosis": lambda: _part(bench.effects_page(query, told)),
                "/api/notes": lambda: _json({"flags": bench.notes.annotate(str(told["key"]), told["fields"])}),
                "/api/flag": lambda: _json(
                    {"flags": bench.notes.flag(*(str(told[name]) for name in ("subject", "name", "value")))}
                ),
                "/api/page": lambda: (
                    exporting.page(
                        bench.joined(query),
                        told,
                        sheet_of=bench.carried,
                        leads=bench.leads(query, told) if told.get("key") else None,
                        effects=bench.effects_page(query, told["effects"], still=True) if told.get("effects") else "",
                    ).encode(),
                    "text/html; charset=utf-8",
                ),
                "/api/items.csv": lambda: (exporting.items_csv(bench.joined(query), told).encode(), "text/csv; charset=utf-8"),
                "/api/figure": lambda: (exporting.figure(bench.joined(query), told), "image/svg+xml"),
            }
            if asked.path not in routes:
                raise InputError(f"there is nothing at {asked.path!r}")
            self._send(*routes[asked.path]())
        except _REFUSED as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))

    def _may(self, query: Mapping[str, Sequence[str]]) -> bool:
        """Whether who asks may look; else it is answered."""
        if token := self.server.token:
            # Not by `http.cookies`: it fails at names that other programs of this host may give theirs.
            cookies = dict(part.strip().partition("=")[::2] for part in self.headers.get("Cookie", "").split(";"))
            given = _one(query, "token") or cookies.get(self.server.cookie, "")
            if not secrets.compare_digest(given.encode(), token.encode()):
                words = "open the address that `inpaintbench view` printed, with its token"
                if "text/html" in self.headers.get("Accept", ""):
                    told = f"This link needs the token of who runs it: {words}, in this browser once; then the link opens here."
                    text = page("pages/templates/plain.html", title="This link needs a token", subtitle=told, sections=[])
                    self._send(text.encode(), "text/html; charset=utf-8", status=HTTPStatus.FORBIDDEN, policy=_SANDBOX)
                else:
                    self._refuse(HTTPStatus.FORBIDDEN, words)
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

    def _send(self, data: bytes, kind: str, *, status: HTTPStatus = HTTPStatus.OK, policy: str = _POLICY) -> None:
        self._left = None
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _file(self, place: Path, *, foreign: bool = False) -> None:
        """A file, or the part of it that was asked for."""
        if not place.is_file() or (foreign and _PRIVATE.fullmatch(place.resolve().name)):
            raise InputError(f"{place.name!r} is no file that is shown")
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


def _part(html: str) -> Answer:
    return html.encode(), "text/html; charset=utf-8"
