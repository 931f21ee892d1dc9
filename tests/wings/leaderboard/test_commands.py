"""`eval submit` and `eval leaderboard`, in this process."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import typer
import yaml
from click.testing import Result
from hub_server import TOKEN, HubServer, Repository
from huggingface_hub import parse_eval_result_entries
from methods_run import METRICS, PROTOCOL, predicted, run_methods
from tests.wings.leaderboard.made import card, write_dataset
from typer.testing import CliRunner

from inpaintbench import frozen
from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError, NetworkError, UnknownNameError, UsageError
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.manifest import dataset_id, load
from inpaintbench.types import Prediction
from inpaintbench.wings.leaderboard.commands import leaderboard, submit
from inpaintbench.workspace import Workspace

app = typer.Typer()
app.command()(expanded(submit))
app.command()(expanded(leaderboard))


def call(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "200"})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leaderboard")
    write_dataset(folder / "data")
    run_methods(folder / "data", folder / "run", {"telea": "telea", "ns": "navier_stokes"})
    (folder / "card.toml").write_bytes(card())
    return folder


def submitted(world: Path, label: str, out: Path, *more: object) -> Result:
    given = ("--run", world / "run", "--card", world / "card.toml", "--protocol", "devil/corrected")
    return call("submit", world / "data", *given, "--method", label, "--out", out, *more)


def test_scores_become_a_pull_request_on_the_model(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with HubServer() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.repositories["me/telea"] = Repository(private=False)
        to_hub = ("--to-hub", "me/telea", "--repo", "owner/waves", "--revision", "0123abcd")
        done = submitted(world, "telea", tmp_path / "telea.zip", *to_hub)
        assert f"pull request {hub.url}/me/telea/discussions/1" in done.output.splitlines()
        assert hub.files("me/telea") == {}, "the model's own people decide"
        (path,) = hub.files("me/telea", "refs/pr/1")
        assert path == ".eval_results/inpaintbench_owner_waves.yaml"
        entries = parse_eval_result_entries(yaml.safe_load(hub.files("me/telea", "refs/pr/1")[path]))
        assert {entry.task_id for entry in entries} == {"psnr_hole", "ssim_hole"}
        assert {(entry.dataset_id, entry.dataset_revision) for entry in entries} == {("owner/waves", "0123abcd")}
        hub.spoil("POST", "/commit/", status=500)
        with pytest.raises(NetworkError, match="'me/telea': HTTP 500"):
            submitted(world, "telea", tmp_path / "telea.zip", *to_hub)
        assert len(hub.asked("POST", "/commit/")) == 2, "asked once each: a second try could open another"
        with pytest.raises(NetworkError, match="the Hub shows no such model"):
            submitted(world, "telea", tmp_path / "telea.zip", "--to-hub", "me/nothing", "--repo", "owner/waves")
    with pytest.raises(UsageError, match="give both or neither"):
        submitted(world, "telea", tmp_path / "telea.zip", "--to-hub", "me/telea")


def test_items_without_a_prediction_are_counted_once(world: Path, tmp_path: Path) -> None:
    run, dataset = shutil.copytree(world / "run", tmp_path / "run"), frozen.load(world / "data")
    workspace, results = Workspace(run), tmp_path / "results"
    results.mkdir()
    made = workspace.table("predictions", Prediction, step="predict.telea")
    for row in made[:5]:
        shutil.copy(workspace.blobs.path(row.blob), results / f"{row.item_id}{Path(row.blob).suffix}")
    with LocalExecutor(workspace, workers=0) as executor:
        predict(executor, dataset, root=world / "data", method=MethodSpec("some", "saved_folder", {"folder": str(results)}))
        score(executor, dataset, root=world / "data", methods=[predicted(workspace, "some")], protocol=PROTOCOL, metrics=METRICS)
    given = ("--run", run, "--card", world / "card.toml", "--protocol", PROTOCOL, "--method", "some")
    done = call("submit", world / "data", *given, "--out", tmp_path / "some.zip")
    assert "7 of 12 items without a prediction" in done.output
    assert "is not recorded" not in done.output


def test_from_scores_to_a_site(world: Path, tmp_path: Path) -> None:
    done = submitted(world, "telea", tmp_path / "in" / "telea.zip", "--predictions")
    assert "12 predictions, 72 scores of telea" in done.output
    submitted(world, "ns", tmp_path / "in" / "ns.zip")
    (tmp_path / "in" / "torn.zip").write_bytes(b"PK")
    given = ("--protocol", "devil/corrected", "--out", tmp_path / "site")
    done = call("leaderboard", world / "data", tmp_path / "in", *given, "--verify", 2, "--workers", 0, "--title", "A <title>")
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in done.output.splitlines() if line.startswith("│")]
    version = dataset_id(load(world / "data"))
    assert rows == [
        ["1", "telea", "1.0", "telea.zip", version, "12 numbers of 2 of 12 items agree"],
        ["–", "ns", "–", "ns.zip", version, "it brought no predictions"],
    ]
    assert "no place for ns: its pixels were not measured again here; --verify N" in done.output
    assert "left out: torn.zip: it cannot be read as a ZIP file" in done.output
    seed = re.search(r"--verify 2 --seed (\d+)", done.output)
    assert seed is not None
    assert "<h1>A &lt;title&gt;</h1>" in (tmp_path / "site" / "index.html").read_text()
    first = json.loads((tmp_path / "site" / "leaderboard.json").read_text())
    call(
        "leaderboard",
        world / "data",
        tmp_path / "in",
        *given,
        "--verify",
        2,
        "--workers",
        0,
        "--title",
        "A <title>",
        "--seed",
        seed[1],
    )
    assert json.loads((tmp_path / "site" / "leaderboard.json").read_text()) == first


def test_a_site_is_a_static_space(world: Path, tmp_path: Path) -> None:
    submitted(world, "telea", tmp_path / "in" / "telea.zip")
    given = ("--protocol", "devil/corrected", "--out", tmp_path / "site", "--title", "Waves: 'best' of #1")
    call("leaderboard", world / "data", tmp_path / "in", *given)
    assert not (tmp_path / "site" / "README.md").exists()
    call("leaderboard", world / "data", tmp_path / "in", *given, "--space", "owner/waves", "--introduction", "Holes in water.")
    _, head, body = (tmp_path / "site" / "README.md").read_text().split("---\n")
    told = yaml.safe_load(head)
    assert (told["title"], told["sdk"], told["datasets"]) == ("Waves: 'best' of #1", "static", ["owner/waves"])
    assert (tmp_path / "site" / told["app_file"]).is_file()
    assert {told["colorFrom"], told["colorTo"]} <= {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert "Holes in water." in body
    for page in (tmp_path / "site").rglob("*.html"):
        assert "frame-ancestors" not in page.read_text(), "the Hub shows it in a frame"
    with pytest.raises(InputError, match="'waves' does not name a dataset of the Hub; give OWNER/NAME"):
        call("leaderboard", world / "data", tmp_path / "in", *given, "--space", "waves")


def test_a_place_that_is_taken_is_told_before_anything_is_measured(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inpaintbench.wings.leaderboard.pack.gather", lambda *_, **__: pytest.fail("measured"))
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else than a leaderboard"):
        call("leaderboard", world / "data", tmp_path, "--out", tmp_path)


def test_a_new_card_is_written_once(tmp_path: Path) -> None:
    call("submit", "--new-card", tmp_path / "card.toml")
    assert b"training_data" in (tmp_path / "card.toml").read_bytes()
    with pytest.raises(InputError, match="is there already; give --new-card another name"):
        call("submit", "--new-card", tmp_path / "card.toml")


def test_what_cannot_be_submitted_says_why(world: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a dataset, --run and --card, or --new-card FILE"):
        call("submit", world / "data", "--run", world / "run")
    with pytest.raises(InputError, match=r"no method card .*--new-card nothing\.toml"):
        call("submit", world / "data", "--run", world / "run", "--card", "nothing.toml")
    with pytest.raises(UnknownNameError, match="unknown scored method 'tela', did you mean 'telea'"):
        submitted(world, "tela", tmp_path / "a.zip")
    given = ("--run", world / "run", "--card", world / "card.toml")
    with pytest.raises(InputError, match="holds scores of ns, telea; choose one with --method"):
        call("submit", world / "data", *given, "--protocol", "devil/corrected")
    with pytest.raises(InputError, match="no scores under protocol 'e2fgvi-legacy'"):
        call("submit", world / "data", *given, "--protocol", "e2fgvi-legacy")
    assert list(tmp_path.iterdir()) == []
