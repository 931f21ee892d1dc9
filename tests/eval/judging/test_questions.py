"""Stored questions, their worth, and answers read from a model's words."""

from __future__ import annotations

import pytest

from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.judging import read_answer, stored, stored_names
from inpaintbench.types import Prompts


@pytest.mark.parametrize("name", stored_names())
def test_every_stored_question_has_a_best_and_a_worst_answer_and_a_name_of_its_own(name: str) -> None:
    of = stored(name)
    assert len({one.name for one in of.questions}) == len(of.questions)
    for one in of.questions:
        assert {min(one.worth.values()), max(one.worth.values())} == {0.0, 1.0}
        prompt = of.prompt(one, Prompts("a lake", "a lake in winter"))
        assert all(answer in prompt for answer in one.worth)
        assert ("a lake in winter" in prompt) == (name == "editing")
        assert "{" not in prompt


def test_kinds_of_answers_and_their_worth() -> None:
    found, effects, natural = stored("removal").questions
    assert found.worth == {"yes": 0.0, "no": 1.0}
    assert effects.worth == {"nothing": 1.0, "a trace": 0.5, "all": 0.0}
    assert natural.worth == {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}
    with pytest.raises(UnknownNameError, match="removl"):
        stored("removl")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("ANSWER: no", "no"),
        ("I see a shadow, so yes.\n\nAnswer: **No**.", "no"),
        ("ANSWER:\nyes", "yes"),
        ("<think>yes yes</think> No.", "no"),
        ("Yes, it is there, yes.", "yes"),
        ("Yes and no.", None),
        ("ANSWER: perhaps", None),
        ("ANSWER: yes or no", None),
        ("ANSWER: [no]", "no"),
        ("ANSWER: No, it cannot be seen.", "no"),
        ("No doubt that it can still be seen.", None),
        ("The object can be seen, no question.", None),
        ('End with a line "ANSWER: " and one of: yes, no.', None),
        ("<think>no no", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_an_answer_is_read_from_words_or_it_is_not(said: str, answer: str | None) -> None:
    assert read_answer(said, {"yes": 1.0, "no": 0.0}) == answer


def test_answers_of_several_words_and_numbers() -> None:
    worth = stored("removal").questions[1].worth
    assert read_answer("A trace, at the left.", worth) == "a trace"
    assert read_answer("ANSWER: all", worth) == "all"
    # "all" is the worst answer, and stands in words for the best.
    assert [read_answer(said, worth) for said in ("It is not at all visible.", "ANSWER: all gone", "ANSWER: not at all")] == [
        None
    ] * 3
    assert read_answer("5", {"1": 0, "5": 1}) == "5"
    assert [read_answer(said, {"1": 0, "5": 1}) for said in ("15", "1.5", "1-5", "ANSWER: 1 out of 5")] == [None] * 4


def test_a_question_about_an_edit_needs_its_prompt() -> None:
    of = stored("editing")
    for prompts in (None, Prompts("a lake", " ")):
        with pytest.raises(NotMeasurable, match="has no prompt that says what was to be edited"):
            of.prompt(of.questions[0], prompts)
