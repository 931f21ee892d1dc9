"""A dataset is the same under other versions of packages: neither the last digits of floats nor the versions are in its hash."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from old_format import one_file

from inpaintbench import frozen
from inpaintbench import manifest as manifest_module
from inpaintbench.export import freeze
from inpaintbench.export.verify import verify
from inpaintbench.manifest import OWN_HASH, is_as_stated
from inpaintbench.recipes import settings
from inpaintbench.workspace import Workspace


def manifest(workspace: Path, target: Path) -> dict[str, Any]:
    """That of the workspace, exported anew."""
    opened = Workspace(workspace)
    folder, _ = settings.export(settings.recall(opened), opened, target=target)
    found: dict[str, Any] = json.loads((folder / frozen.MANIFEST).read_text())
    return found


def nudged(path: Path) -> int:
    """Raise every float64 of a table by one unit in the last place; gives how many."""
    table, changed = pq.read_table(path), 0
    for place, field in enumerate(table.schema):
        if field.type == pa.float64() and field.name != "fps":
            values = table.column(place).to_pylist()
            changed += sum(value is not None for value in values)
            raised = [None if value is None else math.nextafter(value, math.inf) if value else value for value in values]
            table = table.set_column(place, field, pa.array(raised, pa.float64()))
    pq.write_table(table, path)
    return changed


@pytest.mark.long
def test_the_last_digit_of_what_was_measured_changes_nothing(benchmark: Path, tmp_path: Path) -> None:
    before = manifest(benchmark, tmp_path / "before")
    other = Path(shutil.copytree(benchmark, tmp_path / "workspace"))
    tables = [*(other / "tables" / "attributes").glob("*.parquet"), *(other / "tables" / "clips").glob("*.parquet")]
    assert sum(map(nudged, tables)) > 50
    assert manifest(other, tmp_path / "after") == before


@pytest.mark.long
def test_versions_of_packages_are_told_and_are_no_part_of_the_hash(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = manifest(benchmark, tmp_path / "before")
    monkeypatch.setattr(freeze, "installed_version", lambda package: f"99 of {package}")
    after = manifest(benchmark, tmp_path / "after")
    assert after["versions"]["numpy"] == "99 of numpy"
    assert before["versions"]["numpy"] != "99 of numpy"
    assert {name for name in before if before[name] != after[name]} == {"versions"}
    assert verify(tmp_path / "after").problems == []


def test_anything_else_in_the_manifest_is_part_of_the_hash(dataset: Path) -> None:
    text = (dataset / frozen.MANIFEST).read_text()
    assert is_as_stated(text.encode())
    assert not is_as_stated(text.replace('"version": "1.0.0"', '"version": "1.0.1"').encode())
    assert not is_as_stated(f"{text} ".encode())


@pytest.mark.long
def test_a_manifest_whose_hash_has_the_versions_in_it_is_still_proved(tmp_path: Path) -> None:
    dataset = Path(shutil.copytree(Path(__file__).parent / "format_3", tmp_path / "dataset"))
    fields = one_file(dataset)
    own = fields.pop(OWN_HASH)
    old = manifest_module._signed(fields, without=())
    assert json.loads(old)[OWN_HASH] != own
    (dataset / frozen.MANIFEST).write_bytes(old)
    assert verify(dataset).problems == []
