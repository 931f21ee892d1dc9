"""`eval run --for reinpainting` and the commands below it, in this process."""

from __future__ import annotations

import csv
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from tests.wings.reinpaint.again_world import METHODS, World, built_once
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli.evaluate import app as evaluate
from inpaintbench.compute import RANDOM_WEIGHTS
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.methods.each_frame import Exemplar
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.steps import score_step
from inpaintbench.types import Prediction, Score
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.commands import app
from inpaintbench.workspace import Workspace

WORKERS = ("--workers", "0")


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> World:
    """With a run folder of its own."""
    return built_once(tmp_path_factory.getbasetemp() / "again").copied(tmp_path)


def call(*arguments: object) -> Result:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_scores_are_printed_for_each_bin_and_stand_in_the_run_folder(world: World) -> None:
    options = ("--second", "telea", "--masks", 2, "--metric", "ssim", "--fill", "natural")
    done = call(world.root, "--run", world.run, *options, *WORKERS)
    assert "D with SSIM of the frame (higher is better); F2 telea, K 2, P 40%, S 8" in done.output
    assert "0-20%" in done.output
    assert "20-40%" in done.output
    rows = Workspace(world.run).table("scores", Score)
    assert {row.protocol for row in rows} == {"reinpaint/corrected"}
    assert {row.method for row in rows} == {*METHODS, "natural"}
    assert {row.metric for row in rows} == {
        "ssim", "reinpaint_ssim", "reinpaint_known_ssim", "reinpaint_excess_ssim", "reinpaint_original_ssim",
    }  # fmt: skip
    excess = [row.value for row in rows if (row.method, row.metric) == ("natural", "reinpaint_excess_ssim")]
    assert set(excess) == {0.0}
    people = world.run / "votes.csv"
    lines = [f"{row['item_id']},telea" for row in world.dataset.items]
    people.write_text("\n".join(["subject_id,choice", *lines]))
    table = call("selection", world.root, "--run", world.run, "--people", people, "--method", "telea", "--method", "blank")
    assert "like people" in table.output
    assert "3 (0)" in table.output


def test_without_masks_k_is_what_the_dataset_publishes(world: World) -> None:
    done = call(world.root, "--run", world.run, "--second", "telea", "--metric", "psnr", "--method", "telea", *WORKERS)
    assert "F2 telea, K 3, P 40%, S 8" in done.output


def test_sub_metrics_of_one_setting_stand_together_until_predictions_change(world: World) -> None:
    setting = ("--second", "telea", "--masks", 1, "--method", "telea", *WORKERS)
    for metric in ("psnr", "ssim"):
        call(world.root, "--run", world.run, "--metric", metric, *setting)
    workspace, step = Workspace(world.run), score_step("reinpaint/corrected", "telea")
    found = {row.metric: row for row in workspace.table("scores", Score, step=step)}
    assert {"psnr", "ssim", "reinpaint_psnr", "reinpaint_ssim"} <= set(found)
    call(world.root, "--run", world.run, "--metric", "ssim", "--ratio", "0.2", *setting)
    assert "reinpaint_psnr" not in {row.metric for row in workspace.table("scores", Score, step=step)}
    call(world.root, "--run", world.run, "--metric", "psnr", "--ratio", "0.2", *setting)
    rows = workspace.table("predictions", Prediction, step="predict.telea")
    blank = workspace.table("predictions", Prediction, step="predict.blank")
    changed = [replace(one, blob=other.blob) for one, other in zip(rows, blank, strict=True)]
    workspace.write_table("predictions", "predict.telea", changed, Prediction)
    call(world.root, "--run", world.run, "--metric", "ssim", "--ratio", "0.2", *setting)
    assert "reinpaint_psnr" not in {row.metric for row in workspace.table("scores", Score, step=step)}


