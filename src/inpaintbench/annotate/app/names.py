"""What raters are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inpaintbench.annotate.journal.accounts import People


class Names:
    """Rater id -> name; names never change, so each is looked up once. Raters of imported answers keep their id."""

    def __init__(self, people: People, study_id: str) -> None:
        self._people = people
        self._study_id = study_id
        self._known: dict[str, str] = {}

    def __call__(self, rater_id: str) -> str:
        """The name, or the id of somebody who was never added."""
        if rater_id not in self._known:
            self._known = {**self._known, rater_id: rater_id} | {
                one.rater_id: one.name for one in self._people.raters(self._study_id)
            }
        return self._known[rater_id]
