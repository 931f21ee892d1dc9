"""Read a submission from a stranger: nothing is taken out under a name of theirs, and nothing may grow without bound."""

from __future__ import annotations

import hashlib
import lzma
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.errors import InputError
from inpaintbench.types import Score, SliceScore
from inpaintbench.wings.leaderboard.contents import (
    BLOB,
    CARD,
    HEADER,
    PREDICTIONS,
    SCORES,
    SLICE_SCORES,
    Card,
    Header,
    checked_name,
    checked_text,
    read_card,
    read_header,
    read_rows,
)  # fmt: skip

MOST_FILES = 100_000
# Bytes of one table of scores, unpacked; 256 MiB hold a million rows.
MOST_TEXT_BYTES = 256 << 20
# Bytes of one prediction.
MOST_BLOB_BYTES = 4 << 30
_TEXTS = (HEADER, CARD, SCORES, SLICE_SCORES)
_SPOILT = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


@dataclass(frozen=True)
class Submission:
    """One method's scores as somebody sent them."""

    path: Path
    identity: str
    """SHA-256 of ``submission.json``, which holds those of all other files."""
    header: Header
    card: Card
    scores: tuple[Score, ...]
    slice_scores: tuple[SliceScore, ...]
    blobs: tuple[str, ...]
    """Names of the predictions inside."""


def read_submission(path: Path) -> Submission:
    """The submission in a ZIP file; each file's SHA-256 is checked, but those of predictions only where they are taken out.

    Raises:
        InputError: what is wrong with it, one sentence.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive)
            texts: dict[str, bytes] = {}
            for name in _TEXTS:
                with archive.open(entries[name]) as file:
                    texts[name] = file.read(MOST_TEXT_BYTES + 1)
                if len(texts[name]) > MOST_TEXT_BYTES:
                    raise InputError(f"{name} is larger than {MOST_TEXT_BYTES >> 20} MiB unpacked")
    except _SPOILT as error:
        raise InputError(f"it cannot be read as a ZIP file: {error}") from error
    header = read_header(texts[HEADER])
    checked_name(header.method, "method label")
    for reason in header.failures.values():
        checked_text(reason, "the reason of a missing prediction")
    for name, version in header.versions.items():
        checked_text(f"{name} {version}", "a version", most=200)
    if set(header.files) | {HEADER} != set(entries):
        strange = sorted(set(entries).symmetric_difference({*header.files, HEADER}))
        raise InputError(f"its files are not those that {HEADER} names: {strange[0][:120]!r}")
    for name in _TEXTS[1:]:
        if hashlib.sha256(texts[name]).hexdigest() != header.files[name]:
            raise InputError(f"{name} is not the file that {HEADER} names: its SHA-256 is another")
    return Submission(
        path=path,
        identity=hashlib.sha256(texts[HEADER]).hexdigest(),
        header=header,
        card=read_card(texts[CARD]),
        scores=tuple(read_rows(texts[SCORES], Score, SCORES)),
        slice_scores=tuple(read_rows(texts[SLICE_SCORES], SliceScore, SLICE_SCORES)),
        blobs=tuple(sorted(name.removeprefix(PREDICTIONS) for name in entries if name.startswith(PREDICTIONS))),
    )


def take_out(submission: Submission, blob: str, target: Path) -> None:
    """Write one prediction to ``target``.

    Raises:
        InputError: it is not there, or its bytes are not those that its name says.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(submission.path) as archive, archive.open(f"{PREDICTIONS}{blob}") as file, target.open("wb") as out:
            while part := file.read(1 << 20):
                size += len(part)
                if size > MOST_BLOB_BYTES:
                    raise InputError(f"the prediction {blob!r} is larger than {MOST_BLOB_BYTES >> 30} GiB")
                digest.update(part)
                out.write(part)
    except (KeyError, *_SPOILT) as error:
        raise InputError(f"the prediction {blob!r} cannot be read: {error}") from error
    if digest.hexdigest() != blob.partition(".")[0]:
        raise InputError(f"the prediction {blob!r} is not the file that was scored: its SHA-256 is another")


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MOST_FILES:
        raise InputError(f"it holds {len(infos):,} files; {MOST_FILES:,} are the most")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        # The name as it stands in the file: Python cleans some up.
        name = info.orig_filename
        known = name in _TEXTS or (name.startswith(PREDICTIONS) and BLOB.fullmatch(name.removeprefix(PREDICTIONS)))
        if not known or name != info.filename:
            raise InputError(f"it holds {name[:120]!r}, which is no part of a submission")
        if stat.S_ISLNK(info.external_attr >> 16) or info.flag_bits & 1:
            raise InputError(f"{name!r} in it is {'encrypted' if info.flag_bits & 1 else 'a link'}")
        if name in found:
            raise InputError(f"it holds {name!r} twice")
        found[name] = info
    for name in _TEXTS:
        if name not in found:
            raise InputError(f"it is not a submission of `inpaintbench eval submit`: {name} is missing")
    return found
