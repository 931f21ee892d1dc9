"""A table that cannot be read: which one, and what makes it anew."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from selection_world import fill
from typer.testing import CliRunner

from inpaintbench.cli import app
from inpaintbench.errors import WorkspaceError
from inpaintbench.types import Attribute, Clip, Corruption
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
    ("attributes", "annotate.camera", "inpaintbench annotate resolve"), ("predictions", "predict.a", "inpaintbench eval predict"),
    ("licence_checks", "recheck.urls", "inpaintbench curation recheck"), ("scores", "score.x.telea", "inpaintbench eval score"),
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


def test_every_command_that_is_named_exists() -> None:
    for command in sorted({command for _, _, command in WAYS_OUT}):
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
