"""Licences: what they allow (cutting into clips, publishing again), their SPDX and Hub names, and where their texts are."""

from __future__ import annotations

import re
from functools import lru_cache

from inpaintbench.errors import InputError

NOT_STATED = "not stated"
# Fact of a dataset: licence -> number of sources without one that its publisher states it for.
STATED = "licences_stated"

_CREATIVE_COMMONS_URL = re.compile(r"https?://(?:www\.)?creativecommons\.org/(licenses|publicdomain)/([a-z-]+)(?:/([0-9.]+))?.*")
_OF_ONE_VERSION = {"cc0": "cc0-1.0", "pdm": "pdm-1.0"}
_SAYS_NOTHING = frozenset({"", "unknown", "noassertion", "no-assertion", "not-stated", "notstated"})
_NO_DERIVATIVES = re.compile(r"\bnd\b|no-?deriv")
_NO_REDISTRIBUTION = re.compile(
    r"all-?rights-?reserved|youtube.*standard|standard.*youtube|\bproprietary\b|editorial-use|personal-use|\bno-shar|"
    r"\b(no|non|not|without)\b(?!-restrict).{0,20}redistribut|redistribution-(is-)?(strictly-)?(prohibited|forbidden|not-)"
)
_RESEARCH_ONLY = re.compile(r"research-(use-|purposes-)?only|only-for-([a-z]+-)*research")
_NONE_GRANTED = "none"  # SPDX: somebody looked, and there is no licence
# "No known copyright restrictions" is the finding of an institution that looked (Flickr Commons, rightsstatements.org NKC).
_KNOWN = re.compile(
    r"cc0(-[0-9.]+)?|cc-pddc|pdm(-[0-9.]+)?|pddl-1\.0|public-domain|us-gov|us-public-domain|no-known-copyright(-restrictions)?|cc-by(-nc)?(-sa)?(-[0-9.]+)?(-[a-z]{2,3})?|"
    r"odc-by-1\.0|odbl-1\.0|cdla-[a-z]+-[0-9.]+|c-uda-1\.0|gfdl-[a-z0-9.-]+|lal-1\.[23]|ogl-uk-[0-9.]+|etalab-2\.0|dl-de-[a-z]+-2\.0|"
    r"mit|apache-2\.0|bsd-[234]-clause|isc|unlicense|wtfpl|[al]?gpl-[0-9.]+(-only|-or-later)?"
)
_OF_ONES_OWN = re.compile(r"licenseref-[a-z0-9.-]+")  # SPDX: a text that the publisher adds


def why_refused(licence: str | None) -> str | None:
    """Words for what a licence forbids that publishing needs; None where it forbids nothing of it, or nobody knows.

    Clips are cut and scaled, which makes them derivatives.
    """
    text = canonical(licence)
    if _NO_DERIVATIVES.search(text):
        return "forbids derivatives"
    if _NO_REDISTRIBUTION.search(text) or text == _NONE_GRANTED:
        return "forbids redistribution"
    if _RESEARCH_ONLY.search(text):
        return "allows research only"
    return None


def is_unstated(licence: str | None) -> bool:
    """Return whether nothing is said: no text, or ``unknown``, ``NOASSERTION``, ``not stated`` in any spelling."""
    return canonical(licence) in _SAYS_NOTHING


def is_known(licence: str | None) -> bool:
    """Return whether it is an open licence known by its SPDX id, in any spelling, or a publisher's own ``LicenseRef-...``."""
    text = canonical(licence)
    return bool(_KNOWN.fullmatch(text) or _OF_ONES_OWN.fullmatch(text))


def check_usable(licence: str, *, of: str = "") -> None:
    """Raise ``InputError`` unless what is under ``licence`` can be published, as far as its name tells.

    Args:
        licence: as somebody states it.
        of: whose it is, for the error.
    """
    whose = f" of {of}" if of else ""
    if why := why_refused(licence):
        raise InputError(f"the licence {licence!r}{whose} {why}: what is under it cannot be published")
    check_name(licence, of=of)