def test_what_looks_at_the_picture_alone_stands_beside_d(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")

    class Dark(torch.nn.Module):  # type: ignore[misc,name-defined]
        """Black is an artefact, as ``blank`` leaves it."""

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            dark = -1.5 - x.amax(dim=1, keepdim=True)
            return torch.cat([torch.zeros_like(dark), dark], dim=1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(Dark()), tmp_path / "par.pt")
    monkeypatch.setenv("INPAINTBENCH_PAR_NETWORK", str(tmp_path / "par.pt"))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "none"))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    call(world.root, "--run", world.run, "--masks", 1, "--metric", "psnr", *WORKERS)
    scored = CliRunner().invoke(
        evaluate, ["score", str(world.root), "--run", str(world.run), "--protocol", "no-reference/koniq", *WORKERS]
    )
    assert "not measured: musiq: weights missing" in scored.output
    heads = next(line for line in call("selection", world.root, "--run", world.run).output.splitlines() if "method" in line)
    assert "PAR" in heads
    assert "MUSIQ" not in heads

    workspace, fingerprint = Workspace(world.run), PROTOCOLS.get("no-reference/spaq").fingerprint
    items = [str(row["item_id"]) for row in world.dataset.items]
    rows = [
        Score(method, item, "musiq", "frame", "no-reference/spaq", fingerprint, value, None)
        for method, value in (("telea", 60.0), ("blank", 40.0)) for item in items
    ]  # fmt: skip
    for method in METHODS:
        step = score_step("no-reference/spaq", method)
        workspace.write_table("scores", step, [row for row in rows if row.method == method], Score)
    table = call("selection", world.root, "--run", world.run).output
    assert "MUSIQ (SPAQ)" in table
    telea = next(line for line in table.splitlines() if "telea" in line)
    assert telea.count("100 %") >= 2  # fewest black pixels, and more under MUSIQ
    made_up = [replace(row, fingerprint=f"{fingerprint}+{RANDOM_WEIGHTS}1") for row in rows if row.method == "telea"]
    workspace.write_table("scores", score_step("no-reference/spaq", "telea"), made_up, Score)
    with pytest.raises(InputError, match="random weights"):
        call("selection", world.root, "--run", world.run)


def test_the_truth_alone_needs_no_predictions(world: World) -> None:
    run = world.run.parent / "empty"
    Workspace(run)
    done = call(world.root, "--run", run, "--metric", "psnr", "--masks", 1, "--fill", "blend", "--fill", "noise", *WORKERS)
    assert "blend" in done.output
    with pytest.raises(InputError, match="no predictions in"):
        call(world.root, "--run", run, *WORKERS)


def test_the_grid_writes_the_tables_of_the_paper_and_a_gallery(world: World) -> None:
    call(
        "grid", world.root, "--run", world.run, "--second", "telea,radius_pixels=2", "--second", "navier_stokes",
        "--ratio", "0.2", "--ratio", "0.5", "--patch", 16, "--masks", 2, "--metric", "psnr",
        "--metric", "ssim", "--pictures", 1, *WORKERS,
    )  # fmt: skip
    folder = world.run / "reinpaint-grid"
    rows = read(folder / "grid.csv")
    assert len(rows) == 2 * 2 * 2 * 2 * 3 * 2
    assert {row["second"] for row in rows} == {"telea radius_pixels=2", "navier_stokes"}
    assert all(row["value"] for row in rows)
    kept = {(row["second"], row["ratio"], row["first"], row["method"]): float(row["value"])
            for row in rows if (row["objective"], row["submetric"]) == ("1-2", "psnr")}  # fmt: skip
    assert all(kept[(one, "20%", *rest)] > kept[(one, "50%", *rest)] for one, ratio, *rest in kept if ratio == "20%")
    full = read(folder / "full_20-40_50.csv")
    assert [row["method"] for row in full] == ["telea", "blank"] * 2  # the reference last
    assert float(full[0]["First-Second PSNR"]) == kept["telea radius_pixels=2", "50%", "20-40%", "telea"]
    assert {path.stem for path in folder.glob("table_*.csv")} >= {"table_1", "table_2", "table_3"}
    page = (folder / "gallery.html").read_text()
    assert page.count("<img") == (2 + 2) + len(METHODS) * (2 + 2)
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "")  # the name of a language, which nobody fetches
    assert "https:" not in page


