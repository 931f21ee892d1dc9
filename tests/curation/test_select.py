from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench.curation import select
from inpaintbench.curation.facts import Facts
from inpaintbench.curation.judging import judge
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.select import kept, top_share
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Answer, Attribute, Clip, Selection


def clip(name: str, source: str = "s") -> Clip:
    return Clip(name, source, 0, 90, 30.0, 832, 480, 90, "b", "y", "r", 14, 46.0)


def rank_levels(clips: list[Clip], rows: list[Attribute], **constants: Any) -> list[Attribute]:
    return to_records(select.rank_levels(to_columns(clips, Clip), to_columns(rows, Attribute), **constants), Attribute)


def inherited_levels(clips: list[Clip], rows: list[Attribute], *, level: str) -> list[Attribute]:
    found = select.inherited_levels(to_columns(clips, Clip), to_columns(rows, Attribute), level=level)
    return to_records(found, Attribute)


def measured(values: dict[str, float | None]) -> list[Attribute]:
    return [
        Attribute(name, "motion", value, None if value is not None else "27 of 90 failed", "m", "1")
        for name, value in values.items()
    ]


def test_clips_are_kept_that_no_rule_drops_and_that_wait_for_nobody() -> None:
    clips = [clip("a"), clip("b"), clip("c"), clip("d")]
    answers = [Answer("a", "keep_reject", "keep", None, 3, 1.0), Answer("b", "keep_reject", None, "votes are tied", 2, 0.5)]
    rules = [Rule(attribute="motion", at_most=0.3), Rule(answer="keep_reject", equals="keep")]
    facts = Facts.of_records(clips, measured({"a": 0.1, "b": 0.1, "c": 0.1, "d": None}), answers=answers)
    judged = to_records(judge(facts, rules).rows(), Selection)
    assert kept(clips, judged) == [clips[0]]
    assert [row.reason for row in judged if row.clip_id != "a"] == [
        None, "answer:keep_reject has no value: votes are tied", None, "no answer yet",
        "motion has no value: 27 of 90 failed", "no answer yet",
    ]  # fmt: skip


def test_of_several_answers_the_last_that_decides_counts() -> None:
    clips = [clip("a"), clip("b")]
    rows = [("a", "reject"), ("b", "reject"), ("a", None), ("b", "keep")]
    answers = [Answer(name, "keep_reject", told, None if told else "a draw", 2, 0.5) for name, told in rows]
    facts = Facts.of_records(clips, [], answers=answers)
    assert facts.of("answer:keep_reject").texts.to_pylist() == ["reject", "keep"]


def test_the_extremes_are_labelled_and_everything_else_says_why_not() -> None:
    clips = [clip(f"c{place:02}", f"s{place}") for place in range(25)]
    rows = measured({row.clip_id: float(place) for place, row in enumerate(clips[:24])} | {"c24": None})
    levels = {row.subject_id: row for row in rank_levels(clips, rows, level="motion_level")}
    assert [name for name, row in levels.items() if row.value == "low"] == ["c00", "c01", "c02"]  # floor(.16 * 24)
    assert [name for name, row in levels.items() if row.value == "high"] == ["c21", "c22", "c23"]
    assert levels["c10"].reason == "not among the 3 lowest or 3 highest of 24 scored clips"
    assert levels["c24"].reason == "not scored: 27 of 90 failed"


def test_round_robin_takes_every_source_before_a_second_clip_of_one() -> None:
    clips = [clip("a1", "a"), clip("a2", "a"), clip("a3", "a"), clip("b1", "b")]
    others = [clip(f"z{place}", "z") for place in range(4)]
    rows = measured({"a1": 0, "a2": 1, "a3": 2, "b1": 3, "z0": 9, "z1": 9, "z2": 9, "z3": 9})
    levels = rank_levels(clips + others, rows, level="motion_level", share=0.5, at_most=2)
    assert {row.subject_id for row in levels if row.value == "low"} == {"a1", "b1"}


