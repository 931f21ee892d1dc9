"""From sources to kept clips: what changes when sources, rules or answers change."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from footage import write_labels, write_sources

from inpaintbench import video
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sheets import import_answers, import_labels
from inpaintbench.errors import InputError, Waiting
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import corrupt, export, remember
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Attribute, Clip, Item, Selection, Source
from inpaintbench.workspace import Workspace

KEEP = Rule(answer="keep_reject", equals="keep")


def recipe(**chosen: Any) -> devil.DevilRecipe:
    return devil.DevilRecipe(width=128, height=80, per_slice=2, **chosen)


def labelled(workspace: Workspace, sources: Path, made: devil.DevilRecipe) -> None:
    """Sources to levels, in this process."""
    with LocalExecutor(workspace, workers=0) as executor:
        remember(workspace, made)
        devil.curate(made, [SourceSpec("folder", {"folder": str(sources)})], executor, workspace)
        devil.label(made, executor, workspace)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sources(tmp_path_factory.mktemp("films"), count=4)


def test_sources_that_break_a_rule_are_not_cut(films: Path, workspace: Workspace) -> None:
    rule = Rule(attribute="probe.bits_per_second", at_least=1e12)
    with pytest.raises(Exception, match=r"pan 0\.mp4: probe\.bits_per_second .* is below 1e\+12"):
        labelled(workspace, films, recipe(rules=(rule,)))
    assert not (workspace.path / "ledger" / "cut.jsonl").exists()
    assert {row.step for row in workspace.table("rejected", Rejection)} == {"source_rules"}


def test_rows_of_clips_that_are_gone_go_with_them(films: Path, workspace: Workspace, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(films, mine)
    labelled(workspace, mine, recipe())
    (mine / "pan 3.mp4").unlink()
    with LocalExecutor(workspace, workers=0) as executor:
        devil.curate(recipe(), [SourceSpec("folder", {"folder": str(mine)})], executor, workspace)
    present = {clip.clip_id for clip in workspace.table("clips", Clip)}
    assert len(present) == 3
    steps = ("measure.cut_score", "measure.camera_motion_per_frame", "levels")
    for step in steps:
        assert {row.subject_id for row in workspace.table("attributes", Attribute, step=step)} == present
    assert {row.clip_id for row in workspace.table("selection", Selection)} == present


def test_a_copy_with_the_same_bytes_takes_over_no_name(films: Path, workspace: Workspace, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(films, mine)
    (mine / "zz").mkdir()
    shutil.copy(mine / "pan 0.mp4", mine / "zz" / "copy.mp4")
    labelled(workspace, mine, recipe())
    assert [row.uri for row in workspace.table("sources", Source)] == [f"pan%20{place}.mp4" for place in range(4)]
    reasons = {row.name: row.reason for row in workspace.table("rejected", Rejection)}
    assert reasons["zz/copy.mp4"].startswith("has the same bytes as pan%200.mp4")


def test_a_rule_on_duplicates_finds_them_by_itself(films: Path, workspace: Workspace, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(films, mine)
    video.write_browser(mine / "copy of 3.mp4", video.read_frames(films / "pan 3.mp4"), fps=25.0, crf=28)
    rule = Rule(attribute="duplicate_share", below=0.01, missing="keep")
    labelled(workspace, mine, recipe(rules=(rule,)))
    dropped = [row for row in workspace.table("selection", Selection) if not row.keep]
    assert [row.reason for row in dropped] == ["duplicate_share 1 is not below 0.01"]


def test_a_rule_that_is_stated_twice_counts_once(films: Path, workspace: Workspace) -> None:
    labelled(workspace, films, recipe(rules=(Rule(attribute="cut_score", at_most=0.3, name="no shot changes"),)))
    assert len(workspace.table("selection", Selection)) == len(workspace.table("clips", Clip)) == 4


def test_items_of_clips_that_people_reject_afterwards_are_not_published(
    films: Path, workspace: Workspace, tmp_path: Path
) -> None:
    made = recipe(review=True)
    with pytest.raises(Waiting, match="4 clips wait for keep or reject"):
        labelled(workspace, films, made)
    clips = [clip.clip_id for clip in workspace.table("clips", Clip)]
    (tmp_path / "answers.csv").write_text("clip,answer\n" + "".join(f"{clip},keep\n" for clip in clips))
    write_labels(tmp_path / "labels.csv", count=4)
    import_labels(workspace, tmp_path / "labels.csv")
    import_answers(workspace, tmp_path / "answers.csv")
    labelled(workspace, films, made)
    with LocalExecutor(workspace, workers=0) as executor:
        corrupt(made, executor, workspace)
    export(made, workspace)
    used = workspace.table("items", Item)[0].clip_id
    (tmp_path / "answers.csv").write_text(f"clip,answer,reason\n{used},reject,a bird\n")
    import_answers(workspace, tmp_path / "answers.csv")
    labelled(workspace, films, made)
    with pytest.raises(InputError, match=r"the items are out of date: .* no longer kept"):
        export(made, workspace)


def test_answers_of_several_raters_are_counted(films: Path, workspace: Workspace, tmp_path: Path) -> None:
    labelled(workspace, films, recipe())
    one, two, three, four = (clip.clip_id for clip in workspace.table("clips", Clip))
    lines = [f"{one},reject,shaky,{rater}" for rater in "abc"] + [
        f"{one},keep,,d",
        f"{two},keep,,a",
        f"{two},reject,,b",
        f"{three},,,",
    ]
    (tmp_path / "answers.csv").write_text("\n".join(["clip,answer,reason,rater", *lines]) + "\n")
    found = {row.subject_id: row for row in import_answers(workspace, tmp_path / "answers.csv")}
    assert (found[one].answer, found[one].reason, found[one].votes, found[one].agreement) == ("reject", "shaky", 4, 0.75)
    assert (found[two].answer, found[two].agreement) == (None, 0.5)
    assert set(found) == {one, two}
    for text, sentence in (
        ("clip,answer\nnobody,keep\n", "line 2: the workspace has no clip 'nobody'"),
        (f"clip,answer\n{four},maybe\n", "'maybe' is no answer to keep_reject, choose from keep, reject"),
        (f"clip,answer\n{four},keep\n{four},reject\n", "line 3: 'unnamed' has answered keep_reject"),
        ("subject,answer\n", "have no column 'clip'"),
    ):
        (tmp_path / "answers.csv").write_text(text)
        with pytest.raises(InputError, match=sentence):
            import_answers(workspace, tmp_path / "answers.csv")


def test_what_was_done_to_the_frames_is_stated(films: Path, workspace: Workspace) -> None:
    labelled(workspace, films, recipe(fps=12.5, cut_bars=True, clip_frames=25, shortest_clip_frames=20))
    rows = workspace.table("attributes", Attribute, step="normalised")
    assert len(rows) == len(workspace.table("clips", Clip)) > 0
    for row in rows:
        assert str(row.value).startswith("128x80 ")
        assert "cover 128x80" in str(row.value)
        assert "25 fps brought to 12.5 fps by timestamps" in str(row.value)


def test_a_reader_without_anything_to_read_is_refused() -> None:
    with pytest.raises(ValueError, match="it needs --cut-bars"):
        recipe(reader="decord")
