"""What a study file may say, and the one sentence about what it may not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.annotate.study import parse_study
from inpaintbench.errors import InputError

PREDICTIONS = {"dataset": "D", "runs": ["R"]}
STABLE = {"kind": "stable_ranking"}


def parse(*leaves: str, **changes: Any) -> Any:
    questions = [{"leaf": leaf} for leaf in leaves]
    fields = {"title": "T", "subjects": PREDICTIONS, "questions": questions, **changes}
    return parse_study(fields, where="study.toml", folder=Path("/"))


def test_a_stable_ranking_needs_comparisons_of_pairs() -> None:
    assert parse("best_of", "pairwise", stop=STABLE).stop.kind == "stable_ranking"
    with pytest.raises(InputError, match=r"study\.toml: stop: stable_ranking.*'best_of', 'mean_opinion'.*'coverage'"):
        parse("best_of", "mean_opinion", stop=STABLE)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0, 0.0, 10081.0, 1e300])
def test_leases_last_a_week_at_most(value: float) -> None:
    with pytest.raises(InputError, match=r"study\.toml: lease_minutes: Input should be"):
        parse("pairwise", lease_minutes=value)
    assert parse("pairwise", lease_minutes=10080).lease_minutes == 10080


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ("checks", "least_accuracy", float("nan")), ("checks", "gold_share", float("nan")), ("checks", "window", 10**6),
        ("checks", "repeat_gap", 10**6), ("stop", "fewest_votes", 10**8), ("stop", "level", float("nan")),
        ("show", "largest_side", 10**5), ("subjects", "most", 10**8),
    ],
)  # fmt: skip
def test_numbers_that_nobody_means_are_refused(table: str, field: str, value: float) -> None:
    fields = {**(PREDICTIONS if table == "subjects" else {}), field: value}
    with pytest.raises(InputError, match=rf"study\.toml: {table}\.{field}: Input should be"):
        parse("pairwise", **{table: fields})


def test_nobody_asks_a_million_raters() -> None:
    with pytest.raises(InputError, match=r"questions number 1: raters_per_task: Input should be less"):
        parse_study(
            {"title": "T", "subjects": PREDICTIONS, "questions": [{"leaf": "pairwise", "raters_per_task": 10**6}]},
            where="study.toml", folder=Path("/"),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"questions": [{"leaf": "keep_reject"}, {"leaf": "camera_motion", "rater_per_task": 3}]},
         "questions number 2: unknown field 'rater_per_task', did you mean 'raters_per_task'"),
        ({"questions": [{"leaf": "keep_reject"}], "subject": {"workspace": "w"}, "subjects": None},
         "unknown field 'subject', did you mean 'subjects'"),
        ({"questions": [{"leaf": "keep_reject", "screening": {}}]},
         "questions number 1: the field 'screening' belongs to another table"),
        ({"questions": [{"leaf": "keep_reject", "raters_per_task": 0}]}, "questions number 1: raters_per_task: Input should be"),
    ],
)  # fmt: skip
def test_a_misspelt_field_is_named_with_the_right_one(fields: dict[str, Any], said: str) -> None:
    whole = {"title": "t", "subjects": {"workspace": "w"}, **fields}
    with pytest.raises(InputError, match=re.escape(said)):
        parse_study({name: value for name, value in whole.items() if value is not None}, where="here", folder=Path())
