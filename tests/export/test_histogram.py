"""The histogram for cards: well-formed XML whose bars are numpy's counts."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.errors import InputError
from inpaintbench.export.card.plots import group_counts, histogram_svg

EDGES = [0.0, 0.1, 0.2, 0.5]
SVG = "{http://www.w3.org/2000/svg}"


def drawn(values: list[float], **changes: object) -> ET.Element:
    options = {"title": "Missing part", "x_label": "share, %", "bin_edges": EDGES} | changes
    return ET.fromstring(histogram_svg(values, **options))  # type: ignore[arg-type]


def bars(svg: ET.Element) -> list[ET.Element]:
    return [one for one in svg.iter(f"{SVG}rect") if one.get("class") == "bar"]


def words(svg: ET.Element) -> list[str]:
    return ["".join(one.itertext()) for one in svg.iter(f"{SVG}text")]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["easy", "hard", "any"])), min_size=1, max_size=40))
def test_counts_are_those_of_numpy(rows: list[tuple[float, str]]) -> None:
    values, groups = [value for value, _ in rows], [group for _, group in rows]
    counts = group_counts(values, bin_edges=EDGES, groups=groups)
    for name, row in zip(dict.fromkeys(groups), counts, strict=True):
        own = [value for value, group in rows if group == name]
        expected, _ = np.histogram(own, bins=[*EDGES, np.inf])
        assert row == expected.tolist()[: len(row)]
        assert sum(row) == len(own)
    assert len(counts[0]) == (4 if max(values) >= EDGES[-1] else 3)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.text(max_size=4)), min_size=1, max_size=30))
def test_stacks_are_as_high_as_their_share(rows: list[tuple[float, str]]) -> None:
    values = [value for value, _ in rows]
    svg = drawn(values, groups=[group for _, group in rows])
    base = max(float(bar.get("y", "")) + float(bar.get("height", "")) for bar in bars(svg))
    heights: dict[str, float] = {}
    for bar in bars(svg):
        place = bar.get("x", "")
        heights[place] = heights.get(place, 0.0) + float(bar.get("height", ""))
        assert float(bar.get("y", "")) + heights[place] <= base + 0.01 * len(rows)  # each height is rounded
    counts = [n for n in np.histogram(values, bins=[*EDGES, np.inf])[0] if n]
    found = [heights[place] for place in sorted(heights, key=float)]
    assert found == pytest.approx([n * found[0] / counts[0] for n in counts], abs=0.5)


def test_the_mean_is_marked_where_the_axis_says() -> None:
    svg = drawn([0.1, 0.2], x_scale=100)
    assert "mean 15 · n 2" in words(svg)
    line = next(one for one in svg.iter(f"{SVG}line") if one.get("class") == "mean")
    ticks = {"".join(one.itertext()): float(one.get("x", "")) for one in svg.iter(f"{SVG}text")}
    assert float(line.get("x1", "")) == pytest.approx((ticks["10"] + ticks["20"]) / 2, abs=0.1)


def test_values_from_the_last_edge_on_have_a_bin_of_their_own() -> None:
    assert "+" in words(drawn([0.05, 0.5, 0.9]))
    assert "+" not in words(drawn([0.05, 0.499]))
    assert group_counts([0.05, 0.5, 0.9], bin_edges=EDGES) == [[1, 0, 0, 2]]


def test_groups_are_in_the_legend_with_their_counts() -> None:
    assert {"easy 2", "hard 1"} <= set(words(drawn([0.1, 0.1, 0.3], groups=["easy", "easy", "hard"])))
    colours = {bar.get("fill") for bar in bars(drawn([0.1, 0.1, 0.3], groups=["easy", "easy", "hard"]))}
    assert len(colours) == 2
    assert len({bar.get("fill") for bar in bars(drawn([0.1, 0.1, 0.3]))}) == 1


def test_names_are_escaped_and_the_same_arguments_give_the_same_text() -> None:
    nasty = "</title><script>alert('x')</script>&\x00"
    svg = drawn([0.1], title=nasty, x_label=nasty, groups=[nasty])
    assert not list(svg.iter(f"{SVG}script"))
    assert words(svg).count(nasty.rstrip("\x00")) == 2
    again = {"title": "t", "x_label": "x", "bin_edges": EDGES}
    assert histogram_svg([0.1, 0.3], **again) == histogram_svg([0.1, 0.3], **again)  # type: ignore[arg-type]


def test_what_cannot_be_drawn_is_refused() -> None:
    for values, changes, message in (
        ([], {}, "at least one value"),
        ([0.1, -0.1], {}, r"value -0\.1 is in no bin"),
        ([float("nan")], {}, "value nan is in no bin"),
        ([float("inf")], {}, "value inf is in no bin"),
        ([0.1], {"bin_edges": [0.0]}, "do not rise"),
        ([0.1], {"bin_edges": [0.0, 0.2, 0.2]}, "do not rise"),
        ([0.1], {"groups": ["a", "b"]}, "2 groups for 1 values"),
    ):
        with pytest.raises(InputError, match=message):
            drawn(values, **changes)
