"""References state what is stated elsewhere in the program, and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.eval.paper.made import dataset
from typer.testing import CliRunner

import inpaintbench
from inpaintbench.catalogue import Catalogue
from inpaintbench.cli import app
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.paper.references import facts, references, tool_entry
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.recipes.about import DEVIL

METHODS_RUN = [
    MethodSpec("lama", "lama"), MethodSpec("telea", "telea"), MethodSpec("mine", "command", {"layout": "plain"}),
    MethodSpec("propainter", "command", {"layout": "propainter", "folder": "/home/ann"}),
]  # fmt: skip
KINDS: dict[str, Catalogue] = {"metric": METRICS, "method": METHODS}


def documented(of: str) -> str:
    """What a leaf and its module say of it."""
    kind, _, name = of.partition(":")
    leaf = KINDS[kind].get(name)
    text = Path(str(__import__(leaf.__module__, fromlist=["_"]).__file__)).read_text()
    return " ".join(text.split())


@pytest.mark.parametrize("key", facts())
def test_what_is_stated_of_a_publication_stands_in_the_documentation_of_its_leaf(key: str) -> None:
    fact = facts()[key]
    for of in fact["of"]:
        text = documented(of)
        assert fact["year"] in text
        assert fact.get("howpublished", "") in text
        if fact.get("title") == DEVIL.paper.title:
            assert (
                fact["author"].replace("Szeto, Ryan", "Ryan Szeto").replace("Corso, Jason J.", "Jason J. Corso")
                == (DEVIL.paper.fields["author"])
            )
            assert "DEVIL" in text
        else:
            assert re.search(rf"\b{fact['author'].split(' ')[0]} (et al\.|\()", text)
            assert fact.get("title", "") in text


def test_every_part_that_is_known_has_an_entry() -> None:
    text = references(dataset(), PROTOCOLS.get("lama"), ["ssim", "lpips", "fid"], METHODS_RUN)
    keys = re.findall(r"^@\w+\{(.*),$", text, re.MULTILINE)
    assert keys == [
        "inpaintbench", "dataset", "protocol", "wang2004ssim", "zhang2018lpips", "heusel2017fid", "suvorov2022lama",
        "program-propainter", "weights-vgg16", "weights-inception-fid",
    ]  # fmt: skip
    assert "follows the released evaluator of LaMa, WACV 2022" in text
    assert "note  = {Commit e870e79, licence S-Lab 1.0, non-commercial}" in text
    assert "https://github.com/sczhou/ProPainter}" in text


def test_the_paper_of_a_benchmark_stands_once_and_a_dataset_is_cited_as_its_publisher_asks() -> None:
    made = replace(dataset(), recipe={"recipe": "devil"}, facts={"dataset": {"citation": "@misc{mine,\n  title = {Mine},\n}"}})
    text = references(made, PROTOCOLS.get("devil/corrected"), ["pcons"], [])
    assert text.count("The DEVIL is in the Details") == 1
    assert "@misc{mine," in text
    assert "@misc{dataset," not in text


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="bibtex is not installed")
def test_bibtex_reads_it(tmp_path: Path) -> None:
    every = PROTOCOLS.get("devil/corrected")
    (tmp_path / "references.bib").write_text(references(dataset(), every, list(every.metrics), METHODS_RUN))
    (tmp_path / "main.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{references}\n")
    done = subprocess.run(["bibtex", "main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_program_says_how_to_cite_it() -> None:
    told = CliRunner().invoke(app, ["--cite"], catch_exceptions=False).output
    assert told == f"{tool_entry()}\n"
    assert f"Version {inpaintbench.__version__}, Apache-2.0" in told
    assert "{{inpaintbench: diagnostic benchmarks for inpainting" in told
