"""The folder of an alignment: the same numbers in every file, equal bytes, nothing of data unescaped."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.wings.align.planted_answers import ballot

from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.wings.align.align import DEFINITION, Alignment, align
from inpaintbench.wings.align.bootstrap import Bootstrap
from inpaintbench.wings.align.page import write_alignment
from inpaintbench.wings.align.reading import TIE, Answers, Ballot, Measured

EVIL = "<script>alert(1)</script>"
FEW = Bootstrap(replicates=100)
VALUES = {
    "psnr": {(f"i{n}", method): float(n + 7 * (method == "a") + (n % 3)) for n in range(8) for method in ("a", EVIL, "c")},
    "mse": {(f"i{n}", method): float((5 * n + 3 * len(method)) % 7) for n in range(8) for method in ("a", EVIL)},
}
SCORED = Measured(VALUES, {"psnr": True, "mse": False}, {"lpips": "no <weights>"})


def answered() -> Answers:
    pairs = [
        ballot(f"i{n}", "a", other, ("a", TIE, other)[(n + r * r) % 3], rater=f"r{r}")
        for n in range(8)
        for other in (EVIL, "c")
        for r in range(4)
    ]
    rows = [Ballot(EVIL, f"i{n}", f"i{n}", ("a", EVIL, "c"), "ac"[n % 2], "r1") for n in range(8)]
    return Answers((*pairs, *rows), {"answers that both are bad": 3})


def made() -> Alignment:
    return align(answered(), SCORED, tie_quantile=0.25, slices={"half": ["i0", "i1", "i2", "i3"]}, bootstrap=FEW)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_all_files_tell_the_same(tmp_path: Path) -> None:
    found = made()
    page = write_alignment(tmp_path / "out", found)
    quality = next(one for one in found.dimensions if one.name == "quality")
    best = next(one for one in found.dimensions if one.name == EVIL)
    plain = json.loads((tmp_path / "out" / "alignment.json").read_text())
    of_json = next(one for one in plain["dimensions"] if one["name"] == "quality")
    lines = {(row["metric"], row["answers"]): row for row in table(tmp_path / "out" / "matching.csv")}
    for line, told in zip(quality.lines, of_json["metrics"], strict=True):
        assert told["rate"]["value"] == line.matched.rate.value == float(lines[line.metric, "all"]["rate"])
        assert float(lines[line.metric, "preferences"]["low"]) == line.matched.decided.low == told["preferences"]["low"]
    assert int(lines["mse", "all"]["not_compared"]) == quality.lines[1].matched.not_compared == 32
    assert plain["definition"] == list(DEFINITION)
    markdown = (tmp_path / "out" / "alignment.md").read_text()
    assert all(sentence in markdown for sentence in DEFINITION)
    assert best.lines == ()
    sums: dict[str, float] = {}
    for row in table(tmp_path / "out" / "selection.csv"):
        if row["share"]:
            sums[row["by"]] = sums.get(row["by"], 0.0) + float(row["share"])
    assert sums == pytest.approx({"people": 1.0, "psnr": 1.0})  # mse lacks a method everywhere
    text = page.read_text()
    assert EVIL not in text
    assert "lpips" in text.lower()
    assert "no &lt;weights&gt;" in text
    figures = sorted((tmp_path / "out").glob("*.svg"))
    assert [path.name.split("-")[0] for path in figures] == ["rates", "scatter"]
    for path in figures:
        ElementTree.fromstring(path.read_text())
    marks = [one.get("aria-label", "") for one in ElementTree.parse(figures[1]).getroot().iter()]
    assert sum(" on i" in label for label in marks) == sum(len(one.points) for one in quality.lines)
    assert [path.with_suffix(".pdf").is_file() for path in figures] == [True, True]


def test_equal_input_gives_equal_bytes_and_replaces_what_was_there(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_alignment(tmp_path / name, made())
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir() if path.suffix != ".pdf"} for name in ("one", "two")
    )
    assert one == two
    only = Answers(tuple(one for one in answered().ballots if len(one.candidates) > 2))
    write_alignment(tmp_path / "one", align(only, SCORED, tie_quantile=0.25, bootstrap=FEW))
    assert not list((tmp_path / "one").glob("*.svg"))
    (tmp_path / "one" / "mine.txt").write_text("")
    with pytest.raises(InputError, match="holds something else than an alignment"):
        write_alignment(tmp_path / "one", made())


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'psnr' has no tie threshold.*add --tie psnr=VALUE, or --tie-quantile"):
        align(answered(), SCORED, tie_eps={"mse": 1.0})
    with pytest.raises(UnknownNameError, match="psnr"):
        align(answered(), SCORED, tie_eps={"psrn": 1.0})
    with pytest.raises(InputError, match="the tie threshold of psnr is -1"):
        align(answered(), SCORED, tie_eps={"psnr": -1.0}, tie_quantile=0.1)
    with pytest.raises(InputError, match="have no item and method in common"):
        align(Answers((ballot("elsewhere", "a", "c", "a"),)), SCORED, tie_quantile=0.1)


def test_a_metric_without_values_of_the_pairs_asked_is_told(tmp_path: Path) -> None:
    only = Answers((ballot("i0", "a", "c", "a"), ballot("i1", "a", "c", "a", rater=None)))
    found = align(only, SCORED, tie_quantile=0.1, bootstrap=FEW).dimensions[0]
    assert dict(found.unmeasured) == {"mse": "no pair that was compared has finite values of both methods"}
    assert found.n_raters is None
    assert found.ceiling is None
    assert write_alignment(tmp_path / "out", align(only, SCORED, tie_quantile=0.1, bootstrap=FEW)).is_file()
