"""`export freeze --hold-back`, and a challenge from end to end: predict on what is public, score on what was kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from built import built
from held_back_films import make_films
from old_format import one_file, write_fields
from program import run_here
from publishing_data import contents

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.run_folder import bind, check_reportable
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.holding_back import hold_back
from inpaintbench.export.publishing.fetch import limited
from inpaintbench.files import file_sha256
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Prediction, Score
from inpaintbench.wings.chalearn.decaption import DecaptionRecipe
from inpaintbench.wings.editboard.recipe import EditingRecipe
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.workspace import Workspace

METRICS = ("--metric", "psnr", "--metric", "ssim", "--metric", "mse")
HERE = ("--workers", "0")
SENTENCE = (
    "the truth of 2 items is held back: score them with the dataset 'films (truth)', for example FOLDER-truth, which `export "
    "freeze --hold-back` wrote beside it"
)


def divided(tmp_path: Path, *splits: str) -> tuple[Path, Path, Path]:
    """The whole, the public dataset and the truth, of films in these splits."""
    whole, public, truth = make_films(tmp_path / "made", splits=splits), tmp_path / "public", tmp_path / "public-truth"
    hold_back(whole, splits=["test"], public=public, truth=truth)
    return whole, public, truth


def values(run: Path) -> dict[tuple[str, str, str, str], float | None]:
    return {(row.method, row.item_id, row.metric, row.region): row.value for row in Workspace(run).table("scores", Score)}


def evaluated(predicted: Path, scored: Path, run: Path) -> Any:
    done = run_here("eval", "run", "--for=predictions", predicted, "--run", run, "--method", "telea", "--method", "blank", *HERE)
    assert done.returncode == 0, done.stderr
    return run_here("eval", "run", "--for=scores", scored, "--run", run, *METRICS, *HERE)


def test_a_challenge_gives_the_scores_of_the_whole(tmp_path: Path) -> None:
    whole, public, truth = divided(tmp_path, "train", "test", "test")
    assert evaluated(whole, whole, tmp_path / "run of the whole").returncode == 0
    expected = values(tmp_path / "run of the whole")
    held = {row["item_id"] for row in frozen.load(truth).items}
    done = evaluated(public, truth, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    found = values(tmp_path / "run")
    assert found == {key: value for key, value in expected.items() if key[1] in held}
    assert len(found) == 2 * 2 * len({key[2:] for key in expected})
    reported = run_here("eval", "report", truth, "--run", tmp_path / "run", "--protocol", "devil/corrected")
    assert reported.returncode == 0, reported.stderr
    # The folder stays that of the public dataset: another method goes on there, and its open items are scored.
    more = run_here("eval", "run", "--for=predictions", public, "--run", tmp_path / "run", "--method", "blank", *HERE)
    assert more.returncode == 0, more.stderr
    opened = run_here("eval", "run", "--for=scores", public, "--run", tmp_path / "run", *METRICS, *HERE)
    assert opened.returncode == 0
    assert opened.stderr.splitlines()[0] == SENTENCE
    one_go = run_here("eval", "run", public, "--run", tmp_path / "one go", "--method", "blank", "--report",
                      "--slice", "split-test", *HERE)  # fmt: skip
    assert one_go.returncode == 1
    assert "leave out --report" in one_go.stderr
    assert not (tmp_path / "one go").exists()  # told before anything was predicted
    assert values(tmp_path / "run") == {key: value for key, value in expected.items() if key[1] not in held}
    stale = run_here("eval", "report", truth, "--run", tmp_path / "run")
    assert "are older than its predictions" in stale.stderr


def test_nothing_is_scored_where_every_truth_is_held_back(tmp_path: Path) -> None:
    _, public, truth = divided(tmp_path, "test", "test")
    done = evaluated(public, public, tmp_path / "run")
    assert done.returncode != 0
    assert done.stderr.strip() == f"inpaintbench: {SENTENCE}"
    reported = run_here("eval", "report", public, "--run", tmp_path / "run")
    assert (reported.returncode != 0, reported.stderr.strip()) == (True, done.stderr.strip())
    with LocalExecutor(Workspace(tmp_path / "other"), workers=0) as executor, pytest.raises(InputError, match="is held back"):
        score(executor, frozen.load(public), root=public, methods=[Predicted("x", [])], protocol="devil/corrected")
    assert run_here("eval", "run", "--for=scores", truth, "--run", tmp_path / "run", *METRICS, *HERE).returncode == 0


def test_a_run_is_scored_on_the_truth_of_its_own_inputs_alone(tmp_path: Path) -> None:
    whole, public, truth = divided(tmp_path, "test", "test")
    workspace = Workspace(tmp_path / "run")
    bind(workspace, public)
    bind(workspace, truth)
    bind(workspace, public)
    with pytest.raises(InputError, match="holds results on another dataset"):
        bind(workspace, whole)

    # A part that was fetched has another manifest, and its truth is found by the inputs.
    part, dataset = tmp_path / "part", frozen.load(public)
    made, written = limited(
        dataset, ["first"], sizes=dict.fromkeys(dataset.files, 1), whole_sha256=file_sha256(public / "dataset.json"), origin={}
    )
    for name, data in written.items():
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        (part / name).write_bytes(data)
    assert len(made.items) == 1
    of_part = Workspace(tmp_path / "run of the part")
    bind(of_part, part)
    bind(of_part, truth)
    other = frozen.load(truth)
    fields = one_file(truth)
    place = [row["item_id"] for row in other.items].index(made.items[0]["item_id"])
    fields["items"][place]["input_sha256"] = "0" * 64
    shutil.copytree(truth, tmp_path / "changed")
    write_fields(tmp_path / "changed", fields)
    with pytest.raises(InputError, match="holds results on another dataset"):
        bind(of_part, tmp_path / "changed")


def test_a_hidden_hole_changes_no_score(tmp_path: Path) -> None:
    """Subtitles: methods are not told the hole, so the public dataset does not have it."""
    recipe = DecaptionRecipe(side=32, clip_frames=10, splits={"train": 0.5, "test": 0.5}, covered_share=1.0)
    source = SourceSpec("embedded", {"count": 3, "width": 48, "height": 32, "frames": 12})
    workspace, _, whole = built(tmp_path / "w", recipe, source, workers=0)
    done = run_here("export", "freeze", workspace.path, "--to", tmp_path / "challenge", "--hold-back", "test")
    assert done.returncode == 0, done.stderr
    public, truth = tmp_path / "challenge", tmp_path / "challenge-truth"
    held = [row["item_id"] for row in whole.items if row["split"] == "test"]
    assert [row["item_id"] for row in frozen.load(truth).items] == held
    assert done.stdout.splitlines()[0].startswith(f"{len(whole.items)} items in {len(whole.slices)} slices, {len(held)} of them")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["challenge", "challenge-truth", "w"]
    method = MethodSpec("smooth", "gaussian")
    found: list[Mapping[Any, float | None]] = []
    for predicted, scored, run in ((workspace.path / "exports" / "decaption",) * 2 + ("one",), (public, truth, "other")):
        with LocalExecutor(Workspace(tmp_path / run), workers=0) as executor:
            predict(executor, frozen.load(predicted), root=predicted, method=method)
            rows = executor.workspace.table("predictions", Prediction)
            assert rows
            score(
                executor, frozen.load(scored), root=scored, methods=[Predicted("smooth", rows)], protocol="decaption/corrected",
                metrics=["psnr", "mse"],
            )  # fmt: skip
            found.append({(r.item_id, r.metric, r.region): r.value for r in executor.workspace.table("scores", Score)})
    assert found[1] == {key: value for key, value in found[0].items() if key[0] in held}
    assert found[1]
    assert contents(public) != contents(workspace.path / "exports" / "decaption")


def test_a_challenge_whose_inputs_show_the_truth_wants_a_reason(tmp_path: Path) -> None:
    """Pictures with a hole of every size in each: every input shows what lies under the others' holes."""
    recipe = ReinpaintRecipe(size=64, preset="medium-256", patch_pixels=16, second_masks=2, pictures=1)
    workspace, folder, _ = built(tmp_path / "w", recipe, SourceSpec("embedded_photographs", {}), workers=0)
    before = contents(folder)
    freezing = ("export", "freeze", workspace.path, "--to", tmp_path / "challenge", "--hold-back", "test")
    done = run_here(*freezing)
    assert done.returncode == 1
    assert 'say why it may be: `inpaintbench export freeze --allow-exposed "..."`' in done.stderr
    assert run_here(*freezing, "--allow-exposed", " ").returncode == 1
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["w"]
    done = run_here(*freezing, "--allow-exposed", "it is a rehearsal")
    assert done.returncode == 0, done.stderr
    assert "of what lies under the holes; the dataset says that it is allowed because: it is a rehearsal" in done.stderr
    assert frozen.load(tmp_path / "challenge").facts["held_back"]["allowed"] == "it is a rehearsal"
    alone = run_here("export", "freeze", workspace.path, "--allow-exposed", "why")
    assert (alone.returncode, "--allow-exposed is for --hold-back" in alone.stderr) == (2, True)


