from __future__ import annotations

import pytest

from inpaintbench.export.licences import hub_name, is_known, why_refused

OPEN = (
    "CC-BY-4.0", "cc by 4.0", "CC-BY-SA-2.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-3.0", "CC-BY-3.0-de", "CC0-1.0", "PDM-1.0", "US-Gov",
    "MIT", "Apache-2.0", "ODbL-1.0", "https://creativecommons.org/licenses/by-sa/4.0/",
    "http://creativecommons.org/publicdomain/zero/1.0/",
    "https://creativecommons.org/publicdomain/mark/1.0/", "LicenseRef-our-agreement", "GPL-3.0-or-later",
)  # fmt: skip
NO_DERIVATIVES = (
    "CC-BY-ND-4.0", "cc-by-nc-nd-2.0", "CC BY-NC-ND", "Attribution-NoDerivs License", "https://creativecommons.org/licenses/by-nc-nd/4.0/",
    "Attribution - No Derivatives",
)  # fmt: skip
NO_REDISTRIBUTION = ("all-rights-reserved", "All Rights Reserved", "Standard YouTube License", "NONE", "LicenseRef-Proprietary")
UNKNOWN = (None, "", " ", "unknown", "not stated", "NOASSERTION", "other", "free", "Pexels", "CC", "see website", "mitigated")


@pytest.mark.parametrize("licence", OPEN)
def test_open_ones_are_known_and_allowed(licence: str) -> None:
    assert is_known(licence)
    assert why_refused(licence) is None


@pytest.mark.parametrize("licence", NO_DERIVATIVES)
def test_clips_are_derivatives(licence: str) -> None:
    assert why_refused(licence) == "forbids derivatives"


@pytest.mark.parametrize("licence", NO_REDISTRIBUTION)
def test_publishing_is_redistribution(licence: str) -> None:
    assert why_refused(licence) == "forbids redistribution"


@pytest.mark.parametrize("licence", UNKNOWN)
def test_everything_else_is_unknown(licence: str | None) -> None:
    assert not is_known(licence)
    assert why_refused(licence) is None


def test_names_on_the_hub() -> None:
    given = (
        "CC-BY-4.0",
        "cc by-nc-sa 3.0",
        "ODbL-1.0",
        "PDM-1.0",
        "LicenseRef-x",
        "",
        "https://creativecommons.org/licenses/by/2.0/",
    )
    assert [hub_name(name) for name in given] == ["cc-by-4.0", "cc-by-nc-sa-3.0", "odbl", "other", "other", "other", "cc-by-2.0"]