def check_name(licence: str, *, of: str = "") -> None:
    """Raise ``InputError`` for words that name no licence; one that forbids publishing is a licence, too."""
    if not (is_known(licence) or why_refused(licence)):
        whose = f" of {of}" if of else ""
        raise InputError(
            f"{licence!r}{whose} is not a known SPDX id such as CC-BY-4.0; one's own terms are called LicenseRef-NAME"
        )


def hub_name(licence: str) -> str:
    """The name in the header of a card; ``other`` for what the Hub has no name for."""
    text = canonical(licence)
    if text == "cc0-1.0" or re.fullmatch(r"cc-by(-nc)?(-sa)?-[0-9.]+|odc-by-1\.0|odbl-1\.0|pddl-1\.0|mit|apache-2\.0", text):
        return {"odc-by-1.0": "odc-by", "odbl-1.0": "odbl", "pddl-1.0": "pddl"}.get(text, text)
    return "other"


@lru_cache(maxsize=1024)
def canonical(licence: str | None) -> str:
    """A licence in one spelling: small letters, words joined by single hyphens, addresses of Creative Commons as their ids."""
    text = (licence or "").strip().casefold()
    if match := _CREATIVE_COMMONS_URL.fullmatch(text):
        name = "cc-" + match[2] if match[1] == "licenses" else {"zero": "cc0", "mark": "pdm"}.get(match[2], match[2])
        text = "-".join(part for part in (name, match[3]) if part)
    text = re.sub(r"[\s_\u2010-\u2015-]+", "-", text)
    return _OF_ONE_VERSION.get(text, text)


# Of the names that `hub_name` gives, those that the Hub knows; it refuses cards with others. Source:
# huggingface.co/docs/hub/repositories-licenses.
_ON_THE_HUB = frozenset({
    "apache-2.0", "mit", "cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0",
    "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "odc-by", "odbl",
    "pddl",
})  # fmt: skip
_SPDX = {
    name.casefold(): name
    for name in (
        "CC-PDDC", "PDDL-1.0", "ODC-By-1.0", "ODbL-1.0", "CDLA-Permissive-1.0", "CDLA-Permissive-2.0", "CDLA-Sharing-1.0",
        "C-UDA-1.0", "LAL-1.2", "LAL-1.3", "etalab-2.0", "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC",
        "Unlicense", "WTFPL", "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later",
    )
}  # fmt: skip
_CREATIVE_COMMONS = re.compile(r"cc-(by(?:-nc)?(?:-nd)?(?:-sa)?)-([0-9.]+)(?:-([a-z]{2,3}))?")


def header_names(licences: list[str | None]) -> list[str]:
    """Licences in the header of a card: names that the Hub knows, and ``other`` for the rest; sorted, each once."""
    names = {hub_name(licence or "") for licence in licences}
    return sorted({name if name in _ON_THE_HUB else "other" for name in names})


def spdx(licence: str | None) -> str | None:
    """The SPDX id of a licence however it is spelt, ``CC0`` and addresses of Creative Commons too; None where it has none."""
    text = canonical(licence)
    if re.fullmatch(r"cc0-1\.0|pdm-1\.0", text) or _CREATIVE_COMMONS.fullmatch(text):
        return text.upper()
    return _SPDX.get(text)


def licence_url(licence: str | None) -> str | None:
    """Address of the text of a licence; None where its name does not give it."""
    text = canonical(licence)
    if match := _CREATIVE_COMMONS.fullmatch(text):
        country = f"{match[3]}/" if match[3] else ""
        return f"https://creativecommons.org/licenses/{match[1]}/{match[2]}/{country}"
    if (page := {"cc0-1.0": "zero", "pdm-1.0": "mark"}.get(text)) is not None:
        return f"https://creativecommons.org/publicdomain/{page}/1.0/"
    return f"https://spdx.org/licenses/{_SPDX[text]}.html" if text in _SPDX else None
