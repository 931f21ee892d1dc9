"""Object storage: addresses such as ``s3://bucket/films``, told apart from paths of this machine, and what lies there.

An object is written whole and never changed: no name is moved, nothing is appended, and what must have one author is written
where nothing was before (``write(..., once=True)``, which servers know as If-None-Match). What belongs to a dataset is known from
its manifest; only footage is what a listing says.

All schemes go through fsspec, whose drivers are extras. Against an S3 server on one machine, s3fs took 1 request to write 8 MiB,
and refused a second ``once``; obstore behind the same interface took 4 and wrote over the first one, and Arrow's file system took
3, and 3 for each small object and 2 to read it. obstore needed half the CPU time a request, which is little beside decoding.
Credentials are those that a driver finds in its environment; no sentence here repeats what a server or a driver says.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from inpaintbench.errors import Gone, InputError, MissingExtraError, NetworkError, UsageError
from inpaintbench.files import sync

Result = TypeVar("Result")

# Scheme -> the driver's module, and the extra that brings it; what comes with every installation has none.
_DRIVERS = {"s3": ("s3fs", "s3"), "gs": ("gcsfs", "gs"), "az": ("adlfs", "az"), "hf": ("", ""), "memory": ("", "")}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# An address of object storage within an option's text, such as `LABEL=FOLDER` has.
# To the last `@`: secrets hold slashes, and may hold `@` and `?`.
_SECRET = re.compile(r"://.*@", re.DOTALL)
_WITHIN = re.compile(rf"(?<![\w+.-])(?:{'|'.join(_DRIVERS)}|s3a|gcs|abfss?|adl)://[^\s,;]*", re.IGNORECASE)
# Of the most requests that one call may cost: each is tried so often here, and by drivers a few times more.
_TRIES, _FIRST_WAIT_SECONDS = 4, 0.2
# What is the same however often it is tried. Drivers have names of their own for a lack of credentials.
_FINAL = (FileNotFoundError, PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError)
_NO_CREDENTIALS = re.compile(r"Credential|TokenRetrieval|DefaultCredentials|Unauthorized|ProfileNotFound")
# Of what a listing says of an object, the first of these tells that it was changed.
_CHANGES = ("ETag", "etag", "blob_id", "md5Hash", "LastModified", "last_modified", "mtime", "created")

CACHE, CACHE_SIZE = "INPAINTBENCH_CACHE", "INPAINTBENCH_CACHE_SIZE"
_USUAL_SIZE = "20GB"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
# Files of the cache that a process keeps from being removed: those that it was given last.
_HELD: deque[tuple[Path, int]] = deque(maxlen=2)


@dataclass(frozen=True)
class Address:
    """A place in object storage: ``s3://bucket/films``."""

    scheme: str
    path: str
    """Bucket and name, without a slash at the end."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}"

    def __truediv__(self, name: str) -> Address:
        return Address(self.scheme, f"{self.path}/{name}")


Place = Path | Address


def without_credentials(address: str) -> str:
    """An address for people: without a name and password before its host, and without its query."""
    return _SECRET.sub("://***@", address).partition("?")[0]


def check_path(text: str, *, called: str) -> None:
    """Raise ``UsageError`` where ``text`` is an address and no path; ``called`` is what asked for it, such as ``--out``."""
    if not _SCHEME.match(text):
        return
    parts = urlsplit(text)
    if parts.scheme == "file":
        way = f"write its path alone: {unquote(parts.path)!r}"
    elif parts.scheme in _DRIVERS:
        way = "mount the bucket, or copy what it holds"
    else:
        way = "copy what it holds"
    shown = without_credentials(text)
    raise UsageError(f"{called}: {shown!r} is an address, and a path on this machine is wanted; {way}")


def check_paths_within(text: str, *, called: str) -> None:
    """``check_path`` of an address of object storage that lies anywhere in ``text``."""
    if found := _WITHIN.search(_SECRET.sub("://***@", text)):
        check_path(found[0], called=called)


def local_path(path: Path | str, *, called: str) -> Path:
    """``path``, which ``check_path`` lets pass."""
    check_path(str(path), called=called)
    return Path(path)


def place(text: str, *, listed: bool = False) -> Place:
    """The path or the address that ``text`` is.

    Args:
        text: as a user wrote it.
        listed: it is the address of an object that a listing had, whose name may hold anything.

    Raises:
        UsageError: an address of no object storage, or with credentials in it. MissingExtraError: its driver is not installed.
    """
    found = _SCHEME.match(text)
    if not found:
        return Path(text)
    scheme, shown = found[1].lower(), without_credentials(text)
    if scheme not in _DRIVERS:
        raise UsageError(f"{shown!r} is an address of no kind known here; known are {', '.join(f'{one}://' for one in _DRIVERS)}")
    path = text[found.end() :]
    bucket, before = path.partition("/")[0], path.rpartition("@")[0]
    if not listed and (":" in before or ":" in bucket or "@" in bucket):
        if "@" not in path:  # a secret may be all that follows
            shown = f"{scheme}://***"
        raise UsageError(f"{shown!r} is to be written without credentials: these are taken from the environment")
    if not listed and "?" in path:
        raise UsageError(f"{shown!r} is to be written without queries: credentials are taken from the environment")
    module, extra = _DRIVERS[scheme]
    if module and find_spec(module) is None:
        raise MissingExtraError(f"an address {scheme}://", extra)
    if not path.strip("/"):
        raise UsageError(f"{shown!r} names no bucket")
    return Address(scheme, path if listed else path.strip("/"))


def bytes_of(text: str) -> int:
    """``50GB`` -> 50,000,000,000. Raises ``UsageError`` for what is no size."""
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise UsageError(f"{text!r} is no size; write one as 50GB")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2].upper() or " "))


# What lies at an address


@dataclass(frozen=True)
class Entry:
    """An object below an address, as a listing has it."""

    name: str
    """Below the address, with ``/`` between its parts."""
    bytes: int
    state: str
    """Changes whenever the object is written anew."""


def listed(address: Address) -> list[Entry]:
    """Everything below an address, by the bytes of its names.

    Raises:
        InputError: it cannot be listed. NetworkError: for now.
    """
    system, root = _system(address)
    try:
        found: Mapping[str, Any] = _tried(address, lambda: system.find(root, detail=True))
    except Gone:
        found = {}
    entries = [
        Entry(path[len(root.rstrip("/")) + 1 :], int(told["size"] or 0), _state(told))
        for path, told in found.items()
        if told.get("type") == "file" and path.startswith(f"{root.rstrip('/')}/") and not path.endswith("/")
    ]
    return sorted(entries, key=lambda one: one.name.encode())


def read(address: Address) -> bytes:
    """The bytes of an object. Raises ``Gone``, ``InputError`` where it may not be read, ``NetworkError``."""
    system, name = _system(address)
    data: bytes = _tried(address, lambda: system.cat_file(name))
    return data


def is_there(address: Address) -> bool:
    """Return whether there is an object. Raises ``InputError`` where nobody may ask, ``NetworkError``."""
    system, name = _system(address)
    try:
        return bool(_tried(address, lambda: system.info(name))["type"] == "file")
    except Gone:
        return False


def write(address: Address, data: bytes | Path, *, once: bool = False) -> bool:
    """Write an object whole, of bytes or of a file.

    Args:
        address: of the object.
        data: its bytes, or a file that holds them.
        once: only where there is none yet.

    Returns:
        Whether it was written; False where ``once`` found one, which may be this call's own, where an answer was lost.

    Raises:
        InputError: it may not be written. NetworkError: for now; whoever calls again writes the same bytes.
    """
    system, name = _system(address)
    mode = "create" if once else "overwrite"

    def put() -> bool:
        try:
            if isinstance(data, Path):
                system.put_file(str(data), name, mode=mode)
            else:
                system.pipe_file(name, data, mode=mode)
        except FileExistsError:
            return False
        return True

    return _tried(address, put)


def _system(address: Address) -> tuple[Any, str]:
    """The file system of an address, and its name there."""
    import fsspec  # a third of what a command takes to answer

    options: dict[str, Any] = {} if address.scheme == "memory" else {"use_listings_cache": False}
    system = fsspec.filesystem(address.scheme, **options)
    # Not by the address: fsspec takes `::` and `?` within one for more than a name.
    return system, str(system._strip_protocol(address.path))


def _state(told: Mapping[str, Any]) -> str:
    changes = next((told[name] for name in _CHANGES if told.get(name)), "")
    # Listings may give times as numbers where the question for one object gives dates.
    return f"{told['size']}:{changes.timestamp() if isinstance(changes, datetime) else changes}"


def _tried(address: Address, call: Callable[[], Result]) -> Result:
    """The result of a call, tried again where a failure may be one of the moment."""
    for waited in range(_TRIES):
        try:
            return call()
        except FileNotFoundError as error:
            hint = "; what memory:// holds is of one process alone: --workers 1" if address.scheme == "memory" else ""
            raise Gone(f"there is nothing at {address}{hint}") from error
        except PermissionError:
            raise InputError(f"{address} is not for the credentials of this environment, if it is there at all") from None
        except Exception as error:
            kinds = {one.__name__ for one in type(error).__mro__} | {type(error.__cause__).__name__}
            if any(map(_NO_CREDENTIALS.search, kinds)):
                raise InputError(f"{address} needs credentials, and there are none in this environment") from None
            if isinstance(error, _FINAL) or waited + 1 == _TRIES:
                what = errno.errorcode.get(getattr(error, "errno", None) or 0, "")
                shown = " ".join(filter(None, (type(error).__name__, what)))
                raise NetworkError(f"{address} could not be reached in {waited + 1} tries ({shown})") from None
            time.sleep(_FIRST_WAIT_SECONDS * 2**waited)
    raise AssertionError


# Files of this machine that hold what lies at an address


def brought(address: Address, *, state: str | None = None) -> Path:
    """A file of this machine with the bytes at an address: of the cache that all processes share, brought there where it is not.

    The two files that a process was given last are not removed by any other; earlier ones may go, and come again.

    Args:
        address: of the object.
        state: that its listing had; None = that of now.

    Raises:
        Gone: it is not there, or has another state by now. InputError: it may not be read. NetworkError: for now.
    """
    folder = cache_folder()
    if state is None:
        state = _told(address)[1]
    key = hashlib.sha256(f"{address}\0{state}".encode()).hexdigest()
    path = folder / "files" / key[:2] / f"{key[2:34]}{Path(address.path).suffix}"
    size = int(state.partition(":")[0])
    if _hold(path, size):
        return path
    with locked(folder / "locks" / key[:2]):
        if not _hold(path, size):
            _check_state(address, state)
            fetch(address, path, size=size, state=state)
            _hold(path, size)
    _make_room(folder)
    return path


def _told(address: Address) -> tuple[int, str]:
    """Bytes and state of an object now."""
    system, name = _system(address)
    told = _tried(address, lambda: system.info(name))
    return int(told["size"]), _state(told)


def _check_state(address: Address, state: str) -> None:
    if _told(address)[1] != state:
        raise Gone(f"{address} was changed after it was listed; run the command again")


def fetch(address: Address, path: Path, *, size: int | None = None, state: str | None = None) -> None:
    """Bring an object, of so many bytes and in a state where these are known, into a file, which is there once it is whole.

    Raises:
        Gone: it is not there, or has another state by then. InputError: it may not be read. NetworkError: for now.
    """
    system, name = _system(address)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    path.parent.mkdir(parents=True, exist_ok=True)

    def get() -> None:
        system.get_file(name, str(part))
        if size is not None and part.stat().st_size != size:
            raise ConnectionError("fewer bytes than were told")

    try:
        _tried(address, get)
        if state is not None:
            _check_state(address, state)
        sync(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def cache_folder() -> Path:
    """Where files of addresses are kept: by the environment, else where such things usually lie."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inpaintbench"
    return Path(os.environ.get(CACHE) or usual)


