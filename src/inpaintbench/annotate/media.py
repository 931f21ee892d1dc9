"""Proxies at an address of their own: a bucket, whose addresses the server signs for those who hold a task, or a CDN.

Objects have the names of the proxies, which are hashes, and come there by their order: no time tells which is which method.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from inpaintbench import storage
from inpaintbench.annotate.study import PROXIES, Study
from inpaintbench.errors import InputError, UsageError
from inpaintbench.storage import Address

# Name of a proxy -> where browsers fetch it.
Where = Callable[[str], str]


def sizes(study: Study, folder: Path) -> dict[str, int]:
    """Name -> bytes of everything that browsers play, by name; ``folder`` is the study's."""
    names = {name for proxy in study.proxies.values() for name in (proxy.name, proxy.light) if name}
    return {name: (folder / PROXIES / name).stat().st_size for name in sorted(names)}


def where_of(study: Study) -> Where | None:
    """Addresses of the proxies, where the study file has one for them.

    Raises:
        MissingExtraError: the driver of a bucket is not installed.
    """
    media = study.file.media
    if not media.address:
        return None
    place = _bucket(media.address)
    if place is None:
        return lambda name: f"{media.address.rstrip('/')}/{name}"
    return lambda name: storage.signed(place / name, seconds=60 * media.minutes)


def origin_of(where: Where) -> str:
    """``https://name`` of the addresses that ``where`` gives, for a content security policy.

    Raises:
        InputError: a bucket of a kind that signs nothing, or credentials are missing.
    """
    parts = urlsplit(where("none"))
    return f"{parts.scheme}://{parts.netloc}"


def check_there(study: Study, folder: Path) -> None:
    """Check that a bucket holds all proxies. Of a CDN nothing is asked: what is behind it may be for browsers alone.

    Raises:
        InputError: it lacks some, or may not be listed. NetworkError: for now.
    """
    place = _bucket(study.file.media.address)
    if place is not None and (lacking := _lacking(study, folder, place)):
        lacks = f"{place} lacks {len(lacking)} of the study's files, first {lacking[0]}"
        raise InputError(f"{lacks}; `inpaintbench annotate upload` brings them there")


def upload(study: Study, folder: Path, to: str = "") -> tuple[list[str], str]:
    """Bring the proxies to a bucket: those that are not there in their size.

    Args:
        study: whose they are.
        folder: of the study.
        to: ``s3://bucket/folder``; the study file's address by default.

    Returns:
        Their names, and the address.

    Raises:
        InputError: no bucket is named, or it may not be written. NetworkError: for now; the next call goes on.
    """
    place = _bucket(to or study.file.media.address)
    if place is None:
        raise InputError("name the bucket that the files are to be in, as `--to s3://BUCKET/FOLDER`, or as address of [media]")
    lacking = _lacking(study, folder, place)
    for name in lacking:
        storage.write(place / name, folder / PROXIES / name)
    return lacking, str(place)


def _bucket(address: str) -> Address | None:
    """The bucket that an address names; None for one of HTTP, or none."""
    if not address or urlsplit(address).scheme in ("http", "https"):
        return None
    try:
        place = storage.place(address)
    except UsageError as error:
        raise InputError(f"media.address: {error}") from error
    if not isinstance(place, Address):
        raise InputError(f"media.address {address!r} is a path on this machine; write https://... or s3://...")
    return place


def _lacking(study: Study, folder: Path, place: Address) -> list[str]:
    there = {entry.name: entry.bytes for entry in storage.listed(place)}
    return [name for name, size in sizes(study, folder).items() if there.get(name) != size]
