from __future__ import annotations

import pytest

from inpaintbench.curation.sources.virtual_camera import PHOTOGRAPHS
from inpaintbench.export.licences import canonical, hub_name, is_known, is_unstated, why_refused

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
NO_REDISTRIBUTION = (
    "all-rights-reserved", "All Rights Reserved", "© 2019 Somebody. All rights reserved.", "Standard YouTube License", "NONE",
    "YouTube Standard License", "youtube (standard licence)", "LicenseRef-Proprietary", "Not for redistribution",
    "May not be redistributed", "no re-use, no redistribution", "Non-redistributable", "without the right to redistribute",
    "Redistribution prohibited", "redistribution is forbidden", "Redistribution is strictly prohibited", "No sharing",
    "Redistribution not permitted", "all\u2010rights\u2010reserved",
)  # fmt: skip
RESEARCH_ONLY = (
    "Research use only, no distribution", "research-only", "RESEARCH_USE_ONLY", "For research purposes only",
    "LicenseRef-Research-Only",
    "only for non-commercial research",
)  # fmt: skip
SAYING_NOTHING = (
    None, "", " ", "unknown", "UNKNOWN", "not stated", "Not-Stated", "NOASSERTION", "NoAssertion", "no assertion", " Unknown\n",
)  # fmt: skip
WORDS = (
    "other", "free", "Pexels", "CC", "see website", "mitigated", "no restrictions on redistribution", "unknown, ask the author",
    "in redistribution", "a piano, redistributed", "research", "standard",
)  # fmt: skip


@pytest.mark.parametrize("licence", OPEN)
def test_open_ones_are_known_and_allowed(licence: str) -> None:
    assert is_known(licence)
    assert why_refused(licence) is None


def test_what_the_embedded_footage_states_may_be_published() -> None:
    stated = {photograph.licence for photograph in PHOTOGRAPHS.values() if photograph.licence}
    assert "no known copyright restrictions" in stated
    assert all(is_known(licence) and why_refused(licence) is None for licence in stated)


@pytest.mark.parametrize("licence", NO_DERIVATIVES)
def test_clips_are_derivatives(licence: str) -> None:
    assert why_refused(licence) == "forbids derivatives"


@pytest.mark.parametrize("licence", NO_REDISTRIBUTION)
def test_publishing_is_redistribution(licence: str) -> None:
    assert why_refused(licence) == "forbids redistribution"


@pytest.mark.parametrize("licence", RESEARCH_ONLY)
def test_everybody_is_more_than_researchers(licence: str) -> None:
    assert why_refused(licence) == "allows research only"


def test_words_of_two_refusals_are_refused_as_well() -> None:
    assert why_refused("Research use only, no sharing") is not None


@pytest.mark.parametrize("licence", [*SAYING_NOTHING, *WORDS])
def test_everything_else_is_unknown(licence: str | None) -> None:
    assert not is_known(licence)
    assert why_refused(licence) is None
    assert is_unstated(licence) == (licence in SAYING_NOTHING)


@pytest.mark.parametrize("licence", [*OPEN, *NO_DERIVATIVES, *NO_REDISTRIBUTION, *RESEARCH_ONLY])
def test_what_says_something_is_stated(licence: str) -> None:
    assert not is_unstated(licence)


@pytest.mark.parametrize("licence", [*(one for one in SAYING_NOTHING if one), *OPEN, *NO_REDISTRIBUTION, *WORDS])
def test_one_spelling_stays_itself(licence: str) -> None:
    assert canonical(canonical(licence)) == canonical(licence) == canonical(f" {licence.upper()} ")


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
