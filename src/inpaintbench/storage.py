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
import shutil
import time
import uuid
from base64 import b64decode
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from inpaintbench.errors import Gone, InputError, MissingExtraError, NetworkError, UsageError
from inpaintbench.files import sync

Result = TypeVar("Result")

# Scheme -> the driver's module, and the extra that brings it; what comes with every installation has none. And where it finds
# credentials.
_DRIVERS = {
    "s3": ("s3fs", "s3", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile or role"),
    "gs": ("gcsfs", "gs", "Google's application default credentials"),
    "az": ("adlfs", "az", "AZURE_STORAGE_... variables"),
    "hf": ("", "", "HF_TOKEN, or hf auth login"),
    "memory": ("", "", "none"),
}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# An address of object storage within an option's text, such as `LABEL=FOLDER` has.
# To the last `@`: secrets hold slashes, `@` and `?`. One behind the first part, with no colon before it, belongs to a name.
_SECRET = re.compile(r"://(?=[^/]*@|.*:.*@).*@", re.DOTALL)
_WITHIN = re.compile(rf"(?<![\w+.-])(?:{'|'.join(_DRIVERS)}|s3a|gcs|abfss?|adl)://[^\s,;]*", re.IGNORECASE)
# Of the most requests that one call may cost: each is tried so often here, and by drivers a few times more.
_TRIES, _FIRST_WAIT_SECONDS = 4, 0.2
# What is the same however often it is tried. Drivers have names of their own for a lack of credentials.
_FINAL = (FileNotFoundError, PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError)
_NO_CREDENTIALS = re.compile(r"Credential|TokenRetrieval|DefaultCredentials|Unauthorized|ProfileNotFound")
# How S3 calls it that a request was signed more than a quarter of an hour before or after it came.
_SKEWED = "RequestTimeTooSkewed"
# Of what a listing says of an object, the first of these tells that it was changed.
_CHANGES = ("ETag", "etag", "blob_id", "md5Hash", "LastModified", "last_modified", "mtime", "created")
_MOMENTS = ("LastModified", "last_modified", "updated", "mtime", "created")

CACHE, CACHE_SIZE = "INPAINTBENCH_CACHE", "INPAINTBENCH_CACHE_SIZE"
_USUAL_SIZE = "20GB"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
# What this process asked of object storage, and the CPU seconds from which it counts.
_ASKED, _COUNTING = Counter[str](), Lock()
# Objects that one request of a listing tells, and schemes whose drivers list what has a beginning alone.
_PAGE = 1000
_LISTS_BY_PREFIX = ("s3", "gs", "az")
# Files of the cache that a process keeps from being removed: those that it was given last, and the next one on its way.
_HELD: deque[tuple[Path, int]] = deque(maxlen=3)
_HOLDING = Lock()
# Folders of the cache with files that are in use for a moment, and after how long such of killed processes go.
PASSING, _LEFT_SECONDS = ".saved.", 86_400
# Parts of the size by which the cache may outgrow it, and the bytes that this process added since it looked last.
_PARTS = 64
_added = 1 << 62


@dataclass(frozen=True)
class Address:
    """A place in object storage: ``s3://bucket/films``."""

    scheme: str
    path: str
    """Bucket and name, without a slash at the end."""
    typed: str = field(default="", compare=False)
    """The address below which it was formed, which people know."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.path}"

    def __truediv__(self, name: str) -> Address:
        return Address(self.scheme, f"{self.path}/{name}", self.typed or str(self))


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
    if scheme == "file":
        raise UsageError(f"{shown!r} lies on this machine; write its path alone: {unquote(urlsplit(text).path)!r}")
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
    module, extra, _ = _DRIVERS[scheme]
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


def listed(address: Address, beginning: str = "") -> list[Entry]:
    """Everything below an address whose name there has this beginning, by the bytes of its names.

    Raises:
        InputError: it cannot be listed. NetworkError: for now.
    """
    system, root = _system(address)
    how = {"prefix": beginning} if beginning and address.scheme in _LISTS_BY_PREFIX else {}
    try:
        found: Mapping[str, Any] = _tried(address, lambda: system.find(root, detail=True, **how))
    except Gone:
        found = {}
    _count(requests=max(0, len(found) - 1) // _PAGE)
    entries = [
        Entry(path[len(root.rstrip("/")) + 1 :], int(told["size"] or 0), _state(told))
        for path, told in found.items()
        if told.get("type") == "file" and path.startswith(f"{root.rstrip('/')}/{beginning}") and not path.endswith("/")
    ]
    return sorted(entries, key=lambda one: one.name.encode())


def read(address: Address, begin: int | None = None, end: int | None = None) -> bytes:
    """The bytes of an object, all or a part. Raises ``Gone``, ``InputError`` where it may not be read, ``NetworkError``."""
    system, name = _system(address)
    # s3fs would ask for the size first, and list where there is nothing.
    how = {"max_concurrency": 1} if address.scheme == "s3" else {}
    data: bytes = _tried(address, lambda: system.cat_file(name, start=begin, end=end, **how))
    _count(bytes_in=len(data))
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
        except OSError as error:
            # s3fs knows a refusal by words that only some servers say with it; Ceph does not.
            if isinstance(error, FileExistsError) or _code(error) == "PreconditionFailed":
                return False
            if isinstance(error, FileNotFoundError) and not _code(error) and isinstance(data, bytes):  # Google's words are others
                raise FileNotFoundError("bucket does not exist") from None
            if _code(error) == "NoSuchUpload":  # that it ended was said too late, or never
                raise ConnectionError("an upload in parts was lost") from error
            raise
        _count(bytes_out=data.stat().st_size if isinstance(data, Path) else len(data))
        return True

    return _tried(address, put)


def check_once(address: Address) -> None:
    """Write an empty object, and raise ``InputError`` where it is written over though that is asked not to be; and what ``write``
    raises."""
    if write(address, b"", once=True) and write(address, b"", once=True):
        raise InputError(f"{address} is written over though that is asked not to be: no place for workspaces and datasets")


def signed(address: Address, *, seconds: float) -> str:
    """An address of HTTP from which anybody may read an object for so long.

    Raises:
        InputError: the store is of a kind that signs none, or credentials are missing. NetworkError: for now.
    """
    from fsspec import AbstractFileSystem

    system, name = _system(address)
    if type(system).sign is AbstractFileSystem.sign:
        raise InputError(f"{address} is in a store of a kind that signs no addresses")
    return str(_tried(address, lambda: system.sign(name, expiration=int(seconds))))


def written_at(address: Address) -> float:
    """When an object was written, in seconds of the server's clock. Raises what ``read`` raises."""
    system, name = _system(address)
    told = _tried(address, lambda: system.info(name))
    moment = next((told[key] for key in _MOMENTS if told.get(key)), None)
    if moment is None:
        raise InputError(f"{address}: nothing tells when it was written")
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return float(moment.timestamp() if isinstance(moment, datetime) else moment)


def stated_sha256(address: Address, *, state: str) -> str | None:
    """The SHA-256 of all bytes that the store itself measured when the object came, where it did and tells it.

    S3 does for objects that were sent at once with a checksum of this kind, and the Hub for all that it does not keep in Git.

    Raises:
        Gone: it is not there, or has another state by now. InputError: it may not be read. NetworkError: for now.
    """
    system, name = _system(address)
    if address.scheme == "s3":
        bucket, key, _ = system.split_path(name)
        told = _tried(address, lambda: system.call_s3("head_object", Bucket=bucket, Key=key, ChecksumMode="ENABLED"))
        told["size"] = told["ContentLength"]
        # Of an upload in parts it is a hash of hashes, which ends in their number.
        sums = told.get("ChecksumSHA256") or "-"
        sha256 = None if "-" in sums else b64decode(sums).hex()
    else:
        told = _tried(address, lambda: system.info(name))
        sha256 = told["lfs"].sha256 if told.get("lfs") else None
    if _state(told) != state:
        raise _changed(address)
    return sha256


def remove(address: Address, names: Sequence[str]) -> None:
    """Remove objects below an address, if they are there. Raises ``InputError`` where that is not allowed, ``NetworkError``."""
    system, root = _system(address)
    for name in names:  # one by one, as the removal of several takes `*`, `?` and `[` in their names for more than one
        with suppress(Gone):
            _tried(address, partial(system.rm_file, f"{root}/{name}"))


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
    typed, credentials = address.typed or str(address), _DRIVERS[address.scheme][2]
    for waited in range(_TRIES):
        _count(requests=1, **{address.scheme: 1})
        try:
            return call()
        except FileNotFoundError as error:
            if "bucket does not exist" in str(error):
                raise Gone(f"there is no bucket {address.scheme}://{address.path.partition('/')[0]}") from None
            hint = "; what memory:// holds is of one process alone: --workers 1" if address.scheme == "memory" else ""
            raise Gone(f"there is nothing at {address}{hint}") from None
        except Exception as error:  # the packages behind addresses have no base class in common
            statuses = {getattr(one, name, None) for one in (error, error.__cause__) for name in ("status_code", "code")}
            if 404 in statuses:  # Azure's of a write
                raise Gone(f"there is no bucket {address.scheme}://{address.path.partition('/')[0]}") from None
            if _code(error) == _SKEWED:
                raise InputError(f"{typed} is refused as the clock of this machine is wrong; set it by a time server") from None
            if isinstance(error, PermissionError) or statuses & {401, 403}:
                why = f"the credentials of this environment ({credentials}) are wrong, or not for it"
                raise InputError(f"access to {typed} is refused: {why}") from None
            kinds = {one.__name__ for one in type(error).__mro__} | {type(error.__cause__).__name__}
            if any(map(_NO_CREDENTIALS.search, kinds)):
                raise InputError(f"{typed} needs credentials, and there are none in this environment ({credentials})") from None
            if isinstance(error, _FINAL) or waited + 1 == _TRIES:
                what = errno.errorcode.get(getattr(error, "errno", None) or 0, "")
                shown = " ".join(filter(None, (type(error).__name__, what)))
                raise NetworkError(f"{address} could not be reached in {waited + 1} tries ({shown})") from None
            time.sleep(_FIRST_WAIT_SECONDS * 2**waited)
    raise AssertionError


def _code(error: BaseException) -> str:
    """The code of an S3 server's refusal; "" where there is none."""
    told: str = (getattr(error.__cause__, "response", None) or {}).get("Error", {}).get("Code", "")
    return told


def _count(**more: int) -> None:
    with _COUNTING:
        _ASKED.update(more)


def traffic() -> Counter[str]:
    """What this process asked of object storage since the last call, and the CPU time that it took.

    Returns:
        ``requests``, of which an upload in parts is one, also by scheme; ``bytes_in`` and ``bytes_out``, of what succeeded;
        ``cpu_seconds``.
    """
    with _COUNTING:
        told = _ASKED.copy()
        _ASKED.clear()
        seconds = time.process_time()
        told["cpu_seconds"] += seconds  # type: ignore[assignment]
        _ASKED["cpu_seconds"] = -seconds  # type: ignore[assignment]
    return told


# Files of this machine that hold what lies at an address


def brought(address: Address, *, state: str | None = None) -> Path:
    """A file of this machine with the bytes at an address: of the cache that all processes share, brought there where it is not.

    The three files that a process was given last are not removed by any other; earlier ones may go, and come again.

    Args:
        address: of the object.
        state: that its listing had; None = that of now.

    Raises:
        Gone: it is not there, or has another state by now. InputError: it may not be read. NetworkError: for now.
    """
    folder = cache_folder()
    if state is None:
        state = _told(address)[1]
    if there := in_cache(address, state):
        return there
    path, size = _cached(address, state), int(state.partition(":")[0])
    with locked(folder / "locks" / path.parent.name):
        tried = 0
        while not _hold(path, size):  # whoever makes room may remove a file that has just come and has no holder yet
            if tried == _TRIES:
                raise NetworkError(f"{address} left the cache {tried} times as it came: {CACHE_SIZE} may be too small")
            tried += 1
            check_state(address, state)
            fetch(address, path, size=size, state=state)
    make_room(folder)
    return path


def in_cache(address: Address, state: str) -> Path | None:
    """The file that ``brought`` gives, where it is here already."""
    path = _cached(address, state)
    return path if _hold(path, int(state.partition(":")[0])) else None


def _cached(address: Address, state: str) -> Path:
    key = hashlib.sha256(f"{address}\0{state}".encode()).hexdigest()
    return cache_folder() / "files" / key[:2] / f"{key[2:34]}{Path(address.path).suffix}"


def _told(address: Address) -> tuple[int, str]:
    """Bytes and state of an object now."""
    system, name = _system(address)
    told = _tried(address, lambda: system.info(name))
    return int(told["size"]), _state(told)


def check_state(address: Address, state: str) -> None:
    """Raise ``Gone`` where an object has another state by now; and what ``read`` raises."""
    if _told(address)[1] != state:
        raise _changed(address)


def _changed(address: Address) -> Gone:
    return Gone(f"{address} was changed after it was listed; run the command again")


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
        _count(bytes_in=part.stat().st_size)
        if state is not None:
            check_state(address, state)
        sync(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def cache_folder() -> Path:
    """Where files of addresses are kept: by the environment, else where such things usually lie."""
    if own := os.environ.get(CACHE):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inpaintbench"


def _hold(path: Path, size: int) -> bool:
    """Keep a file from being removed while it is among the last that were held; False where it is not there in its size."""
    with _HOLDING:
        return _held(path, size)


def _held(path: Path, size: int) -> bool:
    for held, file in _HELD:
        if held == path and os.fstat(file).st_size == size:
            _HELD.remove((held, file))  # it is the last again
            _HELD.append((held, file))
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
    there = False
    while not there:
        with path.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever held it may have removed it meanwhile, and somebody else hold the next one.
            with suppress(FileNotFoundError):
                there = os.path.samestat(os.fstat(lock.fileno()), path.stat())
            if there:
                yield


def make_room(folder: Path, added: int | None = None) -> None:
    """Remove the files that were not used for longest, but those that some process holds, until the rest has its size; of the
    blobs in mirrors of workspaces those that came first, but for the last hour's. What killed processes left goes, too.

    Where ``added`` bytes came, nothing is looked at until a process has added a part of that size; its first ones are.
    """
    global _added
    most = bytes_of(os.environ.get(CACHE_SIZE) or _USUAL_SIZE)
    _added += most if added is None else added
    if _added < most // _PARTS:
        return
    _added = 0
    with locked(folder / "locks" / "room"):
        for lock in (folder / "locks").glob("*.lock"):
            _removed(lock)
        for left in folder.glob(f"{PASSING}*"):
            if left.stat().st_mtime < time.time() - _LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        files, fresh_ns = [], time.time_ns() - 3600 * 10**9
        for path in (*(folder / "files").glob("*/*"), *(folder / "workspaces").glob("*/blobs/*/*")):
            with suppress(FileNotFoundError):
                status = path.stat()
                if path.parts[-3] == "blobs" and status.st_mtime_ns > fresh_ns:
                    most -= status.st_size
                    continue
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
        if path.name.startswith(".") and path.stat().st_mtime > time.time() - _LEFT_SECONDS:
            return False
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except OSError:  # held, or gone
        return False
    return True
