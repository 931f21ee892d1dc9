"""How far the raters of a study agree on clips, as the card of a dataset tells it."""

from __future__ import annotations

from collections.abc import Sequence

from inpaintbench.annotate.desk.state import Vote
from inpaintbench.annotate.statistics.agreement import Bootstrap, krippendorff_alpha
from inpaintbench.annotate.statistics.ratings import asked_parts
from inpaintbench.annotate.study import Study
from inpaintbench.recipes.evidence import Agreement


def agreements_of(study: Study, votes: Sequence[Vote]) -> list[Agreement]:
    """How far raters agree on clips, for the card of the dataset that is made with their answers."""
    clusters = {task.task_id: task.cluster for task in study.tasks}
    rows = []
    for one in asked_parts(study, votes):
        if study.question_of[one.question].subject == "clip":
            alpha = krippendorff_alpha(one.answers, one.scheme, bootstrap=Bootstrap(), clusters=clusters)
            raters = len({rater for given in one.answers.values() for rater in given})
            told = (alpha.units, alpha.answers, alpha.value, alpha.low, alpha.high, alpha.reason)
            rows.append(Agreement(one.question, one.part, raters, *told))
    return rows
