"""Open a study and its journal, with one clear sentence where the extra is missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.study import Study, load
from inpaintbench.cli.options import argument, option
from inpaintbench.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from inpaintbench.annotate.crowd import Crowd
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.desk.state import State
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import People, Rater, Role
    from inpaintbench.annotate.journal.participants import Participants
    from inpaintbench.annotate.outcomes.payments import Payment

InStudy = Annotated[Path, argument("Folder of a prepared study.")]
Database = Annotated[
    str | None,
    option(
        "Journal elsewhere: a file, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME.",
        default="STUDY/journal.sqlite",
        envvar="INPAINTBENCH_DATABASE",
        metavar="URL",
    ),
]


@dataclass(frozen=True)
class Opened:
    """A study with its journal."""

    folder: Path
    study: Study
    journal: Journal
    people: People

    @property
    def study_id(self) -> str:
        """Of the study."""
        return self.study.study_id

    @cached_property
    def desk(self) -> Desk:
        """Desk over the journal, whose state starts from a snapshot where there is one."""
        from inpaintbench.annotate.desk.desk import Desk

        return Desk(self.study, self.journal)

    @property
    def became(self) -> Study:
        """The study after the changes of admins, which those who read answers need."""
        return self.desk.study

    def crowd(self) -> Crowd:
        """What the study file says of strangers.

        Raises:
            InputError: nobody comes from a platform.
        """
        if self.study.file.crowd is None:
            raise InputError(f"the study in {str(self.folder)!r} takes nobody from a platform: it has no [crowd]")
        return self.study.file.crowd

    @cached_property
    def participants(self) -> Participants:
        """People whom a platform sent."""
        from inpaintbench.annotate.journal.participants import Participants

        return Participants(self.journal)

    def payments(self) -> dict[str, Payment]:
        """Rater id -> whether to pay them, as of now; of everybody whom a platform sent and who is not erased."""
        from inpaintbench.annotate.outcomes.payments import payments

        came = self.participants.all(self.study_id)
        return dict(zip(came, payments(self.desk.state(), self.crowd(), came, now=time.time()), strict=True))

    def state(self) -> State:
        """State of the study as it is stored.

        Raises:
            InputError: nobody has answered yet.
        """
        state = self.desk.state()
        if not len(state.submissions.standing()):
            raise InputError(f"nobody has answered in {str(self.folder)!r} yet")
        return state

    def votes(self) -> list[Vote]:
        """Answers that stand and count.

        Raises:
            InputError: there are none, or none that counts.
        """
        counted = self.state().votes()
        if not counted:
            raise InputError(f"all answers in {str(self.folder)!r} are excluded; `inpaintbench annotate include` takes them in")
        return counted

    def rater(self, name: str) -> Rater:
        """The rater called ``name``.

        Raises:
            InputError: there is none.
        """
        for rater in self.people.raters(self.study_id):
            if rater.name.casefold() == name.casefold():
                return rater
        raise InputError(f"the study has no rater called {name!r}; `inpaintbench annotate raters` lists them")

    def judged_by(self, name: str) -> str:
        """The id of the rater called ``name``, or whose id it is: those of imported answers have no other name.

        Raises:
            InputError: there is none.
        """
        return name if name in self.desk.state().raters else self.rater(name).rater_id

    def rater_id(self, name: str, *, role: Role) -> str:
        """The id of the rater called ``name``, who is added where there is none.

        Raises:
            InputError: somebody of another role is called so.
        """
        for rater in self.people.raters(self.study_id):
            if rater.name.casefold() == name.strip().casefold():
                if rater.role != role:
                    raise InputError(f"{name!r} is here as {rater.role} already; choose another name")
                return rater.rater_id
        return self.people.add(self.study.study_id, name, role=role).rater_id


@contextmanager
def opened(folder: Path, database: str | None, *, answers: bool = False) -> Iterator[Opened]:
    """The study in ``folder`` with its journal, which is made where it is not there.

    With ``answers`` the study remembers the journal as the place of its answers.
    """
    study = load(folder)
    url = place_of(folder, database)
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import People
    from inpaintbench.annotate.journal.engines import note

    with Journal(url) as book:
        book.register(study.study_id, title=study.file.title)
        if answers:
            note(folder, url)
        yield Opened(folder, study, book, People(book))


def place_of(folder: Path, database: str | None) -> URL:
    """Return where the journal of the study in ``folder`` lies.

    Raises:
        InputError: no journal can lie there, or it is known to lie elsewhere.
        MissingExtraError: the extra is not installed.
    """
    try:
        from inpaintbench.annotate.journal.engines import place
    except ImportError as error:
        raise MissingExtraError("asking people", "annotate") from error
    return place(database, folder)


def answers_stored(folder: Path, database: str | None) -> Callable[[str], int]:
    """Study id -> how many answers there are in every journal that may hold some.

    Raises:
        InputError: ``database`` is missing where they are known to lie elsewhere, or is another one.
    """
    place_of(folder, database)
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.engines import places_of_answers

    places = places_of_answers(database, folder)

    def count(study_id: str) -> int:
        total = 0
        for url in places:
            with Journal(url) as book:
                total += len(book.events(study_id, kinds=("answer",)))
        return total

    return count
