"""The precision of facts, and identity that outlives the last digits of floats."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.types import Attribute, Corruption, stated

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_a_stated_number_has_twelve_significant_digits_and_stays_when_stated_again(number: float) -> None:
    found = stated(number)
    assert stated(found) == found
    assert len(f"{abs(found):.16e}".split("e")[0].replace(".", "").rstrip("0")) <= 17
    assert found == pytest.approx(number, rel=1e-11, abs=0)
    assert float(f"{found:.12g}") == found


@pytest.mark.parametrize("number", [0.1 + 0.2, 1 / 3, 0.07923450123456, 123456.789012, 1e-9 / 7, -2.5e17 / 3])
def test_neighbours_in_the_sixteenth_digit_are_stated_alike(number: float) -> None:
    near = number
    for _ in range(8):
        near = math.nextafter(near, math.inf)
        assert near != number
        assert stated(near) == stated(number)


def test_what_lies_inside_is_stated_and_the_rest_stays() -> None:
    third = 1 / 3
    found = stated({"a": [third, 1, True, None, "x", math.inf], "b": {"c": (third,)}})
    assert found == {"a": [0.333333333333, 1, True, None, "x", math.inf], "b": {"c": (0.333333333333,)}}
    assert type(found["a"][1]) is int
    assert found["a"][2] is True


def test_facts_are_stated_where_they_become_records() -> None:
    assert Attribute("s", "n", 1 / 3, None, "p", "1").value == 0.333333333333
    assert Attribute("s", "n", "1/3", None, "p", "1").value == "1/3"
    made = Corruption("c", "k", "g", {}, 0, None, None, None, facts={"share": 2 / 3, "boxes": [[1 / 3]]})
    assert made.facts == {"share": 0.666666666667, "boxes": [[0.333333333333]]}
