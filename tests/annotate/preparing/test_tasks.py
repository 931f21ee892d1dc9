"""Which tasks a study has, from tables alone."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from study_world import study_file

from inpaintbench.annotate.preparing.proxies import Candidate, Candidates, StudySubject, clip_subjects, drawn
from inpaintbench.annotate.preparing.tasks import (
    LeftOut,
    check_questions,
    draft,
    finished,
    left_out_table,
    read_gold,
    suggestions,
    with_gold,
)
from inpaintbench.annotate.questions.base import Option
from inpaintbench.errors import InputError
from inpaintbench.types import Attribute, Clip, Prediction, Selection, Source
from inpaintbench.workspace import Workspace

METHODS = ("blank", "median", "telea")


def subjects(count: int) -> list[StudySubject]:
    return [StudySubject(f"s{n}", f"source {n // 2}", f"{n}.mp4", f"clip {n}", (5, 8, 8), 25.0, "", {}) for n in range(count)]


def candidates(*lacking: tuple[str, str]) -> Candidates:
    pairs = {(f"s{n}", method) for n in range(4) for method in METHODS} - set(lacking)
    return Candidates(METHODS, {key: Candidate(Prediction(key[1], "1", key[0], "blob", False, 0), "path") for key in pairs})


def of_dataset(*questions: dict[str, Any], **fields: Any) -> Any:
    more = fields.pop("subjects_more", {})
    return study_file(Path("/here"), questions, subjects={"dataset": "d", "runs": ["r"], **more}, **fields)


def of_workspace(*questions: dict[str, Any]) -> Any:
    return study_file(Path("/here"), questions, subjects={"workspace": "w"})


@pytest.mark.parametrize(
    ("leaf", "sets"),
    [("mean_opinion", [(one,) for one in METHODS]), ("pairwise", list(combinations(METHODS, 2))), ("best_of", [METHODS])],
)
def test_every_subject_is_asked_about_with_one_two_or_all_methods(leaf: str, sets: list[tuple[str, ...]]) -> None:
    tasks, lacking = draft(of_dataset({"leaf": leaf}), subjects(3), candidates())
    assert [(task.subject.subject_id, task.candidates) for task in tasks] == [(f"s{n}", one) for n in range(3) for one in sets]
    assert lacking == []


def test_clips_are_asked_about_once_a_question() -> None:
    questions = ({"leaf": "scene_motion"}, {"leaf": "keep_reject"})
    tasks, _ = draft(of_workspace(*questions), subjects(3), Candidates())
    found = [(task.question, task.subject.subject_id, task.candidates) for task in tasks]
    assert found == [(label["leaf"], f"s{n}", ()) for label in questions for n in range(3)]


def test_an_item_without_a_prediction_lacks_that_methods_tasks_alone() -> None:
    questions = ({"leaf": "pairwise"}, {"leaf": "best_of"}, {"leaf": "mean_opinion"})
    tasks, lacking = draft(of_dataset(*questions), subjects(2), candidates(("s1", "telea")))
    assert sum(task.subject.subject_id == "s0" for task in tasks) == 3 + 1 + 3
    assert [task.candidates for task in tasks if task.subject.subject_id == "s1"] == [
        ("blank", "median"),
        ("blank",),
        ("median",),
    ]
    reason = "telea has no prediction of it"
    assert lacking == [
        LeftOut("pairwise", "s1", ("blank", "telea"), reason), LeftOut("pairwise", "s1", ("median", "telea"), reason),
        LeftOut("best_of", "s1", METHODS, reason), LeftOut("mean_opinion", "s1", ("telea",), reason),
    ]  # fmt: skip
    assert left_out_table(lacking).splitlines()[:2] == [
        "question,subject,candidates,reason", "pairwise,s1,blank|telea,telea has no prediction of it",
    ]  # fmt: skip


def test_tasks_know_their_source_proxy_suggestion_and_gold(tmp_path: Path) -> None:
    file = of_workspace({"leaf": "scene_motion", "name": "water"})
    asked = check_questions(file, ())
    tasks, _ = draft(file, subjects(3), Candidates())
    made = finished(tasks, proxy_of={("s0", ()): "0.mp4", ("s2", ()): "2.mp4"}, suggested={"water": {"s2": "25"}})
    (tmp_path / "gold.csv").write_text("subject,question,answers\n0.mp4,water,50|75\ns1,water,0\n")
    made = with_gold(made, read_gold(tmp_path / "gold.csv", subjects=subjects(3), asked=asked), asked=asked)
    told = [(task.subject_id, task.cluster, task.proxy, task.suggestion, task.gold, task.caption) for task in made]
    assert told == [("s0", "source 0", "0.mp4", None, ("50", "75"), "clip 0"), ("s2", "source 1", "2.mp4", "25", (), "clip 2")]


def test_gold_that_names_its_candidates_goes_before_gold_that_does_not(tmp_path: Path) -> None:
    file = of_dataset({"leaf": "pairwise"})
    asked = check_questions(file, METHODS)
    tasks, _ = draft(file, subjects(1), candidates())
    made = finished(tasks, proxy_of={("s0", task.candidates): "x" for task in tasks}, suggested={})
    rows = "s0,pairwise,median|telea,\ns0,pairwise,tie,blank|telea\n"
    (tmp_path / "gold.csv").write_text("subject,question,answers,candidates\n" + rows)
    made = with_gold(made, read_gold(tmp_path / "gold.csv", subjects=subjects(1), asked=asked), asked=asked)
    assert [task.gold for task in made] == [("median",), ("tie",), ()]


def test_decoys_are_shown_where_the_answer_is_known_alone(tmp_path: Path) -> None:
    questions = ({"leaf": "pairwise"}, {"leaf": "best_of"}, {"leaf": "mean_opinion"})
    file = of_dataset(*questions, subjects_more={"decoys": ["blank"]})
    asked = check_questions(file, METHODS)
    rows = "s0,pairwise,median|telea,\ns1,pairwise,telea,blank|telea\ns1,mean_opinion,1,blank\n"
    (tmp_path / "gold.csv").write_text("subject,question,answers,candidates\n" + rows)
    lines = read_gold(tmp_path / "gold.csv", subjects=subjects(3), asked=asked)
    tasks, lacking = draft(file, subjects(3), candidates(("s2", "blank")), gold=lines, asked=asked)
    assert lacking == []  # nobody misses a decoy
    told = [(task.question, task.subject.subject_id, task.candidates) for task in tasks if "blank" in task.candidates]
    assert told == [
        ("pairwise", "s0", ("blank", "median")), ("pairwise", "s0", ("blank", "telea")), ("pairwise", "s1", ("blank", "telea")),
        ("mean_opinion", "s1", ("blank",)),
    ]  # fmt: skip
    plain = [(task.question, task.candidates) for task in tasks if task.subject.subject_id == "s2"]
    assert plain == [
        ("pairwise", ("median", "telea")), ("best_of", ("median", "telea")), ("mean_opinion", ("median",)),
        ("mean_opinion", ("telea",)),
    ]  # fmt: skip


def test_gold_brings_its_tolerance_to_the_task(tmp_path: Path) -> None:
    file = of_dataset({"leaf": "mean_opinion"})
    asked = check_questions(file, METHODS)
    tasks, _ = draft(file, subjects(1), candidates())
    made = finished(tasks, proxy_of={("s0", task.candidates): "x" for task in tasks}, suggested={})
    (tmp_path / "gold.csv").write_text("subject,question,answers,candidates,tolerance\ns0,mean_opinion,2,telea,1\n")
    made = with_gold(made, read_gold(tmp_path / "gold.csv", subjects=subjects(1), asked=asked), asked=asked)
    assert [(task.gold, task.tolerance) for task in made] == [((), 0), ((), 0), (("2",), 1)]


@pytest.mark.parametrize(
    ("file", "methods", "told"),
    [
        (of_dataset({"leaf": "scene_motion"}), METHODS, "question 'scene_motion' is about clips, but the subjects are items"),
        (of_workspace({"leaf": "pairwise", "name": "q"}), (), "question 'q' is about predictions, but the subjects are clips"),
        (of_dataset({"leaf": "pairwise"}), ("telea",), "question 'pairwise' compares methods, but the runs have only telea; add"),
        (of_dataset({"leaf": "best_of"}), ("telea",), "question 'best_of' compares methods, but the runs have only telea"),
        (of_dataset({"leaf": "pairwise"}), ("telea", "tie"), "a method is called 'tie', which is an answer to 'pairwise'"),
        (
            of_workspace({"leaf": "scene_motion", "suggestion": "after"}), (),
            "question 'scene_motion' shows suggestions, but no attribute gives them",
        ),
        (
            of_workspace({"leaf": "scene_motion", "suggestion": "after", "suggested_by": "water_suggestion"}), (),
            "question 'scene_motion' shows water_suggestion to raters, but it finds too little of real water",
        ),
        (
            of_dataset({"leaf": "mean_opinion", "suggested_by": "sharpness"}), METHODS,
            "question 'mean_opinion' names suggested_by, but only labels of clips have suggestions",
        ),
    ],
)  # fmt: skip
def test_a_question_that_needs_what_is_not_there_is_an_error(file: Any, methods: tuple[str, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        check_questions(file, methods)


def test_draws_are_fair_keep_their_order_and_do_not_depend_on_others() -> None:
    everybody = subjects(30)
    for seed in range(5):
        some = drawn(everybody, most=10, seed=seed)
        assert len(some) == 10
        assert [one for one in everybody if one in some] == some
        fewer = drawn(everybody[:20], most=10, seed=seed)
        assert {one.subject_id for one in some if one in everybody[:20]} <= {one.subject_id for one in fewer}
    times = Counter(one.subject_id for seed in range(300) for one in drawn(everybody, most=10, seed=seed))
    assert times.total() == 3000
    # Binomial with 300 draws of 1/3: 8.2 is the standard deviation; four of them are exceeded once in 500 such tests.
    assert max(abs(count - 100) for count in times.values()) < 33
    assert drawn(everybody, most=99, seed=0) == drawn(everybody, most=None, seed=0) == everybody


def clip(clip_id: str, source_id: str, start: int) -> Clip:
    return Clip(clip_id, source_id, start, start + 50, 25.0, 64, 48, 50, f"{clip_id}.mp4", "y", f"rgb {clip_id}", 14, 50.0)


def a_workspace(path: Path) -> Workspace:
    workspace = Workspace(path)
    workspace.write_table(
        "sources", "find", [Source("src1", "z%20last.mp4", "h", 1, "folder"), Source("src2", "a.mp4", "h", 1, "folder")], Source
    )
    workspace.write_table("clips", "cut", [clip("c1", "src1", 0), clip("c2", "src2", 50), clip("c3", "src2", 0)], Clip)
    rows = [
        Selection("c1", "rule", 1.0, True, None),
        Selection("c2", "rule", 2.0, False, "too fast"),
        Selection("c2", "more", 1.0, True, None),
    ]
    workspace.write_table("selection", "select", rows, Selection)
    return workspace


def test_clips_come_by_name_and_time_and_rules_drop_some(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "workspace")
    found = clip_subjects(workspace, kept=False)
    assert [one.subject_id for one in found] == ["c3", "c2", "c1"]
    assert [one.cluster for one in found] == ["src2", "src2", "src1"]
    assert [one.caption for one in found] == ["a.mp4, 0.0-2.0 s", "a.mp4, 2.0-4.0 s", "z last.mp4, 0.0-2.0 s"]
    assert [one.subject_id for one in clip_subjects(workspace, kept=True)] == ["c3", "c1"]
    with pytest.raises(InputError, match=r"holds no clips; make them with `inpaintbench curation clips`"):
        clip_subjects(Workspace(tmp_path / "empty"), kept=False)
    everything = [Selection(f"c{n}", "rule", None, False, "no") for n in (1, 2, 3)]
    workspace.write_table("selection", "select", everything, Selection)
    with pytest.raises(InputError, match=r"no clip of '.*' is kept by its rules"):
        clip_subjects(workspace, kept=True)


def test_raters_read_an_attribute_of_the_clip_or_else_of_its_source(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "workspace")
    rows = [
        Attribute(subject, "caption", text, None, "labels", "1") for subject, text in (("src2", "a river"), ("c2", "its mouth"))
    ]
    workspace.write_table("attributes", "labels", rows, Attribute)
    found = {one.subject_id: one.prompt for one in clip_subjects(workspace, kept=False, prompt="caption")}
    assert found == {"c3": "a river", "c2": "its mouth", "c1": ""}
    with pytest.raises(InputError, match="none of the 3 subjects has an attribute 'title' for raters to read"):
        clip_subjects(workspace, kept=False, prompt="title")


def options(*values: str) -> list[Option]:
    return [Option(value, value, value) for value in values]


SHARES = options("0", "5", "10", "25", "50", "75", "100", "unclear")


@pytest.mark.parametrize(
    ("values", "offered", "found"),
    [
        ({"c1": 0.2, "c2": 0.0, "c3": 1.0}, SHARES, {"c1": "25", "c2": "0", "c3": "100"}),
        ({"c1": 0.075, "c2": None, "c3": 0.624}, SHARES, {"c1": "5", "c3": "50"}),
        ({"c1": 20.0, "c2": 0.4, "c3": 93.0}, SHARES, {"c1": "25", "c2": "0", "c3": "100"}),
        ({"c1": 3.6, "c2": 0.0}, options("1", "2", "3", "4", "5"), {"c1": "4", "c2": "1"}),
        ({"c1": "low", "c2": "medium", "c3": 0.3}, options("low", "high", "unclear"), {"c1": "low"}),
        ({"src2": "high", "c3": "low"}, options("low", "high"), {"c2": "high", "c3": "low"}),
    ],
)
def test_suggestions_are_the_nearest_options(
    tmp_path: Path, values: dict[str, float | str | None], offered: list[Option], found: dict[str, str]
) -> None:
    workspace = a_workspace(tmp_path / "workspace")
    rows = [Attribute(name, "fact", value, None if value is not None else "why", "p", "1") for name, value in values.items()]
    workspace.write_table("attributes", "measure", rows, Attribute)
    everybody = clip_subjects(workspace, kept=False)
    assert suggestions(workspace, everybody, attribute="fact", options=offered) == found
    with pytest.raises(InputError, match="has no attribute 'other' to suggest answers with"):
        suggestions(workspace, everybody, attribute="other", options=offered)
