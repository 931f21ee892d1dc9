"""Addresses of object storage, told apart from paths of this machine."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from inpaintbench.errors import UsageError

# Schemes of object storage, as fsspec has them.
SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "hf", "memory")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
# One of them within an option's text, such as `LABEL=FOLDER` has.
_WITHIN = re.compile(rf"(?<![\w+.-])(?:{'|'.join(SCHEMES)})://[^\s,;]*", re.IGNORECASE)


def without_credentials(address: str) -> str:
    """An address for people: without a name and password before its host, and without its query."""
    return re.sub(r"://[^/@\s]+@", "://***@", address.partition("?")[0])


def check_path(text: str, *, called: str) -> None:
    """Raise ``UsageError`` where ``text`` is an address and no path; ``called`` is what asked for it, such as ``--out``."""
    if not _ADDRESS.match(text):
        return
    parts = urlsplit(text)
    if parts.scheme == "file":
        way = f"write its path alone: {unquote(parts.path)!r}"
    elif parts.scheme in SCHEMES:
        way = "mount the bucket, or copy what it holds"
    else:
        way = "copy what it holds"
    shown = without_credentials(text)
    raise UsageError(f"{called}: {shown!r} is an address, and a path on this machine is wanted; {way}")


def check_paths_within(text: str, *, called: str) -> None:
    """``check_path`` of an address of object storage that lies anywhere in ``text``."""
    if found := _WITHIN.search(text):
        check_path(found[0], called=called)


def local_path(path: Path | str, *, called: str) -> Path:
    """``path``, which ``check_path`` lets pass."""
    check_path(str(path), called=called)
    return Path(path)
