"""One server for the tests that only ask it things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from annotated_server import EVIL, QUESTIONS, Served, served
from engines import browser as browser
from studies_made import write_study

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.study import Study

PASSWORD = "correct horse battery"


@dataclass
class Room:
    """A study, its people and its server."""

    study: Study
    folder: Path
    server: Served
    people: People
    raters: dict[str, str]
    """Name -> rater id."""
    tokens: dict[str, str]
    """Name -> session token."""


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Raters ``ada`` and ``bob``, admin ``root``, and a rater with a name that is HTML; plenty of tasks."""
    folder = tmp_path_factory.mktemp("room") / "study"
    made = write_study(folder, QUESTIONS, subjects=40, proxies=3, title=f"Study {EVIL}", welcome=EVIL)
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(made.study_id, title=made.file.title)
        people = People(journal)
        raters = {name: people.add(made.study_id, name).rater_id for name in ("ada", "bob", "carl", "dora", "erin", EVIL[:60])}
        raters["root"] = people.add(made.study_id, "root", role="admin").rater_id
        people.set_password(made.study_id, raters["ada"], PASSWORD)
        with served(folder) as server:
            tokens = {name: server.enter(people.invite(made.study_id, rater_id)) for name, rater_id in raters.items()}
            yield Room(made, folder, server, people, raters, tokens)
