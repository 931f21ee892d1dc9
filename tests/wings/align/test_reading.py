"""Tables of answers and scores: which columns are taken, what is left out, what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from inpaintbench.annotate.outcomes.judgement_files import write_rows
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Score
from inpaintbench.wings.align.reading import (
    TIE,
    Ballot,
    answers_of_scores,
    full_name,
    in_regions,
    measured_of,
    read_answers,
    read_scores,
)

HEAD = "annotator,group,dimension,left,right,choice\n"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_every_spelling_of_a_choice(tmp_path: Path) -> None:
    spelt = ("one", "LEFT", "a", "two", "Right", "B", "tie", "Hard to distinguish", "both_bad")
    lines = "".join(f"r{n},film,motion,one,two,{choice}\n" for n, choice in enumerate(spelt))
    found = read_answers(written(tmp_path / "answers.csv", HEAD + lines))
    assert [one.choice for one in found.ballots] == ["one"] * 3 + ["two"] * 3 + [TIE] * 2
    assert found.left_out == {"answers that both are bad": 1}


def test_a_method_that_is_called_like_a_side_keeps_its_name(tmp_path: Path) -> None:
    found = read_answers(written(tmp_path / "answers.csv", f"{HEAD}r1,film,motion,B,A,A\n"))
    assert found.ballots[0].choice == "A"


def test_an_export_of_judgements(tmp_path: Path) -> None:
    row = {
        "study_id": "s", "rater": "rater-001", "rater_id": "7", "question": "ff_alpha", "subject_id": "item", "cluster": "film",
        "candidates": ["a", "b"], "shown": ["b", "a"], "purpose": "vote", "choice": "a", "seconds": 2.5, "suggestion_shown": None,
    }  # fmt: skip
    others = ({"purpose": "gold"}, {"purpose": "repeat"}, {"choice": "b"}, {"candidates": [], "shown": []})
    rows = [row, *({**row, **other} for other in others), {**row, "rater_id": "8", "shown": ["a", "c", "b"]}]
    path = written(tmp_path / "votes.jsonl", "".join(f"{json.dumps(one)}\n" for one in rows))
    found = read_answers(path)
    pair, line = found.ballots
    assert (pair.rater, pair.dimension, pair.item, pair.source, pair.candidates) == ("7", "ff_alpha", "item", "film", ("b", "a"))
    assert line.candidates == ("a", "c", "b")
    assert sorted(found.left_out.values()) == [1, 1, 1, 1]
    assert read_answers(path, sources={"item": "known"}).ballots[0].source == "known"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_what_annotate_writes_is_read(tmp_path: Path, suffix: str) -> None:
    row = {
        "study_id": "s", "submission_id": "1", "rater": "=rater", "rater_id": "-7", "task_id": "t", "question": "motion",
        "subject_id": "item", "cluster": "film", "candidates": ["a", "b"], "shown": ["b", "a"], "purpose": "vote",
        "given": '{"better":"place-0"}', "choice": "b", "seconds": 2.5, "at": 0.0, "stuttered": False, "suggestion_shown": "",
        "revision": 0,
    }  # fmt: skip
    alone = {**row, "question": "grade", "candidates": ["a"], "shown": ["a"], "choice": "4"}
    path = tmp_path / f"votes{suffix}"
    write_rows(path, [row, alone])
    found = read_answers(path)
    assert found.ballots == (Ballot("motion", "item", "film", ("b", "a"), "b", "-7"),)
    assert found.left_out == {"answers about one result alone": 1}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("r1,film,motion,a,b,c", r"line 2: choice is 'c', choose from a, b, left, right, tie, both_bad"),
        ("r1,film,motion,a,a,a", r"shows the methods a, a; it takes two different ones"),
        (",film,motion,a,b,a", r"line 2: no rater_id or annotator or rater"),
        ("r1,film,motion,a,b,a,more", r"line 2 has 7 fields"),
        ("r1,film,motion,a,b,both_bad", r"holds no answers"),
    ],
)
def test_answers_that_are_refused(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_answers(written(tmp_path / "answers.csv", f"{HEAD}{line}\n"))
    with pytest.raises(InputError, match="has two columns 'left'; keep one"):
        read_answers(written(tmp_path / "twice.csv", "annotator,group,dimension,left,left,choice\nr1,film,motion,a,b,a\n"))
    with pytest.raises(InputError, match="is a folder; give the table itself"):
        read_answers(tmp_path)
    with pytest.raises(InputError, match=r"has the suffix '\.xlsx'"):
        read_answers(tmp_path / "answers.xlsx")
    with pytest.raises(InputError, match="cannot be read"):
        read_answers(tmp_path / "missing.csv")


def test_scores(tmp_path: Path) -> None:
    head = "item;method;metric;value;region;higher_is_better\n"
    text = "x;a;psnr;inf;hole;\nx;b;psnr;30;hole;\nx;a;mine;1;;false\nx;a;lpips;;;\nx;b;mse;2;;\n"
    found = read_scores(written(tmp_path / "scores.csv", head + text))
    assert found.values["psnr/hole"] == {("x", "a"): math.inf, ("x", "b"): 30.0}
    assert found.higher_is_better == {"psnr/hole": True, "mine": False, "mse": False}
    assert found.unmeasured == {"lpips": "no item has a value"}
    assert read_scores(tmp_path / "scores.csv", better={"mine": True, "psnr": False}).higher_is_better["psnr/hole"] is False
    for line, told in (
        ("x;a;other;1;;", "nobody says whether more of 'other' is better; add --better other=higher"),
        ("x;a;psnr;nan;;", "value is NaN"),
        ("x;a;psnr;high;;", "value is 'high', not a number"),
        ("x;a;psnr;1;;\nx;a;psnr;1;;", "a second value of psnr"),
        ("x;a;psnr;1;;maybe", "choose true or false"),
        ("x;a;psnr;;;", "holds no scores"),
    ):
        with pytest.raises(InputError, match=told):
            read_scores(written(tmp_path / "bad.csv", f"{head}{line}\n"))


def score(method: str, metric: str, value: float | None, *, protocol: str = "p", **details: object) -> Score:
    return Score(method, "x", metric, "frame", protocol, "f", value, None if value is not None else "no weights", details)


def test_scores_of_a_run() -> None:
    rows = [score("a", "psnr", 1.0), score("a", "lpips", None), score("a", "human_preference", 0.5)]
    found = measured_of(rows)
    assert (list(found.values), found.unmeasured) == (["psnr/frame"], {"lpips/frame": "no weights"})


def test_each_metric_is_taken_once_in_its_usual_region() -> None:
    regions = {"psnr": ("frame", "hole", "band"), "mse": ("frame",), "pcons": ("frame", "hole")}
    rows = [Score("a", "x", metric, region, "p", "f", 1.0, None, {}) for metric, of in regions.items() for region in of]
    rows.append(Score("a", "x", "lpips", "hole", "p", "f", None, "no weights", {}))
    rows.append(Score("a", "x", "lpips", "frame", "p", "f", None, "no weights", {}))
    every = measured_of(rows)
    assert set(every.values) == {f"{metric}/{region}" for metric, of in regions.items() for region in of}
    usual = in_regions(every, PROTOCOLS.get("devil/corrected"))
    assert set(usual.values) == set(usual.higher_is_better) == {"psnr/hole", "mse/frame", "pcons/hole"}
    assert set(usual.unmeasured) == {"lpips/hole"}
    published = in_regions(every, PROTOCOLS.get("devil/as-published"))
    assert set(published.values) == {"psnr/frame", "mse/frame", "pcons/hole"}
    assert set(in_regions(every, None, regions=["band", "frame"]).values) == {
        "psnr/frame", "psnr/band", "mse/frame", "pcons/frame"
    }  # fmt: skip
    assert set(in_regions(every, None, asked=["psnr/frame"]).values) == {*usual.values, "psnr/frame"}
    with pytest.raises(UnknownNameError, match="unknown region 'all'"):
        in_regions(every, None, regions=["all"])
    assert full_name("psnr", list(usual.values)) == "psnr/hole"
    assert full_name("psnr", list(every.values)) == full_name("psnr", ["psnr", "psnr/hole"]) == "psnr"


def test_resolved_votes_of_a_run() -> None:
    of_a = {"wins": 3, "losses": 1, "ties": 2, "both_bad": 4}
    of_b = {"wins": 1, "losses": 3, "ties": 2, "both_bad": 4}
    rows = [
        score("a", "human_preference", 0.6, protocol="annotate/motion", against={"b": of_a}),
        score("b", "human_preference", 0.4, protocol="annotate/motion", against={"a": of_b}),
        score("a", "human_preference", 0.75, protocol="annotate/best", chosen=3, of=4),
        score("b", "human_preference", 0.25, protocol="annotate/best", chosen=1, of=4),
        score("c", "human_preference", 0.0, protocol="annotate/best", chosen=0, of=4),
    ]
    found = answers_of_scores(rows, sources={"x": "film"})
    assert [(one.choice, one.count, one.source, one.rater) for one in found.ballots if len(one.candidates) == 2] == [
        ("a", 3, "film", None), ("b", 1, "film", None), (TIE, 2, "film", None),
    ]  # fmt: skip
    assert [(one.candidates, one.choice, one.count) for one in found.ballots if len(one.candidates) > 2] == [
        (("a", "b", "c"), "a", 3),
        (("a", "b", "c"), "b", 1),
    ]
    assert found.left_out == {"answers that both are bad": 4}
    with pytest.raises(InputError, match="run `inpaintbench annotate resolve`"):
        answers_of_scores([score("a", "psnr", 1.0)], sources={})
