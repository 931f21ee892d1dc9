"""Where the journal of a study lies: in its folder, or where a URL says; a study remembers that its answers lie elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sqlalchemy import URL

from inpaintbench.annotate.journal.engines import name_of, parse_url
from inpaintbench.errors import InputError
from inpaintbench.workspace import write_atomically

JOURNAL, NOTE = "journal.sqlite", "journal.json"


def place(database: str | Path | None, folder: Path) -> URL:
    """The URL of a study's journal, which means the same from every working directory.

    Args:
        database: a path, ``sqlite:///PATH`` or ``postgresql://...``; None = the one in the study's folder.
        folder: of the study.

    Raises:
        InputError: no URL that a journal can have; or none is given and the study's answers are known to lie elsewhere.
    """
    if database is not None:
        return parse_url(database)
    known = noted(folder)
    if known is not None:
        raise InputError(f"the answers of study {str(folder)!r} lie in {known!r}; {_way_out(folder)}")
    return _own(folder)


def places_of_answers(database: str | Path | None, folder: Path) -> list[URL]:
    """Every journal that may hold answers of the study in ``folder``, before that study is replaced; none that must be made.

    Raises:
        InputError: as ``place``; or ``database`` is not where the answers are known to lie.
    """
    given, known = place(database, folder), noted(folder)
    if known is not None and not _same(name_of(given), known):
        raise InputError(f"the answers of study {str(folder)!r} lie in {known!r}, not in {name_of(given)!r}; {_way_out(folder)}")
    # A study whose journal moved may still have answers in its folder.
    own = [_own(folder)] if (folder / JOURNAL).exists() else []
    return own if _same(name_of(given), name_of(_own(folder))) else [given, *own]


def note(folder: Path, url: URL) -> None:
    """Keep in the study's folder where its answers lie, without user and password; nothing where they lie in the folder."""
    if _same(name_of(url), name_of(_own(folder))):
        (folder / NOTE).unlink(missing_ok=True)
    elif noted(folder) != name_of(url) and os.access(folder, os.W_OK):  # a study that nobody can write cannot be replaced
        write_atomically(folder / NOTE, json.dumps({"database": name_of(url)}, ensure_ascii=False).encode() + b"\n")


def noted(folder: Path) -> str | None:
    """Place that ``note`` kept: a path, or host, port and name of a database.

    Raises:
        InputError: it cannot be read.
    """
    path = folder / NOTE
    try:
        known = json.loads(path.read_text())["database"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(path)!r} cannot be read; delete it if the answers lie in {JOURNAL!r} beside it") from error
    return str(known)


def _own(folder: Path) -> URL:
    return parse_url(folder / JOURNAL)


def _same(name: str, other: str) -> bool:
    """Whether two names of databases mean one: files by where links lead."""
    return name == other or (name.startswith("/") and os.path.realpath(name) == os.path.realpath(other))


def _way_out(folder: Path) -> str:
    return f"give it with --database, or delete {str(folder / NOTE)!r} if they are no longer there"
