"""One contract for every question, and what each leaf means."""

from __future__ import annotations

from itertools import product

import pytest

from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.questions.base import PLAYER_KEYS, Form, checked
from inpaintbench.annotate.questions.best_of import BestOf
from inpaintbench.annotate.questions.keep_reject import KeepReject
from inpaintbench.annotate.questions.mean_opinion import MeanOpinion
from inpaintbench.annotate.questions.pairwise import Pairwise
from inpaintbench.annotate.questions.scene_motion import SceneMotion
from inpaintbench.annotate.study import QuestionSpec, build_question
from inpaintbench.errors import InputError

CANDIDATES = {"clip": (0,), "one": (1,), "pair": (2,), "set": (2, 5, 9)}
METHODS = tuple(f"method {number}" for number in range(9))


def answers_of(form: Form) -> list[dict[str, str]]:
    """Every way of filling in a form, with some words wherever they are asked for."""
    found = []
    for values in product(*[[None, *(one.value for one in part.options)] for part in form.parts]):
        given = {part.name: value for part, value in zip(form.parts, values, strict=True) if value is not None}
        given |= {f"{part.name}_text": "words" for part in form.parts if given.get(part.name) == part.text_with is not None}
        try:
            found.append(checked(form, given))
        except InputError:
            continue
    return found


@pytest.mark.parametrize("leaf", list(QUESTIONS))
def test_every_way_of_filling_in_a_form_has_a_choice(leaf: str) -> None:
    question = QUESTIONS.get(leaf)()
    assert question.name == leaf
    assert question.version
    for count in CANDIDATES[question.subject]:
        form = question.form(candidates=count)
        main = [one.value for one in form.parts[0].options]
        shown = METHODS[:count]
        chosen = {question.choice(given, shown=shown) for given in answers_of(form)}
        named = {shown[int(value.removeprefix("place-"))] if value.startswith("place-") else value for value in main}
        assert chosen == named
        assert set(getattr(question, "unsure", ())) <= set(main)


@pytest.mark.parametrize("leaf", list(QUESTIONS))
def test_keys_are_unique_and_none_of_the_players(leaf: str) -> None:
    question = QUESTIONS.get(leaf)(**({"both_bad": True} if leaf == "pairwise" else {}))
    for count in CANDIDATES[question.subject]:
        for part in question.form(candidates=count).parts:
            keys = [one.key for one in part.options]
            assert len(set(keys)) == len(keys)
            assert not {key.lower() for key in keys} & {key.lower() for key in PLAYER_KEYS}
            values = [one.value for one in part.options]
            assert len(set(values)) == len(values)


@pytest.mark.parametrize("leaf", list(QUESTIONS))
def test_another_number_of_candidates_is_refused_with_the_number(leaf: str) -> None:
    question = QUESTIONS.get(leaf)()
    for count in {0, 1, 2, 3, 10} - {*CANDIDATES[question.subject], *(range(2, 10) if leaf == "best_of" else ())}:
        with pytest.raises(InputError, match=rf"\b{count}\b"):
            question.form(candidates=count)


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
