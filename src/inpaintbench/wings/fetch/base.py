"""The base class of fetcher leaves, candidates and licences as it states them, and which licences are allowed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inpaintbench.catalogue import Leaf
from inpaintbench.download import Limits, Received


@dataclass(frozen=True)
class Licence:
    """Licence of one piece of footage, as upstream states it."""

    name: str | None
    """A name or SPDX id; None where nothing is stated."""
    url: str | None = None
    changes: tuple[Mapping[str, Any], ...] = ()
    """Every change upstream records, ``{"at": ISO 8601, "old": name, "new": name}``."""
    checked_at: str | None = None
    """UTC, ISO 8601."""


@dataclass(frozen=True)
class Candidate:
    """One piece of footage that a listing offers, before anything is downloaded. JSON-able."""

    name: str
    """Unique within the fetcher; becomes part of a file name only after sanitising."""
    url: str
    """Address: of the file, or of its page where the file's address has to be asked for."""
    content: str
    """Changes whenever the candidate should be fetched again (not the licence: that is re-asked apart)."""
    licence: str | None = None
    licence_url: str | None = None
    author: str | None = None
    page_url: str | None = None
    title: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further data that ``fetch`` needs, and facts that rules can use."""
    key: str = ""
    """Part of the name that is the same whatever it is called, of 16 hexadecimal digits; what is here under one name keeps it."""
    refused: str | None = None
    """Why it is not even asked for, such as a line of a list that holds no address."""


@dataclass(frozen=True)
class Fetched:
    """One piece of footage that was brought here."""

    path: Path
    received: Received
    licence: Licence | None = None
    """Licence that was asked for along with the file; else the candidate's stands."""
    rendition: str | None = None
    title: str | None = None
    author: str | None = None
    """Both as the place states them, for a candidate that was listed without."""


class Fetcher(Leaf, ABC):
    """A place on a network. Constants are keyword-only constructor arguments, JSON-able and without secrets.

    Keys and secrets come from the environment, and appear in no table, log or error.
    """

    media: str
    """``video`` or ``image``: what the files are."""
    reads_list: bool = False
    """True when its candidates stand in a list of the user's own, which is read again for its word on licences."""

    @abstractmethod
    def candidates(self) -> Iterator[Candidate]:
        """Everything there is, in a stable order; runs in the main process.

        Raises:
            InputError: the place does not exist, cannot be listed, or the constants make no sense.
            NetworkError: the server does not answer.
        """

    @abstractmethod
    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        """Bring one candidate here; runs in a worker.

        Args:
            candidate: as listed.
            part: a path that stays the same for this candidate from run to run, for a file in the making that can be resumed;
                the returned path may be this one or a neighbour whose name begins with it.
            limits: on bytes, time, schemes and addresses.

        Raises:
            Gone: upstream has it no longer.
            NetworkError: for now.
            Rejected: it must not be had (licence, limits, address), with the reason.
        """

    @abstractmethod
    def licence_of(self, candidate: Candidate) -> Licence:
        """Ask upstream again for the licence alone. Raises what ``fetch`` raises."""


_CREATIVE_COMMONS = re.compile(r"cc-(by(?:-nc)?(?:-nd|-sa)?)-(\d\.\d)")
_PUBLIC_DOMAIN = {"cc0-1.0": "zero", "cc0": "zero", "pdm-1.0": "mark", "cc-pdm-1.0": "mark"}


def is_allowed(licence: str | None, licences: Sequence[str] | None) -> bool:
    """Return whether a licence is among those asked for, in any spelling; a name without its version stands for every version.

    Args:
        licence: what is stated; None where nothing is.
        licences: names such as ``CC-BY-2.0`` or ``CC-BY``; None allows everything.
    """
    if licences is None:
        return True
    names = [re.escape(_plain(name)) for name in licences]
    return licence is not None and any(re.fullmatch(rf"{name}(-[0-9.]+)?", _plain(licence)) for name in names)


def not_allowed(licence: str | None) -> str:
    """Return why footage of that licence is refused."""
    return f"the licence {licence!r} is not among those asked for" if licence else "no licence is stated"


def text_url(licence: str) -> str | None:
    """Return where the text of a Creative Commons licence is, from its SPDX id; None for all others."""
    plain = _plain(licence)
    if plain in _PUBLIC_DOMAIN:
        return f"https://creativecommons.org/publicdomain/{_PUBLIC_DOMAIN[plain]}/1.0/"
    match = _CREATIVE_COMMONS.fullmatch(plain)
    return f"https://creativecommons.org/licenses/{match[1]}/{match[2]}/" if match else None


def _plain(licence: str) -> str:
    return re.sub(r"[\s_-]+", "-", licence.strip().casefold())
