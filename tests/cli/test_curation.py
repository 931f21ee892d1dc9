"""The commands from sources to measured clips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from footage import write_sources
from typer.testing import CliRunner

from inpaintbench import video
from inpaintbench.cli import app
from inpaintbench.curation.rules import Rule
from inpaintbench.errors import InputError, UsageError
from inpaintbench.recipes.dataset_table import kept
from inpaintbench.recipes.devil import OWN_FOOTAGE_RULES
from inpaintbench.recipes.settings import recall, remember
from inpaintbench.types import Clip, Source
from inpaintbench.workspace import Workspace


def run(*words: str | Path) -> str:
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False).output


def test_clips_cut_again_keep_what_the_workspace_was_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "nothing"))  # cutting needs no weights, whatever the rules want
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    sources, out = write_sources(tmp_path / "sources", count=2), tmp_path / "workspace"
    command = ("curation", "clips", "--sources", sources, "--out", out, "--workers", "0")
    (tmp_path / "about.toml").write_text('[dataset]\ntitle = "Waves"\nsplits = { train = 1, test = 1 }\n')
    said = ("--dataset", tmp_path / "about.toml", "--footage-licence", "CC0-1.0")
    run(*command, "--size", "64x48", "--per-slice", "3", "--cut-bars", "--splitter", "windows,length=40,shortest=10", *said)
    workspace = Workspace(out, create=False)
    before = recall(workspace).model_copy(update={"rules": (Rule(attribute="foreground_fraction", at_most=0.2),), "review": True})
    remember(workspace, before)
    assert {row.licence for row in workspace.table("sources", Source)} == {"CC0-1.0"}
    run(*command, "--seed", "5", "--no-cut-bars", "--about", "contact=me@example.org")
    assert (kept(workspace).title, kept(workspace).contact, before.splits) == (
        "Waves",
        "me@example.org",
        {"train": 0.5, "test": 0.5},
    )
    assert recall(workspace) == before.model_copy(update={"seed": 5, "cut_bars": False})
    assert {(clip.width, clip.height, clip.frames) for clip in workspace.table("clips", Clip)} == {(64, 48, 40), (64, 48, 10)}


def test_clips_and_select_have_the_default_rules_of_a_build_until_they_are_switched_off(tmp_path: Path) -> None:
    sources, out = write_sources(tmp_path / "sources", count=2), tmp_path / "workspace"
    still = np.repeat(video.read_frames(sources / "pan 0.mp4")[:1], 50, axis=0)
    video.write_lossless(sources / "still.mp4", still, fps=25.0)
    run("curation", "clips", "--sources", sources, "--out", out, "--size", "64x48", "--workers", "0")
    workspace, every = Workspace(out, create=False), OWN_FOOTAGE_RULES
    assert recall(workspace).rules == tuple(every.values())
    select = ("curation", "select", out, "--workers", "0")
    assert "2 clips kept, 1 dropped" in run(*select)
    own = tmp_path / "rules.toml"
    own.write_text('[[rule]]\nattribute = "still_fraction"\nbelow = 2\n')
    assert "3 clips kept, 0 dropped" in run(*select, "--rules", own)
    assert every["still"] not in recall(workspace).rules
    assert "2 clips kept, 1 dropped" in run(*select, "--rules", "none")
    assert "3 clips kept, 0 dropped" in run(*select, "--without-rule", "still", "--without-rule", "text")
    assert recall(workspace).rules == tuple(rule for name, rule in every.items() if name not in ("still", "text"))
    assert "3 clips kept, 0 dropped" in run(*select)
    assert "2 clips kept, 1 dropped" in run(*select, "--without-rule", "none")
    run(*select, "--without-rule", "all")
    assert recall(workspace).rules == ()
    clips = ("curation", "clips", "--sources", sources, "--out", out, "--workers", "0")
    run(*clips, "--behaviour", "as-published")
    with pytest.raises(UsageError, match="--without-rule is for footage of one's own"):
        run(*select, "--without-rule", "still")
    run(*clips, "--behaviour", "corrected")
    assert recall(workspace).rules == tuple(every.values())
    with pytest.raises(InputError, match="unknown rule 'stil', did you mean 'still'"):
        run(*select, "--without-rule", "stil")


@pytest.mark.parametrize("shard", [(), ("--shard", "1/2")])
def test_measuring_needs_clips(workspace: Workspace, shard: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="has no clips yet; run `inpaintbench curation clips` first"):
        run("curation", "measure", workspace.path, "--workers", "0", *shard)


@pytest.mark.parametrize("number", ["inf", "nan", "1e300"])
@pytest.mark.parametrize(
    ("command", "option"),
    [(("clips", "--out", "nowhere"), "--fps"), (("clips", "--out", "nowhere"), "--memory"), (("measure", "nowhere"), "--memory")],
)
def test_numbers_that_nothing_can_have_are_refused(command: tuple[str, ...], option: str, number: str) -> None:
    done = CliRunner().invoke(app, ["curation", *command, option, number])
    assert done.exit_code == 2
    assert f"Invalid value for '{option}'" in done.output
