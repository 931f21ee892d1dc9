"""NOTICE names every source once, with what its licence asks for."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from publishing_data import make_dataset

from inpaintbench import frozen
from inpaintbench.export.documents import notice
from inpaintbench.export.licences import header_names, licence_url, spdx
from inpaintbench.types import Dataset


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder: Path = make_dataset(tmp_path_factory.mktemp("small"), licences=("CC-BY-4.0", None, "cc by 4.0", "odd"))
    return frozen.load(folder)


def with_rows(dataset: Dataset, **changes: object) -> Dataset:
    return replace(dataset, items=tuple({**row, **changes} for row in dataset.items))


def test_sources_stand_once_under_their_licence(dataset: Dataset) -> None:
    twice = replace(dataset, items=(*dataset.items, {**dataset.items[0], "item_id": "i9", "start_frame": 3, "end_frame": 6}))
    text = notice(twice)
    assert re.findall(r"^== .* ==$", text, re.MULTILINE) == [
        "== CC-BY-4.0 (2 sources) ==", "== licence not stated (1 source) ==", "== odd (1 source) ==",
    ]  # fmt: skip
    for place in range(4):
        assert text.count(f"- film {place}.mp4\n") == 1
    first = text.partition("- film 0.mp4\n")[2].partition("\n\n")[0]
    assert first == "  changes: frames 0 to 3, 3 to 6; size 48x32"
    assert text.count("https://creativecommons.org/licenses/by/4.0/\n") == 1


def test_author_page_and_what_was_done_are_named(dataset: Dataset) -> None:
    told = {"author": "Ana\nB.\x00 ==", "page_url": "https://example.org/1", "attributes": {"normalised": "9x9 x; cover 48x32"}}
    text = notice(with_rows(dataset, **told))
    assert "- film 1.mp4\n  author: Ana B. ==\n  page: https://example.org/1\n  changes: frames 0 to 3; cover 48x32\n" in text
    assert "\x00" not in text


def test_prints_of_nobody_are_counted(dataset: Dataset) -> None:
    text = notice(with_rows(dataset, source_uri="fingerprints:000001_0_arch", licence="CC0-1.0"))
    assert "- 4 fingerprints of nobody, drawn by the program" in text
    assert "000001" not in text


def test_it_says_that_the_sources_were_changed_and_what_the_program_covers(dataset: Dataset) -> None:
    text = notice(dataset)
    assert "Changes made to every source" in text
    assert text.endswith("Apache-2.0, covers the program and not this dataset.\n")


@pytest.mark.parametrize(
    ("licence", "name", "url"),
    [
        ("CC-BY-4.0", "CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/"),
        ("cc by-nc-sa 2.0", "CC-BY-NC-SA-2.0", "https://creativecommons.org/licenses/by-nc-sa/2.0/"),
        ("cc-by-sa-3.0-de", "CC-BY-SA-3.0-DE", "https://creativecommons.org/licenses/by-sa/3.0/de/"),
        ("https://creativecommons.org/licenses/by/2.0/deed.en", "CC-BY-2.0", "https://creativecommons.org/licenses/by/2.0/"),
        ("CC0", "CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("PDM", "PDM-1.0", "https://creativecommons.org/publicdomain/mark/1.0/"),
        ("odbl-1.0", "ODbL-1.0", "https://spdx.org/licenses/ODbL-1.0.html"),
        ("CC-BY", None, None),
        ("LicenseRef-ours", None, None),
        ("public domain", None, None),
        (None, None, None),
    ],
)
def test_licences_have_names_and_addresses(licence: str | None, name: str | None, url: str | None) -> None:
    assert (spdx(licence), licence_url(licence)) == (name, url)


def test_the_header_of_a_card_holds_only_what_the_hub_knows() -> None:
    # The Hub has no CC-BY-SA-2.0, which much of Flickr is under.
    assert header_names(["CC-BY-SA-2.0", "CC0", None, "CC-BY-2.0", "ODbL-1.0"]) == ["cc-by-2.0", "cc0-1.0", "odbl", "other"]
