from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import typer
import yaml
from hub_server import TOKEN, HubServer
from publishing_data import contents, make_dataset
from typer.testing import CliRunner, Result

from inpaintbench import frozen
from inpaintbench.cli.export import convert, fetch, push
from inpaintbench.cli.options import expanded
from inpaintbench.errors import InputError


@pytest.fixture
def run() -> object:
    app = typer.Typer()
    app.command("push")(expanded(push))
    app.command("fetch")(expanded(fetch))
    app.command("convert")(expanded(convert))

    def ran(*words: object) -> Result:
        return CliRunner().invoke(app, [str(word) for word in words])

    return ran


def test_a_dry_run_prints_what_would_go_and_asks_nobody(run: object, hub: HubServer, small: Path) -> None:
    done = run("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--dry-run")
    assert done.exit_code == 0, done.output
    sizes = {name: len(data) for name, data in contents(small).items()}
    truths = sum(size for name, size in sizes.items() if name.startswith("truth/"))
    assert "To somebody/clips, private" in done.output
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.output.splitlines() if line.startswith("│")]
    assert ["truth/", "3", str(truths)] in cells
    assert [row for row in cells if row[0] in ("low", "high", "alone")] == [["low", "2"], ["high", "2"], ["alone", "1"]]
    assert ["CC-BY-4.0", "3"] in cells
    assert "20 files, " in done.output
    assert ["truth/c1.mp4", str(sizes["truth/c1.mp4"])] in cells
    assert not hub.seen


def test_a_dry_run_names_the_first_files(run: object, tmp_path: Path) -> None:
    folder = make_dataset(tmp_path, licences=("MIT",) * 8)
    names = sorted(contents(folder))
    assert len(names) == 30
    done = run("push", folder, "--repo", "somebody/clips", "--dry-run")
    first = [line.split("│")[1].strip() for line in done.output.splitlines() if line.startswith("│")]
    assert [name for name in names if name in first] == names[:20]
    assert "and 10 more files; --json prints them all" in done.output


def test_a_dry_run_as_json(run: object, hub: HubServer, tmp_path: Path) -> None:
    folder, table = make_dataset(tmp_path, licences=("Pexels Licence", None, "unknown")), tmp_path / "licences.csv"
    table.write_text("source,licence\nfilm 0.mp4,CC0-1.0\n")
    words = ("push", folder, "--repo", "somebody/clips", "--licences", table, "--dry-run")
    done = run(*words, "--json")
    assert isinstance(done.exception, InputError)  # two are still unknown
    told = json.loads(done.stdout)
    files = {one["path"]: (one["size"], one["sha256"]) for one in told["files"]}
    data = {name: data for name, data in contents(folder).items() if name.startswith(("truth/", "holes/"))}
    assert {name: files[name] for name in data} == {
        name: (len(one), hashlib.sha256(one).hexdigest()) for name, one in data.items()
    }
    assert set(files) == set(contents(folder))
    assert sum(size for size, _ in files.values()) == told["bytes"]
    assert told["licences"] == {"CC0-1.0": 1, "not stated": 1, "unknown": 1}
    assert told["licences_stated_over"] == {"Pexels Licence": {"CC0-1.0": 1}}
    assert told["configs"] == {"low": 2, "high": 2, "alone": 1}
    (obstacle,) = told["obstacles"]
    assert obstacle == str(done.exception)
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in run(*words).output.splitlines() if "│" in line]
    assert ["Pexels Licence", "CC0-1.0", "1"] in cells
    assert not hub.seen


@pytest.mark.parametrize("name", ["me", "me/", "me/a--b", "me/a..b", "me/clips.git", "me/clips-", "mé/clips"])
def test_a_dry_run_refuses_names_that_the_hub_would(name: str, run: object, small: Path) -> None:
    done = run("push", small, "--repo", name, "--licence", "MIT", "--dry-run")
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == f"{name!r} does not name a dataset of the Hub; give OWNER/NAME"
    assert not done.stdout


def test_answers_as_json(run: object, hub: HubServer, small: Path, tmp_path: Path) -> None:
    sent = run("push", small, "--repo", "somebody/clips", "--licence", "MIT", "--json")
    url = f"{hub.url}/datasets/somebody/clips"
    assert json.loads(sent.stdout) == {"url": url, "private": True, "sent": 20, "there": 0, "removed": 0}
    folder = tmp_path / "got"
    told = json.loads(run("fetch", "somebody/clips", "--to", folder, "--slice", "low", "--json").stdout)
    assert len(told.pop("commit")) == 40
    assert told == {
        "folder": str(folder), "repository": "somebody/clips", "items": 2, "slices": ["low"], "missing": ["high", "alone"],
    }  # fmt: skip
    out = tmp_path / "shards"
    told = json.loads(run("convert", folder, "--layout", "webdataset", "--out", out, "--json").stdout)
    files = contents(out)
    assert (told["folder"], told["items"], told["slices"], told["files"]) == (str(out), 2, 1, len(files))
    assert told["bytes"] == sum(map(len, files.values()))


def test_a_dry_run_prints_obstacles_as_well(run: object, hub: HubServer, tmp_path: Path) -> None:
    done = run("push", make_dataset(tmp_path, licences=("CC-BY-ND-4.0", None, "MIT")), "--repo", "somebody/clips", "--dry-run")
    assert isinstance(done.exception, InputError)
    assert "CC-BY-ND-4.0 forbids derivatives" in str(done.exception)
    assert "film%201.mp4 (not stated)" in str(done.exception)
    assert "CC-BY-ND-4.0" in done.output
    assert not hub.seen


def test_a_push_as_a_benchmark_asks_for_leaderboards(run: object, hub: HubServer, small: Path) -> None:
    words = ("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--benchmark")
    assert "croissant.json says nothing of " in run(*words, "--dry-run").output
    assert "biases" in json.loads(run(*words, "--dry-run", "--json").stdout)["rai_not_stated"]
    assert "for the Hub, eval.yaml:\nname: " in run(*words, "--dry-run").output
    assert list(json.loads(run(*words, "--dry-run", "--json").stdout)["of_the_hub"]) == ["eval.yaml"]
    done = run(*words)
    assert done.exit_code == 0, done.output
    told = yaml.safe_load(hub.files("somebody/clips")["eval.yaml"])
    assert [task["id"] for task in told["tasks"]] == ["psnr_hole", "ssim_hole"]
    assert told["evaluation_framework"] == "inpaintbench"


def test_there_and_back_again(run: object, hub: HubServer, small: Path, tmp_path: Path) -> None:
    sent = run("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--revision", "v1")
    assert sent.exit_code == 0, sent.output
    assert sent.output.splitlines()[-2:] == [
        f"{hub.url}/datasets/somebody/clips: private, 20 files sent, 0 there already, 0 old ones removed",
        "Next: inpaintbench export verify somebody/clips",
    ]
    again = run("push", small, "--repo", "somebody/clips", "--licence", "CC-BY-4.0", "--revision", "v1", "--public")
    assert "It was private before and stays so" in again.output
    folder = tmp_path / "got"
    got = run("fetch", "somebody/clips", "--to", folder, "--slice", "alone", "--slice", "low", "--revision", "v1")
    assert got.exit_code == 0, got.output
    assert got.output.splitlines()[-3].startswith("3 items in 2 slices of somebody/clips at ")
    assert got.output.splitlines()[-2] == "Not fetched: high"
    assert [part.name for part in frozen.load(folder).slices] == ["low", "alone"]
    assert TOKEN not in sent.output + again.output + got.output
