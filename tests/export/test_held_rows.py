"""Words of what is held back are found in whatever text they slipped into."""

from __future__ import annotations

import pytest

from inpaintbench.export.holding_back import slipped_inside

WITHHELD = {"films/a%20b.mp4", "https://example.org/p?id=7", "A day at the northern lake", "00ff00ff00ff00ff", "7.mp4"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the input of films/a b.mp4, cut", "films/a%20b.mp4"),
        ("see HTTPS://EXAMPLE.ORG/p?id=7.", "https://example.org/p?id=7"),
        ("with thanks for \u201ca day at the Northern Lake\u201d", "A day at the northern lake"),
        ("id 00FF00FF00FF00FF!", "00ff00ff00ff00ff"),
    ],
)
def test_an_address_a_title_and_an_id_are_found_in_sentences(text: str, found: str) -> None:
    assert slipped_inside(text, WITHHELD) == [found]


@pytest.mark.parametrize("text", ["other films/a b.mp4x", "more-films/a b.mp4", "7.mp4 is short", "a day at a lake", ""])
def test_a_part_of_a_longer_name_is_not_the_name(text: str) -> None:
    assert slipped_inside(text, WITHHELD) == []
