"""What the report of a study is made of, worked out from its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inpaintbench.annotate.events import Event
from inpaintbench.annotate.records import Standing
from inpaintbench.annotate.report.records import Material
from inpaintbench.annotate.screening.screen import proposals
from inpaintbench.annotate.statistics.exclusions import results_of
from inpaintbench.annotate.statistics.ranking import plain
from inpaintbench.annotate.statistics.standings import dimensions_of
from inpaintbench.annotate.study import Study, StudyTask

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal


def material_of(
    study: Study,
    standing: Standing,
    events: Sequence[Event],
    *,
    overview: Mapping[str, Any],
    names: Mapping[str, str] = {},
    picture_of: Callable[[StudyTask], str] = lambda _: "",
) -> Material:
    """Rankings, agreement and everything else of a study, with and without what is excluded.

    Args:
        study: prepared.
        standing: its answers.
        events: all of its journal; for skips and dropped frames.
        overview: of the desk.
        names: rater -> what the page calls them; pseudonyms by default.
        picture_of: address of a task's picture, for pages that are served.
    """
    counted = results_of(study, standing.votes)
    proposed = proposals(study, standing.everything)
    flagged = {of.rater_id for of in proposed if of.alone}
    left = [vote for vote in standing.votes if vote.rater_id not in flagged]
    return Material(
        study,
        standing.votes,
        events,
        overview,
        plain(counted.rankings),
        dimensions=dimensions_of(study, standing.votes),
        names=names,
        excluded=standing.excluded,
        exclusions=standing.exclusions,
        counted=counted,
        everything=results_of(study, standing.everything) if standing.exclusions else None,
        proposed=proposed,
        without_proposed=results_of(study, left) if len(left) < len(standing.votes) else None,
        stated=standing.stated,
        warmups=standing.warmups,
        picture_of=picture_of,
    )


# What the report reads of events; the rest of a million of them would fill gigabytes.
_READ = ("submission_id", "undoes", "reason", "task_id", "dropped_frames", "plays")
_AT_ONCE = 10_000


def events_read(journal: Journal, study_id: str) -> list[Event]:
    """Answers, skips and undos in a journal, with the fields that the report reads.

    Raises:
        JournalUnavailable: the database does not answer.
    """
    kept: list[Event] = []
    while events := journal.events(study_id, after=kept[-1].seq if kept else 0, most=_AT_ONCE, kinds=("answer", "skip", "undo")):
        for of in events:
            kept.append(Event(of.seq, of.at, of.kind, of.rater_id, {name: of.body[name] for name in _READ if name in of.body}))
    return kept
