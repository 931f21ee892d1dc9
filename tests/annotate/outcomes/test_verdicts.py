"""Counting against a straightforward reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.annotate.outcomes.resolve import majority, median
from inpaintbench.annotate.questions.leaves import SHARES

UNSURE = ("unclear",)
CHOICES = st.lists(st.sampled_from([*SHARES, *UNSURE]), min_size=1, max_size=9)


def shares(*choices: str, least: float = 0.5) -> tuple[str | None, float | None]:
    found = median(choices, steps=SHARES, unsure=UNSURE, least_agreement=least)
    assert found.votes == len(choices)
    assert (found.answer is None) == (found.reason is not None)
    return found.answer, found.agreement


@settings(deadline=None, max_examples=200)
@given(CHOICES)
def test_shares_agree_with_numpy(choices: list[str]) -> None:
    numbers = [float(choice) for choice in choices if choice != "unclear"]
    doubts = len(choices) - len(numbers)
    answer, agreement = shares(*choices, least=0.0)
    if doubts > len(numbers):
        assert (answer, agreement) == ("unclear", doubts / len(choices))
    elif doubts == len(numbers):
        assert answer is None
    else:
        assert answer is not None
        assert float(answer) == np.median(numbers)
        places = [SHARES.index(choice) for choice in choices if choice != "unclear"]
        assert agreement == np.mean(np.abs(np.array(places) - np.median(places)) <= 1)


@pytest.mark.parametrize(
    ("choices", "answer", "agreement"),
    [
        (("25",), "25", 1.0),
        (("10", "25", "50"), "25", 1.0),
        (("10", "25"), "17.5", 1.0),
        (("10", "50"), "30", 1.0),  # each one step from the place between them
        (("5", "50"), None, 0.0),
        (("0", "0", "100"), "0", 2 / 3),
        (("0", "25", "100"), None, 1 / 3),
        (("25", "25", "unclear"), "25", 1.0),
        (("25", "unclear"), None, 0.5),
        (("25", "unclear", "unclear"), "unclear", 2 / 3),
    ],
)
def test_shares_by_hand(choices: tuple[str, ...], answer: str | None, agreement: float) -> None:
    assert shares(*choices) == (answer, pytest.approx(agreement))


@pytest.mark.parametrize(
    ("choices", "least", "answer"),
    [
        (("low",), 1.0, "low"),
        (("low", "low", "high"), 0.5, "low"),
        (("low", "low", "high"), 0.67, None),
        (("low", "high"), 0.0, None),
        (("low", "low", "high", "high", "unclear"), 0.0, None),
        (("low", "low", "high", "unclear"), 0.5, "low"),
    ],
)
def test_majorities_by_hand(choices: tuple[str, ...], least: float, answer: str | None) -> None:
    found = majority(choices, least_agreement=least)
    assert found.answer == answer
    assert found.agreement == max(choices.count(one) for one in choices) / len(choices)
    assert (found.reason is None) == (answer is not None)


def test_reasons_hold_the_numbers() -> None:
    assert majority(["keep", "reject"], least_agreement=0.5).reason == "no answer has most of the 2 votes: 1 keep, 1 reject"
    assert majority(["a", "a", "b"], least_agreement=0.9).reason == "67% of 3 votes agree, at least 90% must"


@pytest.mark.parametrize(
    ("choices", "told"), [(["0", "100", "unclear"], "0% of 2 votes with a number"), (["0", "25", "100"], "33% of 3 votes")]
)
def test_a_share_is_told_of_those_it_is_of(choices: list[str], told: str) -> None:
    found = median(choices, steps=SHARES, unsure=UNSURE, least_agreement=0.5)
    assert (found.reason, found.votes) == (f"{told} agree, at least 50% must", 3)