def test_labels_are_spread_over_sources() -> None:
    """Sixteen slides of one film stand still; four other films are slow."""
    slides = [clip(f"s{place:02}", "slides") for place in range(16)]
    films = [clip(f"{name}{place}", name) for name in "abcdefgh" for place in range(2)]
    motion = {row.clip_id: 0.0 for row in slides} | {row.clip_id: 1.0 + place for place, row in enumerate(films)}
    lows = []
    for spread in (False, True):
        levels = rank_levels(slides + films, measured(motion), level="motion_level", share=0.25, spread=spread)
        lows.append([row.subject_id for row in levels if row.value == "low"])
        assert sum(row.value == "high" for row in levels) == 8
    assert [sum(name.startswith("s") for name in low) for low in lows] == [8, 8]  # the lower half is slides alone
    motion |= {row.clip_id: 0.5 for row in films[:6]} | {row.clip_id: 0.1 * place for place, row in enumerate(slides)}
    levels = rank_levels(slides + films, measured(motion), level="motion_level", share=0.25, spread=True)
    low = [row.subject_id for row in levels if row.value == "low"]
    assert len(low) == 8
    assert sum(name.startswith("s") for name in low) == 2  # 8 of four sources
    assert levels[5].reason == "not among the 8 lowest or 8 highest of 32 scored clips, spread over sources"


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=30), st.floats(0.01, 0.5), st.integers(1, 5))
def test_never_both_and_at_least_one_of_each(values: list[float | None], share: float, at_most: int) -> None:
    clips = [clip(f"c{place}", f"s{place % 3}") for place in range(len(values))]
    rows = measured({row.clip_id: value for row, value in zip(clips, values, strict=True)})
    levels = rank_levels(clips, rows, level="motion_level", share=share, at_most=at_most)
    low = {row.subject_id for row in levels if row.value == "low"}
    high = {row.subject_id for row in levels if row.value == "high"}
    scored = sum(value is not None for value in values)
    assert not low & high
    assert len(low) == len(high) == (min(at_most, max(1, int(share * scored))) if scored > 1 else 0)
    assert all((row.value is None) == (row.reason is not None) for row in levels)


def test_one_scored_clip_is_neither() -> None:
    (row,) = rank_levels([clip("a")], measured({"a": 0.5}), level="motion_level")
    assert (row.value, row.reason) == (None, "only 1 clip has a score; low and high need two")


@pytest.mark.parametrize(("labels", "expected"), [({"s": "low"}, "low"), ({"a": "high", "s": "low"}, "high"), ({}, None)])
def test_a_clip_takes_its_own_label_before_its_sources(labels: dict[str, str], expected: str | None) -> None:
    rows = [Attribute(name, "water_level", value, None, "labels", "1") for name, value in labels.items()]
    assert [row.value for row in inherited_levels([clip("a")], rows, level="water_level")] == ([expected] if expected else [])


@pytest.mark.parametrize(("share", "names"), [(0.5, "bc"), (0.51, "abc"), (1.0, "abcd"), (0.01, "b")])
def test_the_highest_share_is_kept_and_ties_go_by_name(share: float, names: str) -> None:
    judged = top_share({"a": 1.0, "b": 3.0, "c": 2.0, "d": 1.0}, attribute="letters", share=share)
    assert "".join(row.clip_id for row in judged if row.keep) == names
    assert all((row.reason is None) == row.keep for row in judged)
    assert judged[0].rule == f"letters among the highest {share:.0%}"


def test_a_camera_that_stands_still_is_high_at_no_rank() -> None:
    clips = [clip(f"c{place}", f"s{place}") for place in range(12)]
    values = {f"c{place}": 0.0001 * place for place in range(12)}
    levels = {
        row.subject_id: row for row in rank_levels(clips, measured(values), level="motion_level", share=0.5, least_high=0.001)
    }
    assert {name for name, row in levels.items() if row.value == "high"} == {"c10", "c11"}
    assert {name for name, row in levels.items() if row.value == "low"} == {f"c{place}" for place in range(6)}
    assert levels["c9"].reason == "below 0.001: not high at any rank"
    assert not any(row.value == "high" for row in rank_levels(clips, measured(values), level="motion_level", least_high=1.0))


@pytest.mark.parametrize("spread", [False, True])
def test_clips_that_show_the_same_take_one_place(spread: bool) -> None:
    clips = [clip(f"{film}{copy}", f"s{film}{copy}") for film in "abcdef" for copy in range(3)]
    values = {one.clip_id: None if one.clip_id == "f0" else float("abcdef".index(one.clip_id[0])) for one in clips}
    alike = {one.clip_id: f"{one.clip_id[0]}0" for one in clips if one.clip_id[1] != "0"}
    rows = rank_levels(clips, measured(values), level="motion_level", share=0.5, spread=spread, alike=alike)
    taken = {row.subject_id: row.value for row in rows if row.value is not None}
    assert taken == {"a0": "low", "b0": "low", "c0": "low", "d0": "high", "e0": "high", "f1": "high"}
    assert {row.reason for row in rows if row.subject_id == "a2"} == {"a near-duplicate of clip a0, which stands for it"}
    # The first of those that show the same has no value, so the next one stands for it.
    assert {row.reason for row in rows if row.subject_id == "f2"} == {"a near-duplicate of clip f1, which stands for it"}
