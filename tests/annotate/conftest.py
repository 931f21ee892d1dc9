"""Journals in both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from postgres import Postgres, running_postgres

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of this process; started by the first test that asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def journal_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/journal.sqlite"
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.fresh()
    yield url
    server.drop(url)


@pytest.fixture
def journal(journal_url: str) -> Iterator[Journal]:
    """An open, empty journal."""
    from inpaintbench.annotate.journal import Journal

    opened = Journal(journal_url)
    yield opened
    opened.close()
