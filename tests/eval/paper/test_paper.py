"""What a paper gets of a run: its numbers, its marks, what compiles, and the archive that proves it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.eval.paper.made import FLOOR, METHODS, METRICS, dataset, paper, results, source

import inpaintbench
from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.eval.paper import write
from inpaintbench.eval.paper.figures import STYLES, chosen_items
from inpaintbench.eval.paper.tables import printable
from inpaintbench.eval.paper.write import verify_paper, write_paper
from inpaintbench.eval.report.tables import score_table
from inpaintbench.eval.report.two_methods import compare, text_rows
from inpaintbench.eval.results.quantity import Quantity, first_shown
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.tables import escaped, latex

PSNR = Quantity("psnr", "hole")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paper(tmp_path_factory.mktemp("paper") / "paper").parent


def cells_of(text: str) -> dict[str, list[str]]:
    """First cell of each row of a LaTeX table -> the others."""
    rows = [
        [beside(cell) for cell in line.removesuffix(r" \\").split(" & ")] for line in text.splitlines() if line.endswith(r" \\")
    ]
    return {row[0]: row[1:] for row in rows}


def beside(cell: str) -> str:
    """A cell whose small print stands below its number, as it is where it stands beside it."""
    return re.sub(r"\\begin\{tabular\}\[t\]\{@\{\}r@\{\}\}(.*)\\\\\[-2pt\](.*)\\end\{tabular\}", r"\1 \2", cell)


def plain(cell: str) -> str:
    return re.sub(r" ?\{\\scriptsize .*\}", "", cell).replace(r"\textbf{", "").replace("}", "")


def test_the_folder_holds_what_a_paper_needs(folder: Path) -> None:
    figures = {f"{name}.{ending}" for name in ("speed", "means", "effects", "frames") for ending in ("pdf", "svg")}
    texts = {"table1.tex", "table2.tex", "cost.tex", "main.tex", "references.bib", "environment.json", "scores.csv", "paper.json"}
    assert {path.name for path in folder.iterdir()} == figures | texts | {"SHA256SUMS", "paper.zip"}


def test_every_number_is_that_of_the_tables_and_comparisons_to_its_last_digit(folder: Path) -> None:
    of = results()
    first, second = (cells_of((folder / name).read_text()) for name in ("table1.tex", "table2.tex"))
    assert [head.split(" ")[0].lower() for head in first["Method"]] == list(METRICS)
    for place, metric in enumerate(METRICS):
        quantity = next(one for one in of.quantities if one.metric == metric)
        whole = cells_of(latex(score_table(of, quantity)))
        for name in map(escaped, (*METHODS, FLOOR)):
            assert first[name][place] == whole[name][0].replace("; N = 300, d = 2048", "")
    by_slice = cells_of(latex(score_table(of, PSNR)))
    for name in map(escaped, (*METHODS, FLOOR)):
        assert [plain(cell) for cell in second[name]] == [plain(cell) for cell in by_slice[name]]
    assert len(second["Method"]) == 1 + len(of.dataset.slices)
    shown = [one for one in of.quantities if one.metric != "fid"]
    for one, other in itertools.combinations(METHODS, 2):  # what `eval compare` prints of each two
        rows, _ = text_rows(compare(of, one, other, quantities=shown, slices=[of.everything, *of.dataset.slices]))
        means = {(row[0].partition(",")[0], row[2]): [cell.removesuffix("*") for cell in row[4:6]] for row in rows}
        for name, place in ((one, 0), (other, 1)):
            for column, quantity in enumerate(shown):
                told = means[quantity.metric, of.everything.name][place]
                left_out = one == "my_method" or other == "my_method"  # of SSIM it lacks an item, and pairs count what both have
                assert told == plain(first[escaped(name)][column]) or (quantity.metric == "ssim" and left_out)
            for column, part in enumerate((of.everything, *of.dataset.slices)):
                assert means["psnr", part.name][place] == plain(second[escaped(name)][column])


def test_bold_is_what_paired_tests_tell_and_nothing_below_six_sources(folder: Path, tmp_path: Path) -> None:
    of, first = results(), cells_of((folder / "table1.tex").read_text())
    bold = {name for name in METHODS if first[escaped(name)][0].startswith(r"\textbf")}
    assert bold == of.best(of.everything, PSNR)
    assert bold
    few = paper(tmp_path / "few", sources="abcde"[: ENOUGH_SOURCES - 1]).parent
    for name in ("table1.tex", "table2.tex"):
        assert r"\textbf" in (folder / name).read_text()
        text = (few / name).read_text()
        assert r"\textbf" not in text
    assert "Nothing is bold here: 5 sources: an interval, rank or lead needs at least 6." in (few / "main.tex").read_text()


def test_costs_are_those_that_are_known(folder: Path) -> None:
    rows = cells_of((folder / "cost.tex").read_text())
    assert rows[r"my\_method"] == ["0.0010", "703 MiB", "--", "24", "51.2 M", "3.25 G", "2 cores"]
    assert rows["telea"][4:6] == ["--", "--"]
    assert set(rows[FLOOR]) == {"--"}


def test_items_of_the_strip_are_chosen_by_rule(folder: Path) -> None:
    of = results()
    chosen = chosen_items(of, PSNR)
    means = {item: sum(of.value(name, item, PSNR) or 0 for name in METHODS) / 4 for item in of.sources}
    median = next(item for item, rule in chosen.items() if rule.startswith("median"))
    assert sorted(means.values())[(len(means) - 1) // 2] == pytest.approx(means[median])
    assert list(chosen.values())[-1].endswith("greatest disagreement")
    svg = (folder / "frames.svg").read_text()
    assert svg.count("<image ") == len(chosen) * (2 + len(METHODS) - 1)
    assert svg.count(">no result<") == len(chosen), "a method keeps its place where it has none"
    assert all(item in svg for item in chosen)
    assert "chosen by rule, not by hand" in (folder / "main.tex").read_text()


def test_truths_that_are_held_back_are_in_no_figure(tmp_path: Path) -> None:
    of = results()
    rows = tuple({**row, "split": "test" if row["source_id"] in "abcd" else "train"} for row in dataset().items)
    hidden = replace(dataset(), items=rows, facts={**dataset().facts, "truth_of": {"splits": ["test"]}})
    part = Results(hidden, of.scores, protocol=of.protocol, slice_scores=of.slice_scores, references=[FLOOR])
    assert {item[0] for item in chosen_items(part, PSNR)} <= set("ef")
    write_paper(tmp_path / "paper", part, source(part), style="acm")
    assert "of those whose truth is public" in (tmp_path / "paper" / "main.tex").read_text()


@pytest.mark.parametrize("style", [pytest.param(style, marks=[] if style == "cvpr" else [pytest.mark.long]) for style in STYLES])
def test_figures_are_as_wide_as_the_columns(style: str, folder: Path, tmp_path: Path) -> None:
    made = folder if style == "cvpr" else paper(tmp_path / style, style=style).parent
    sheet = STYLES[style]
    for name, inches in {"speed": sheet.column_inches, "means": sheet.text_inches, "effects": sheet.text_inches}.items():
        svg = (made / f"{name}.svg").read_text()
        width = re.search(r'<svg[^>]* width="([0-9.]+)"', svg)
        assert width
        assert float(width[1]) == pytest.approx(72 * inches, abs=4)
        assert set(re.findall(r'font-size="([0-9.]+)px"', svg)) == {str(sheet.figure_points)}
        assert "Liberation Serif" in svg


@pytest.mark.long
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("style", STYLES)
def test_the_document_compiles_as_it_is(style: str, tmp_path: Path) -> None:
    made = paper(tmp_path / "paper", style=style).parent
    commands = [["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main"]] * 2
    commands.insert(1, ["bibtex", "main"])
    for command in commands:
        done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:]
    assert (made / "main.pdf").stat().st_size > 20_000
    assert "Overfull \\hbox" not in (made / "main.log").read_text(errors="replace")


def test_facts_name_versions_licences_and_no_place_of_a_machine(folder: Path) -> None:
    facts = json.loads((folder / "environment.json").read_text())
    assert facts["dataset"]["manifest_sha256"] == "ab" * 32
    assert facts["dataset"]["licences"] == {"CC-BY-4.0": 4, "not stated": 20}
    assert facts["protocol"]["fingerprint"] == results().fingerprint
    assert facts["methods"]["telea"]["constants"] == {"radius_pixels": 3.0}
    assert facts["methods"]["my_method"] == {"leaf": "command", "constants": {}, "version": "1.2"}
    assert all(b"/home/ann" not in path.read_bytes() for path in folder.iterdir())


def test_the_same_run_makes_the_same_archive(folder: Path, tmp_path: Path) -> None:
    assert paper(tmp_path / "again").read_bytes() == (folder / "paper.zip").read_bytes()
    with zipfile.ZipFile(folder / "paper.zip") as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {name: archive.read(name) for name in names} == {name: (folder / name).read_bytes() for name in names}


def test_the_archive_makes_its_tables_again_where_no_dataset_is(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copy(folder / "paper.zip", tmp_path / "elsewhere.zip")
    assert verify_paper(Path(copy)) == (16, 3)


def test_another_machine_proves_it_without_dataset_run_or_pixels(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(folder / "paper.zip") as archive:
        for name in archive.namelist():
            if not name.endswith((".pdf", ".svg")):  # figures are drawn, and nothing is made of them
                assert b"PNG" not in archive.read(name)
    for place in ("home", "work"):
        (tmp_path / place).mkdir()
    shutil.copy(folder / "paper.zip", tmp_path / "work")
    own = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(inpaintbench.__file__).parents[1])}
    words = [sys.executable, "-m", "inpaintbench", "eval", "verify", "paper.zip"]
    done = subprocess.run(words, cwd=tmp_path / "work", env=own, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "16 files as written, 3 tables made again from the scores byte for byte" in done.stdout
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["paper.zip"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_stopped_in_the_middle_leaves_the_earlier_paper_or_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "before")

    def stopped(chart: Any, path: Path) -> Path:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "save_chart", stopped)
    for name in ("before", "new"):
        with pytest.raises(KeyboardInterrupt):
            paper(tmp_path / name, style="acm")
    assert [path.name for path in tmp_path.iterdir()] == ["before"]
    assert contents(tmp_path / "before") == contents(folder)


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.eval.paper.made import paper
from inpaintbench.eval.paper import write
write.save_chart = lambda chart, path: path.write_bytes(b"half") and os.kill(os.getpid(), signal.SIGKILL)
paper(Path(sys.argv[1]), style="acm")
"""


