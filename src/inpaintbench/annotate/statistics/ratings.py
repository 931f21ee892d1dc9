"""Answers of raters as plain data, and how their values compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.annotate.questions.base import Question, Scale, number
from inpaintbench.annotate.questions.of_methods import BOTH_BAD, TIE
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError

# Unit -> rater -> value.
Answers = Mapping[str, Mapping[str, str]]
# What the choice of one of two candidates is called when pairs of different methods are taken together.
FIRST, SECOND = "first", "second"


class Scheme(NamedTuple):
    """Order and distances of the values of one question."""

    scale: Scale = "nominal"
    values: tuple[str, ...] | None = None
    """All there are, in order; what occurs, sorted, by default. An ordinal scale needs them."""
    missing: frozenset[str] = frozenset()
    """Values that count as no answer."""
    alike: tuple[str, ...] = ()
    """Values whose names are arbitrary, such as the first and second of a pair: chance is taken to give them equally often. For
    nominal scales."""


def scheme_of(question: Question, *, part: str | None = None) -> Scheme:
    """Return how the answers of ``answers_of`` to a question compare; ``part`` names another part of its form than the main one.

    What a question calls ``unsure`` is missing, and on an interval scale whatever is no number. Parts that offer the same as the
    main one have its scale; others are nominal.
    """
    if question.kind == "pair":
        return Scheme(values=(FIRST, SECOND, TIE, BOTH_BAD), alike=(FIRST, SECOND))
    if question.kind == "best":
        return Scheme()
    parts = question.parts()
    offered = {form_part.name: tuple(option.value for option in form_part.options) for form_part in parts}
    main = offered[parts[0].name]
    values = main if part is None else offered[part]
    scale: Scale = question.scale if values == main else "nominal"
    unsure = {value for value in question.unsure if value in values}
    if scale == "interval":
        unsure |= {value for value in values if number(value) is None}
    return Scheme(scale, values, frozenset(unsure))


def answers_of(
    votes: Iterable[Vote], question: str, *, part: str | None = None, pairs: bool = False
) -> dict[str, dict[str, str]]:
    """Task -> rater -> choice, of the ordinary votes: gold tasks are chosen for being clear, and repeats have the same rater.

    With ``part`` the value of that part of the form, of those who were asked for it. With ``pairs`` the choice of a candidate
    becomes ``first`` or ``second``.
    """
    answers: dict[str, dict[str, str]] = {}
    for vote in votes:
        if vote.question != question or vote.purpose != "vote":
            continue
        value = vote.choice if part is None else vote.given.get(part)
        if pairs:
            value = dict(zip(vote.candidates, (FIRST, SECOND), strict=True)).get(vote.choice, vote.choice)
        if value is not None:
            answers.setdefault(vote.task_id, {})[vote.rater_id] = value
    return answers


def counted(answers: Answers, scheme: Scheme) -> tuple[tuple[str, ...], list[str], npt.NDArray[np.int64], int]:
    """Values in order, units, how many raters gave which value ``[units, values]``, and answers left out."""
    if scheme.scale == "ordinal" and scheme.values is None:
        raise InputError("an ordinal scale needs its values in order")
    if scheme.alike and scheme.scale != "nominal":
        raise InputError(f"values are alike on nominal scales only, not on {scheme.scale} ones")
    occurring = {value for of_unit in answers.values() for value in of_unit.values()}
    values = tuple(value for value in (scheme.values or sorted(occurring)) if value not in scheme.missing)
    if scheme.scale == "interval" and (words := [value for value in values if number(value) is None]):
        raise InputError(f"{words[0]!r} is no number; an interval scale needs numbers, or count it as missing")
    place = {value: index for index, value in enumerate(values)}
    rows: list[int] = []
    columns: list[int] = []
    left_out = 0
    for row, (unit, of_unit) in enumerate(answers.items()):
        for rater, value in of_unit.items():
            if value in place:
                rows.append(row)
                columns.append(place[value])
            elif value in scheme.missing:
                left_out += 1
            else:
                raise InputError(f"{rater!r} answered {value!r} to {unit!r}, which is none of {', '.join(values)}")
    counts = np.zeros((len(answers), len(values)), np.int64)
    np.add.at(counts, (rows, columns), 1)
    return values, list(answers), counts, left_out


class AskedPart(NamedTuple):
    """One decision of a question, and who decided what."""

    question: str
    part: str
    scheme: Scheme
    answers: Answers


def asked_parts(study: Study, votes: Sequence[Vote]) -> list[AskedPart]:
    """Every decision that raters made by choosing; of the further ones of a form those that anybody was asked for."""
    asked = []
    for label, question in study.question_of.items():
        main, *further = [part.name for part in question.parts() if part.options]
        asked.append(AskedPart(label, main, scheme_of(question), answers_of(votes, label, pairs=question.kind == "pair")))
        for name in further:
            if answers := answers_of(votes, label, part=name):
                asked.append(AskedPart(label, name, scheme_of(question, part=name), answers))
    return asked
