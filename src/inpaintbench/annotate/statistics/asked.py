"""What raters of a study decided by choosing, part by part of every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inpaintbench.annotate.desk.state import Vote
from inpaintbench.annotate.statistics.ratings import Answers, Scheme, answers_of, scheme_of
from inpaintbench.annotate.study import Study


@dataclass(frozen=True)
class AskedPart:
    """One decision of a question, and who decided what."""

    question: str
    part: str
    scheme: Scheme
    answers: Answers


def asked_parts(study: Study, votes: Sequence[Vote]) -> list[AskedPart]:
    """Every decision that raters made by choosing; of the further ones of a form those that anybody was asked for."""
    found = []
    for label, question in study.question_of.items():
        main, *further = [part.name for part in question.parts() if part.options]
        answers = answers_of(votes, label, pairs=question.kind == "pair")
        found.append(AskedPart(label, main, scheme_of(question), answers))
        for part in further:
            if some := answers_of(votes, label, part=part):
                found.append(AskedPart(label, part, scheme_of(question, part=part), some))
    return found
