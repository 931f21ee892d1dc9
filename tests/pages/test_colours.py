from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.pages.colours import PALETTE, REFERENCE, method_styles

NAMES = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=30, unique=True)


@given(NAMES)
def test_a_colour_belongs_to_the_name_and_no_two_methods_look_alike(names: list[str]) -> None:
    styles = method_styles(names)
    assert styles == method_styles(reversed(names))
    assert len({(look.colour, look.marker) for look in styles.values()}) == len(names)
    assert len({(look.colour, tuple(look.dash)) for look in styles.values()}) == len(names)


@given(NAMES)
def test_up_to_eight_methods_have_eight_colours(names: list[str]) -> None:
    few = names[: len(PALETTE)]
    assert len({look.colour for look in method_styles(few).values()}) == len(few)


def test_references_are_grey_and_take_no_colour_from_others() -> None:
    alone, beside = method_styles(["telea"]), method_styles(["telea", "blank"], ["blank"])
    assert beside["blank"].colour == REFERENCE
    assert beside["telea"] == alone["telea"]


def test_a_method_that_joins_changes_few_colours() -> None:
    four, five = method_styles(["a", "b", "c", "d"]), method_styles(["a", "b", "c", "d", "z"])
    assert {name: five[name] for name in four} == four
