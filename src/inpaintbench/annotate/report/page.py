"""The page of a study: what its template is filled with, and the file that it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from inpaintbench.annotate.questions.base import Form
from inpaintbench.annotate.report.comparisons import comparison_panels, dimensions_parts
from inpaintbench.annotate.report.facts import coverage, median_seconds
from inpaintbench.annotate.report.labelling import labelling_panels
from inpaintbench.annotate.report.left_out import left_out_card, left_out_parts
from inpaintbench.annotate.report.people import pace_panels, raters_parts
from inpaintbench.annotate.report.records import Material
from inpaintbench.annotate.report.viewing import viewing_parts
from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.pages import Link, page
from inpaintbench.pages.panels import Card, Panel
from inpaintbench.pages.words import count, duration, moment, percent, span

_COMPARED = ("pair", "set")
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
    sections = _sections(material)
    return page(
        "annotate/report/page.html",
        title=material.study.file.title,
        links=[Link(f"#{section.anchor}", section.link) for section in sections],
        styles=material.styles,
        subtitle=_subtitle(material),
        cards=_cards(material),
        downloads=downloads,
        sections=sections,
        note=f"{_NOTE} Study `{material.study.study_id}`.",
    )


def _sections(material: Material) -> list[Section]:
    labels = [spec.label for spec in material.study.file.questions]
    titles = material.titles
    sections = [_question(material, label, titles[label], number) for number, label in enumerate(labels, 1)]
    if len(material.dimensions.get("questions", ())) > 1:
        parts = dimensions_parts(material.dimensions, titles=titles)
        sections.append(Section("dimensions", "Dimensions", "How the dimensions go together", parts=parts))
    if material.exclusions or material.proposed or material.study.file.screening or material.warmups:
        sections.append(Section("excluded", "Excluded", "Excluded answers", parts=left_out_parts(material)))
    if material.votes:
        sections.append(Section("raters", "Raters", "Raters", parts=raters_parts(material)))
        sections.append(Section("pace", "Pace", "Pace and playback", panels=pace_panels(material)))
        sections.append(Section("seen", "Seen", "What was seen", parts=viewing_parts(material)))
    return sections


def _question(material: Material, label: str, title: str, place: int) -> Section:
    spec, own = material.study.spec_of[label], coverage(material, label)
    question = material.study.question_of[label]
    facts = [
        f"`{label}`" + (f" ({spec.leaf})" if spec.leaf != label else ""),
        count(own.votes, "vote"),
        f"{own.tasks_done:,} of {count(own.tasks, 'task')} with {count(spec.raters_per_task, 'rater')}",
    ]
    seconds = median_seconds(material.by_question[label])
    if seconds is not None:
        facts.append(f"median {seconds:.1f} s")
    draw = comparison_panels if question.subject in _COMPARED else labelling_panels
    task = next((task for task in material.study.tasks if task.question == label), None)
    return Section(
        f"question-{place}",
        title,
        title,
        lead=" · ".join(facts),
        panels=draw(material, label) if own.votes else (),
        form=None if task is None else material.study.form(task),
    )


def _subtitle(material: Material) -> str:
    if not material.votes:
        return f"{count(len(material.study.tasks), 'task')} · no answers yet"
    times = [vote.at for vote in material.votes]
    subjects = {task.subject_id for tasks in material.tasks.values() for task in tasks}
    about = [count(len(subjects), "item" if material.methods else "clip")]
    judged = [name for name in material.methods if name not in material.study.file.subjects.decoys]
    about += [count(len(judged), "method")] if judged else []
    about += [count(len(material.study.file.questions), "question"), f"{span(moment(min(times)), moment(max(times)))} UTC"]
    return " · ".join(about)


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
