"""Places on scales, and what parts of panels say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.pages import Cell, Column, Row, Table, page
from inpaintbench.pages.panels import Bar, Bars, Caution, Fact, Facts, Gauge, Portion, Scale, Stack, Statement

NUMBERS = st.floats(-1e6, 1e6)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_place_is_within_the_line_and_keeps_the_order(low: float, high: float, value: float) -> None:
    scale = Scale(min(low, high), max(low, high))
    assert 0 <= scale.place(value) <= 1
    assert scale.place(value) <= scale.place(value + 1)


def test_ends_of_a_scale_are_ends_of_the_line() -> None:
    assert Scale(1, 5).ends(3, None, 7) == (0.5, None, 1.0)
    assert Scale(1, 5).ticks({1: "bad", 5: "good"}) == ((0.0, "bad"), (1.0, "good"))
    assert Scale(2, 2).place(2) == 0.5


@pytest.mark.parametrize(("low", "high"), [(-2.3, 1.9), (0, 1), (0.0011, 0.0042), (-130, 950)])
def test_round_values_are_few_and_inside(low: float, high: float) -> None:
    values = list(Scale(low, high).round_values())
    assert 3 <= len(values) <= 8
    assert all(low <= value + 1e-9 and value - 1e-9 <= high for value in values)


def test_every_part_is_drawn_and_escapes_its_texts() -> None:
    evil = "<b onclick=x>"
    stack = Stack(f"{evil} stack", (Portion(f"{evil} most", 3, "var(--fill)"), Portion("none", 0, "red")), key=True)
    scale = Column("Scale", ticks=((0, "0"), (1, f"{evil} tick")))
    cells = (Cell("a", below=f"one\n{evil} line"), Cell(whisker=(0.5, 0.25, 0.75)), Cell(3, stack=stack, kind="warn"))
    parts = [
        Bars(f"{evil} bars", (Bar(f"{evil} bar", 0.5, "3", f"{evil} of 6"),)),
        stack,
        Gauge((0.5, 0.25, 0.75), ((0.0, f"{evil} none"), (1.0, "all"))),
        Facts((Fact(f"{evil} term", f"{evil} fact", f"{evil} small"),)),
        Statement(f"{evil} said", value="51 %", interval="45 % to 57 %", state=f"{evil} open", good=False),
        Caution(f"{evil} caution"),
        Table((Column("Head"), scale, Column("n")), (Row(cells),), label=f"{evil} table"),
        f"{evil} note",
    ]
    html = page("pages/templates/plain.html", title="t", subtitle="", sections=[("a", "A", "", parts)])
    assert evil not in html
    shown = html[html.index('<section id="a"') : html.index("<footer")]
    for said in (
        "bars",
        "bar",
        "of 6",
        "stack",
        "most",
        "none",
        "term",
        "fact",
        "small",
        "said",
        "open",
        "caution",
        "tick",
        "line",
    ):
        assert f"&lt;b onclick=x&gt; {said}" in shown
    assert "most <b>100 %</b> <small>n 3</small>" in shown
    assert re.findall(r'<i style="left:25.00%;width:50.00%">', shown) != []
    assert shown.count('class="below"') == 2
