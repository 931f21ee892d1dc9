"""The licences that Flickr knows: its own ids and titles, our names, and which of them allow clips to be passed on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError

ALL_RIGHTS_RESERVED = "all-rights-reserved"
_BY_ADDRESS = (
    (r"creativecommons\.org/publicdomain/zero/([0-9.]+)", "CC0-{}"),
    (r"creativecommons\.org/publicdomain/mark/([0-9.]+)", "PDM-{}"),
    (r"flickr\.com/commons/usage", "no-known-copyright"),
    (r"usa\.gov/", "US-Gov"),
)
# What Flickr called its licences of version 2.0 until it added version 4.0.
_FORMER_TITLES = {
    "CC-BY-2.0": "Attribution License",
    "CC-BY-SA-2.0": "Attribution-ShareAlike License",
    "CC-BY-ND-2.0": "Attribution-NoDerivs License",
    "CC-BY-NC-2.0": "Attribution-NonCommercial License",
    "CC-BY-NC-SA-2.0": "Attribution-NonCommercial-ShareAlike License",
    "CC-BY-NC-ND-2.0": "Attribution-NonCommercial-NoDerivs License",
}
# Cutting and scaling adapts a work, which ND forbids, and NC binds everybody downstream; both must be asked for by name.
_REDISTRIBUTABLE = re.compile(r"CC-BY-[0-9.]+|CC-BY-SA-[0-9.]+|CC0-[0-9.]+|PDM-[0-9.]+|US-Gov")


@dataclass(frozen=True)
class FlickrLicence:
    """One licence as Flickr states it."""

    name: str
    """Ours, after SPDX where it has one: ``CC-BY-2.0``, ``CC0-1.0``, ``PDM-1.0``, ``US-Gov``, ``no-known-copyright`` or
    ``all-rights-reserved``; Flickr's title for what is none of them."""
    title: str
    """Flickr's, such as ``CC BY 2.0``."""
    url: str | None


def licence(title: str, url: str | None) -> FlickrLicence:
    """The licence of that title and address; the address decides its name, since Flickr has changed its titles."""
    title = " ".join(title.split())
    return FlickrLicence(_name(title, url or ""), title, url or None)


def _name(title: str, url: str) -> str:
    if found := re.search(r"creativecommons\.org/licenses/(by(?:-[a-z]{2})*)/([0-9.]+)", url):
        return f"CC-{found[1].upper()}-{found[2]}"
    for pattern, name in _BY_ADDRESS:
        if found := re.search(pattern, url):
            return name.format(*found.groups())
    return ALL_RIGHTS_RESERVED if _plain(title) == "allrightsreserved" else title


def permits(found: FlickrLicence, asked: Sequence[str]) -> bool:
    """Whether a licence is among those asked for.

    Args:
        found: what Flickr states.
        asked: names (``CC-BY-2.0``, or ``CC-BY`` for every version) or titles (``CC BY 2.0``, ``Attribution License``), in any
            spelling; empty for all that allow changed copies to be passed on for any purpose: BY, BY-SA, CC0, PDM, US-Gov.
    """
    if not asked:
        return _REDISTRIBUTABLE.fullmatch(found.name) is not None
    spellings = {found.name, found.title, re.sub(r"-[0-9.]+$", "", found.name), _FORMER_TITLES.get(found.name, found.name)}
    return not {_plain(text) for text in spellings}.isdisjoint(_plain(text) for text in asked)


def _plain(text: str) -> str:
    return re.sub(r"licen[cs]e|[^a-z0-9.]", "", text.casefold())


class FlickrLicences:
    """The table that ``flickr.photos.licenses.getInfo`` gives; ids are Flickr's own and never assumed.

    Args:
        answer: of that method, ``{"licenses": {"license": [{"id", "name", "url"}]}}``.
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:
        rows: Iterable[Mapping[str, Any]] = answer["licenses"]["license"]
        self._by_id = {str(row["id"]): licence(str(row["name"]), row.get("url")) for row in rows}

    def of(self, licence_id: object, *, photo: str) -> FlickrLicence:
        """The licence with Flickr's id ``licence_id``, which stands at ``photo``.

        Raises:
            InputError: the table has no such id.
        """
        found = self._by_id.get(str(licence_id))
        if found is None:
            known = ", ".join(sorted(self._by_id, key=lambda text: (len(text), text)))
            raise InputError(f"Flickr states licence id {licence_id!r} for photo {photo}, but lists only the ids {known}")
        return found

    def ids(self, asked: Sequence[str]) -> list[str]:
        """Flickr's ids of the licences that ``permits`` lets through, in the table's order.

        Raises:
            UnknownNameError: a name asked for fits no licence; the text suggests the nearest.
        """
        for text in asked:
            if not any(permits(known, [text]) for known in self._by_id.values()):
                raise UnknownNameError(unknown_name("licence", text, sorted({known.name for known in self._by_id.values()})))
        return [licence_id for licence_id, known in self._by_id.items() if permits(known, asked)]