def _hold(path: Path, size: int) -> bool:
    """Keep a file from being removed while it is among the last that were held; False where it is not there in its size."""
    for held, file in _HELD:
        if held == path and os.fstat(file).st_size == size:
            os.utime(path)
            return True
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    fcntl.flock(file, fcntl.LOCK_SH)
    try:
        os.utime(path)
        status = os.fstat(file)
        # What was not written before a machine stopped is missing at the end.
        there = status.st_size == size and os.path.samestat(status, path.stat())
    except FileNotFoundError:  # removed in between
        there = False
    if not there:
        os.close(file)
        return False
    if len(_HELD) == _HELD.maxlen:
        os.close(_HELD.popleft()[1])
    _HELD.append((path, file))
    return True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file, made where there is none, while the block runs: one process at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make_room(folder: Path) -> None:
    """Remove the files that were not used for longest, but those that some process holds, until the rest has its size."""
    most = bytes_of(os.environ.get(CACHE_SIZE) or _USUAL_SIZE)
    with locked(folder / "locks" / "room"):
        files = []
        for path in (folder / "files").glob("*/*"):
            with suppress(FileNotFoundError):
                status = path.stat()
                files.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= most:
                return
            if _removed(path):
                total -= size


def _removed(path: Path) -> bool:
    """Remove a file unless a process holds it; what is on its way in has no holder, and is left for a day."""
    try:
        if path.name.startswith(".") and path.stat().st_mtime > time.time() - 86_400:
            return False
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except OSError:  # held, or gone
        return False
    return True
