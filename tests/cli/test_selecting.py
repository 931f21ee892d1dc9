"""The commands that decide and show."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from scoring_probes import write_items
from selection_world import RULES, fill, kept_ids
from typer.testing import CliRunner, Result

from inpaintbench.cli import selecting
from inpaintbench.cli.console import Running
from inpaintbench.cli.options import expanded
from inpaintbench.curation.measuring import measure
from inpaintbench.curation.rules import Rule
from inpaintbench.errors import InputError, RunError, Waiting
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.settings import recall, remember
from inpaintbench.types import Clip, Selection
from inpaintbench.workspace import Workspace

APP = typer.Typer()
for command in (selecting.select, selecting.why, selecting.funnel):
    APP.command()(expanded(command))


def run(*words: str) -> Result:
    return CliRunner().invoke(APP, list(words), catch_exceptions=False)


def test_what_if_tells_counts_and_changes_nothing(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = kept_ids(fill(workspace))
    page = tmp_path / "sheet.html"
    selecting.select(workspace.path, what_if="cut_score<=0.2", out=page)
    told = capsys.readouterr().out
    assert "gained" in told
    assert f"in place of: {RULES[0].label}" in told
    assert page.exists()
    assert kept_ids(workspace) == before
    with pytest.raises(InputError, match="--what-if changes nothing; give it alone"):
        selecting.select(workspace.path, what_if="cut_score<=0.2", given={"cut_score_limit": 0.1})


def test_the_counts_of_the_rules_and_of_people_are_printed(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    from inpaintbench.curation.facts import Facts
    from inpaintbench.curation.judging import stored_selection

    fill(workspace)
    selecting.print_judged(stored_selection(workspace, Facts.of_workspace(workspace)))
    told = capsys.readouterr().out
    assert "3 clips kept, 7 dropped, 2 waiting for an answer" in told
    assert "by it alone" in told
    assert "crispness >= 0.25" in told
    assert "all rules together" in told
    assert "people reject" in told


def test_rules_of_a_file_are_applied(workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(workspace)
    remember(workspace, DevilRecipe())
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nattribute = "no_such"\nat_most = 1\n')
    with pytest.raises(InputError, match="unknown attribute 'no_such'"):
        selecting.select(workspace.path, rules=rules, running=Running(workers=0))
    assert recall(workspace).rules == ()
    rules.write_text('[[rule]]\nattribute = "crispness"\nat_least = 0.6\nname = "sharp"\n')
    audit = tmp_path / "audit.csv"
    selecting.select(workspace.path, rules=rules, audit_to=audit, running=Running(workers=0))
    found = {row.clip_id: row.keep for row in workspace.table("selection", Selection) if row.rule == "sharp (crispness >= 0.6)"}
    assert [keep for _, keep in sorted(found.items())] == [True] * 5 + [False] * 7
    assert recall(workspace).rules == (Rule(attribute="crispness", at_least=0.6, name="sharp"),)
    told = capsys.readouterr().out
    assert "5 clips kept, 7 dropped" in told
    assert "12 clips to look at" in told
    assert len(list(csv.DictReader(audit.read_text().splitlines()))) == 12
    rules.write_text('[[rule]]\nattribute = "crispness"\nat_least = 9\n')
    with pytest.raises(RunError, match="all 12 clips were dropped"):
        selecting.select(workspace.path, rules=rules, running=Running(workers=0))
    assert "0 clips kept, 12 dropped" in capsys.readouterr().out
    assert recall(workspace).rules == (Rule(attribute="crispness", at_least=0.6, name="sharp"),)


def test_rules_stay_until_they_are_taken_back(workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(rules: Path | None = None) -> str:
        selecting.select(workspace.path, rules=rules, running=Running(workers=0))
        return capsys.readouterr().out

    def stored() -> list[bytes]:
        files = (workspace.path / "recipe.json", *sorted((workspace.path / "tables").rglob("*.parquet")))
        return [path.read_bytes() for path in files]

    fill(workspace)
    remember(workspace, DevilRecipe())
    assert "12 clips kept, 0 dropped" in told()
    before = stored()
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nattribute = "crispness"\nat_least = 0.6\n')
    assert "5 clips kept, 7 dropped" in told(rules)
    assert "5 clips kept, 7 dropped" in told()
    assert stored() != before
    back = told(Path("none"))
    assert "12 clips kept, 0 dropped" in back
    assert "crispness" not in back
    assert stored() == before


def test_rules_are_kept_while_people_are_asked_and_an_older_export_is_named(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    remember(workspace, DevilRecipe(review=True))
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nattribute = "crispness"\nat_least = 0.6\n')
    with pytest.raises(Waiting) as waiting:
        selecting.select(workspace.path, rules=rules, running=Running(workers=0))
    assert str(waiting.value).endswith("run the same command again")
    assert recall(workspace).rules == (Rule(attribute="crispness", at_least=0.6),)
    older = workspace.path / "exports" / "devil"
    older.mkdir(parents=True)
    with pytest.raises(Waiting) as waiting:
        selecting.select(workspace.path, running=Running(workers=0))
    assert str(waiting.value).endswith(f"run the same command again; until then {older} is what an earlier run made")


@pytest.mark.long
def test_a_rule_without_weights_is_refused_unless_its_values_are_there(
    workspace: Workspace, tmp_path: Path, assets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(workspace)
    remember(workspace, DevilRecipe())
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "nothing"))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nattribute = "foreground_fraction"\nat_most = 0.5\n')
    with pytest.raises(InputError, match="foreground_fraction cannot be measured: weights missing"):
        selecting.select(workspace.path, rules=rules, running=Running(workers=0))
    assert recall(workspace).rules == ()
    with monkeypatch.context() as there, LocalExecutor(workspace, workers=0) as executor:
        there.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
        measure(executor, workspace.table("clips", Clip), leaf="foreground_fraction")
    selecting.select(workspace.path, rules=rules, running=Running(workers=0))
    judged = [row for row in workspace.table("selection", Selection) if row.rule == "foreground_fraction <= 0.5"]
    assert len(judged) == 12
    assert all(row.keep and row.value is not None for row in judged)


def test_a_clip_can_be_asked_by_its_frame(workspace: Workspace) -> None:
    fill(workspace)
    done = CliRunner().invoke(APP, ["why", str(workspace.path), "folder/video 0.mp4:5"])
    assert done.exit_code == 0


def test_why_prints_the_trail(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    fill(workspace)
    selecting.why(workspace.path, "c00").tell(as_json=False)
    told = capsys.readouterr().out
    for words in ("clip c00: frames 0..9 of folder/video 0.mp4 (40x24, 10 frames at 30 fps)", "CC0", "https://example.org/page/0",
                  "2025-01-01T00:00:00Z", "cut_score 1", "scene score, 0..1", "calm", "0.5", "keep_reject",
                  "Duplicates of it: c05", "devil_blobs", "motion-low"):  # fmt: skip
        assert words in told
    selecting.why(workspace.path, "c11").tell(as_json=False)
    assert "It is in no item." in capsys.readouterr().out


def test_why_tells_of_items_that_were_published_before(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(workspace)
    items = write_items(tmp_path / "data", count=2, frames=(2, 2)).items
    facts = {
        "start_frame": 3,
        "end_frame": 5,
        "generator": "devil_blobs",
        "licence": "CC0",
        "split": "test",
        "attributes": {"axis.size": "low"},
    }
    rows = [{**row, **facts, "clip_id": f"old clip {n}", "source_uri": f"old/film {n}.mp4"} for n, row in enumerate(items)]
    row = rows[0]
    with pytest.raises(InputError, match="no clip is called"):
        selecting.why(workspace.path, row["item_id"])
    monkeypatch.setattr(selecting, "appended", lambda _: SimpleNamespace(dataset=SimpleNamespace(items=rows)))
    for name in (row["item_id"], row["clip_id"], row["source_uri"], f"{row['source_uri']}:{row['start_frame']}"):
        selecting.why(workspace.path, name).tell(as_json=False)
        told = capsys.readouterr().out
        for words in (
            f"item {row['item_id']}: published, clip {row['clip_id']}",
            row["licence"],
            row["generator"],
            "axis.size",
        ):
            assert words in told
        assert rows[1]["item_id"] not in told
    with pytest.raises(InputError, match="no clip is called"):
        selecting.why(workspace.path, "nothing")


def test_the_funnel_is_written_into_the_workspace(workspace: Workspace) -> None:
    fill(workspace)
    selecting.funnel(workspace.path)
    assert (workspace.path / "funnel.html").stat().st_size > 10_000


def test_a_page_that_cannot_be_written_is_one_sentence(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"page\.html. cannot be written: "):
        selecting.funnel(workspace.path, out=tmp_path / "file" / "page.html")
