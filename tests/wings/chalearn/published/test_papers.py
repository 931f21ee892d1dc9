"""Tables of papers: as many values as columns, and the command prints them."""

from __future__ import annotations

import re

import pytest
from tests.wings.reinpaint.paper_tables import TABLE_5
from typer.testing import CliRunner

from inpaintbench.cli import app
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.wings.chalearn.published import chalearn_joints, chalearn_tables, paper_tables

PAPERS = ("editboard", "reinpaint")


@pytest.mark.parametrize("paper", PAPERS)
def test_rows_are_whole_and_printed_digit_for_digit(paper: str) -> None:
    run = CliRunner(env={"COLUMNS": "250"}).invoke(app, ["eval", "table", "--for=ranks", "--published", "--paper", paper])
    printed = [line.strip("│ ").split() for line in run.output.splitlines()]
    for table in paper_tables(paper):
        assert {len(values) for values in table.rows.values()} == {len(table.columns)}
        for name, values in table.rows.items():
            assert " │ ".join([name, *values]).split() in printed


def test_what_is_kept_of_editboard() -> None:
    tables = paper_tables("editboard")
    assert [(table.number, table.part) for table in tables] == [(1, "SOSA"), (1, "SE"), (1, "SOMA"), (1, "MOA"), (2, ""), (3, "")]
    assert sum(len(values) for table in tables for values in table.rows.values()) == 5 * (9 + 3 * 8) + 2 * 5
    assert all(column in METRICS for table in tables for column in table.columns)
    assert all(("semantic_score" in table.columns) == (table.part in ("SOSA", "")) for table in tables)


def test_tables_say_what_they_compare_with_and_which_way_is_better() -> None:
    sosa, *_, pearson = paper_tables("editboard")
    assert sosa.rows["FateZero"][:3] == ("8.0082", "0.1723", "25.2665")
    assert sosa.heads[:4] == ("ff_alpha ↓", "ff_beta ↓", "semantic_score ↓", "success_rate ↑")
    assert pearson.heads == pearson.columns  # of agreement with people
    of_papers = [table.ours for paper in PAPERS for table in paper_tables(paper)]
    named = re.findall(r"[a-z]+/[a-z-]+", " ".join([*of_papers, *(table.ours for table in chalearn_tables().values())]))
    assert set(named) == {
        "editboard/as-published-gif", "reinpaint/as-published", "humans/as-published", "decaption/as-published",
        "fingerprint/as-published",
    }  # fmt: skip
    assert all(name in PROTOCOLS for name in named)


def test_margins_of_synthetic_pictures() -> None:
    table, *_ = paper_tables("reinpaint")
    natural, blend, noise = (list(map(float, table.rows[name])) for name in ("Natural", "Blend", "Noise"))
    assert [round(a - b, 4) for a, b in zip(blend, natural, strict=True)] == [0.0021, 0.0034, 0.0075]
    assert [round(a - b, 4) for a, b in zip(noise, natural, strict=True)] == [0.0022, 0.0030, 0.0004]


def test_table_5_of_reinpainting_is_that_of_the_transcription() -> None:
    tables = [table for table in paper_tables("reinpaint") if table.number == 5]
    assert [table.part for table in tables] == [f"first mask {edges} %" for edges in ("0-20", "20-40", "40-60")]
    for table, expected in zip(tables, TABLE_5.values(), strict=True):
        assert {name: tuple(map(float, values)) for name, values in table.rows.items()} == {
            name: tuple(judged) for name, judged in expected.items()
        }
        for column in range(1, 7, 2):  # of pictures, in whole per cent
            assert abs(sum(float(values[column]) for values in table.rows.values()) - 100) <= 2


def test_joints_are_printed() -> None:
    run = CliRunner(env={"COLUMNS": "250"}).invoke(app, ["eval", "table", "--for=ranks", "--published", "--joints"])
    printed, joints = [line.strip("│ ").split() for line in run.output.splitlines()], chalearn_joints()
    for joint in joints["UNLU"]:
        assert f"{joint} │ {joints['UNLU'][joint]:.2f} │ {joints['Inception'][joint]:.2f}".split() in printed


def test_the_command_prints_them() -> None:
    run = CliRunner().invoke(app, ["eval", "table", "--for=ranks", "--published", "--paper", "editboard", "--table", "2"])
    assert run.exit_code == 0
    assert "92.54" in run.output
    assert "FateZero" not in run.output
    with pytest.raises(UnknownNameError, match="editbord"):
        paper_tables("editbord")
