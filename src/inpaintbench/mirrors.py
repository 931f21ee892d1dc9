"""Workspaces and run folders at addresses: each has a folder on this machine, its mirror, in which all paths of the program lie.

    ADDRESS/
      heads/<number>.json           the state after so many commits: files, pieces of packs that each is made of, and who writes
      packs/<sha256>                bytes of files that a commit brought, one after the other; of logs what they grew by
      blobs/<ab>/<sha256><suffix>   as in a folder
      exports/<name>/dataset.json, objects/<sha256>    datasets, as ``frozen.at_address`` reads them
      leases/<holder>               written again and again while its holder runs
      report/..., compare/...       copies of pages that a run wrote, for people; no program reads them

Every object but leases, pages and ``dataset.json`` is written once and never changed nor removed. A head is written where
none is yet, so two runs cannot follow the same one, and the newest is the one after which there is none: no listing tells
what there is. What a run has is committed every ``_DUE_SECONDS``, where nothing is computed in its own process, and at its end,
also when it is interrupted; what a killed one had not committed lies in its mirror, and the next run of that machine goes on from
there. Others go on from the last head.

A lease is old by the server's clock, as it tells when objects were written, and by no clock of a machine. It only keeps runs
from doing work twice: whoever lost it cannot commit.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from inpaintbench import storage
from inpaintbench.errors import Gone, InpaintBenchError, InputError, NetworkError, UsageError, VerifyError, WorkspaceError
from inpaintbench.files import file_sha256, replacing, write_atomically
from inpaintbench.storage import Address, check_once, fetch, is_there, locked, place, read, write, written_at
from inpaintbench.types import canonical_json

# In a mirror: which address it is of, what was last known of that, and what will be once the head that is being written is there.
_ADDRESS, _STATE, _NEXT, _ALONE = ".address", ".state", ".next", ".sync"
# Mark of each dataset's root that this mirror sent or brought last: one that is neither is newer than what is known elsewhere;
# and the SHA-256 of the one that it saw at the dataset's address.
_SENT, _LED = ".sent", ".led"
# Where one of two that write the same object is refused; the Hub looks first and writes then.
_SCHEMES = ("s3", "gs", "az", "memory")
# What lies in mirrors alone, or goes its own way; and folders of what is committed that hold no pages for people.
_NOTES = "inpaintbench-notes.json"
_APART = ("blobs", "exports", "scratch", "partial", "logs", _NOTES)
_OF_STORE = ("tables", "ledger", "doubted", "unfinished", "fetching", "published")
_PUBLISHED, _ROOT, _WORKSPACE = "published", "dataset.json", "workspace.json"
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Work that a killed machine loses at most, but for units that took longer in its own process; a commit takes two requests,
# but for pages, and some milliseconds.
_DUE_SECONDS = 10.0
# A holder that was not heard of for so long is dead: four of its beats.
_EXPIRES_SECONDS, _BEAT_SECONDS = 120.0, 30.0
# For so long a run goes on, or waits at its end, where its address cannot be reached.
_OUTAGE_SECONDS = 300.0
# Bytes from which on a file has a pack of its own, so that it is not brought beside smaller ones.
_LARGE = 8 << 20
# Packs of smaller files that a new machine has to bring; more are made one at the end of a run.
_MOST_PACKS = 8
_TRIES, _AT_ONCE = 8, 6
# A mirror is brought up to date again for who reads it after so long.
_FRESH_SECONDS = 5.0
_MARK = 32
_KEPT = "what was done is kept on this machine, where the same command goes on"
_EMPTY: Mapping[str, Any] = {"format": 1, "holders": {}, "files": {}}
# Mirrors that this process has to do with -> their addresses; when each was last brought up to date.
_KNOWN: dict[str, Address] = {}
_UPDATED: dict[Path, float] = {}

Pieces = list[list[Any]]
"""Pack, first byte and number of bytes of each."""


def shown(text: str) -> str:
    """``text`` with addresses in the place of their mirrors, but for logs, which lie in these alone."""
    for folder, address in _KNOWN.items():
        text = re.sub(rf"{re.escape(folder)}(?!/logs/)", lambda _: str(address), text)  # noqa: B023
    return text


def stands_for(folder: Path, address: Address) -> None:
    """Have ``shown`` say the address in the place of the folder."""
    _KNOWN[str(folder)] = address


def root_of(where: Path | str, shard: object = None) -> tuple[Path, Address | None]:
    """The folder of a workspace, and the address that it is the mirror of, if it is one; the mirror of an address is made.

    Args:
        where: a folder, a mirror or an address.
        shard: whose mirror it is; shards may run beside each other on one machine.

    Raises:
        UsageError: an address of no object storage, or of one that cannot hold a workspace. MissingExtraError: its driver is not
            installed.
    """
    at, mirrors = place(str(where)), storage.cache_folder() / "workspaces"
    if isinstance(at, Path):
        # Elsewhere such a file is a stranger's, in an archive.
        if at.absolute().parent.resolve() != mirrors.resolve() or not (at / _ADDRESS).is_file():
            return at, None
        address = place((at / _ADDRESS).read_text())
        assert isinstance(address, Address)
        if shard is None:
            stands_for(at, address)
            return at, address
        at = address
    if at.scheme not in _SCHEMES:
        raise UsageError(f"{at} cannot hold a workspace or a run; {', '.join(f'{one}://' for one in _SCHEMES)} can")
    # Servers of one's own may have buckets of the same names.
    server = (os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")) if at.scheme == "s3" else None
    words = [str(at), str(shard or ""), *([server] if server else [])]
    folder = mirrors / hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]
    if not (folder / _ADDRESS).exists():
        write_atomically(folder / _ADDRESS, str(at).encode())
    stands_for(folder, at)
    return folder, at


def here(text: str) -> Path:
    """A folder as it is; of the address of a workspace its mirror, brought up to date. Raises what ``Mirror.update`` raises."""
    folder, address = root_of(text)
    if address:
        Mirror(folder, address).update()
    return folder


def lying_in(at: Address) -> Path:
    """What lies in a workspace at an address, such as the report in ``ADDRESS/report``, or the workspace itself, in its mirror.

    Raises:
        InputError: there is no workspace, or nothing of that name in it; or it may not be read. NetworkError: for now.
    """
    bucket, *names = at.path.split("/")
    for count in range(len(names), -1, -1):
        root = Address(at.scheme, "/".join([bucket, *names[:count]]))
        if is_there(root / "heads/1.json"):
            if (found := here(str(root)).joinpath(*names[count:])).exists():
                return found
            break
    raise InputError(f"there is no dataset, workspace or run at {at}")


def bring_exports(folder: Path) -> None:
    """Bring the datasets that other machines exported, where a folder is a mirror.

    Raises:
        VerifyError: one is damaged there. InputError: it may not be read. NetworkError: for now.
    """
    _, address = root_of(folder)
    if address is None:
        return
    for told in sorted((folder / _PUBLISHED).glob("*.json")):
        files, into = json.loads(told.read_text()), folder / "exports" / told.stem
        try:
            _check_names([told.stem, *files], files.values())
            root = files[_ROOT]
        except (ValueError, KeyError, AttributeError) as error:
            raise WorkspaceError(f"{_PUBLISHED}/{told.name} of {address} is damaged: {error}") from error
        # One that is neither what was published nor what was sent or brought is newer, of a run that was killed.
        if (into / _ROOT).exists() and (file_sha256(into / _ROOT) == root or not _is_sent(folder, into)):
            continue
        objects = address / f"exports/{told.stem}/objects"
        with replacing(into) as made, ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: fetch(objects / files[name], made / name), files))  # noqa: B023
            if wrong := [name for name, sha256 in files.items() if file_sha256(made / name) != sha256]:
                raise VerifyError(f"{wrong[0]} of {address}/exports/{told.stem} is damaged: its SHA-256 is another")


def _check_names(names: Iterable[str], hashes: Iterable[str]) -> None:
    """Raise ``ValueError`` for a name that leads out of its folder, and for what is no SHA-256: a bucket may be a stranger's."""
    for name in names:
        if any(part in ("", ".", "..") or set(part) & set("\\\0") for part in name.split("/")):
            raise ValueError(f"{name!r} is no file of a workspace")
    for sha256 in hashes:
        if not _SHA256.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is no SHA-256")


