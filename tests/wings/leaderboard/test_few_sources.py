"""Beside a mean on the pages of a leaderboard: nothing with five sources, all of it with six."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.eval.comparing.test_few_sources import METHODS, WORDS, read_csv, told, world

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.wings.leaderboard.board import Board, Entry
from inpaintbench.wings.leaderboard.checking import Submission
from inpaintbench.wings.leaderboard.contents import Card, Header
from inpaintbench.wings.leaderboard.write import write_site

CORRECTED = PROTOCOLS.get("devil/corrected")


def board_of(sources: int) -> Board:
    of, rows = world(sources)
    entries = []
    for method in METHODS:
        own = tuple(one for one in rows if one.method == method)
        header = Header(1, method, of.name, "0", CORRECTED.name, CORRECTED.fingerprint, {}, {}, {}, {}, {})
        card = Card(method.capitalize(), (), {"summary": "A method."}, {})
        entries.append(
            Entry(method, Submission(Path(f"{method}.zip"), method * 16, header, card, own, (), ()), {}, None, trusted=True)
        )
    return Board(of, CORRECTED, entries)


@pytest.mark.parametrize("sources", [5, 6])
def test_the_leaderboard(sources: int, tmp_path: Path) -> None:
    board, few = board_of(sources), sources == 5
    root = write_site(tmp_path / "site", board).parent
    files = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.*") if path.suffix in (".csv", ".html")}
    table = read_csv(files["leaderboard.csv"])
    columns = ("place", "mean_place", "metric_place", "interval_low", "standard_error", "p_against_best")
    assert (told(table, *columns) == {""}) == few
    assert "" not in told(table, "mean")
    front = files["index.html"]
    for words in ("Best mean place", "First by most metrics", "First in most slices"):
        assert (words not in front) == few
    for name in ("index.html", "slices/01-x-low.html", "slices/02-x-high.html"):
        body = files[name][files[name].index("<main") :]
        for mark in (r"\d – \d", r'<td class="score [^"]*best', 'title="place ', r'whisker" aria-hidden="true"><i'):
            assert (re.search(mark, body) is None) == few, (name, mark)
    assert (f"has no mean place: {WORDS}." in front) == few
