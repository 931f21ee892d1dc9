"""Contract of every question: its form, and its answers all the way to labels, agreement, ranking and report."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from itertools import combinations, islice, product
from pathlib import Path

from inpaintbench import contracts
from inpaintbench.annotate.outcomes.preferences import preferences
from inpaintbench.annotate.outcomes.resolve import labels
from inpaintbench.annotate.questions.base import PLAYER_KEYS, SHOWN, Form, Question, Subject, candidate, checked
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.report.material import Material
from inpaintbench.annotate.report.page import write_report
from inpaintbench.annotate.statistics.agreement import answers_of, krippendorff_alpha, raw_agreement, scheme_of
from inpaintbench.annotate.statistics.ranking import plain
from inpaintbench.annotate.statistics.standings import dimensions_of, rankings_of, shares_of
from inpaintbench.annotate.study import QuestionSpec, Study, StudyFile, StudyTask, Subjects, study_id, task_id
from inpaintbench.contracts import ContractError, checks_above, require
from inpaintbench.errors import InputError

LABEL = "asked"
METHODS = tuple(f"method {number}" for number in range(9))
# The smallest study with majorities, draws and disagreement.
_ITEMS, _RATERS, _COMPARED = 4, 3, METHODS[:3]
# A study file names its questions; what is checked need not be in the catalogue, and takes the place of one of these.
_LIKE: Mapping[Subject, str] = {"clip": "keep_reject", "one": "mean_opinion", "pair": "pairwise", "set": "best_of"}
# Ways of filling in a form that are tried; forms of many parts have more.
_MOST_FORMS = 5000


def states_its_facts(question: Question) -> None:
    """Name, version, documentation, what it shows and what its answers are."""
    contracts.states_its_facts(question, "subject", "kind")
    fitting = {"pair": ("pair",), "set": ("best",)}.get(question.subject, ("grade", "share", "label"))
    require(question.kind in fitting, f"its answers about {question.subject!r} are {question.kind!r}, not {' or '.join(fitting)}")


def every_way_of_filling_in_its_form_has_a_choice(question: Question) -> None:
    """The choices are what the main part offers, in the names of what was shown."""
    for count in counts_of(question):
        form, shown = question.form(candidates=count), METHODS[:count]
        choices = {question.choice(given, shown=shown) for given in ways(form)}
        offered = {candidate(option.value, shown=shown) for option in form.parts[0].options}
        require(choices == offered, f"its choices are {sorted(choices)}, its main part offers {sorted(offered)}")
        for name in (*question.unsure, *question.good):
            require(name in offered, f"{name!r} is none of {', '.join(sorted(offered))}")


def its_keys_are_unique_and_none_of_the_players(question: Question) -> None:
    """Within a part no key and no value twice."""
    for part in (part for count in counts_of(question) for part in question.form(candidates=count).parts):
        for what in ("key", "value"):
            values = [getattr(option, what) for option in part.options]
            require(len(set(values)) == len(values), f"part {part.name!r} has a {what} twice: {', '.join(values)}")
        taken = {option.key.lower() for option in part.options} & {key.lower() for key in PLAYER_KEYS}
        require(not taken, f"part {part.name!r} takes keys of the player: {', '.join(sorted(taken))}")


def another_number_of_predictions_is_refused(question: Question) -> None:
    """By an ``InputError`` with the number."""
    for count in {0, 1, 2, 3, 10} - set(counts_of(question)):
        try:
            question.form(candidates=count)
        except InputError as error:
            require(str(count) in str(error), f"what it says of {count} predictions does not tell their number: {error}")
        else:
            raise ContractError(f"it has a form for {count} predictions")


def its_numbers_can_be_read(question: Question) -> None:
    """Options of grades and shares are numbers, ascending, but for those that are no value."""
    if question.kind in ("grade", "share"):
        steps = [option.value for option in question.parts()[0].options if option.value not in question.unsure]
        numbers = [question.number(value) for value in steps]
        require(
            None not in numbers, f"{steps[numbers.index(None)] if None in numbers else ''!r} is no number and not in `unsure`"
        )
        require(numbers == sorted(numbers, key=lambda value: value or 0.0), f"its options are not in order: {', '.join(steps)}")


def its_answers_are_resolved(question: Question) -> None:
    """Clips get an answer or a reason, and the attributes that it names; methods get a score or a reason."""
    for study, votes in studies(question):
        if question.subject == "clip":
            resolved = labels(study, votes)
            require(len(resolved.answers) + resolved.unanswered[LABEL] == _ITEMS, "clips are missing from the answers")
            rows = [(row.value, row.reason) for row in resolved.attributes]
            require(len(rows) == len(resolved.answers) * len(question.attributes), "clips are missing from the attributes")
        else:
            scores = preferences(study, votes)
            rows = [(score.value, score.reason) for score in scores]
            require(len(rows) == _ITEMS * len(_COMPARED), "methods are missing from the scores")
        require(all(value is not None or reason for value, reason in rows), "no value, and no reason for it")


def its_answers_agree_or_not(question: Question) -> None:
    """Krippendorff's alpha and raw agreement can be taken of every part."""
    for _, votes in studies(question):
        for part in (None, *(further.name for further in question.parts()[1:])):
            answers = answers_of(votes, LABEL, part=part, pairs=question.kind == "pair" and part is None)
            if answers:
                scheme = scheme_of(question, part=part)
                krippendorff_alpha(answers, scheme)
                raw_agreement(answers, scheme)