def test_a_report_is_refused_at_once_where_no_asked_item_has_its_truth(tmp_path: Path) -> None:
    _, public, _ = divided(tmp_path, "train", "test", "test")
    check_reportable(public, ())
    check_reportable(public, ("split-train",))
    with pytest.raises(InputError) as caught:
        check_reportable(public, ("split-test",))
    assert str(caught.value) == f"{SENTENCE}; leave out --report, and send the run folder to those who hold the truth"


def test_the_card_says_who_scores(tmp_path: Path) -> None:
    whole, public, truth = divided(tmp_path, "train", "test", "test")

    def commands(folder: Path) -> list[str]:
        told = (folder / "README.md").read_text().partition("\n## Score a method\n")[2].partition("\n## ")[0]
        return [line for line in told.splitlines() if line.startswith("inpaintbench")]

    begins = ["eval run PATH", "eval run --for scores TRUTH", "eval report TRUTH"]
    told = [" ".join(line.split()[1:]) for line in commands(public)]
    assert [line.startswith(begin) for line, begin in zip(told, begins, strict=True)] == [True, True, True]
    assert all(" PATH " in line and "TRUTH" not in line for folder in (whole, truth) for line in commands(folder))
    card = (public / "README.md").read_text()
    assert "to those who hold the truth. They score them with the dataset films (truth), here `TRUTH`:" in card
    assert "With `PATH` for `TRUTH` these commands score 1 item of this dataset, whose truth is here." in card


def test_an_export_that_is_refused_leaves_what_was_there(tmp_path: Path) -> None:
    source = SourceSpec("embedded_edits", {"count": 1, "side": 128, "frames": 2})
    workspace, folder, _ = built(tmp_path / "w", EditingRecipe(side=128), source, workers=0)
    before = contents(folder)
    done = run_here("export", "freeze", workspace.path, "--hold-back", "test")
    assert done.returncode != 0
    assert "asks for edits, whose input is their truth: there is nothing to hold back" in done.stderr
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["editing"]
