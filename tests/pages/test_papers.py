"""Tables as LaTeX and CSV: what a small reader of them finds again."""

from __future__ import annotations

import csv
import io
import re

from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.papers import comma_separated, escaped, latex
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


def test_escaping_leaves_no_command() -> None:
    assert escaped("50 % of $x_1$ ~ \\input{a} ±2 ↑") == (
        r"50 \% of \$x\_1\$ \textasciitilde{} \textbackslash{}input\{a\} $\pm$2 $\uparrow$"
    )


def test_csv_has_full_values_and_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(comma_separated(TABLE))))
    assert rows[0] == ["Method", "Camera motion: low", "Camera motion: high"]
    assert rows[1] == ["my_fill & co", "27.3123", DASH]
    assert rows[2] == ["'=cmd()", "-3.0", "inf"]
