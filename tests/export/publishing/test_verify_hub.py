"""A dataset of the Hub is proved without being kept, and compared by its manifest alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hub_server import TOKEN, HubServer
from huggingface_hub import snapshot_download
from program import run_here

from inpaintbench import frozen
from inpaintbench.errors import InputError, NetworkError, VerifyError
from inpaintbench.export.diff import difference, manifest_at
from inpaintbench.export.layout import media_names
from inpaintbench.export.publishing.fetch import verify_hub
from inpaintbench.export.publishing.push import plan, push
from inpaintbench.export.verify import sampled, verify
from inpaintbench.types import Dataset

NAME = "somebody/clips"


@pytest.fixture
def held(hub: HubServer, small: Path, one_decoder: None) -> HubServer:
    push(plan(small, licence="CC-BY-4.0"), NAME)
    hub.seen.clear()
    return hub


def brought(hub: HubServer) -> set[str]:
    return {request.path.partition("/resolve/")[2].partition("/")[2] for request in hub.asked("GET", "/resolve/")}


def on_the_hub() -> Dataset:
    """The manifest, read whole."""
    with manifest_at(NAME) as read:
        slices = tuple(replace(part, item_ids=tuple(part.item_ids)) for part in read.slices)
        return replace(read, items=tuple(read.items), files=dict(read.files), slices=slices)


def test_the_whole_is_proved_and_not_kept(held: HubServer, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    result = verify_hub(NAME)
    assert (result.problems, result.configs, result.cells) == ([], 4, 16)
    assert result.files == len(on_the_hub().files)
    assert (result.items, result.items_decoded) == (3, 3)
    assert result.dataset_id == frozen.dataset_id(on_the_hub())
    assert sorted(tmp_path.rglob("*")) == before


def test_a_sample_downloads_its_own_media_alone_and_says_what_was_not_looked_at(held: HubServer) -> None:
    dataset = on_the_hub()
    held.seen.clear()
    result = verify_hub(NAME, sample=1, seed=3)
    assert (result.problems, result.configs, result.cells) == ([], 4, 16)
    assert (result.items, result.items_decoded) == (3, 1)
    mine = set(media_names(sampled(dataset, 1, seed=3)[0]))
    others = {name for row in dataset.items for name in media_names(row)} - mine
    assert brought(held) == (set(dataset.files) - others) | {"dataset.json"}
    assert result.not_looked_at[:2] == [
        "the bytes of 4 files, of which the Hub states 4 hashes",
        "the pixels of 2 of 3 items",
    ]
    assert {row["item_id"] for seed in range(20) for row in sampled(dataset, 1, seed=seed)} == {"i0", "i1", "i2"}
    assert sampled(dataset, 2, seed=0) == sampled(dataset, 2, seed=0)


def test_what_the_hub_spoils_is_found_by_bytes_or_by_the_hashes_that_it_states(held: HubServer) -> None:
    files = held.repositories[NAME].branches["main"]
    dataset = on_the_hub()
    inside = media_names(sampled(dataset, 1, seed=0)[0])[0]
    outside = next(
        name for row in dataset.items for name in media_names(row) if name not in sampled(dataset, 1, seed=0)[0].values()
    )
    for name, words in ((inside, "changed (SHA-256 differs"), (outside, "that the Hub states differs")):
        data = files[name]
        files[name] = data[:-1] + bytes([data[-1] ^ 1])
        assert any(problem.startswith(name) and words in problem for problem in verify_hub(NAME, sample=1, seed=0).problems)
        files[name] = data
    files["notes.txt"] = b"mine"
    del files[outside]
    problems = verify_hub(NAME, sample=1, seed=0).problems
    assert {f"{outside}: missing", "notes.txt: not in the manifest"} <= set(problems)
    files["dataset.json"] = files["dataset.json"].replace(b'"format_version"', b'"format_version" ')
    with pytest.raises(VerifyError, match="is not what its own SHA-256 says"):
        verify_hub(NAME)


def test_a_snapshot_in_the_cache_of_the_library_is_the_dataset(held: HubServer, tmp_path: Path) -> None:
    """Links to blobs, and what the Hub and its library add."""
    linked = Path(snapshot_download(NAME, repo_type="dataset", cache_dir=tmp_path / "cache", endpoint=held.url, token=TOKEN))
    assert any(path.is_symlink() for path in linked.rglob("*.mp4"))
    assert (linked / ".gitattributes").exists()
    result = verify(linked)
    assert (result.problems, result.configs, result.items_decoded) == ([], 4, 3)
    local = tmp_path / "local"
    snapshot_download(NAME, repo_type="dataset", local_dir=local, endpoint=held.url, token=TOKEN)
    assert (local / ".cache").is_dir()
    assert verify(local, sample=1).problems == []
    (local / ".hidden").write_text("x")  # nothing else is let pass
    assert verify(local, sample=1).problems == [".hidden: not in the manifest"]


def test_the_command_tells_folders_and_names_apart(held: HubServer, small: Path) -> None:
    done = run_here("export", "verify", NAME, "--sample", "2")
    assert done.returncode == 0, done.stderr
    assert "16 cells equal the manifest" in done.stdout
    assert frozen.dataset_id(on_the_hub()) in done.stdout
    assert "Not looked at: the pixels of 1 of 3 items" in done.stdout
    told = json.loads(run_here("export", "verify", NAME, "--json").stdout)
    assert (told["equal"], told["items_decoded"], told["problems"]) == (True, 3, [])
    assert json.loads(run_here("export", "verify", small, "--sample", "1", "--json").stdout)["files"] == len(
        frozen.load(small).files
    )
    assert run_here("export", "verify", small, "--revision", "main").returncode == 2
    shutil.rmtree(small / "truth")
    done = run_here("export", "verify", small, "--json")
    assert (done.returncode, json.loads(done.stdout)["equal"]) == (1, False)


def test_refusals(held: HubServer) -> None:
    with pytest.raises(InputError, match="a sample of 0 items proves nothing"):
        verify_hub(NAME, sample=0)
    with pytest.raises(NetworkError, match="shows no such dataset"):
        verify_hub("somebody/else")
    del held.repositories[NAME].branches["main"]["dataset.json"]
    with pytest.raises(InputError, match=r"'somebody/clips' is not a frozen dataset \(no dataset.json\)"):
        verify_hub(NAME)


def test_a_diff_with_the_hub_fetches_the_manifest_alone(held: HubServer, small: Path) -> None:
    found = difference(frozen.load(small), on_the_hub())
    assert {column for one in found.items_changed.values() for column in one.columns} == {"licence"}
    assert brought(held) == {"dataset.json", "manifest/files.parquet", "manifest/members.parquet", "all.parquet"}
