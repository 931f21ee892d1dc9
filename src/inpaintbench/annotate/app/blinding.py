"""Methods under letters: how admins see a study before it ends, unless they may see the names.

Everything an admin is shown is worked out from answers and tasks in which the names are letters already, so no page can tell one.
The letters are the same on all pages and for all admins, and their order follows from a hash: the alphabet tells nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inpaintbench.annotate.desk.cards import letter
from inpaintbench.annotate.records import Standing, Vote
from inpaintbench.annotate.study import Proxy, Study, StudyTask
from inpaintbench.types import content_id

if TYPE_CHECKING:
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal.accounts import Person


class Views:
    """Which view of a study an admin has.

    Args:
        study: prepared.
        desk: knows whether it has ended.
    """

    def __init__(self, study: Study, *, desk: Desk) -> None:
        self._desk = desk
        self.plain, self.blind = View(study, letters=False), View(study, letters=True)

    def of(self, person: Person) -> View:
        """The names for those who may see them, and for everybody once the study has its answers; letters for others."""
        return self.plain if person.sees_methods or self._desk.done() else self.blind


class View:
    """A study as it is, or with methods that are called ``method A``, ``method B`` ...

    Args:
        study: prepared.
        letters: in the place of names.
    """

    def __init__(self, study: Study, *, letters: bool) -> None:
        self.study = study
        names = {name for task in study.tasks for name in task.candidates} if letters else ()
        mixed = sorted(names, key=lambda name: content_id(study.study_id, "letters", name))
        self._called = {name: f"method {letter(place)}" for place, name in enumerate(mixed)}
        self.letters = bool(self._called)
        """Whether there are names that are not told."""
        if not self._called:
            return
        self.study = replace(
            study,
            tasks=tuple(self._task(task) for task in study.tasks),
            proxies={name: self._proxy(proxy) for name, proxy in study.proxies.items()},
        )

    def vote(self, vote: Vote) -> Vote:
        """An answer with letters for names."""
        if not self._called or not vote.candidates:
            return vote
        shown, candidates = self._names(vote.shown), tuple(sorted(self._names(vote.candidates)))
        choice = self._called.get(vote.choice, vote.choice) if vote.choice in vote.candidates else vote.choice
        return replace(vote, candidates=candidates, shown=shown, choice=choice)

    def standing(self, of: Standing) -> Standing:
        """Answers with letters for names."""
        if not self._called:
            return of
        votes, everything, excluded = ([self.vote(vote) for vote in some] for some in (of.votes, of.everything, of.excluded))
        return replace(of, votes=votes, everything=everything, excluded=excluded)

    def overview(self, overview: Mapping[str, Any]) -> dict[str, Any]:
        """The overview of the desk with letters for names."""
        raters = [
            {**row, "first_places": {self._called.get(name, name): n for name, n in row["first_places"].items()}}
            for row in overview["raters"]
        ]
        return {**overview, "raters": raters}

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._called[name] for name in names)

    def _task(self, task: StudyTask) -> StudyTask:
        if not task.candidates:
            return task
        gold = tuple(self._called.get(choice, choice) for choice in task.gold)
        return replace(task, candidates=tuple(sorted(self._names(task.candidates))), gold=gold)

    def _proxy(self, proxy: Proxy) -> Proxy:
        tiles = (
            tile if tile.candidate is None else replace(tile, candidate=self._called[tile.candidate]) for tile in proxy.tiles
        )
        return replace(proxy, tiles=tuple(tiles))