@pytest.mark.long
def test_stability_is_tabulated_and_drawn(world: World) -> None:
    done = call("stability", world.root, "--run", world.run, "--masks", 6, "--patch", 8, "--method", "telea", *WORKERS)
    folder = world.run / "reinpaint-stability"
    assert {path.stem for path in folder.glob("*.svg")} == {
        f"stability_{name}" for name in ("seeds", "fill_seeds_psnr", "fill_seeds_ssim", "mask_draws", "objectives", "images", "k")
    }
    assert "normal masks" in done.output
    values: dict[str, list[float]] = {}
    for row in read(folder / "stability_k.csv"):
        values.setdefault(row["row"], []).append(float(row["value"]))
    assert {name: len(found) for name, found in values.items()} == {"K 1": 6, "K 3": 2, "K 6": 1}
    assert values["K 6"][0] == pytest.approx(sum(values["K 1"]) / 6) == pytest.approx(sum(values["K 3"]) / 2)
    assert len(read(folder / "stability_seeds.csv")) == 3
    assert len({row["value"] for row in read(folder / "stability_seeds.csv")}) == 3
    assert "3 seeds of second masks and of F2" in done.output  # exemplar's results differ between seeds


FIGURE = ("stability", "--patch", 8, *WORKERS, "--random-weights", 0)


