from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from inpaintbench.pages import words


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (words.number(1.005, 2), "1.00"), (words.number(-0.001, 2), "0.00"), (words.number(-1.5, 1), "−1.5"),
        (words.number(None, 2), "–"), (words.number(math.inf, 2), "∞"), (words.number(-math.inf), "−∞"),
        (words.number(12345.6), "12,346"), (words.number(0.00123456), "0.00123"),
        (words.signed(0.004, 2), "0.00"), (words.signed(-0.3, 2), "−0.30"), (words.signed(1.2, 2), "+1.20"),
        (words.percent(0.042), "4.2 %"), (words.percent(0.37), "37 %"), (words.percent(0), "0 %"), (words.percent(None), "–"),
        (words.percent(0.0996), "10 %"), (words.percent(words.share(1, 200)), "0.5 %"), (words.percent(words.share(0, 0)), "–"),
        (words.signed_percent(-0.0001), "0.0 %"), (words.signed_percent(0.5), "+50 %"),
        (words.interval(1, 2.25, 1), "1.0 – 2.2"), (words.interval(None, 2, 1), ""), (words.percents(0.31, 0.45), "31 – 45 %"),
        (words.span("36.2", "36.2"), "36.2"), (words.span("31.2", "36.4"), "31.2 to 36.4"),
        (words.count(1, "item"), "1 item"), (words.count(1200, "study"), "1,200 studies"), (words.count(2, "day"), "2 days"),
        (words.duration(4.23), "4.2 s"), (words.duration(0.0123), "0.012 s"),
        (words.duration(11100), "3 h 05 min"), (words.duration(4 * 86400), "4 days"),
        (words.moment(0), "1970-01-01 00:00"),
    ],
)  # fmt: skip
def test_numbers_as_words(shown: str, expected: str) -> None:
    assert shown == expected


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(0, 6))
def test_no_zero_has_a_sign(value: float, decimals: int) -> None:
    for shown in (words.number(value, decimals), words.signed(value, decimals)):
        if float(shown.replace("−", "-")) == 0:
            assert shown[0] not in "+−"


@given(st.text())
def test_what_may_break_keeps_its_letters_and_no_markup(name: str) -> None:
    shown = words.breakable(name)
    assert isinstance(shown, Markup)
    assert shown.replace("<wbr>", "").unescape() == Markup.escape(name).unescape()
    assert "<" not in shown.replace("<wbr>", "")


def test_two_methods_never_share_a_class() -> None:
    names = ["a.b", "a b", "a-b", "A-B", "ä"]
    assert len({words.method_class(name) for name in names}) == len(names)
