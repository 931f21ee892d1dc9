"""A reference method is shown on a leaderboard, and competes for no place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.eval.scoring.test_references import PSNR, read_csv, world

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Score
from inpaintbench.wings.leaderboard.board import Board, Entry
from inpaintbench.wings.leaderboard.checking import Submission
from inpaintbench.wings.leaderboard.contents import Card, Header, header_bytes, read_header
from inpaintbench.wings.leaderboard.write import write_site

CORRECTED = PROTOCOLS.get("devil/corrected")


def entry(method: str, rows: list[Score]) -> Entry:
    header = Header(1, method, "hand-made", "0", CORRECTED.name, CORRECTED.fingerprint, {}, {}, {}, {}, {}, method == "blank")
    card = Card(method.capitalize(), (), {"summary": "A method."}, {})
    own = tuple(row for row in rows if row.method == method)
    return Entry(method, Submission(Path(f"{method}.zip"), method * 16, header, card, own, (), ()), {}, None, trusted=True)


def test_a_leaderboard_shows_it_last_and_without_a_place(tmp_path: Path) -> None:
    of, rows = world()
    board = Board(of, CORRECTED, [entry(method, rows) for method in ("blank", "good", "fair")])
    found = board.rows(board.slices[0], "frame")
    assert [(row.entry.label, row.place) for row in found] == [("good", 1), ("fair", 2), ("blank", None)]
    assert found[-1].reason == "a reference, which does not compete"
    assert not found[-1].cells[PSNR].best
    site = write_site(tmp_path / "site", board).parent
    front = (site / "index.html").read_text()
    assert "2 submissions</strong> beside 1 reference" in front
    assert "1 of 2" in (site / "methods" / found[0].entry.page).read_text()
    table = read_csv((site / "leaderboard.csv").read_text())
    assert {row["metric_place"] for row in table if row["reference"] == "True"} == {""}
    assert {row["method"] for row in table if row["reference"] == "True"} == {"blank"}


def test_the_header_of_a_submission_says_it_where_it_is_so() -> None:
    header = entry("good", []).submission.header
    assert b"reference" not in header_bytes(header)
    assert read_header(header_bytes(header)) == header
    floor = replace(header, reference=True)
    assert read_header(header_bytes(floor)) == floor
