"""Writing files and folders so that a crash leaves the old ones or the new ones whole."""

from __future__ import annotations

import codecs
import ctypes
import errno
import fcntl
import glob
import hashlib
import io
import os
import re
import shutil
import stat
import tomllib
import unicodedata
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote, unquote_to_bytes

from inpaintbench.errors import InputError, WorkspaceError, is_disk_error, reason_of

# Byte-order mark -> what follows it. That of UTF-16 is how the one of UTF-32 begins, so the longer ones come first.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Bytes of a file's beginning that tell its encoding.
_HEAD = 1 << 16
# Share of ASCII from which a text is one in UTF-16 or UTF-32, whatever else is wrong with it.
_MOSTLY_ASCII = 0.3
# In texts of other scripts times, columns and keys are ASCII. Each such letter lies beside zero bytes; those of damaged files do
# not take turns with letters so often.
_ASCII_RUN = re.compile(r"[\t\n\r -~]{8}")
# Share of characters that Unicode does not have, of those in a text of other scripts; few are wrong places or newer than Python.
_MOST_UNASSIGNED = 0.01

# Of <linux/fs.h>: gives a file the blocks of another.
_FICLONE = 0x40049409
# Of <fcntl.h> and <linux/fs.h>: paths are as they stand, and two names are exchanged.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def measured_sha256(path: Path) -> str:
    """``file_sha256`` of the bytes that lie there now: read once a process, and again when the file was written or replaced.

    Raises:
        OSError: it cannot be read.
    """
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):  # a pipe has no end
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return _measured(path, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


@lru_cache(maxsize=1 << 16)  # some 20 MB at most
def _measured(path: Path, *state: int) -> str:  # noqa: ARG001 - the state is what the hash was measured of
    return file_sha256(path)


def open_text(path: Path, *, newline: str | None = None) -> TextIO:
    """Open a text that people wrote, to read: in UTF-8, or in UTF-16 or UTF-32; with a byte-order mark or without.

    Spreadsheets and editors write all of these. The mark is no part of the text. ``newline`` as in ``open``.

    Raises:
        OSError: as ``open``. Reading raises ``UnicodeDecodeError``, whose ``encoding`` says what the text was taken for.
    """
    file = io.BufferedReader(io.FileIO(path), _HEAD)
    try:
        head = file.peek(_HEAD)  # a pipe cannot be read twice
        marked = next((encoding[:6] for mark, encoding in MARKS if head.startswith(mark)), None)
        return io.TextIOWrapper(file, marked or wide_encoding(head[: len(head) // 4 * 4]) or "utf-8-sig", newline=newline)
    except BaseException:  # an interrupt, too: nobody else can close it
        file.close()
        raise


def read_text(path: Path) -> str:
    """The whole text of a file, with ``\\n`` at the ends of lines; encodings and errors as ``open_text``."""
    with open_text(path) as file:
        return file.read()


def wide_encoding(content: bytes) -> str | None:
    """The encoding of a text in UTF-16 or UTF-32 without a byte-order mark, in any script; None where it is neither."""
    shares = {}
    for _, encoding in MARKS if b"\0" in content else ():
        text = content.decode(encoding, errors="replace")
        if text and "\0" not in text and (share := sum(letter < "\x80" for letter in text) / len(text)):
            # Letters are looked up once each: scripts have few, texts many.
            odd = sum(text.count(letter) for letter in set(text) if letter == "\ufffd" or unicodedata.category(letter) == "Cn")
            if share > _MOSTLY_ASCII or (_ASCII_RUN.search(text) and odd <= _MOST_UNASSIGNED * len(text)):
                shares[encoding] = share
    return max(shares, key=shares.__getitem__, default=None)


def read_toml(path: Path, *, called: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Args:
        path: of the file.
        called: what it is, for errors: ``rules``.

    Raises:
        InputError: not readable, not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{called} {str(path)!r} cannot be read: {reason_of(error)}") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{called} {str(path)!r} is not TOML: {error}") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``path`` so that it holds either the old bytes or all the new ones."""
    with written_atomically(path) as temporary:
        temporary.write_bytes(data)


def prepare_place(path: Path) -> None:
    """Make the folder of a file to be written; raises ``OSError`` where there cannot be one, or the file is a folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


@contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """A file to write, which takes the place of ``path`` when the block ends well, or leaves no trace.

    Raises:
        OSError: it cannot be written, such as IsADirectoryError.
    """
    prepare_place(path)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def zip_entry(name: str, *, compressed: bool = True) -> zipfile.ZipInfo:
    """What a ZIP file says of a member: no clock, no owner, so that equal files make equal archives."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    info.external_attr, info.create_system = 0o644 << 16, 3
    return info


def copy_file(source: Path, target: Path) -> None:
    """Give ``target`` the bytes of ``source``, and nothing of its times and rights.

    Both share blocks on the disk where the file system knows reflinks (Btrfs, XFS, bcachefs): whoever writes into one of them
    afterwards changes that one alone. Elsewhere the bytes are copied. Hard links would save the space everywhere, but then an
    edit in place reaches the other file, and rights that forbid it stop neither administrators nor those who take them away.

    Raises:
        OSError: as ``shutil.copyfile``.
    """
    with source.open("rb") as given, target.open("wb") as made, suppress(OSError):
        fcntl.ioctl(made.fileno(), _FICLONE, given.fileno())
        return
    # Not known to the file system or the operating system, or the two lie on different ones.
    shutil.copyfile(source, target)


def display_name(uri: str) -> str:
    """A percent-encoded name for people: readable where it can be, one line always."""
    text = unquote_to_bytes(uri).decode("utf-8", errors="replace")
    return "".join(letter if letter.isprintable() else quote(letter) for letter in text)


# Characters that move the cursor, change how a terminal works or the order in which letters are shown: those of control but tabs
# and ends of lines, marks of direction, separators of lines, halves of pairs.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)")


def without_controls(text: str) -> str:
    """``text`` with ``\\u202e`` in the place of a character that controls a terminal or turns the order of letters.

    In JSON, that is another way to write the same.
    """
    if text.isprintable() and text.isascii():  # nearly all
        return text
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def all_without_controls(value: Any) -> Any:
    """``without_controls`` of all texts in lists and mappings."""
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {without_controls(name): all_without_controls(inner) for name, inner in value.items()}
    return [all_without_controls(inner) for inner in value] if isinstance(value, list) else value


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Bring everything below ``folder`` to disk."""
    for path in [folder, *folder.rglob("*")]:
        sync(path)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where the system or the file system cannot."""
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    names = (_AT_FDCWD, os.fsencode(one.absolute()), _AT_FDCWD, os.fsencode(other.absolute()))
    return exchange is not None and exchange(*names, _RENAME_EXCHANGE) == 0


@contextmanager
def replacing(target: Path, *, what: str = "") -> Iterator[Path]:
    """A new folder that takes the place of ``target`` when the block ends well, or leaves no trace; ``what`` begins the sentence
    of its error. Whoever is killed meanwhile leaves the old one or the new one there; where the file system cannot exchange
    folders, what was killed between two steps leaves none, and the next call puts the old one back first.

    Raises:
        WorkspaceError: the disk is full, or the folder cannot be written.
    """
    made = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    old = made.with_suffix(".old.tmp")
    try:
        # Of runs that were killed; an old folder whose new one had not come is the one that counts.
        for leftover in sorted(target.parent.glob(f".{glob.escape(target.name)}.*.tmp")):
            if leftover.name.endswith(".old.tmp") and not target.exists():
                leftover.rename(target)
            shutil.rmtree(leftover, ignore_errors=True)
        made.mkdir(parents=True)
        yield made
        sync_tree(made)
        if not target.exists():
            made.rename(target)
        elif not _exchanged(made, target):
            target.rename(old)
            try:
                made.rename(target)
            except OSError:
                old.rename(target)
                raise
        sync(target.parent)
    except OSError as error:
        if not is_disk_error(error):
            raise
        raise WorkspaceError(f"{what}{str(target)!r} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