@pytest.mark.long
def test_what_is_killed_in_the_middle_is_never_taken_for_whole(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "before")
    paths = os.pathsep.join(filter(None, sys.path))
    for name in ("before", "new"):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / name)], env={**os.environ, "PYTHONPATH": paths}, check=False
        )
        assert done.returncode == -signal.SIGKILL
    assert contents(tmp_path / "before") == contents(folder)
    assert not (tmp_path / "new").exists()
    assert len(list(tmp_path.iterdir())) == 3, "what was begun lies beside it, under names of its own"
    for name in ("before", "new"):
        assert verify_paper(paper(tmp_path / name)) == (16, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["before", "new"]


def altered(archive: Path, to: Path, name: str, old: bytes, new: bytes, *, sealed: bool = True) -> Path:
    """A copy in which a file is another; ``sealed``: with the hash of that."""
    with zipfile.ZipFile(archive) as whole:
        files = {one: whole.read(one) for one in whole.namelist()}
    assert old in files[name]
    before = hashlib.sha256(files[name]).hexdigest()
    files[name] = files[name].replace(old, new, 1)
    if sealed:
        after = hashlib.sha256(files[name]).hexdigest()
        files["SHA256SUMS"] = files["SHA256SUMS"].replace(before.encode(), after.encode())
    with zipfile.ZipFile(to, "w") as made:
        for one, data in files.items():
            made.writestr(one, data)
    return to


def test_whatever_was_altered_is_found(folder: Path, tmp_path: Path) -> None:
    archive, to = folder / "paper.zip", tmp_path / "other.zip"
    with pytest.raises(VerifyError, match=r"1 of 16 files of .* are not what was written: main.tex"):
        verify_paper(altered(archive, to, "main.tex", b"article", b"Article", sealed=False))
    with pytest.raises(VerifyError, match=r"make other tables than it holds: table1.tex"):
        verify_paper(altered(archive, to, "table1.tex", b"toprule", b"midrule"))
    with pytest.raises(VerifyError, match=r"make other tables than it holds: table1.tex, table2.tex"):
        verify_paper(altered(archive, to, "scores.csv", b",30.0,", b",35.0,"))
    with pytest.raises(VerifyError, match="make no tables"):
        verify_paper(altered(archive, to, "paper.json", b'"items"', b'"atoms"'))
    with pytest.raises(InputError, match="cannot stand in one report"):
        verify_paper(altered(archive, to, "paper.json", b"devil/corrected", b"devil/imperfect"))
    to.write_bytes(b"no archive")
    with pytest.raises(InputError, match="is no whole archive"):
        verify_paper(to)


def test_nothing_else_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else than a paper"):
        write_paper(tmp_path, results(), source(results()), style="acm")


def test_letters_that_the_fonts_lack_are_numbers() -> None:
    assert printable("Bär – 方") == "Bär – [U+65B9]"


def test_the_dataset_of_these_tests_has_a_primary_quantity() -> None:
    assert first_shown(results().quantities, results().protocol) == PSNR
    assert len(dataset().items) == 24