class Mirror:
    """The mirror of a workspace: brings the newest state here, and commits what is done here.

    Args:
        folder: of the mirror.
        address: of the workspace.
        shard: the part that is worked on; "" = all.
    """

    def __init__(self, folder: Path, address: Address, shard: str = "") -> None:
        self.folder, self.address, self.shard = folder, address, shard
        self._holder, self._tried_at, self._out_since = "", 0.0, 0.0
        self._state: dict[str, Any] = {}
        self._anew = False

    def _load(self) -> None:
        try:
            self._state = json.loads((self.folder / _STATE).read_text())
        except (FileNotFoundError, ValueError):
            self._state = {"mirror": uuid.uuid4().hex, "number": 0, "sha256": "", "head": dict(_EMPTY), "seen": {}}
        with suppress(FileNotFoundError, ValueError):
            following = json.loads((self.folder / _NEXT).read_text())
            if following["number"] > self._state["number"] and _is_head(self._head(following["number"]), following["sha256"]):
                self._state = following  # who wrote it was killed before it could note that
                (self.folder / _NEXT).replace(self.folder / _STATE)
            (self.folder / _NEXT).unlink(missing_ok=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes of this machine from changing the mirror while the block runs, but for the one that writes."""
        with locked(self.folder / _ALONE):
            yield

    def update(self) -> None:
        """Bring the newest state here, unless a process writes here, whose state is newer.

        Raises:
            InputError: it may not be read. NetworkError: for now.
        """
        if time.monotonic() - _UPDATED.get(self.folder, -_FRESH_SECONDS) < _FRESH_SECONDS:
            return
        with self.alone():
            with (self.folder / ".lock").open("a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    return
            self._load()  # another process may have been here
            self._pull()

    def _head(self, number: int) -> bytes | None:
        try:
            return read(self.address / f"heads/{number}.json")
        except Gone:
            return None

    def _newest(self) -> tuple[int, bytes]:
        """Number and bytes of the newest head, 0 where there is none: heads have all numbers from 1 on."""
        number, found = self._state["number"], None
        if number:
            found = self._head(number)
            if not _is_head(found, self._state["sha256"]):
                number, found, self._anew = 0, None, True  # of another workspace by now
        step = 1
        while (data := self._head(number + step)) is not None:
            number, found, step = number + step, data, step * 2
        while step > 1:
            step //= 2
            if (data := self._head(number + step)) is not None:
                number, found = number + step, data
        return number, found or canonical_json(_EMPTY).encode()

    def _adopt(self, number: int, data: bytes) -> None:
        try:
            head = json.loads(data)
            if head["format"] != _EMPTY["format"]:
                raise WorkspaceError(f"workspace {self.address} has format {head['format']}, this program reads 1")
            _check_names(head["files"], (piece[0] for pieces in head["files"].values() for piece in pieces))
            for name, pieces in head["files"].items():
                if name.startswith(".") or name.split("/")[0] in _APART:
                    raise ValueError(f"{name!r} is no file that is committed")
                if not all(type(number) is int and number >= 0 for _, *numbers in pieces for number in numbers):
                    raise ValueError(f"{name!r} has pieces of no size")
            for holder in head["holders"].values():
                _check_names([holder["id"]], ())
                str(holder["mirror"]), str(holder["machine"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise WorkspaceError(f"{self.address}/heads/{number}.json is damaged: {error}") from error
        before = self._state["head"]["files"]
        for name, pieces in head["files"].items():
            if name.startswith(f"{_PUBLISHED}/") and pieces != before.get(name):  # what was seen at its address was an older root
                (self.folder / _LED / Path(name).stem).unlink(missing_ok=True)
        self._state |= {"number": number, "sha256": hashlib.sha256(data).hexdigest(), "head": head}

    def _save(self) -> None:
        write_atomically(self.folder / _STATE, json.dumps(self._state).encode())

    def _pull(self) -> None:
        """Let the files here be those of the newest head. What was not committed stays where that is the head that it follows;
        where others have gone on, logs that they left alone stay. What was deleted here comes again."""
        self._anew = False
        self._note_sent()
        base, number, sha256 = self._state["head"]["files"], self._state["number"], self._state["sha256"]
        self._adopt(*self._newest())
        files, seen, there = self._state["head"]["files"], self._state["seen"], self._scan()
        moved = (number, sha256) != (self._state["number"], self._state["sha256"])
        stays = {name for name in there if name.startswith("ledger/") or not moved}
        if self._anew:  # what is here is of a workspace that is gone, whose blobs are gone, too
            stays, base = set(), {}
            for folder in (*_APART, _SENT, _LED):
                shutil.rmtree(self.folder / folder, ignore_errors=True)
        wanted = {
            name: pieces
            for name, pieces in files.items()
            if pieces != base.get(name)
            or name not in seen
            or name not in there
            or (there.get(name) != seen[name] and name not in stays and moved)
        }
        for name in there:
            if name not in files and (name in base or name not in stays):
                (self.folder / name).unlink()
                seen.pop(name, None)
        self._restore(wanted)
        for name in seen.keys() - files.keys():
            del seen[name]
        _UPDATED[self.folder] = time.monotonic()
        if wanted or moved:
            self._save()
        storage.make_room(storage.cache_folder())

    def _note_sent(self) -> None:
        """Mark the datasets that are what the last head that is known here tells: sent, brought or built again, whoever was
        killed after it. Of the next head nothing may be here yet, as it may tell of newer ones."""
        for told in (self.folder / _PUBLISHED).glob("*.json"):
            dataset = self.folder / "exports" / told.stem
            if self._state["seen"].get(f"{_PUBLISHED}/{told.name}") != self._mark(told) or not (dataset / _ROOT).exists():
                continue
            if f'"{_ROOT}":"{file_sha256(dataset / _ROOT)}"' in told.read_text(errors="replace"):
                write_atomically(self.folder / _SENT / told.stem, _sent(dataset).encode())

    def _restore(self, wanted: Mapping[str, Pieces]) -> None:
        packs: dict[str, bytes] = {}

        def bring(pack: str) -> None:
            packs[pack] = read(self.address / f"packs/{pack}")
            if hashlib.sha256(packs[pack]).hexdigest() != pack:
                raise _damaged(self.address / f"packs/{pack}")

        large = {name for name, pieces in wanted.items() if len(pieces) == 1 and pieces[0][2] >= _LARGE}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(bring, {pack for name in wanted.keys() - large for pack, _, _ in wanted[name]}))
        for name, pieces in wanted.items():
            path = self.folder / name
            if name in large:
                fetch(self.address / f"packs/{pieces[0][0]}", path, size=pieces[0][2])
                if file_sha256(path) != pieces[0][0]:
                    path.unlink()
                    raise _damaged(self.address / f"packs/{pieces[0][0]}")
            else:
                write_atomically(path, b"".join(packs[pack][begin : begin + count] for pack, begin, count in pieces))
            self._state["seen"][name] = self._mark(path)

    @staticmethod
    def _mark(path: Path) -> list[Any]:
        """What tells whether a file was changed, and of a log whether it only grew."""
        status, end = path.stat(), ""
        if path.suffix == ".jsonl":
            with path.open("rb") as file:
                file.seek(max(status.st_size - _MARK, 0))
                end = file.read(_MARK).hex()
        return [status.st_mtime_ns, status.st_size, status.st_ino, end]

    def _scan(self) -> dict[str, list[Any]]:
        """The files of the mirror that are committed, with the mark of each."""
        own = [path for path in self.folder.iterdir() if path.name not in _APART and not path.name.startswith(".")]
        marks = {}
        for path in (path for one in own for path in (one.rglob("*") if one.is_dir() else [one])):
            if not path.name.startswith(".") and path.name != _NOTES and path.is_file():
                with suppress(FileNotFoundError):  # workers take away what is doubted
                    marks[path.relative_to(self.folder).as_posix()] = self._mark(path)
        return marks

    # Who writes

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the workspace while the block runs; what was done is committed when it ends, however it does. The caller holds
        the mirror. Of an error of the block and one of committing the first is raised, and says both.

        Raises:
            WorkspaceError: another run holds it. InputError: it may not be written. NetworkError: for now.
        """
        self._load()
        self._holder = uuid.uuid4().hex
        lease = self.address / f"leases/{self._holder}"
        check_once(lease)
        ended = threading.Event()
        # From now on: what has to be brought first may take longer than a lease lasts.
        threading.Thread(target=self._beat, args=(lease, ended), name="lease", daemon=True).start()
        try:
            self._take(lease)
            end = partial(self.commit, release=True)
            try:
                yield
            except BaseException as first:
                try:
                    end()
                except InpaintBenchError as then:
                    if not isinstance(first, Exception):
                        raise
                    if not isinstance(first, NetworkError):  # or the same is told
                        first.args = (f"{first}; {then}; {_KEPT}",)
                raise
            while not self._tried(end):
                time.sleep(_DUE_SECONDS)
        finally:
            ended.set()
            self._holder = ""

    @staticmethod
    def _beat(lease: Address, ended: threading.Event) -> None:
        while not ended.wait(_BEAT_SECONDS):
            with suppress(Exception):  # whoever commits meets it too, and tells it
                write(lease, b"")

    def _take(self, lease: Address) -> None:
        for _ in range(_TRIES):
            self._pull()
            for name, holder in self._state["head"]["holders"].items():
                if self._excludes(name) and holder["mirror"] != self._state["mirror"]:
                    with suppress(Gone):
                        left = _EXPIRES_SECONDS - (written_at(lease) - written_at(self.address / f"leases/{holder['id']}"))
                        if left > 0:
                            raise WorkspaceError(
                                f"workspace '{self.address}' is in use by another run, on {holder['machine']}; if that was "
                                f"killed, it is free in {left:.0f} s"
                            )
            if self._commit():
                return
        raise WorkspaceError(f"workspace '{self.address}' is in use by other runs")

    def _excludes(self, name: str) -> bool:
        """Return whether the holder of the part ``name`` and this run may not run at once."""
        return name == self.shard or not (name and self.shard)

    # What is done

    def commit_if_due(self) -> None:
        """``commit`` of all but datasets, once in a while."""
        if time.monotonic() - self._tried_at >= _DUE_SECONDS:
            self._tried(self._follow)

    def _tried(self, commit: Callable[[], None]) -> bool:
        """Return whether ``commit`` came through; an outage that lasts is raised."""
        try:
            if self._out_since:  # what was written then, without an answer, may be there
                self._load()
            commit()
            self._out_since = 0.0
        except NetworkError as error:
            self._out_since = self._out_since or time.monotonic()
            if time.monotonic() - self._out_since >= _OUTAGE_SECONDS:
                raise NetworkError(f"{error}; {_KEPT}") from None
        self._tried_at = time.monotonic()
        return not self._out_since

    def commit(self, *, release: bool = False) -> None:
        """Bring what was done here to the address; ``release``: and hold the workspace no more.

        Raises:
            WorkspaceError: another run has taken the workspace over. InputError, NetworkError: it could not be written.
        """
        self._publish()
        if not_led := self._not_led():
            self._follow()
            for name, root in not_led.items():
                self._lead(name, root)
        self._follow(release=release)

    def _follow(self, *, release: bool = False) -> None:
        """``_commit`` behind whatever heads other shards write."""
        for _ in range(_TRIES):
            if self._commit(release=release):
                return
            self._adopt_theirs()
        raise NetworkError(f"{self.address} is written by so many that this run did not come to it; run it again")

    def _commit(self, *, release: bool = False) -> bool:
        """Write packs of what was changed, and the head that names them; False where there is another head by now."""
        changes, there = self._packed(tidy=release and not self.shard)
        seen = self._state["seen"] | {name: there[name] for name, pieces in changes.items() if pieces}
        pages = {name for name in changes if "/" in name and name.split("/")[0] not in _OF_STORE}
        self._state["pages"] = sorted(pages | {*self._state.get("pages", [])})
        if not self._written(changes, {name: mark for name, mark in seen.items() if changes.get(name) != []}, release=release):
            return False
        self._send_pages()
        return True

    def _send_pages(self) -> None:
        """Send the pages that changed to their plain names, and remove those that are gone: once the head is this run's, so that
        those of a newer run stay, and after it, as no program reads them."""
        if not (pages := self._state["pages"]):
            return
        there = [name for name in pages if (self.folder / name).is_file()]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda name: write(self.address / name, self.folder / name), there))
        storage.remove(self.address, sorted({*pages} - {*there}))
        self._state["pages"] = []
        self._save()

    def _adopt_theirs(self) -> None:
        """Follow the head of another shard instead."""
        base = self._state["head"]["files"]
        self._adopt(*self._newest())
        if not any(holder["id"] == self._holder for holder in self._state["head"]["holders"].values()):
            raise WorkspaceError(f"another run has taken the workspace '{self.address}', as this one was not heard of for long")
        for name, pieces in self._state["head"]["files"].items():
            if pieces != base.get(name):
                self._state["seen"].pop(name, None)

    def _written(self, changes: Mapping[str, Pieces], seen: Mapping[str, Any], *, release: bool) -> bool:
        """Write the head that follows, if it is another, and note it with what was ``seen``; False where there is one by now."""
        head, number = self._state["head"], self._state["number"] + 1
        files = {name: pieces for name, pieces in {**head["files"], **changes}.items() if pieces}
        holders = {name: one for name, one in head["holders"].items() if not self._excludes(name)}
        if not release:
            holders[self.shard] = {"id": self._holder, "mirror": self._state["mirror"], "machine": socket.gethostname()}
        if (holders, files) == (head["holders"], head["files"]):
            self._state["seen"] = dict(seen)
            self._save()
            return True
        head = {**_EMPTY, **head, "holders": holders, "files": files}
        data = canonical_json(head).encode()
        following = {**self._state, "number": number, "sha256": hashlib.sha256(data).hexdigest(), "head": head, "seen": seen}
        write_atomically(self.folder / _NEXT, json.dumps(following).encode())
        at = self.address / f"heads/{number}.json"
        # The answer to an earlier try may have been lost.
        if not write(at, data, once=True) and self._head(number) != data:
            return False
        self._adopt(number, data)
        self._state["seen"] = dict(seen)
        (self.folder / _NEXT).replace(self.folder / _STATE)
        return True

    def _packed(self, *, tidy: bool) -> tuple[dict[str, Pieces], dict[str, list[Any]]]:
        """Write what was changed into packs; the pieces of each changed file, none of those that are gone, and all marks."""
        files, seen, there = self._state["head"]["files"], self._state["seen"], self._scan()
        # Else all that somebody deleted here would be taken away there.
        if not (self.folder / _ADDRESS).exists() or (_WORKSPACE in seen and _WORKSPACE not in there):
            raise WorkspaceError(f"the mirror of '{self.address}' was deleted while a command worked in it: run that again")
        # Of what shards share the first one's counts, and the run that puts them together writes it anew.
        marks = (f"@{self.shard}.", f"@{self.shard}/")
        own = {name for name in there if not self.shard or any(mark in name for mark in marks) or name not in files}
        changed = {name for name in own if there[name] != seen.get(name)}
        small = {name for name in own if there[name][1] < _LARGE}
        if tidy and len({piece[0] for name in small - changed for piece in files[name]}) >= _MOST_PACKS:
            changed |= small
            files = {name: pieces for name, pieces in files.items() if name not in small}
        changes: dict[str, Pieces] = {name: [] for name in seen.keys() - there.keys()}
        pack = bytearray()
        for name in sorted(changed):
            path, size = self.folder / name, there[name][1]
            kept = _prefix(path, files.get(name, []), seen.get(name), size)
            if size >= _LARGE and not kept:
                sha256 = file_sha256(path)
                write(self.address / f"packs/{sha256}", path)
                changes[name] = [[sha256, 0, size]]
                continue
            try:
                with path.open("rb") as file:
                    file.seek(sum(count for _, _, count in kept))
                    data = file.read(size - file.tell())
            except FileNotFoundError:  # taken away since, which the next commit tells
                continue
            changes[name] = [*kept, ["", len(pack), len(data)]]
            pack += data
        if fresh := [pieces[-1] for pieces in changes.values() if pieces and not pieces[-1][0]]:
            sha256 = hashlib.sha256(pack).hexdigest()
            write(self.address / f"packs/{sha256}", bytes(pack))
            for piece in fresh:
                piece[0] = sha256
        return changes, there

    # Datasets

    def _publish(self) -> None:
        """Send the datasets that were exported here since they were last sent, and list their files in ``published/``."""
        for root in (self.folder / "exports").glob(f"[!.]*/{_ROOT}"):
            told = self.folder / _PUBLISHED / f"{root.parent.name}.json"
            before = json.loads(told.read_text()) if told.exists() else {}
            if before.get(_ROOT) == file_sha256(root) or _is_sent(self.folder, root.parent):  # others may have sent a newer one
                continue
            paths = sorted(path for path in root.parent.rglob("*") if path.is_file())
            files = {path.relative_to(root.parent).as_posix(): file_sha256(path) for path in paths}
            to = self.address / f"exports/{root.parent.name}"
            missing = {sha256: root.parent / name for name, sha256 in files.items() if sha256 not in before.values()}
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(lambda sha256, path: write(to / f"objects/{sha256}", path), missing, missing.values()))  # noqa: B023
            write_atomically(told, canonical_json(files).encode())

    def _not_led(self) -> dict[str, str]:
        """The datasets, with the SHA-256 of their roots, whose root nobody here has seen at their address."""
        roots = {told.stem: json.loads(told.read_text())[_ROOT] for told in (self.folder / _PUBLISHED).glob("*.json")}
        return {name: root for name, root in roots.items() if not _is(root, self.folder / _LED / name)}

    def _lead(self, name: str, root: str) -> None:
        """Let the root of a dataset be the one that the head tells of: another run may have been killed before it was."""
        to = self.address / f"exports/{name}"
        try:
            there = read(to / _ROOT)
        except Gone:
            there = b""
        if hashlib.sha256(there).hexdigest() != root:
            self._adopt_theirs()  # unless another run has taken the workspace over, whose dataset this would replace
            write(to / _ROOT, read(to / f"objects/{root}"))  # all that it names is there
        write_atomically(self.folder / _LED / name, root.encode())


