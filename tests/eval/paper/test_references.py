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

METHODS_RUN = [
    MethodSpec("lama", "lama"), MethodSpec("telea", "telea"), MethodSpec("mine", "command", {"layout": "plain"}),
    MethodSpec("propainter", "command", {"layout": "propainter", "folder": "/home/ann"}),
]  # fmt: skip
KINDS: dict[str, Catalogue] = {"metric": METRICS, "method": METHODS}


# Plain sums over pixels or vectors, a person's answer, or this program's own: nobody else's publication to cite.
UNPUBLISHED = {
    "psnr", "mse", "masked_psnr", "masked_mse", "masked_mae", "judge", "background_preserved", "effect_removed",
    "effect_residual", "hole_sharpness",
}  # fmt: skip


def test_every_publication_has_what_a_style_needs_and_is_of_leaves_that_stand() -> None:
    for key, fact in facts().items():
        assert {"title", "howpublished", "year"} <= fact.keys(), key
        assert "author" in fact or key == "prove2026"
        for of in fact["of"]:
            kind, _, name = of.partition(":")
            assert name in KINDS[kind], of


def test_every_metric_of_the_core_has_a_publication_or_none() -> None:
    cited = {of.removeprefix("metric:") for fact in facts().values() for of in fact["of"]}
    core = {name for name in METRICS if ".wings." not in METRICS.get(name).__module__}
    assert core - cited == UNPUBLISHED


def test_every_part_that_is_known_has_an_entry() -> None:
    text = references(dataset(), PROTOCOLS.get("lama"), ["ssim", "lpips", "fid"], METHODS_RUN)
    keys = re.findall(r"^@\w+\{(.*),$", text, re.MULTILINE)
    assert keys == [
        "inpaintbench", "dataset", "protocol", "wang2004ssim", "zhang2018lpips", "heusel2017fid", "suvorov2022lama", "telea2004",
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
