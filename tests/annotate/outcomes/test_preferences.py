"""Votes about predictions become scores, counted again here by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from voted_studies import OF_PREDICTIONS, Ballot, study_of

from inpaintbench.annotate.outcomes.preferences import preferences, write_preferences
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError
from inpaintbench.types import Prediction, Score
from inpaintbench.workspace import Workspace

METHODS = ("a", "b", "c")
ITEMS = ("i1", "i2")


def pairs(names: tuple[str, ...] = ("pairwise",), gold: dict[tuple[str, str], tuple[str, ...]] | None = None) -> Study:
    questions = [{"leaf": "pairwise", "name": name, "constants": {"both_bad": True}} for name in names]
    tasks = [(name, item, pair) for name in names for item in ITEMS for pair in combinations(METHODS, 2)]
    return study_of(questions, tasks, subjects=OF_PREDICTIONS, gold=gold)


def by_key(scores: list[Score]) -> dict[tuple[str, str, str], Score]:
    found = {(row.protocol.removeprefix("annotate/"), row.method, row.item_id): row for row in scores}
    assert len(found) == len(scores)
    return found


def test_pairs_are_wins_and_half_of_the_ties() -> None:
    rng = np.random.default_rng(0)
    ballot = Ballot(pairs())
    counts = {(method, item): [0, 0, 0] for method in METHODS for item in ITEMS}  # wins, ties, both bad
    asked = dict.fromkeys(counts, 0)
    met: Counter[tuple[str, str, str, str]] = Counter()  # item, method, other, outcome for the method
    for rater in range(20):
        for item in ITEMS:
            for pair in combinations(METHODS, 2):
                shown = pair if rng.random() < 0.5 else pair[::-1]
                better = str(rng.choice(["place-0", "place-1", "tie", "both_bad"]))
                ballot.cast(f"r{rater}", "pairwise", item, {"better": better}, shown=shown)
                for place, method in enumerate(shown):
                    asked[method, item] += 1
                    kind = {f"place-{place}": 0, "tie": 1, "both_bad": 2}.get(better)
                    if kind is not None:
                        counts[method, item][kind] += 1
                    outcome = {f"place-{place}": "wins", "tie": "ties", "both_bad": "both_bad"}.get(better, "losses")
                    met[item, method, shown[1 - place], outcome] += 1
    found = by_key(preferences(ballot.study, ballot.votes))
    assert set(found) == {("pairwise", method, item) for method, item in counts}
    for (method, item), (wins, ties, bad) in counts.items():
        row = found["pairwise", method, item]
        assert row.value == pytest.approx((wins + ties / 2) / (asked[method, item] - bad))
        assert row.details == {
            "votes": asked[method, item], "wins": wins, "ties": ties, "both_bad": bad,
            "losses": asked[method, item] - wins - ties - bad,
            "against": {
                other: {outcome: met[item, method, other, outcome] for outcome in ("wins", "losses", "ties", "both_bad")}
                for other in METHODS if other != method
            },
        }  # fmt: skip
        assert (row.metric, row.region, row.protocol) == ("human_preference", "frame", "annotate/pairwise")


def test_values_of_one_item_are_consistent() -> None:
    """Every comparison gives one point, so the points of all methods are the comparisons."""
    ballot = Ballot(pairs())
    for number, pair in enumerate(combinations(METHODS, 2)):
        ballot.cast("r0", "pairwise", "i1", {"better": ["place-0", "tie", "place-1"][number]}, shown=pair)
    found = by_key(preferences(ballot.study, ballot.votes))
    points = [float(found["pairwise", method, "i1"].value or 0) * 2 for method in METHODS]
    assert points == [1.5, 0.0, 1.5]  # a beats b, c beats b, a and c are even


def test_what_has_no_value_says_why() -> None:
    gold = {("pairwise", "i2"): ("a",)}
    ballot = Ballot(pairs(gold=gold))
    ballot.cast("r0", "pairwise", "i1", {"better": "both_bad"}, shown=("a", "b"))
    ballot.cast("r0", "pairwise", "i2", {"better": "place-0"}, shown=("a", "b"), purpose="gold")
    found = by_key(preferences(ballot.study, ballot.votes))
    assert {key[2] for key, row in found.items() if row.value is not None} == {"i2"}
    assert found["pairwise", "a", "i1"].reason == "both bad in all 1 votes"
    assert found["pairwise", "a", "i1"].details["both_bad"] == 1
    assert found["pairwise", "c", "i1"].reason == "no votes yet"


def test_gold_counts_where_an_item_has_nothing_else_of_a_method() -> None:
    ballot = Ballot(pairs(gold={("pairwise", "i2"): ("a", "tie")}))
    for rater, place in (("r0", "place-0"), ("r1", "tie")):
        ballot.cast(rater, "pairwise", "i2", {"better": place}, shown=("a", "b"), purpose="gold")
    found = by_key(preferences(ballot.study, ballot.votes))
    assert [found["pairwise", method, "i2"].value for method in "ab"] == [0.75, 0.25]
    study = study_of(
        [{"leaf": "pairwise"}], [("pairwise", "i1", pair) for pair in combinations(METHODS, 2)], subjects=OF_PREDICTIONS
    )
    tasks = tuple(replace(task, gold=("a",) if task.candidates == ("a", "b") else ()) for task in study.tasks)
    ballot = Ballot(replace(study, tasks=tasks))
    ballot.cast("r0", "pairwise", "i1", {"better": "place-0"}, shown=("a", "b"), purpose="gold")
    ballot.cast("r0", "pairwise", "i1", {"better": "place-1"}, shown=("a", "c"))
    found = by_key(preferences(ballot.study, ballot.votes))
    assert found["pairwise", "a", "i1"].value == 0.0
    assert list(found["pairwise", "a", "i1"].details["against"]) == ["c"]


def test_best_of_is_how_often_a_method_was_chosen() -> None:
    study = study_of([{"leaf": "best_of"}], [("best_of", item, METHODS) for item in ITEMS], subjects=OF_PREDICTIONS)
    ballot = Ballot(study)
    for rater, (shown, place) in enumerate([(("b", "a", "c"), 1), (("c", "b", "a"), 2), (("a", "b", "c"), 1)]):
        ballot.cast(f"r{rater}", "best_of", "i1", {"best": f"place-{place}"}, shown=shown)
    found = by_key(preferences(study, ballot.votes))
    assert [found["best_of", method, "i1"].value for method in METHODS] == [pytest.approx(2 / 3), pytest.approx(1 / 3), 0.0]
    assert found["best_of", "c", "i1"].details == {"chosen": 0, "of": 3}
    assert found["best_of", "a", "i1"].details == {"chosen": 2, "of": 3}
    assert found["best_of", "a", "i2"].details == {"chosen": 0, "of": 0}
    assert found["best_of", "a", "i2"].value is None


def test_mean_opinion_is_the_mean_grade_of_first_answers() -> None:
    tasks = [("mean_opinion", "i1", (method,)) for method in METHODS]
    ballot = Ballot(study_of([{"leaf": "mean_opinion"}], tasks, subjects=OF_PREDICTIONS))
    for rater, grade in (("r0", "5"), ("r1", "2"), ("r2", "2"), ("r0", "1")):
        ballot.cast(rater, "mean_opinion", "i1", {"grade": grade}, shown=("a",))
    found = by_key(preferences(ballot.study, ballot.votes))
    assert found["mean_opinion", "a", "i1"].value == 3.0
    assert found["mean_opinion", "a", "i1"].details == {"votes": 3, "grades": {"2": 2, "5": 1}}
    assert found["mean_opinion", "b", "i1"].reason == "no votes yet"


def test_dimensions_never_mix_and_clips_have_no_scores() -> None:
    study = pairs(("steady", "faithful"))
    ballot = Ballot(study)
    ballot.cast("r0", "steady", "i1", {"better": "place-0"}, shown=("a", "b"))
    ballot.cast("r0", "faithful", "i1", {"better": "place-1"}, shown=("a", "b"))
    found = by_key(preferences(study, ballot.votes))
    assert (found["steady", "a", "i1"].value, found["faithful", "a", "i1"].value) == (1.0, 0.0)
    assert len({row.fingerprint for row in found.values()}) == 1
    clips = study_of([{"leaf": "camera_motion"}], [("camera_motion", "c1", ())])
    assert preferences(clips, []) == []


def test_a_run_gets_the_scores_of_its_own_methods_and_keeps_the_others(workspace: Workspace) -> None:
    study = pairs(("Steady!", "steady?"))
    ballot = Ballot(study)
    ballot.cast("r0", "Steady!", "i1", {"better": "place-0"}, shown=("a", "b"))
    scores = preferences(study, ballot.votes)
    measured = Score("a", "i1", "psnr", "hole", "devil", "f", 30.0, None)
    workspace.write_table("scores", "score.devil.a", [measured], Score)
    predicted = [Prediction(method, "1", "i1", "blob", False, 0) for method in ("a", "b")]
    workspace.write_table("predictions", "predict.x", predicted, Prediction)
    for _ in range(2):
        write_preferences(workspace, scores, study)
        rows = workspace.table("scores", Score)
        assert measured in rows
        assert len(rows) == 1 + len([row for row in scores if row.method in ("a", "b")])
        assert {row.protocol for row in rows} == {"devil", "annotate/Steady!", "annotate/steady?"}
    write_preferences(workspace, scores, study, methods=METHODS)
    assert [row for row in workspace.table("scores", Score) if row != measured] == scores


def test_the_votes_of_a_pair_can_be_read_from_a_run_alone(workspace: Workspace) -> None:
    """How many said a, b, neither: what a rate of matches between people and a metric is counted from."""
    ballot = Ballot(pairs())
    said = ["place-0"] * 5 + ["place-1"] * 3 + ["tie"] * 2 + ["both_bad"]
    for rater, better in enumerate(said):
        ballot.cast(f"r{rater}", "pairwise", "i1", {"better": better}, shown=("b", "a"))
    write_preferences(workspace, preferences(ballot.study, ballot.votes), ballot.study, methods=METHODS)
    rows = {(row.method, row.item_id): row.details["against"] for row in workspace.table("scores", Score)}
    assert rows["a", "i1"] == {"b": {"wins": 3, "losses": 5, "ties": 2, "both_bad": 1}}
    assert rows["b", "i1"] == {"a": {"wins": 5, "losses": 3, "ties": 2, "both_bad": 1}}
    assert rows["c", "i1"] == rows["a", "i2"] == {}


def test_two_studies_of_one_item_need_a_decision(workspace: Workspace) -> None:
    """The same question about the same method and item; other items and other questions stand side by side."""
    first, second, third = pairs(), study_of(
        [{"leaf": "pairwise"}], [("pairwise", "i1", ("a", "b"))], subjects=OF_PREDICTIONS
    ), study_of([{"leaf": "pairwise", "name": "steady"}], [("steady", "i1", ("a", "b"))], subjects=OF_PREDICTIONS)  # fmt: skip
    measured = Score("a", "i1", "psnr", "hole", "devil", "f", 30.0, None)
    workspace.write_table("scores", "score.devil.a", [measured], Score)
    for study, label in ((first, "pairwise"), (third, "steady")):
        ballot = Ballot(study)
        ballot.cast("r0", label, "i1", {"better": "place-0"}, shown=("a", "b"))
        write_preferences(workspace, preferences(study, ballot.votes), study, methods=METHODS)
    before = workspace.table("scores", Score)
    ballot = Ballot(second)
    ballot.cast("r0", "pairwise", "i1", {"better": "place-1"}, shown=("a", "b"))
    scores = preferences(second, ballot.votes)
    with pytest.raises(
        InputError, match=r"another study has scored method 'a' on item 'i1' by the question 'pairwise'.*--override"
    ):
        write_preferences(workspace, scores, second, methods=METHODS)
    assert workspace.table("scores", Score) == before
    write_preferences(workspace, scores, second, methods=METHODS, override=True)
    after = workspace.table("scores", Score)
    assert len(after) == len(before)
    assert len({(row.metric, row.protocol, row.method, row.item_id) for row in after}) == len(after)
    assert by_key([row for row in after if row != measured])["pairwise", "a", "i1"].value == 0.0
    write_preferences(workspace, scores, second, methods=METHODS)  # its own rows are in nobody's way
    assert workspace.table("scores", Score) == after
