"""What a study asks of strangers, and what of it would fail once they are there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from inpaintbench.annotate.crowd import HONEY_EVERY, Crowd, Outcome, platform_of
from inpaintbench.annotate.study import Study
from inpaintbench.claims import too_few
from inpaintbench.pages.words import count

# To decide and to go on, where nobody has measured it.
_DECIDING_SECONDS = 6.0
# What the shipped study leaves to be filled in.
_UNFILLED = re.compile(r"\b(?:NAME|INSTITUTION|ADDRESS|MINUTES|WHAT THE PLATFORM SAYS)\b")


@dataclass(frozen=True)
class Need:
    """How much work a study is, and for how many people."""

    answers: int
    own: int
    """Ordinary tasks of a person."""
    people: int
    minutes: int
    """Of a person, roughly."""
    golds: int
    """Known answers that each of them gets at least, practice and test aside."""
    honeys: int
    """And tasks whose pictures say what to choose."""


def need(study: Study, crowd: Crowd) -> Need:
    """How much a study asks for."""
    checks, golds = study.file.checks, sum(bool(task.gold and not task.use) for task in study.tasks)
    raters = [study.spec_of[task.question].raters_per_task for task in study.tasks if not task.gold]
    own = max(1, min(crowd.tasks_per_person, len(raters)))
    people = max([math.ceil(sum(raters) / own), *raters])
    gold_share = checks.gold_share if golds else 0
    before = sum(task.use in ("training", "test") for task in study.tasks)
    tasks = own / (1 - checks.repeat_share - gold_share) + checks.warmup + before
    # Clips are watched once, and then it takes some seconds to decide.
    seconds = sum(study.watch_seconds(task) for task in study.tasks) / len(study.tasks) + _DECIDING_SECONDS
    # One known answer comes in each stretch of so many tasks as hold one; that of the stretch in which practice and test end may
    # be over by then, and that of the last one is to come.
    lost = math.ceil(-before % (1 / gold_share)) if gold_share else 0
    fewest = math.floor(max(0, own - lost) * gold_share / (1 - gold_share) + 1e-9)
    honeys = min(crowd.honey, (fewest + HONEY_EVERY - 2) // HONEY_EVERY)
    return Need(sum(raters), own, people, math.ceil(tasks * seconds / 60), min(golds, fewest - honeys), honeys)


def faults(study: Study, crowd: Crowd) -> Iterator[str]:
    """What would fail with people at work, a sentence each."""
    checks, asked, right = study.file.checks, need(study, crowd), crowd.qualify.right
    uses = [task.use for task in study.tasks if task.gold]
    if unfilled := _UNFILLED.search(crowd.consent_text):
        yield f"the consent says {unfilled[0]!r} where it is to say what people agree to; fill it in"
    if crowd.study_id and not (form := platform_of(crowd).other).fullmatch(crowd.study_id):
        yield f"crowd.study_id {crowd.study_id!r} is no id of a study on {crowd.platform}, which looks like {form.pattern}"
    ends: dict[Outcome, bool] = {
        "completed": True, "no_more_tasks": True, "failed_checks": "" in uses, "screened_out": right > 0,
    }  # fmt: skip
    for outcome, happens in ends.items():
        if happens and not crowd.code(outcome):
            yield f"crowd.codes has no code for {outcome!r}; make one on the platform, or set INPAINTBENCH_CODE_{outcome.upper()}"
    for use, name, field in (("", "gold", checks.gold), ("training", "training", crowd.qualify.training)):
        if field and use not in uses:
            yield f"no line of the {name} file {field!r} is about a task of the study; name items that `most` draws"
    if right > uses.count("test"):
        yield (
            f"crowd.qualify.right is {right}, and the test has {count(uses.count('test'), 'task')}, so nobody could pass; "
            "its lines must be about items of the study, which `most` draws"
        )
    if crowd.qualify.test and not right:
        yield "crowd.qualify.right is 0, so that everybody passes the test; say how many of its answers have to be right"
    if "" in uses and asked.golds < checks.window:
        yield (
            f"checks.window is {checks.window}, and a person with {count(asked.own, 'ordinary task')} gets {asked.golds} with a "
            "known answer, so nobody would ever be paused; make it smaller, or gold_share and the gold file larger"
        )
    least = "failed_gold" in study.file.screening and study.file.screening["failed_gold"].built("failed_gold").least
    if least and asked.golds < least:
        yield f"screening.failed_gold.least is {least}, and a person gets {asked.golds} with a known answer: nobody is found"
    yield from _honey_faults(study, crowd, asked)
    sources = {
        task.cluster for task in study.tasks if not task.gold and study.question_of[task.question].subject == "pair"
    }  # fmt: skip
    if study.file.stop.kind == "stable_ranking" and (few := too_few(len(sources))):
        yield f"no order of the methods can be settled, so that strangers would be paid for none: {few}"
    if crowd.places < asked.people:
        people = f"{asked.people} people with {asked.own} each"
        yield f"crowd.places is {crowd.places}, and {count(asked.answers, 'answer')} need {people}"
    if crowd.most_minutes < asked.minutes:
        yield f"crowd.most_minutes is {crowd.most_minutes:g}, and a person needs about {asked.minutes}; give more, or fewer tasks"


def _honey_faults(study: Study, crowd: Crowd, asked: Need) -> Iterator[str]:
    made, rule = sum(task.use == "honey" for task in study.tasks), study.file.screening.get("signs_of_a_program")
    if made < crowd.honey:
        base = f"{count(made, 'comparison')} with a known answer in which something else can be chosen"
        yield f"crowd.honey is {crowd.honey}, and the study has {base}; add lines to the gold file, or take fewer"
    if crowd.honey and rule is None:
        yield "crowd.honey has nobody who looks at it; state [screening.signs_of_a_program]"
    elif rule is not None and crowd.honey and asked.honeys < (missed := rule.built("signs_of_a_program").missed):
        yield (
            f"screening.signs_of_a_program.missed is {missed}, and a person gets {count(asked.honeys, 'task')} of crowd.honey, "
            "so nobody is found; make honey or checks.gold_share larger"
        )