def spreads(path: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in read(path):
        found.setdefault(row["row"], []).append(float(row["value"]))
    return found


def test_one_picture_and_one_mask_under_many_seeds_of_f2_is_figure_3f(world: World) -> None:
    item = world.dataset.items[-1]["item_id"]
    given = (world.root, "--run", world.run, "--experiment", "fill_seeds", "--seeds", 5, "--item", item)
    done = call(*FIGURE, *given)
    assert "5 seeds of F2, one normal mask and one of patches: LPIPS" in done.output
    found = spreads(world.run / "reinpaint-stability" / "stability_fill_seeds_lpips.csv")
    assert {label: len(values) for label, values in found.items()} == {"normal mask": 5, "patch mask": 5}
    assert all(len(set(values)) == 5 for values in found.values())
    # Against the original by hand: the picture, its own first mask, the fourth seed.
    call(*FIGURE[:-2], *given, "--metric", "psnr", "--second", "exemplar,seed=10")
    found = spreads(world.run / "reinpaint-stability" / "stability_fill_seeds_psnr.csv")
    row = world.dataset.items[-1]
    truth, hole = frozen.truth_and_hole(world.root, row)
    leaf = Exemplar(seed=13)
    again = engine.inpaint_again(leaf, truth, hole, fill=row["fill"], composited=True)
    error = np.mean((again.astype(float) - truth.astype(float)) ** 2)
    assert found["normal mask"][3] == pytest.approx(10 * np.log10(255**2 / error), abs=1e-6)


def test_without_weights_of_lpips_its_twins_stand_in_its_place_with_the_reason(world: World) -> None:
    done = call(*FIGURE[:-2], world.root, "--run", world.run, "--experiment", "fill_seeds", "--seeds", 2)
    told = " ".join(done.stderr.split())
    assert "fill_seeds: LPIPS is not measured (" in told
    assert "in its place stand PSNR and SSIM" in told
    folder = world.run / "reinpaint-stability"
    assert {path.stem for path in folder.glob("*.csv")} == {"stability_fill_seeds_psnr", "stability_fill_seeds_ssim"}


def test_a_deterministic_f2_has_no_spread_over_seeds(world: World) -> None:
    given = (world.root, "--run", world.run, "--experiment", "fill_seeds", "--seeds", 3, "--second", "telea")
    with pytest.raises(InputError, match="'telea' is deterministic: it takes no seed and gave the same result twice"):
        call(*FIGURE, *given)
    with pytest.raises(InputError, match="has no item 'nothing'"):
        call(*FIGURE, *given, "--item", "nothing")


def test_what_was_called_masks_goes_on_under_a_name_that_says_what_varies(world: World) -> None:
    done = call(*FIGURE[:-2], world.root, "--run", world.run, "--experiment", "masks", "--masks", 3)
    assert "the experiment masks is called mask_draws now; the paper's Fig. 3f is fill_seeds" in " ".join(done.stderr.split())
    assert (world.run / "reinpaint-stability" / "stability_mask_draws.csv").is_file()


def test_figure_4_is_one_option_and_needs_no_predictions(world: World) -> None:
    folder = world.run.parent / "new"
    given = (world.root, "--run", folder, "--experiment", "objectives", "--seeds", 4, "--metric", "ssim")
    done = call(*FIGURE, *given, "--first", "exemplar,seed=3", "--second", "telea")
    assert "Objectives under 4 seeds of the first method: SSIM" in done.output
    found = spreads(folder / "reinpaint-stability" / "stability_objectives_ssim.csv")
    assert {label: len(values) for label, values in found.items()} == {"0-1": 4, "0-2": 4, "1-2": 4}
    assert all(len(set(values)) == 4 for values in found.values())
    assert Workspace(folder).steps("predictions") == []
    with pytest.raises(InputError, match="'telea' is deterministic"):
        call(*FIGURE, *given, "--first", "telea")


def test_the_console_says_where_d_prefers_results_to_the_truth_itself(world: World) -> None:
    done = call(
        world.root, "--run", world.run, "--second", "telea", "--masks", 2, "--metric", "psnr", "--fill", "natural", *WORKERS
    )
    rows = [row for row in Workspace(world.run).table("scores", Score) if row.metric == "reinpaint_excess_psnr"]
    values = {name: [row.value for row in rows if row.method == name] for name in ("telea", "blank", "natural")}
    # What telea made smooth telea repeats better than the photograph; the black holes of blank it does not.
    assert sum(values["telea"]) > 0 > max(values["blank"])
    told = " ".join(done.stderr.split())
    assert "D with PSNR of the frame prefers to the truth itself: telea (0-20%: +" in told
    assert "blank (" not in told
    assert "natural (" not in told


def test_one_picture_under_seeds_of_the_first_method_is_figure_4(world: World) -> None:
    dataset, place = str(world.root), ("--run", str(world.run), *WORKERS)
    seeds = [option for seed in (0, 1) for option in ("--method", f"s{seed}=exemplar,seed={seed}")]
    assert CliRunner().invoke(evaluate, ["predict", dataset, *place, *seeds], catch_exceptions=False).exit_code == 0
    given = (world.root, *place, "--masks", 1, "--patch", 8, "--method", "s0", "--method", "s1", "--experiment", "objectives")
    call("stability", *given)
    found: dict[str, list[float]] = {}
    for row in read(world.run / "reinpaint-stability" / "stability_objectives.csv"):
        found.setdefault(row["row"], []).append(float(row["value"]))
    for objective in ("0-1", "0-2", "1-2"):
        one, other = found[f"{objective}, first item"]
        assert one != other
    with pytest.raises(InputError, match="second masks of ratio 0 hide nothing"):
        call("stability", world.root, *place, "--experiment", "k", "--ratio", "0", "--method", "telea")


def test_the_papers_tables_are_written(tmp_path: Path) -> None:
    call("paper", "--out", tmp_path / "paper")
    text = (tmp_path / "paper" / "tables.md").read_text()
    assert "| 40-60% | StableDiffusion | 0.2643 | 0.4144 | **0.2089** |" in text
    assert len(list((tmp_path / "paper").glob("full_*.csv"))) == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--second", "telae"), "did you mean 'telea'"),
        (("--second", "telea,radius=3"), "telea"),
        (("--ratio", "half"), "ratio 'half' is neither a number"),
        (("--ratio", "0.1-0.2-0.3"), "more than two numbers"),
        (("--ratio", "1.5"), "second ratio 1.5"),
        (("--masks", "9"), "publishes 3 second masks"),
        (("--method", "lama"), "no predictions of 'lama'"),
        (("--metric", "fid"), "not among psnr, ssim, lpips"),
        (("--fill", "blurr"), "unknown synthetic fill"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(world: World, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=words):
        call(world.root, "--run", world.run, *arguments, *WORKERS)