def its_answers_rank_methods(question: Question) -> None:
    """Answers about predictions give an order, or a number within its ends for each method with a vote that is one."""
    for study, votes in studies(question):
        shares = shares_of(study, votes).get(LABEL, {})
        ends = question.ends() if question.subject == "one" else (0.0, 1.0)
        for method, share in shares.items():
            within = ends is not None and ends[0] <= share.value <= ends[1]
            require(within, f"{method} comes to {share.value}, outside of {ends}")
        rankings_of(study, votes)


def its_answers_are_reported(question: Question) -> None:
    """The page can be written."""
    for study, votes in studies(question):
        with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
            material = Material(study, votes, rankings=plain(rankings_of(study, votes)), dimensions=dimensions_of(study, votes))
            page = write_report(Path(folder), material)
            require(page.stat().st_size > 0, "the page is empty")


CHECKS = checks_above(globals())


def counts_of(question: Question) -> tuple[int, ...]:
    """The numbers of predictions that it is asked about; of a set all that it has a form for."""
    if question.subject != "set":
        return (SHOWN[question.subject],)
    counts = []
    for count in range(2, len(METHODS) + 1):
        try:
            question.form(candidates=count)
        except InputError:
            continue
        counts.append(count)
    return tuple(counts)


def ways(form: Form) -> Iterator[dict[str, str]]:
    """Every way of filling in a form, with some words wherever they are asked for; of long forms the first ones."""
    offered: list[list[str | None]] = [[None, *(option.value for option in part.options)] for part in form.parts]
    for values in islice(product(*offered), _MOST_FORMS):
        given = {part.name: value for part, value in zip(form.parts, values, strict=True) if value is not None}
        given |= {f"{part.name}_text": "words" for part in form.parts if given.get(part.name) == part.text_with is not None}
        try:
            yield checked(form, given)
        except InputError:
            continue


def studies(question: Question) -> Iterator[tuple[Study, list[Vote]]]:
    """A study of the question alone, with votes of several kinds.

    Of every answer some; of one rater; all the same, for each answer; and none at all.
    """
    where = Subjects(workspace="W") if question.subject == "clip" else Subjects(dataset="D", runs=("R",))
    spec = QuestionSpec(leaf=_LIKE[question.subject], name=LABEL)
    file = StudyFile(title="A question", subjects=where, questions=(spec,))
    most = max(counts_of(question))
    shown: dict[str, list[tuple[str, ...]]] = {
        "clip": [()],
        "one": [(name,) for name in _COMPARED],
        "pair": list(combinations(_COMPARED, 2)),
    }
    tasks = tuple(
        StudyTask(
            task_id=task_id(LABEL, f"item {number}", candidates), question=LABEL, subject_id=f"item {number}",
            cluster=f"source {number}", candidates=candidates, proxy="",
        )
        for number in range(_ITEMS)
        for candidates in shown.get(question.subject, [_COMPARED[:most]])
    )  # fmt: skip
    study = Study(study_id(file, tasks), file, tasks, {})
    study.question_of[LABEL] = question
    yield study, []
    for raters in (1, _RATERS):
        yield study, _votes(study, question, raters=raters)
    for option in question.parts()[0].options:
        yield study, _votes(study, question, raters=_RATERS, only=option.value)


def _votes(study: Study, question: Question, *, raters: int, only: str | None = None) -> list[Vote]:
    """One of each rater on every task, going through the ways of filling in the form, or those with the main answer ``only``."""
    votes: list[Vote] = []
    for task in study.tasks:
        form, shown = question.form(candidates=len(task.candidates)), task.candidates
        fitting = [way for way in ways(form) if only is None or way[form.parts[0].name] == only]
        for rater in range(raters):
            number, given = len(votes), fitting[len(votes) % len(fitting)]
            votes.append(Vote(
                submission_id=f"vote {number}", rater_id=f"rater {rater}", task_id=task.task_id, question=LABEL,
                subject_id=task.subject_id, cluster=task.cluster, candidates=shown, shown=shown, purpose="vote", given=given,
                choice=question.choice(given, shown=shown), seconds=2.0, at=1000.0 + number, stuttered=False,
                suggestion_shown="hidden",
            ))  # fmt: skip
    return votes
