"""Columns of facts and what rules say of them, against a loop over records."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench.curation.facts import Facts
from inpaintbench.curation.funnel.stages import funnel_words
from inpaintbench.curation.judging import judge, select_clips, stored_selection, unasked
from inpaintbench.curation.rules import Rule
from inpaintbench.errors import InputError, WorkspaceError
from inpaintbench.types import Answer, Attribute, Clip, Download, Selection, Source
from inpaintbench.workspace import Workspace


def clip(name: str, source: str = "s") -> Clip:
    return Clip(name, source, 0, 90, 30.0, 832, 480, 90, "b", "y", "r", None, 46.0)


def fact(subject: str, name: str, value: float | str | None, reason: str | None = None) -> Attribute:
    return Attribute(subject, name, value, reason, "m", "1")


RULES = [
    Rule(attribute="a", at_most=0.5), Rule(attribute="a", above=-0.5, below=0.5), Rule(attribute="a", at_least=0, missing="keep"),
    Rule(attribute="a", equals=0.5), Rule(attribute="a", one_of=("x", 0.25)), Rule(attribute="a", none_of=("x", 0.25)),
    Rule(attribute="a", at_least="2018"),
]  # fmt: skip
VALUE = st.one_of(st.none(), st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0, "x", "y", "2017-05-01", "2018-01-01"]))


def expected(rule: Rule, value: float | str | None) -> bool:
    """The rule, spelled out for one value."""
    if value is None:
        return rule.missing == "keep"
    if rule.equals is not None:
        return value == rule.equals
    if rule.one_of is not None:
        return value in rule.one_of
    if rule.none_of is not None:
        return value not in rule.none_of
    if rule.at_least == "2018":
        return value in ("2018-01-01",)
    if isinstance(value, str):
        return False
    low = rule.at_least if rule.at_least is not None else -math.inf
    high = rule.at_most if rule.at_most is not None else math.inf
    inside = low <= value <= high
    return inside and (rule.above is None or value > rule.above) and (rule.below is None or value < rule.below)


def test_rules_that_mark_keep_every_clip(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.write_table("clips", "cut", [clip("c1"), clip("c2"), clip("c3")], Clip)
    rows = [fact("c1", "letterbox", 0.2), fact("c2", "letterbox", 0.0), fact("c3", "letterbox", None, "no picture")]
    workspace.write_table("attributes", "measure.letterbox", rows, Attribute)
    rule = Rule(attribute="letterbox", at_most=0.02, flag=True, name="bars")
    select_clips(workspace, [rule])
    judged = stored_selection(workspace, Facts.of_workspace(workspace, ()))
    assert judged.kept.all()
    assert judged.verdicts[0].rule == rule
    assert judged.verdicts[0].flagged.tolist() == [True, False, False]
    (counted,) = judged.counts()
    assert (counted.kept, counted.dropped, counted.missing, counted.flagged) == (3, 0, 1, 1)
    assert [row.reason for row in workspace.table("selection", Selection)] == ["letterbox 0.2 is above 0.02", None, None]


@settings(max_examples=60)
@given(st.lists(st.tuples(VALUE, VALUE, st.booleans()), max_size=12))
def test_every_rule_says_what_a_loop_says(values: list[tuple[float | str | None, float | str | None, bool]]) -> None:
    """A clip's own row goes before its source's, and the last of several rows counts."""
    clips = [clip(f"c{place}", f"s{place}") for place in range(len(values))]
    rows, known = [], []
    for one, (own, of_source, has_own) in zip(clips, values, strict=True):
        rows.append(fact(one.source_id, "a", of_source))
        if has_own:
            rows += [fact(one.clip_id, "a", 77.0), fact(one.clip_id, "a", own)]
        known.append(own if has_own else of_source)
    judged = judge(Facts.of_records(clips, rows), RULES)
    for rule, verdict in zip(RULES, judged.verdicts, strict=True):
        wanted = [expected(rule, value) for value in known]
        assert verdict.keep.tolist() == wanted
        outside = np.flatnonzero(~verdict.keep)
        assert len(verdict.reasons(outside)) == len(outside)
        assert all(reason.startswith("a ") for reason in verdict.reasons(outside))
    drops = np.array([~one.keep for one in judged.verdicts]).reshape(len(RULES), len(clips))
    for counted, row in zip(judged.counts(), drops, strict=True):
        alone = [bool(drop) and drops[:, at].sum() == 1 for at, drop in enumerate(row)]
        assert (counted.dropped, counted.dropped_alone) == (int(row.sum()), sum(alone))
        assert counted.judged == sum(value is not None for value in known) == len(clips) - counted.missing
    assert judged.kept.tolist() == [not drops[:, at].any() for at in range(len(clips))]


@pytest.mark.parametrize(
    ("rule", "value", "reason"),
    [
        (Rule(attribute="a", at_most=0.3), 0.41, "a 0.41 is above 0.3"),
        (Rule(attribute="a", at_most=0.3), 0.300001, "a 0.300001 is above 0.3"),
        (Rule(attribute="a", below=0.3), 0.3, "a 0.3 is not below 0.3"),
        (Rule(attribute="a", at_least=2), 1.5, "a 1.5 is below 2"),
        (Rule(attribute="a", above=2), 1.5, "a 1.5 is not above 2"),
        (Rule(attribute="a", at_least="2018"), "2017-12-31 10:00", "a 2017-12-31 10:00 is below 2018"),
        (Rule(attribute="a", at_least="2018"), 5.0, "a is 5, which is no date"),
        (Rule(attribute="a", at_most=1), "tall", 'a is "tall", which is no number'),
        (Rule(attribute="a", equals="x"), "y", 'a "y" is not "x"'),
        (Rule(attribute="a", one_of=("x", 2)), 3.0, 'a 3 is not "x" or 2'),
        (Rule(attribute="a", none_of=("x",)), "x", 'a "x" is refused'),
        (Rule(attribute="a", at_most=1), None, "a has no value: too dark"),
    ],
)
def test_reasons_in_words(rule: Rule, value: float | str | None, reason: str) -> None:
    judged = judge(Facts.of_records([clip("c")], [fact("c", "a", value, "too dark" if value is None else None)]), [rule])
    assert judged.verdicts[0].reasons(np.array([0])) == [reason]


def filled(workspace: Workspace) -> Workspace:
    sources = [Source(f"s{n}", f"f/{n}.mp4", f"{n}" * 64, 10 * n, "folder", licence=["CC0", None][n % 2]) for n in range(4)]
    downloads = [
        Download(f"{n}.mp4", "f", "u", None, "obtained", None, 200, 1, 1, f"{n}" * 64, None, None, None, None, title=f"T{n}",
                 licence=["CC0", None][n % 2], details={"uploaded": f"201{n}-05-01", "views": n})
        for n in range(3)
    ]  # fmt: skip
    clips = [clip(f"c{n}", f"s{n}") for n in range(4)]
    workspace.write_table("sources", "find", sources, Source)
    workspace.write_table("downloads", "fetch", downloads, Download)
    workspace.write_table("clips", "cut", clips, Clip)
    workspace.write_table("attributes", "measure", [fact(f"c{n}", "cut_score", n / 4) for n in range(4)], Attribute)
    workspace.write_table("attributes", "probe", [fact(f"s{n}", "probe.width", 640.0 * n) for n in range(4)], Attribute)
    return workspace


@pytest.mark.parametrize(
    ("rule", "keeps"),
    [
        (Rule(attribute="cut_score", at_most=0.3), "01"),
        (Rule(attribute="probe.width", at_least=1280), "23"),
        (Rule(attribute="source.uploaded", at_most="2011"), "01"),
        (Rule(attribute="source.views", above=0), "12"),
        (Rule(attribute="source.title", equals="T1"), "1"),
        (Rule(attribute="source.licence", one_of=("CC0",)), "02"),
        (Rule(attribute="source.bytes", at_least=20), "23"),
        (Rule(attribute="clip.frames", at_least=91, missing="keep"), ""),
        (Rule(attribute="clip.encode_crf", at_most=20, missing="keep"), "0123"),
    ],
)
def test_clips_sources_listings_and_columns_can_be_asked(workspace: Workspace, rule: Rule, keeps: str) -> None:
    judged = select_clips(filled(workspace), [rule])
    assert [f"c{n}" for n in keeps] == [row.clip_id for row in workspace.table("selection", Selection) if row.keep]
    assert judged.kept.sum() == len(keeps)


def test_a_rule_on_what_is_not_measured_says_how(workspace: Workspace) -> None:
    filled(workspace)
    words = r"no clip has the attribute 'camera_motion' yet; `inpaintbench curation measure .* measures"
    with pytest.raises(InputError, match=words):
        select_clips(workspace, [Rule(attribute="camera_motion", at_most=1)])
    with pytest.raises(InputError, match=r"unknown attribute 'probe.widht', did you mean 'probe.width'"):
        select_clips(workspace, [Rule(attribute="probe.widht", at_most=1)])
    assert not workspace.table("selection", Selection)


def test_the_table_has_the_bytes_of_its_records(workspace: Workspace) -> None:
    """Written as columns, as records it would be no other file."""
    filled(workspace)
    workspace.write_table("answers", "x", [Answer("c1", "q", "yes", None, 1, 1.0)], Answer)
    rules = [Rule(attribute="cut_score", at_most=0.3, name="calm"), Rule(attribute="source.licence", equals="CC0"),
             Rule(answer="q", equals="yes")]  # fmt: skip
    select_clips(workspace, rules)
    path = workspace.path / "tables" / "selection" / "select.parquet"
    rows, written = workspace.table("selection", Selection), path.read_bytes()
    assert [(row.clip_id, row.rule) for row in rows[:4]] == [
        ("c0", "calm (cut_score <= 0.3)"), ("c0", 'source.licence = "CC0"'), ("c0", 'answer:q = "yes"'),
        ("c1", "calm (cut_score <= 0.3)"),
    ]  # fmt: skip
    assert (rows[1].value, rows[0].value) == ("CC0", 0.0)
    workspace.write_table("selection", "select", rows, Selection)
    assert path.read_bytes() == written
    select_clips(workspace, [])
    assert not path.exists()


def test_no_clips_and_damaged_tables(workspace: Workspace, tmp_path: Path) -> None:
    judged = select_clips(workspace, [Rule(attribute="cut_score", at_most=0.3)])
    assert (len(judged.kept), judged.counts()[0].judged) == (0, 0)
    filled(workspace)
    (workspace.path / "tables" / "attributes" / "probe.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(WorkspaceError, match=r"probe\.parquet', then `inpaintbench curation clips` makes it anew"):
        select_clips(workspace, [Rule(attribute="cut_score", at_most=0.3)])


def test_rules_without_a_value_are_named_with_count_and_reason(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    workspace.write_table("clips", "cut", [clip("a"), clip("b"), clip("c")], Clip)
    lacking = [fact(name, "text", None, "its weights are not here") for name in "ab"] + [fact("c", "text", 0.5)]
    workspace.write_table("attributes", "measure.text", lacking, Attribute)
    workspace.write_table("attributes", "measure.cut", [fact(name, "cut", 0.1) for name in "abc"], Attribute)
    rules = [Rule(attribute="text", at_most=0.01, flag=True, name="no text"), Rule(attribute="cut", at_most=0.3)]
    select_clips(workspace, rules)
    (found,) = unasked(workspace)
    assert (found.rule, found.missing, found.clips, found.reason) == ("no text", 2, 3, "its weights are not here")
    assert found.words == "the rule 'no text' had no value on 2 of 3 clips: its weights are not here"
    judged = stored_selection(workspace, Facts.of_workspace(workspace, ()))
    assert funnel_words(workspace, judged).endswith("flagged: 1 by no text, without a value: 2 of 3 by no text")
