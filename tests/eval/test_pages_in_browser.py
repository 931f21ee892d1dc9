"""The pages of analyses, alignments and transcripts by axe-core, in light and dark, in a narrow window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.browser_checks import OpenPage, serious_findings
from tests.eval.alignment.test_write import made as alignment
from tests.eval.analysis.test_analysis_tables import two_slices as means
from tests.eval.editboard.test_transcript import published as transcript

from inpaintbench.eval.alignment.page import write_alignment
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.editboard.page import write_transcript


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    return [
        write_analysis(folder / "analysis", means()).page,
        write_alignment(folder / "alignment", alignment()),
        write_transcript(folder / "transcript", transcript()),
    ]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_is_fetched(pages: list[Path], browser: Any, scheme: str) -> None:
    for path in pages:
        tab = OpenPage(browser, path.as_uri(), color_scheme=scheme, viewport={"width": 390, "height": 844})
        assert serious_findings(tab.page, colours_only=scheme == "dark") == [], path.name
        assert (tab.complaints, tab.fetched(path.parent), tab.sticks_out()) == ([], [], 0)
        tab.context.close()
