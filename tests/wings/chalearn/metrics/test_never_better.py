"""Making pixels worse never makes a score better, of the metrics of this wing that compare with a truth."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from never_better import ERASED, EXACT, Case, check, pair_of, with_truth
from tests.eval.test_never_better import ITEMS, cases

from inpaintbench.wings.chalearn import JOINS

CLAIMS: Mapping[str, tuple[str, ...]] = {
    "minutiae": (EXACT,),  # one that was invented and is painted over is an error less
    "orientation_rmsd": (EXACT, ERASED),
    "ridge_frequency_error": (EXACT, ERASED),
}
EXEMPT: Mapping[str, str] = {
    "residual_text": "a detector stands between pixels and text; equal pictures give 0, the best, whatever it is, and so does "
    "all that removes text",
    "wnjd": "an estimator stands between pixels and joints; equal pictures give 0, the best, whatever it is, and joints that "
    "it does not find count as the worst",
}


def test_every_ranked_metric_with_a_truth_is_tried_or_says_why_not() -> None:
    assert set(CLAIMS) | set(EXEMPT) == set(with_truth(JOINS["metric"]))


@pytest.mark.parametrize(("name", "claim"), [(name, claim) for name, stated in CLAIMS.items() for claim in stated])
@settings(max_examples=100)
@given(made=st.lists(cases(3), min_size=ITEMS, max_size=ITEMS))
def test_worse_pixels_never_score_better(name: str, claim: str, made: list[Case]) -> None:
    assert check(name, claim, [pair_of(claim, case, height=30, width=36) for case in made])
