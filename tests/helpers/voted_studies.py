"""Studies without pictures, and votes on them: for everything that reads votes alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.study import Study, StudyFile, StudyTask, parse_study, study_id, task_id

OF_CLIPS = {"workspace": "W"}
OF_PREDICTIONS = {"dataset": "D", "runs": ["R"]}


def study_of(
    questions: Sequence[Mapping[str, Any]],
    tasks: Sequence[tuple[str, str, tuple[str, ...]]],
    *,
    subjects: Mapping[str, Any] = OF_CLIPS,
    gold: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
    title: str = "Study",
) -> Study:
    """A study of (question, subject, candidates); ``gold``: (question, subject) -> right choices."""
    file: StudyFile = parse_study(
        {"title": title, "subjects": dict(subjects), "questions": [dict(one) for one in questions]},
        where="here",
        folder=Path("/"),
    )
    known = gold or {}
    made = tuple(
        StudyTask(
            task_id=task_id(question, subject, candidates), question=question, subject_id=subject, cluster=f"of {subject}",
            candidates=candidates, proxy=f"{subject}.mp4", gold=known.get((question, subject), ()),
        )
        for question, subject, candidates in tasks
    )  # fmt: skip
    return Study(study_id(file, made), file, made, {})


class Ballot:
    """Collects votes of a study, numbered in the order given."""

    def __init__(self, study: Study) -> None:
        self.study, self.votes = study, list[Vote]()

    def cast(
        self, rater: str, question: str, subject: str, given: Mapping[str, str], *, shown: tuple[str, ...] = (),
        purpose: Any = "vote",
    ) -> Vote:  # fmt: skip
        """One vote, by the question's own sense of what was given."""
        found = [
            one for one in self.study.tasks
            if (one.question, one.subject_id, one.candidates) == (question, subject, tuple(sorted(shown)))
        ]  # fmt: skip
        (task,) = found
        number = len(self.votes)
        self.votes.append(
            Vote(
                submission_id=f"s{number}", rater_id=rater, task_id=task.task_id, question=question, subject_id=subject,
                cluster=task.cluster, candidates=task.candidates, shown=shown, purpose=purpose, given=dict(given),
                choice=self.study.question_of[question].choice(given, shown=shown), seconds=1.5 + number, at=1000.0 + number,
                stuttered=number % 2 == 0, suggestion_shown="hidden",
            )
        )  # fmt: skip
        return self.votes[-1]


def grades_with_two_strange_raters() -> NDArray[np.float64]:
    """24 clips, 12 raters; the eleventh always says 3, the last one reverses the scale."""
    clip, rater = np.arange(24)[:, None], np.arange(12)[None]
    seen = 3 + 1.6 * np.sin(0.7 * clip) + 0.4 * np.cos(1.3 * rater)
    grades = np.clip(np.floor(seen + (0.3 + 0.1 * rater) * np.sin(2.1 * clip + 1.7 * rater) + 0.5), 1, 5)
    grades[:, 10], grades[:, 11] = 3, 6 - grades[:, 11]
    return grades