def _is_sent(folder: Path, dataset: Path) -> bool:
    """Return whether the dataset of a mirror is the one that was sent from it, or brought to it, last."""
    return _is(_sent(dataset), folder / _SENT / dataset.name)


def _sent(dataset: Path) -> str:
    """The mark of a dataset that was sent or brought: one that is built again is newer, though it be the same."""
    return f"{file_sha256(dataset / _ROOT)} {(dataset / _ROOT).stat().st_mtime_ns}"


def _is(mark: str, kept: Path) -> bool:
    """Return whether a mark is the one that a file keeps."""
    return kept.exists() and kept.read_text() == mark


def _is_head(found: bytes | None, sha256: str) -> bool:
    """Return whether what was found is the head of this SHA-256, or what stays of it."""
    return found is not None and sha256 in (hashlib.sha256(found).hexdigest(), found.decode(errors="replace"))


def _damaged(pack: Address) -> VerifyError:
    return VerifyError(f"{pack} is damaged: its bytes have another SHA-256 than its name")


def _prefix(path: Path, pieces: Pieces, seen: list[Any] | None, size: int) -> Pieces:
    """The pieces of a log that only grew which stay: few, each more than twice as long as what follows; none of other files."""
    before = sum(count for _, _, count in pieces)
    if path.suffix != ".jsonl" or not pieces or seen is None or seen[1] != before or size < before:
        return []
    with path.open("rb") as file:
        file.seek(max(before - _MARK, 0))
        if file.read(min(before, _MARK)).hex() != seen[3]:
            return []
    kept, rest = list(pieces), size - before
    while kept and kept[-1][2] <= 2 * rest:
        rest += kept.pop()[2]
    return kept
