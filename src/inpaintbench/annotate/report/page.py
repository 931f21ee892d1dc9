"""The page of a study: what its template is filled with, its section on excluded answers, and the file that it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from inpaintbench.annotate.questions.base import Form
from inpaintbench.annotate.records import WORDING
from inpaintbench.annotate.report.material import Material, coverage, median_seconds
from inpaintbench.annotate.report.people import pace_panels, raters_parts, viewing_parts
from inpaintbench.annotate.report.questions import comparison_panels, dimensions_parts, labelling_panels
from inpaintbench.annotate.statistics.standings import Change, Score
from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, page
from inpaintbench.pages.panels import Card, Panel, Statement
from inpaintbench.pages.words import count, duration, moment, number, percent, span

edits = lazily("inpaintbench.annotate.desk.edits")  # which opens a database

# The section on answers that are excluded: whose and why, and how results move.


_NOTE_LEFT_OUT = (
    "Excluded answers stay in the journal and can be included again; nothing else on this page counts them. Rules are those that "
    "the study file states before the first answer. A verdict is that one method is better, where the intervals of their ranks "
    "(or of their numbers, where a question gives no ranks) are apart."
)


def left_out_card(material: Material) -> Card:
    """How many answers do not count, and whether a verdict hangs on them."""
    raters = {vote.rater_id for vote in material.excluded}
    note = f"of {count(len(raters), 'rater')}; {_verdicts(len(material.changes))}" if raters else ""
    if waiting := {of.rater_id for of in material.waiting}:
        note += f"{'; ' if note else ''}{count(len(waiting), 'more rater' if raters else 'rater')} flagged by rules"
    return Card("Excluded", count(len(material.excluded), "answer"), note, state="open" if material.changes else "")


def _verdicts(changed: int) -> str:
    return f"{count(changed, 'verdict')} on methods would be another one with them" if changed else "no verdict hangs on them"


def left_out_parts(material: Material) -> tuple[object, ...]:
    """Who is excluded and why, results with and without, and the verdicts that change."""
    parts: list[object] = []
    if material.warmups:
        first = count(material.study.file.checks.warmup, "task")
        words = f"The first {first} of each rater, to settle in, are not counted: {count(material.warmups, 'answer')}."
        parts.append(Statement(words, state="stated"))
    if rules := ", ".join(name.replace("_", " ") for name in material.study.file.screening):
        # Rules that were chosen after a look at results would void every interval.
        late = [stated for stated in material.stated if stated.answers]
        state, words = "stated", f"Rules, stated before the first answer: {rules}."
        if not material.stated:
            state, words = "open", f"Rules of the study file: {rules}. The journal does not say since when."
        elif late:
            state, words = "changed", f"Rules: {rules}. They were changed after {count(late[-1].answers, 'answer')}."
        parts.append(Statement(words, state=state, good=state == "stated"))
    if material.exclusions or material.proposed:
        parts.append(_who(material))
    if material.without_proposed is not None:
        moved = len(material.proposed_changes)
        verdicts = f"{count(moved, 'verdict')} on methods would be another one" if moved else "every verdict on methods stays"
        flagged = len({of.rater_id for of in material.waiting if of.alone})
        words = f"Without {'the rater' if flagged == 1 else f'the {flagged} raters'} whom rules propose {verdicts}."
        parts.append(Statement(words, state="open" if moved else "same", good=not moved))
    if material.everything is not None and material.counted is not None:
        words = _verdicts(len(material.changes))
        state = "moved" if material.changes else "same"
        parts.append(Statement(f"{words[:1].upper()}{words[1:]}.", state=state, good=not material.changes))
        if material.changes:
            changed = [(material.titles.get(of.question, of.question), _said(of)) for of in material.changes]
            rows = tuple(Row((Cell(title), Cell(counted), Cell(everything))) for title, (counted, everything) in changed)
            columns = (Column("Question"), Column("As it counts"), Column("With all answers"))
            parts.append(Table(columns, rows, label="Changed verdicts"))
        parts.append(_results(material, material.everything.scores(), material.counted.scores()))
    return (*parts, _NOTE_LEFT_OUT)


def _said(change: Change) -> tuple[str, str]:
    """A verdict as it counts, and with all answers."""
    words = {
        "open": f"{change.first} and {change.second}: open",
        "first": f"{change.first} before {change.second}",
        "second": f"{change.second} before {change.first}",
    }
    return words[change.counted], words[change.everything]


def _who(material: Material) -> Table:
    of_rater = Counter(vote.rater_id for vote in material.excluded)
    rows = []
    for exclusion in material.exclusions:
        whole = exclusion.submission is None
        what = count(of_rater[exclusion.rater_id], "answer") if whole else "1 answer"
        rows.append(Row((
            Cell(material.called.get(exclusion.rater_id, exclusion.rater_id)),
            Cell("all" if whole else "one", note=what),
            Cell(exclusion.rule.replace("_", " ") if exclusion.rule else "by hand"),
            Cell(exclusion.reason),
        )))  # fmt: skip
    for of in material.waiting:
        called = material.called.get(of.rater_id, of.rater_id)
        rows.append(Row((Cell(called), Cell("counted"), Cell(of.rule.replace("_", " "), tags=("proposed",)), Cell(of.reason))))
    columns = (Column("Rater"), Column("Answers"), Column("By"), Column("Why", wide=True))
    return Table(columns, tuple(rows), label="Excluded answers")


def _results(material: Material, before: Mapping[str, Mapping[str, Score]], after: Mapping[str, Mapping[str, Score]]) -> Table:
    rows = []
    for label, methods in before.items():
        title = material.titles.get(label, label)
        for name, score in sorted(methods.items(), key=lambda row: (-(row[1].value or 0), row[0])):
            now = after.get(label, {}).get(name)
            rows.append(Row((Cell(title), Cell(name, method=name), _number(now), _number(score))))
    heads = (Column("As it counts", numeric=True), Column("With all answers", numeric=True))
    columns = (Column("Question"), Column("Method"), *heads)
    return Table(columns, tuple(rows), label="Results with and without excluded answers")


def _number(score: Score | None) -> Cell:
    if score is None:
        return Cell(number(None, 2))
    interval = "" if score.low is None else f"{number(score.low, 2)} to {number(score.high, 2)}, "
    return Cell(number(score.value, 2), score.value, note=f"{interval}n {score.votes:,}")


def changed_parts(material: Material) -> tuple[object, ...]:
    """What was changed while the study ran, and how many answers were given before."""
    rows = []
    for edit in material.edits:
        what, before, after = edits.in_words(material.study, edit)
        given = material.answers_before(edit)
        counted = Cell(f"{given.part:,}", note=f"of {given.whole:,}")
        rows.append(Row((Cell(what, below=f"{moment(edit.at)} UTC"), counted, Cell(before), Cell(after))))
    heads = (Column("What"), Column("Answers before", numeric=True), Column("From", wide=True), Column("To", wide=True))
    return (Table(heads, tuple(rows), label="Changed while the study ran"), _NOTE_CHANGED)


_NOTE_CHANGED = (
    "Everything else on this page counts answers before and after a change together. `revision` in the table of judgements says "
    "how many changes there were when the rater read the question. Known answers grade what comes after them."
)
_NOTE = (
    "Numbers are of answers that stand: what was undone is left out, and gold tasks and silent repeats count for nothing but the "
    "checks of raters. Intervals are 95 % and resample the sources of clips unless it is said otherwise."
)


class Section(NamedTuple):
    """A part of the page that its bar leads to."""

    anchor: str
    link: str
    """Short title, in the bar."""
    title: str
    lead: str = ""
    parts: Sequence[object] = ()
    panels: Sequence[Panel] = ()
    form: Form | None = None
    """Form of a question, as raters saw it."""


def render(material: Material, *, downloads: Sequence[str]) -> str:
    """The whole page as HTML text; ``downloads`` are names of files beside it."""
    study = material.study
    sections = [_question(material, spec.label, place) for place, spec in enumerate(study.file.questions, 1)]
    if len(material.dimensions.get("questions", ())) > 1:
        parts = dimensions_parts(material.dimensions, titles=material.titles)
        sections.append(Section("dimensions", "Dimensions", "How the dimensions go together", parts=parts))
    if material.exclusions or material.proposed or study.file.screening or material.warmups:
        sections.append(Section("excluded", "Excluded", "Excluded answers", parts=left_out_parts(material)))
    if material.edits:
        sections.append(Section("changed", "Changed", "Changed while the study ran", parts=changed_parts(material)))
    subtitle = f"{count(len(study.tasks), 'task')} · no answers yet"
    if material.votes:
        sections.append(Section("raters", "Raters", "Raters", parts=raters_parts(material)))
        sections.append(Section("pace", "Pace", "Pace and playback", panels=pace_panels(material)))
        sections.append(Section("seen", "Seen", "What was seen", parts=viewing_parts(material)))
        times = [vote.at for vote in material.votes]
        subjects = {task.subject_id for tasks in material.tasks.values() for task in tasks}
        judged = [name for name in material.methods if name not in study.file.subjects.decoys]
        about = [count(len(subjects), "item" if material.methods else "clip")]
        about += [count(len(judged), "method")] if judged else []
        about += [count(len(study.file.questions), "question"), f"{span(moment(min(times)), moment(max(times)))} UTC"]
        subtitle = " · ".join(about)
    return page(
        "annotate/report/page.html", title=study.file.title, subtitle=subtitle, cards=_cards(material),
        links=[Link(f"#{section.anchor}", section.link) for section in sections], sections=sections,
        styles=material.styles, downloads=downloads, note=f"{_NOTE} Study `{study.study_id}`.",
    )  # fmt: skip


def _question(material: Material, label: str, place: int) -> Section:
    spec, own, title = material.study.spec_of[label], coverage(material, label), material.titles[label]
    facts = [
        f"`{label}`" + (f" ({spec.leaf})" if spec.leaf != label else ""),
        count(own.votes, "vote"),
        f"{own.tasks_done:,} of {count(own.tasks, 'task')} with {count(spec.raters_per_task, 'rater')}",
    ]
    for edit in material.edits:
        if edit.what in WORDING and edit.of == label:
            facts.append(f"{edit.what} changed after {count(material.answers_before(edit).part, 'answer')}")
    seconds = median_seconds(material.by_question[label])
    if seconds is not None:
        facts.append(f"median {seconds:.1f} s")
    compared = material.study.question_of[label].subject in ("pair", "set")
    draw = comparison_panels if compared else labelling_panels
    task = next((task for task in material.study.tasks if task.question == label), None)
    return Section(
        f"question-{place}", title, title, lead=" · ".join(facts), panels=draw(material, label) if own.votes else (),
        form=None if task is None else material.study.form(task),
    )  # fmt: skip


def _cards(material: Material) -> list[Card]:
    tally = [coverage(material, spec.label) for spec in material.study.file.questions]
    votes, wanted = sum(own.votes for own in tally), sum(own.wanted for own in tally)
    done, tasks = sum(own.tasks_done for own in tally), sum(own.tasks for own in tally)
    checks = len(material.votes) - votes
    seconds = median_seconds(material.votes)
    filled = min(1.0, votes / wanted) if wanted else 0.0
    finished, stop = bool(material.overview.get("done", tasks and done == tasks)), material.study.file.stop
    state, rule = "good" if finished else "open", "ends when every task has its raters"
    if stop.kind == "stable_ranking":
        rule = f"ends when the order is stable at {percent(stop.level)}"
    return [
        Card("Votes", f"{votes:,}", f"and {count(checks, 'check')} (gold, repeats)" if checks else "no gold tasks or repeats"),
        Card("Raters", f"{len(material.called):,}", "" if seconds is None else f"{duration(seconds)} an answer, median"),
        Card("Coverage", percent(filled), f"{done:,} of {count(tasks, 'task')} done", share=filled),
        # What the study itself says of its stop rule, else whether every task has its raters.
        Card("State", "Done" if finished else "Under way", str(material.overview.get("why") or rule), state=state),
        *([left_out_card(material)] if material.exclusions or material.proposed else []),
    ]


PAGE = "study.html"
_DOWNLOADS = ("*.csv", "*.json", "*.jsonl", "*.parquet")


def write_report(folder: Path, material: Material) -> Path:
    """Write ``study.html``, one page that needs nothing beside it and no network, and give its path.

    Equal material gives equal bytes. Tables that lie in ``folder`` already are linked as downloads. ``folder`` is made when it is
    not there.

    Raises:
        WorkspaceError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = sorted(path.name for pattern in _DOWNLOADS for path in folder.glob(pattern) if path.is_file())
        write_atomically(folder / PAGE, render(material, downloads=beside).encode("utf-8", "replace"))
    except OSError as error:
        raise WorkspaceError(f"report {str(folder)!r} cannot be written: {error.strerror}") from error
    return folder / PAGE
