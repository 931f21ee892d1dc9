"""Ids of single videos of Flickr: lists of the user's own, and those of the benchmarks that said what they used.

``devil_flickr.csv`` holds facts of the configuration of DEVIL's released devkit (CVPR 2022, github.com/MichiganCOG/devil, MIT):
234 ids of videos that were used, 95 that its filter excludes, and the four accounts whose uploads were searched. That filter asks
for landscape, more than 1,000 kbit/s on average and 1920x1080. Nothing of it says what is still there, or under which licence:
Flickr is asked.
"""

from __future__ import annotations

import csv
import re
from importlib.resources import files
from pathlib import Path

from inpaintbench.errors import InputError, reason_of
from inpaintbench.files import read_text

# Name that stands for a list -> its file in this folder.
SHIPPED = {"devil": "devil_flickr.csv"}
# Columns that ids may stand in, the first that there is.
_COLUMNS = ("flickr_id", "photo_id", "id", "url", "page")
_PAGE = re.compile(r"https?://(?:www\.)?flickr\.com/photos/[^/]+/(\d+)(?:[/?#].*)?")
IS_ID = re.compile(r"\d{1,20}")


def read_ids(name: str) -> tuple[str, ...]:
    """The ids of a list, each once, in its order; what is no id stays as it is, to be refused by its name.

    Args:
        name: of ``SHIPPED``; or the path of a CSV with the column ``flickr_id``, ``photo_id``, ``id``, ``url`` or ``page``, whose
            rows of another ``kind`` than video or with ``excluded`` as their ``what`` are left out; or of a text with one id or
            page a line.

    Raises:
        InputError: a list that cannot be read, or in which no id stands.
    """
    text = _text(name)
    found = _of_table(text, name) if name in SHIPPED or Path(name).suffix.lower() == ".csv" else _of_lines(text)
    ids = tuple(dict.fromkeys(_id(entry) for entry in found))
    if not any(map(IS_ID.fullmatch, ids)):
        raise InputError(f"{name!r} holds no id of a video of Flickr, such as 40678437973" + (f", but {ids[0]!r}" if ids else ""))
    return ids


def _text(name: str) -> str:
    try:
        if name in SHIPPED:
            return (files(__package__) / SHIPPED[name]).read_text(encoding="utf-8")
        return read_text(Path(name))
    except (OSError, UnicodeError) as error:
        known = f"; lists that come with the program: {', '.join(SHIPPED)}"
        raise InputError(f"the list of ids {name!r} cannot be read: {reason_of(error)}{known}") from error


def _of_table(text: str, name: str) -> list[str]:
    rows = list(csv.DictReader(text.splitlines()))
    columns = list(rows[0]) if rows else []
    column = next((column for column in _COLUMNS if column in columns), None)
    if column is None:
        raise InputError(f"the list of ids {name!r} has none of the columns {', '.join(_COLUMNS)}")
    wanted = (row for row in rows if (row.get("kind") or "video") == "video" and row.get("what") != "excluded")
    return [entry for row in wanted if (entry := (row[column] or "").strip())]


def _of_lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _id(entry: str) -> str:
    page = _PAGE.fullmatch(entry)
    return page[1] if page else entry
