"""Tests of pages in both engines: imported into a `conftest.py`, `browser` is each of them for the files of that folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.long)])
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each of the two engines: what is tried in one is tried in the other."""
    started = request.getfixturevalue(request.param)
    yield started
    for context in started.contexts:
        context.close()
