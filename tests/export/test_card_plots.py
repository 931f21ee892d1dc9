"""The pictures of a card: well-formed, as long as their numbers, and never without bins."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.export.card.plots import bars_svg, edges, histogram_svg

SVG = "{http://www.w3.org/2000/svg}"


@settings(max_examples=150)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30).filter(lambda values: len(set(values)) > 1))
def test_edges_are_round_and_hold_every_value(values: list[float]) -> None:
    found = edges(values)
    assert found[0] <= min(values) < max(values) < found[-1]
    assert 2 <= len(found) <= 16
    steps = [high - low for low, high in pairwise(found)]
    assert max(steps) == pytest.approx(min(steps), rel=1e-3)
    histogram_svg(values, title="t", x_label="x", bin_edges=found)


def test_edges_of_known_values() -> None:
    assert edges([0.013, 0.194]) == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2])
    assert edges([1.0, 8.0]) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]


def bars(svg: str) -> list[ET.Element]:
    return [one for one in ET.fromstring(svg).iter(f"{SVG}rect") if one.get("class") == "bar"]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=12))
def test_bars_are_as_long_as_their_counts(counts: list[tuple[int, int]]) -> None:
    told = {f"slice-{place}": {"train": a, "test": b} for place, (a, b) in enumerate(counts)}
    drawn = bars(bars_svg(told, title="Items", unit="items"))
    wanted = [count for of in counts for count in of if count]
    assert len(drawn) == len(wanted)
    for one, count in zip(drawn, wanted, strict=True):
        unit = float(drawn[0].get("width", "")) / wanted[0]
        assert float(one.get("width", "")) == pytest.approx(count * unit, abs=0.02 + 0.02 * count)
        assert float(one.get("x", "")) + float(one.get("width", "")) < 640


def test_one_group_has_no_legend_and_names_are_escaped() -> None:
    nasty = "</title><script>alert('x')</script>&\x00"
    svg = bars_svg({nasty: {"test": 3}}, title=nasty, unit=nasty)
    assert not list(ET.fromstring(svg).iter(f"{SVG}script"))
    assert len({one.get("fill") for one in bars(svg)}) == 1
    two = bars_svg({"a": {"train": 1, "test": 2}}, title="t", unit="items")
    assert {"train", "test"} <= {"".join(one.itertext()) for one in ET.fromstring(two).iter(f"{SVG}text")}


def test_bars_without_counts_are_refused() -> None:
    for counts in ({}, {"a": {"test": -1}}):
        with pytest.raises(InputError, match="bars need names with counts of 0 or more"):
            bars_svg(counts, title="t", unit="items")
