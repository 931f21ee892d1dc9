"""`eval run --for scores`: precisions and made-up parameters, and what an interrupt leaves."""

from __future__ import annotations

import hashlib
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from old_format import write_one_file
from program import run_here
from scoring_probes import predictions, write_items

from inpaintbench.eval.scoring import precision
from inpaintbench.models import torch_networks
from inpaintbench.types import Prediction, Score
from inpaintbench.workspace import Workspace

METHODS = {"bright": 200, "dark": 10}


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """The command, for two predictions of two methods."""
    dataset = write_items(tmp_path / "data")
    write_one_file(tmp_path / "data", dataset)
    workspace = Workspace(tmp_path / "run")
    for name, level in METHODS.items():
        made = predictions(workspace.blobs, dataset, name, level=level)
        workspace.write_table("predictions", f"predict.{name}", made, Prediction)
    place = (str(tmp_path / "data"), "--run", str(tmp_path / "run"), "--workers", "0", "--device", "cpu")
    return ("eval", "run", "--for=scores", *place, "--protocol", "devil/corrected")


def digests(run: Path) -> dict[str, str]:
    """Of all tables."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (run / "tables").rglob("*.*")}


def fingerprints(run: Path) -> set[str]:
    return {row.fingerprint for row in Workspace(run).table("scores", Score)}


def test_a_lower_precision_says_how_far_it_is_off(words: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    options = ("--metric", "psnr", "--metric", "lpips", "--metric", "vfid", "--random-weights", "3")
    done = run_here(*words, *options, "--precision", "fp32")  # where there is AMX, `auto` tries what is lower and tells it
    assert "fp32" not in done.stdout
    [exact] = fingerprints(tmp_path / "run")
    done = run_here(*words, *options, "--precision", "bf16")
    assert done.returncode == 0, done.stderr
    counts, *lines, follows = done.stdout.splitlines()
    assert counts == "2 items scored under devil/corrected, 0 without a value"
    number = r"[\d.e-]+"
    assert follows.startswith("Next: inpaintbench eval report ")
    assert len(lines) == 2
    assert re.fullmatch(rf"lpips: largest difference from fp32 {number} \({number} %\), 2 items", lines[0])
    assert re.fullmatch(rf"vfid: largest difference from fp32 {number} \({number} %\) of a vector, 2 items", lines[1])
    assert fingerprints(tmp_path / "run") == {exact.replace("+", "+bf16+")}  # and nothing of float32 in the tables
    assert "fp32" not in run_here(*words, "--metric", "psnr", "--random-weights", "3", "--precision", "bf16").stdout


@pytest.mark.parametrize(("bound", "mark"), [(1e-3, "+tf32"), (0.0, "")])
def test_on_a_card_tf32_is_taken_where_it_is_close_enough(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: float, mark: str
) -> None:
    """On the processor TF32 is float32, so that it is always close."""
    pytest.importorskip("torch")
    monkeypatch.setattr(torch_networks, "on_card", lambda compute: True)
    monkeypatch.setattr(precision, "BOUND", bound)
    options = ("--metric", "lpips", "--random-weights", "3")
    done = run_here(*words, *options)
    assert done.returncode == 0, done.stderr
    difference, chosen, *_ = done.stdout.splitlines()
    assert difference == "lpips: largest difference from fp32 0 (0 %), 2 items"
    assert chosen == f"networks run in {mark.strip('+') or 'fp32'}: tf32 is taken where it is off by less than 0.1 %"
    assert {one.rpartition("+random")[0].endswith("+tf32") for one in fingerprints(tmp_path / "run")} == {bool(mark)}
    done = run_here(*words, *options, "--precision", "fp32")
    assert "tf32" not in done.stdout.partition("Next: ")[0]
    assert not any("tf32" in one for one in fingerprints(tmp_path / "run"))


@pytest.mark.parametrize(("bound", "mark"), [(1.0, "+bf16"), (1e-9, "")])
def test_on_a_processor_with_units_for_it_bf16_is_taken_where_it_is_close_enough(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: float, mark: str
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "cpuinfo").write_text("flags\t\t: fpu avx512_bf16 amx_bf16 amx_tile\n")
    monkeypatch.setattr(torch_networks, "_PROCESSOR", tmp_path / "cpuinfo")
    monkeypatch.setattr(torch_networks, "_CARDS", ())
    monkeypatch.setattr(precision, "BOUND", bound)
    done = run_here(*words, "--metric", "lpips", "--random-weights", "3")
    assert done.returncode == 0, done.stderr
    difference, chosen, *_ = done.stdout.splitlines()
    assert difference.startswith("lpips: largest difference from fp32 ")
    assert chosen.startswith(f"networks run in {mark.strip('+') or 'fp32'}: bf16 is taken where it is off by less than ")
    assert {"+bf16" in one for one in fingerprints(tmp_path / "run")} == {bool(mark)}
    assert "bf16" not in run_here(*words, "--metric", "psnr", "--random-weights", "3").stdout


def test_made_up_and_real_scores_never_replace_each_other(words: tuple[str, ...], tmp_path: Path) -> None:
    run, options = tmp_path / "run", ("--metric", "psnr")
    assert run_here(*words, *options).returncode == 0
    real = digests(run)
    refused = run_here(*words, *options, "--random-weights", "3")
    assert refused.returncode == 1
    assert refused.stderr.strip().endswith(
        f"run folder {str(run)!r} holds real scores under 'devil/corrected', which those of made-up parameters would replace; "
        "leave --random-weights out, or predict into a new --run folder for it"
    )
    assert digests(run) == real
    assert run_here(*words, *options).returncode == 0
    other = (*words[:-1], "devil/as-published", *options)  # another protocol is another table
    assert run_here(*other, "--random-weights", "3").returncode == 0
    refused = run_here(*other)
    assert refused.returncode == 1
    [pattern] = re.findall(r"holds scores of made-up .* delete '(.*)'\* first", refused.stderr)
    assert fingerprints(run) > {max(fingerprints(run), key=len)}
    for path in run.glob(f"{Path(pattern).relative_to(run)}*"):
        path.unlink()
    assert run_here(*other).returncode == 0
    assert not any("random" in fingerprint for fingerprint in fingerprints(run))
    assert {name: digest for name, digest in digests(run).items() if name in real} == real


def test_ctrl_c_is_one_line_and_the_next_run_makes_the_same_tables(words: tuple[str, ...], tmp_path: Path) -> None:
    run, options = tmp_path / "run", ("--metric", "psnr")
    shutil.copytree(run, tmp_path / "untouched")
    place = words.index("--workers") + 1
    with_worker = [*words[:place], "1", *words[place + 1 :], *options]
    begun = subprocess.Popen(
        [sys.executable, "-m", "inpaintbench", *with_worker], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    while not (run / "dataset.sha256").exists():  # its worker has not even begun then
        assert begun.poll() is None
        time.sleep(0.01)
    begun.send_signal(signal.SIGINT)
    printed, errors = begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert errors == "inpaintbench: stopped; the same command goes on where it was\n"
    assert printed == ""
    assert digests(run) == digests(tmp_path / "untouched")
    assert not list(run.rglob("*.tmp"))
    assert run_here(*words, *options).returncode == 0
    whole = tuple(word.replace(str(run), str(tmp_path / "untouched")) for word in words)
    assert run_here(*whole, *options).returncode == 0
    assert digests(run) == digests(tmp_path / "untouched")
    # Predictions with their hash; scores with theirs, what they are of and how they were asked for.
    assert len(digests(run)) == 2 * len(METHODS) + 4 * len(METHODS)
