"""One contract for every question, and what each leaf means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from inpaintbench.annotate.outcomes.preferences import preferences
from inpaintbench.annotate.outcomes.resolve import labels
from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.questions.base import SHOWN, Form, Option, Part, Question, checked
from inpaintbench.annotate.questions.leaves import BestOf, KeepReject, MeanOpinion, Pairwise, SceneMotion
from inpaintbench.annotate.statistics.standings import shares_of
from inpaintbench.annotate.study import QuestionSpec, build_question
from inpaintbench.contracts import Check, ContractError
from inpaintbench.contracts import question as contract
from inpaintbench.errors import InputError


class YesNo(Question):
    """Whether an object is there."""

    name, version, subject, kind = "yes_no", "1", "one", "label"
    unsure, good = ("unclear",), ("yes",)

    def form(self, *, candidates: int) -> Form:
        if candidates != SHOWN[self.subject]:
            raise InputError(f"{self.name} is not asked about {candidates} predictions")
        options = (Option("yes", "Yes", "1"), Option("no", "No", "2"), Option("unclear", "Unclear", "x"))
        return Form("Is it there?", "Look for the object.", (Part("there", "Is it there?", options),))

    def choice(self, given: Mapping[str, str], *, shown: Sequence[str]) -> str:
        return given["there"]


class YesNoOfClips(YesNo):
    """The same of clips."""

    subject = "clip"
    attributes: Mapping[str, str] = {"there": "object_is_there"}


class Words(YesNo):
    """Answers of which none is good."""

    good = ()


class Share(YesNo):
    """How much of the view."""

    kind, good = "share", ()

    def form(self, *, candidates: int) -> Form:
        form = super().form(candidates=candidates)
        options = (Option("0", "0 %", "1"), Option("50", "50 %", "2"), Option("100", "100 %", "3"), Option("unclear", "?", "x"))
        return Form(form.title, form.instruction, (Part("there", "How much?", options),))


class GradeOfClips(Share):
    """A grade of a clip, which some cannot give."""

    kind, subject = "grade", "clip"
    attributes: Mapping[str, str] = {"there": "grade_of_clip"}


class Matches:
    """A question of another package that inherits from nothing and knows no kinds of answers."""

    name, version, subject, scale = "matches", "1", "one", "ordinal"

    def form(self, *, candidates: int) -> Form:
        if candidates != 1:
            raise InputError(f"not {candidates} predictions")
        return Form("How good?", "Look.", (Part("grade", "How good?", (Option("1", "Bad", "1"), Option("2", "Good", "2"))),))

    def choice(self, given: Mapping[str, str], *, shown: Sequence[str]) -> str:
        return given["grade"]


MADE_HERE = [YesNo, YesNoOfClips, Words, Share, GradeOfClips, Matches]
QUESTIONS_ASKED = [
    *(pytest.param(QUESTIONS.get(leaf)(), id=leaf) for leaf in QUESTIONS),
    pytest.param(Pairwise(both_bad=True), id="pairwise,both_bad"),
    *(pytest.param(QUESTIONS.admit(made)(), id=made.__name__) for made in MADE_HERE),
]


@pytest.mark.parametrize("question", QUESTIONS_ASKED)
@pytest.mark.parametrize("check", contract.CHECKS, ids=lambda check: check.__name__)
def test_every_question_works_to_the_end(question: Question, check: Check) -> None:
    check(question)


@pytest.mark.parametrize(
    ("check", "broken", "told"),
    [
        ("states_its_facts", {"__doc__": "A pair?", "kind": "pair"}, "not grade or share or label"),
        ("every_way_of_filling_in_its_form_has_a_choice", {"choice": lambda *_, **__: "yes"}, r"its choices are \['yes'\]"),
        ("every_way_of_filling_in_its_form_has_a_choice", {"unsure": ("perhaps",)}, "'perhaps' is none of"),
        ("another_number_of_predictions_is_refused", {"form": lambda self, candidates: YesNo().form(candidates=1)}, "a form for"),
        ("its_numbers_can_be_read", {"kind": "grade"}, "'yes' is no number"),
    ],
)
def test_a_question_that_breaks_the_contract_is_told_how(check: str, broken: dict[str, Any], told: str) -> None:
    question = type("Broken", (YesNo,), broken)()
    with pytest.raises(ContractError, match=told):
        getattr(contract, check)(question)


def test_a_yes_or_no_about_predictions_scores_the_share_of_yes() -> None:
    study, votes = list(contract.studies(YesNo()))[2]  # three raters, who say yes, no and unclear in turn
    assert Counter(vote.choice for vote in votes) == {"yes": 12, "no": 12, "unclear": 12}
    scores = preferences(study, votes)
    assert {score.value for score in scores} == {0.5}
    assert scores[0].details == {"votes": 3, "answers": {"no": 1, "unclear": 1, "yes": 1}}
    assert {share.value for share in shares_of(study, votes)["asked"].values()} == {0.5}
    assert "none is said to be good" in str(preferences(*list(contract.studies(Words()))[2])[0].reason)


def test_grades_that_some_cannot_give_become_the_median_of_the_others() -> None:
    study, votes = list(contract.studies(GradeOfClips()))[2]
    (answer, *_), (attribute, *_) = labels(study, votes).answers, labels(study, votes).attributes
    assert (answer.answer, attribute.name, attribute.value) == ("50", "grade_of_clip", 50.0)


@pytest.mark.parametrize("leaf", ["scene_motion", "camera_motion", "keep_reject"])
def test_questions_that_label_say_which_choices_are_no_value(leaf: str) -> None:
    assert QUESTIONS.get(leaf).unsure == (() if leaf == "keep_reject" else ("unclear",))


def test_both_parts_of_scene_motion_have_the_same_seven_steps() -> None:
    water, other = SceneMotion().form(candidates=0).parts
    assert [one.value for one in water.options] == ["0", "5", "10", "25", "50", "75", "100", "unclear"]
    assert [one.label for one in water.options][:2] == ["0 %", "5 %"]
    assert [one.key for one in water.options] == [*"1234567", "x"]
    assert other.options == water.options
    assert SceneMotion().choice({"water": "25", "other": "50"}, shown=()) == "25"


def test_only_what_is_rejected_needs_a_reason_and_only_other_needs_words() -> None:
    form = KeepReject().form(candidates=0)
    assert checked(form, {"verdict": "keep"}) == {"verdict": "keep"}
    assert checked(form, {"verdict": "reject", "reason": "overlay"})["reason"] == "overlay"
    told = checked(form, {"verdict": "reject", "reason": "other", "reason_text": " a lens cap "})
    assert told["reason_text"] == "a lens cap"
    for wrong in (
        {"verdict": "reject"}, {"verdict": "keep", "reason": "overlay"}, {"verdict": "reject", "reason": "other"},
        {"verdict": "reject", "reason": "overlay", "reason_text": "logo"},
    ):  # fmt: skip
        with pytest.raises(InputError):
            checked(form, wrong)


def test_a_comparison_chooses_whatever_was_shown_at_the_place() -> None:
    pair = Pairwise()
    assert pair.choice({"better": "place-0"}, shown=("b", "a")) == "b"
    assert pair.choice({"better": "place-1"}, shown=("b", "a")) == "a"
    assert pair.choice({"better": "tie"}, shown=("b", "a")) == "tie"
    assert BestOf().choice({"best": "place-2"}, shown=("c", "a", "b")) == "b"


def test_the_keys_of_a_pair_lie_in_the_order_of_the_screen() -> None:
    options = Pairwise(both_bad=True).form(candidates=2).parts[0].options
    assert {one.key: one.value for one in options} == {"1": "place-0", "2": "tie", "3": "place-1", "4": "both_bad"}
    assert "both_bad" not in [one.value for one in Pairwise().form(candidates=2).parts[0].options]
    assert "both bad" in Pairwise(both_bad=True).form(candidates=2).instruction.lower()


def test_constants_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(InputError, match="'yes'"):
        build_question(QuestionSpec(leaf="pairwise", constants={"both_bad": "yes"}))
    with pytest.raises(InputError, match="best_of"):
        build_question(QuestionSpec(leaf="best_of", constants={"both_bad": True}))


def test_a_row_has_one_key_for_each_from_left_to_right() -> None:
    options = BestOf().form(candidates=9).parts[0].options
    assert [(one.label, one.key, one.value) for one in options[:2]] == [("A", "1", "place-0"), ("B", "2", "place-1")]
    assert [one.key for one in options] == list("123456789")


def test_grades_are_those_of_the_standard() -> None:
    (part,) = MeanOpinion().form(candidates=1).parts
    assert [(one.value, one.label) for one in part.options] == [
        ("1", "Bad"), ("2", "Poor"), ("3", "Fair"), ("4", "Good"), ("5", "Excellent")
    ]  # fmt: skip
    assert MeanOpinion().choice({"grade": "4"}, shown=("a",)) == "4"
