"""Names of licences: which ones are allowed, and where their texts are."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CREATIVE_COMMONS = re.compile(r"cc-(by(?:-nc)?(?:-nd|-sa)?)-(\d\.\d)")
_PUBLIC_DOMAIN = {"cc0-1.0": "zero", "cc0": "zero", "pdm-1.0": "mark", "cc-pdm-1.0": "mark"}


def is_allowed(licence: str | None, licences: Sequence[str] | None) -> bool:
    """Whether a licence is among those asked for, in any spelling; a name without its version stands for every version.

    Args:
        licence: what is stated; None where nothing is.
        licences: names such as ``CC-BY-2.0`` or ``CC-BY``; None allows everything.
    """
    if licences is None:
        return True
    names = [re.escape(_plain(name)) for name in licences]
    return licence is not None and any(re.fullmatch(rf"{name}(-[0-9.]+)?", _plain(licence)) for name in names)


def not_allowed(licence: str | None) -> str:
    """Why footage of that licence is refused."""
    return f"the licence {licence!r} is not among those asked for" if licence else "no licence is stated"


def text_url(licence: str) -> str | None:
    """Where the text of a Creative Commons licence is, from its SPDX id; None for all others."""
    plain = _plain(licence)
    if plain in _PUBLIC_DOMAIN:
        return f"https://creativecommons.org/publicdomain/{_PUBLIC_DOMAIN[plain]}/1.0/"
    match = _CREATIVE_COMMONS.fullmatch(plain)
    return f"https://creativecommons.org/licenses/{match[1]}/{match[2]}/" if match else None


def _plain(licence: str) -> str:
    return re.sub(r"[\s_-]+", "-", licence.strip().casefold())
