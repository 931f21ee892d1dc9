"""The pages of alignments and transcripts by axe-core, in light and dark, in a narrow window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser_checks import OpenPage
from tests.eval.test_pages_in_browser import (
    test_axe_finds_nothing_serious_and_nothing_is_fetched,
    test_names_break_after_underscores_alone_in_a_narrow_window,
)
from tests.wings.align.test_write import made as alignment
from tests.wings.editboard.test_transcript import published as transcript

from inpaintbench.wings.align.page import write_alignment
from inpaintbench.wings.editboard.page import write_transcript

__all__ = [
    "test_axe_finds_nothing_serious_and_nothing_is_fetched",
    "test_names_break_after_underscores_alone_in_a_narrow_window",
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    return [write_alignment(folder / "alignment", alignment()), write_transcript(folder / "transcript", transcript())]


def test_a_transcript_shows_the_models_that_are_picked(pages: list[Path], browser: Any) -> None:
    path = next(path for path in pages if path.stem == "transcript")
    tab = OpenPage(browser, path.as_uri())
    shown = tab.page.locator("#transcript section[data-method]:visible")
    every = [part.get_attribute("data-method") for part in shown.all()]
    tab.page.evaluate(f"location.hash = 'methods={every[-1]}'")
    tab.page.wait_for_function("() => document.querySelectorAll('.unpicked').length")
    assert [part.get_attribute("data-method") for part in shown.all()] == every[-1:]
    assert tab.complaints == []
    tab.context.close()
