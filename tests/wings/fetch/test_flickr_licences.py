"""Flickr's licences get our names by their addresses, and only those that allow changed copies pass unasked."""

from __future__ import annotations

import pytest
from flickr_server import LICENCES

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.wings.fetch.flickr_client import FlickrLicences, licence, permits

NAMES = {
    0: "all-rights-reserved", 1: "CC-BY-NC-SA-2.0", 2: "CC-BY-NC-2.0", 3: "CC-BY-NC-ND-2.0", 4: "CC-BY-2.0", 5: "CC-BY-SA-2.0",
    6: "CC-BY-ND-2.0", 7: "no-known-copyright", 8: "US-Gov", 9: "CC0-1.0", 10: "PDM-1.0", 11: "CC-BY-4.0", 12: "CC-BY-SA-4.0",
    13: "CC-BY-ND-4.0", 14: "CC-BY-NC-4.0", 15: "CC-BY-NC-SA-4.0", 16: "CC-BY-NC-ND-4.0",
}  # fmt: skip


@pytest.fixture
def table() -> FlickrLicences:
    return FlickrLicences({"licenses": {"license": [{"id": i, "name": n, "url": u} for i, (n, u) in LICENCES.items()]}})


def test_every_licence_has_its_name(table: FlickrLicences) -> None:
    assert {number: table.of(str(number), photo="1").name for number in LICENCES} == NAMES


def test_former_titles_change_nothing() -> None:
    assert licence("Attribution License", "http://creativecommons.org/licenses/by/2.0/").name == "CC-BY-2.0"
    assert licence("All Rights Reserved", "").name == "all-rights-reserved"
    assert licence("No known copyright\n   restrictions", "https://www.flickr.com/commons/usage/").title.count(" ") == 3


def test_a_licence_nobody_knew_keeps_its_title_and_is_not_passed_on() -> None:
    found = licence("Brand New License", None)
    assert found.name == "Brand New License"
    assert not permits(found, [])
    assert permits(found, ["brand-new licence"])


def test_what_passes_unasked(table: FlickrLicences) -> None:
    assert table.ids([]) == ["4", "5", "8", "9", "10", "11", "12"]


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ("CC-BY-2.0", ["4"]), ("cc by 4.0", ["11"]), ("CC-BY", ["4", "11"]), ("CC-BY-NC", ["2", "14"]),
        ("Attribution License", ["4"]), ("Attribution-NonCommercial-NoDerivs License", ["3"]), ("CC0", ["9"]), ("PDM", ["10"]),
        ("US-Gov", ["8"]), ("All Rights Reserved", ["0"]), ("no known copyright restrictions", ["7"]),
    ],
)  # fmt: skip
def test_licences_are_asked_for_by_name(table: FlickrLicences, asked: str, ids: list[str]) -> None:
    assert table.ids([asked]) == ids


def test_a_name_that_fits_nothing_is_told(table: FlickrLicences) -> None:
    with pytest.raises(UnknownNameError, match=r"'CC-BY-3\.0'.*CC-BY-"):
        table.ids(["CC-BY-2.0", "CC-BY-3.0"])


def test_an_unlisted_id_names_the_photo(table: FlickrLicences) -> None:
    with pytest.raises(InputError, match=r"licence id '99' for photo 4711, .*15, 16"):
        table.of("99", photo="4711")
