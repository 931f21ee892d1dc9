"""A table that cannot be read: which one, and what makes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selection_world import fill
from typer.testing import CliRunner

from inpaintbench import tables
from inpaintbench.cli import app
from inpaintbench.errors import WorkspaceError
from inpaintbench.files import file_sha256
from inpaintbench.tables import hash_file
from inpaintbench.types import Attribute, Clip, Corruption, Score
from inpaintbench.workspace import Workspace

WAYS_OUT = [
    ("clips", "cut", "inpaintbench curation clips"), ("sources", "find.folder", "inpaintbench curation clips"),
    ("attributes", "measure.noise", "inpaintbench curation measure"), ("attributes", "labels", "inpaintbench curation label"),
    ("attributes", "probe", "inpaintbench curation clips"), ("selection", "select", "inpaintbench curation select"),
    ("answers", "import", "inpaintbench curation answers"), ("downloads", "fetch.urls", "inpaintbench curation fetch"),
    ("rejected", "measure.noise", "inpaintbench curation measure"), ("rejected", "cut", "inpaintbench curation clips"),
    ("corruptions", "render", "inpaintbench masks render"), ("items", "pair", "inpaintbench masks pair"),
    ("attributes", "measure.masks", "inpaintbench masks render"), ("attributes", "mask_levels", "inpaintbench masks pair"),
    ("attributes", "levels", "inpaintbench curation select"), ("attributes", "duplicates", "inpaintbench curation duplicates"),
    ("attributes", "annotate.camera", "inpaintbench annotate resolve"),
    ("licence_checks", "recheck.urls", "inpaintbench curation recheck"),
    ("rejected", "fetch.urls", "inpaintbench curation fetch"), ("rejected", "pair", "inpaintbench masks pair"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "step", "command"), WAYS_OUT)
@pytest.mark.parametrize("columnar", [False, True])
def test_the_sentence_names_the_table_and_the_command(
    workspace: Workspace, table: str, step: str, command: str, *, columnar: bool
) -> None:
    path = workspace.path / "tables" / table / f"{step}.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not parquet at all")
    with pytest.raises(WorkspaceError) as raised:
        workspace.columns(table, Clip) if columnar else workspace.table(table, Clip)
    assert str(raised.value) == (
        f"the table {table!r} is damaged or was written by another version: delete {str(path)!r}, then `{command}` makes it anew"
    )


@pytest.mark.parametrize("table", ["predictions", "scores", "slice_scores"])
def test_a_table_of_results_is_mended_by_one_command(workspace: Workspace, table: str) -> None:
    path = workspace.path / "tables" / table / "step.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not parquet at all")
    with pytest.raises(WorkspaceError, match=f"the table '{table}' is damaged .*: `inpaintbench eval verify .* --repair` makes"):
        workspace.columns(table, Score)


def bits(path: Path, count: int) -> Iterator[None]:
    """Flip single bits of a file, spread evenly over it, one at a time."""
    before = path.read_bytes()
    for place in np.linspace(0, 8 * len(before) - 1, count).astype(int).tolist():
        data = bytearray(before)
        data[place // 8] ^= 1 << place % 8
        path.write_bytes(data)
        yield
        path.write_bytes(before)


SCORES = [Score("telea", f"item-{place}", "psnr", "hole", "x", "x", 20.0 + place, None) for place in range(5)]


def test_a_bit_of_a_table_of_results_or_of_its_hash_is_noticed(workspace: Workspace) -> None:
    workspace.write_table("scores", "score.x.telea", SCORES, Score)
    path = workspace.path / "tables" / "scores" / "score.x.telea.parquet"
    for file in (path, hash_file(path)):
        for _ in bits(file, 60):
            with pytest.raises(WorkspaceError, match=r"the table 'scores' is damaged"):
                workspace.table("scores", Score)
    assert workspace.table("scores", Score) == SCORES


def test_a_table_under_the_name_of_another_is_noticed_with_its_hash(workspace: Workspace) -> None:
    for method in ("telea", "mine"):
        workspace.write_table("scores", f"score.x.{method}", [replace(row, method=method) for row in SCORES], Score)
    telea, mine = (workspace.path / "tables" / "scores" / f"score.x.{method}.parquet" for method in ("telea", "mine"))
    for of in (Path, hash_file):
        of(mine).write_bytes(of(telea).read_bytes())
        with pytest.raises(WorkspaceError, match=r"score.x.mine.parquet"):
            workspace.table("scores", Score)


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a": ', "\u0000"])
def test_texts_that_are_no_json_are_told_in_the_same_way(workspace: Workspace, text: str) -> None:
    rows = tables.to_columns(SCORES, Score)
    place = rows.schema.get_field_index("details")
    workspace.write_columns("scores", "score.x.telea", rows.set_column(place, "details", pa.array([text] * len(SCORES))))
    with pytest.raises(WorkspaceError, match=r"the table 'scores' is damaged .*score.x.telea.parquet"):
        workspace.table("scores", Score)


def test_a_table_without_a_hash_is_read_as_earlier_releases_left_it(workspace: Workspace) -> None:
    workspace.write_table("scores", "score.x.telea", SCORES, Score)
    hash_file(workspace.path / "tables" / "scores" / "score.x.telea.parquet").unlink()
    assert workspace.table("scores", Score) == SCORES


def test_whoever_is_killed_between_a_table_and_its_hash_has_a_table_that_is_whole(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write_table("scores", "score.x.telea", SCORES, Score)
    path = workspace.path / "tables" / "scores" / "score.x.telea.parquet"
    writes = tables.write_atomically
    for kill_at, wanted in ((path, SCORES), (hash_file(path), SCORES[:3])):  # before the table is replaced, and after

        def killed(target: Path, data: bytes, *, at: Path = kill_at) -> None:
            if at != path and data.count(b"\n") == 1:
                raise KeyboardInterrupt
            writes(target, data)
            if at == path:
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(tables, "write_atomically", killed)
            with pytest.raises(KeyboardInterrupt):
                workspace.write_table("scores", "score.x.telea", SCORES[:3], Score)
        assert workspace.table("scores", Score) == wanted
    workspace.write_table("scores", "score.x.telea", SCORES[:3], Score)
    assert hash_file(path).read_text() == f"{file_sha256(path)}  {path.name}\n"


def test_every_command_that_is_named_exists() -> None:
    # Two of them are commands of a wing.
    of_a_wing = {"inpaintbench curation fetch", "inpaintbench curation recheck"}
    for command in sorted({"inpaintbench eval verify", *(command for _, _, command in WAYS_OUT)} - of_a_wing):
        assert CliRunner().invoke(app, [*command.split()[1:], "--help"]).exit_code == 0


def test_a_table_of_other_columns_is_told_in_the_same_way(workspace: Workspace) -> None:
    path = workspace.path / "tables" / "attributes" / "measure.noise.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table({"something": [1]}), path)
    with pytest.raises(WorkspaceError, match="the table 'attributes' is damaged or was written by another version"):
        workspace.columns("attributes", Attribute)


def test_a_table_from_before_a_column_was_added_is_read(workspace: Workspace) -> None:
    """Corruptions had no effect masks; whoever built then need not build again."""
    row = Corruption("c", "clip", "patches", {}, 0, None, "hole.mp4", "0f")
    workspace.write_table("corruptions", "render", [row], Corruption)
    path = workspace.path / "tables" / "corruptions" / "render.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["effect_mask", "effect_mask_sha256"]), path)
    assert workspace.table("corruptions", Corruption) == [row]
    assert workspace.columns("corruptions", Corruption, where=("corruption_id", ["c"])).num_rows == 1


def test_a_table_that_may_not_be_read_says_so(workspace: Workspace) -> None:
    (workspace.path / "tables" / "attributes" / "measure.noise.parquet").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match=r"noise.parquet' cannot be read: Is a directory|the table 'attributes' is damaged"):
        workspace.table("attributes", Attribute)


def test_following_the_sentence_helps(workspace: Workspace) -> None:
    path = fill(workspace).path / "tables" / "selection" / "select.parquet"
    before = path.read_bytes()
    path.write_bytes(before[: len(before) // 2])
    shown = CliRunner().invoke(app, ["curation", "why", str(workspace.path), "c03"])
    assert isinstance(shown.exception, WorkspaceError)
    assert str(path) in str(shown.exception)
    path.unlink()
    assert CliRunner().invoke(app, ["curation", "why", str(workspace.path), "c03"]).exit_code == 0
