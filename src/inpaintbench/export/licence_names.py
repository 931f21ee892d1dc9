"""What licences are called by SPDX, and where their texts are."""

from __future__ import annotations

import re

from inpaintbench.export.licences import canonical, hub_name

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
    """What the header of a card says: names that the Hub knows, and ``other`` for the rest; sorted, each once."""
    names = {hub_name(licence or "") for licence in licences}
    return sorted({name if name in _ON_THE_HUB else "other" for name in names})


def spdx(licence: str | None) -> str | None:
    """The SPDX id of a licence however it is spelt, ``CC0`` and addresses of Creative Commons too; None where it has none."""
    text = canonical(licence)
    if re.fullmatch(r"cc0-1\.0|pdm-1\.0", text) or _CREATIVE_COMMONS.fullmatch(text):
        return text.upper()
    return _SPDX.get(text)


def licence_url(licence: str | None) -> str | None:
    """Where the text of a licence is; None where that cannot be told from its name."""
    text = canonical(licence)
    if found := _CREATIVE_COMMONS.fullmatch(text):
        country = f"{found[3]}/" if found[3] else ""
        return f"https://creativecommons.org/licenses/{found[1]}/{found[2]}/{country}"
    if (page := {"cc0-1.0": "zero", "pdm-1.0": "mark"}.get(text)) is not None:
        return f"https://creativecommons.org/publicdomain/{page}/1.0/"
    return f"https://spdx.org/licenses/{_SPDX[text]}.html" if text in _SPDX else None
