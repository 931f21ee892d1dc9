"""Tables as LaTeX and CSV: what a small reader of them finds again."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.tables import comma_separated, escaped, latex
from inpaintbench.pages.words import DASH

TABLE = Table(
    columns=(
        Column("Method"),
        Column("low", numeric=True, group="Camera motion"),
        Column("high", numeric=True, group="Camera motion"),
    ),
    rows=(
        Row((Cell("my_fill & co", method="my_fill"), Cell("27.31", 27.3123, note="26.1 to 28.4", strong=True), Cell(DASH, None))),
        Row((Cell("=cmd()"), Cell("-3.00", -3.0), Cell("∞", float("inf"))), kind=""),
        Row((Cell("blank"), Cell("6.90", 6.9), Cell("7.00", 7.0)), kind="floor"),
    ),
)


def test_latex_has_one_cell_a_column_rules_of_booktabs_and_nothing_unescaped() -> None:
    text = latex(TABLE, comment="protocol devil/corrected\nmanifest 12ab")
    lines = text.splitlines()
    assert lines[:3] == ["% protocol devil/corrected", "% manifest 12ab", r"\begin{tabular}{lrr}"]
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\midrule", r"\bottomrule"]
    assert r"\cmidrule(lr){2-3}" in lines
    rows = [line for line in lines if line.endswith(r"\\")]
    # Two spanned columns are one cell.
    assert [len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows] == [2, 3, 3, 3, 3]
    assert rows[2] == r"my\_fill \& co & \textbf{27.31} {\scriptsize 26.1 to 28.4} & -- \\"
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert lines[-1] == r"\end{tabular}"


PARTLY = Table(
    columns=(Column("Method"), Column("All items", numeric=True, note="n 21"), Column("low", numeric=True, note="n 9")),
    rows=(
        Row((Cell("part"), Cell("24.92", 24.92, note="20 to 30", below="n 7 · 14 ∞", strong=True), Cell("24.00", 24.0))),
        Row((Cell("whole"), Cell("22.00", 22.0), Cell("21.00", 21.0))),
    ),
)


def test_what_a_mean_leaves_out_stands_beside_it() -> None:
    rows = [line for line in latex(PARTLY).splitlines() if line.endswith(r"\\")]
    assert rows[0] == r"Method & All items {\scriptsize n 21} & low {\scriptsize n 9} \\"
    assert rows[1] == r"part & \textbf{24.92} {\scriptsize 20 to 30; n 7 $\cdot$ 14 $\infty$} & 24.00 \\"
    assert list(csv.reader(io.StringIO(comma_separated(PARTLY)))) == [
        ["Method", "All items", "All items: note", "All items: bold", "low"],
        ["part", "24.92", "n 7 · 14 ∞", "bold", "24.0"],
        ["whole", "22.0", "", "", "21.0"],
    ]


def test_the_line_below_a_table_goes_wherever_it_is_copied() -> None:
    table = replace(PARTLY, foot="Bold: 95 % sure.")
    lines = latex(table).splitlines()
    assert lines[-2] == r"\multicolumn{3}{@{}p{\linewidth}@{}}{\scriptsize Bold: 95 \% sure.} \\"
    assert lines[-3:] == [r"\bottomrule", lines[-2], r"\end{tabular}"]
    assert [row[-1] for row in csv.reader(io.StringIO(comma_separated(table)))] == ["Note", "Bold: 95 % sure.", ""]


def test_escaping_leaves_no_command() -> None:
    assert escaped("50 % of $x_1$ ~ \\input{a} ±2 ↑") == (
        r"50 \% of \$x\_1\$ \textasciitilde{} \textbackslash{}input\{a\} $\pm$2 $\uparrow$"
    )


def test_csv_has_full_values_and_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(comma_separated(TABLE))))
    assert rows[0] == ["Method", "Camera motion: low", "Camera motion: low: bold", "Camera motion: high"]
    assert rows[1] == ["my_fill & co", "27.3123", "bold", DASH]
    assert rows[2] == ["'=cmd()", "-3.0", "", "inf"]
