"""The same rows from in-process, pool, shards and Ray."""

from __future__ import annotations

from pathlib import Path

import pytest
from footage import contents, write_sources

from inpaintbench.curation import measuring
from inpaintbench.errors import InputError
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.executors.ray import RayExecutor
from inpaintbench.recipes.stages import Cutting, SourceSpec, curate
from inpaintbench.types import Clip
from inpaintbench.workspace import Shard, Workspace

LEAVES = {"cut_score": {}, "camera_motion": {}, "camera_motion_per_frame": {}}
CUTTING = Cutting(splitter={"name": "windows"}, normalizer={"name": "cover", "width": 128, "height": 80})


def curated(executor: object, workspace: Workspace, sources: Path) -> None:
    """Sources to measured clips."""
    curate(CUTTING, [SourceSpec("folder", {"folder": str(sources)})], executor, workspace)  # type: ignore[arg-type]
    clips = [clip for clip in workspace.table("clips", Clip) if workspace.takes(clip.source_id)]
    measuring.measure_together(executor, clips, leaves=LEAVES)  # type: ignore[arg-type]


@pytest.mark.long
def test_in_process_pool_shards_and_ray_give_the_same_bytes(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", count=5)
    (sources / "broken.mp4").write_bytes(b"not a video")
    for name, workers in (("inside", 0), ("pool", 2)):
        workspace = Workspace(tmp_path / name)
        with LocalExecutor(workspace, workers=workers) as executor:
            curated(executor, workspace, sources)
    expected = contents(tmp_path / "inside")
    assert len(expected) > 10
    assert contents(tmp_path / "pool") == expected

    workspace = Workspace(tmp_path / "ray")
    with RayExecutor(workspace, workers=2) as executor:
        curated(executor, workspace, sources)
    assert contents(tmp_path / "ray") == expected

    for number in (3, 1, 2):
        workspace = Workspace(tmp_path / "shards", shard=Shard(number, 3))
        with LocalExecutor(workspace, workers=0) as executor:
            curated(executor, workspace, sources)
    workspace = Workspace(tmp_path / "shards")
    with LocalExecutor(workspace, workers=0) as executor:
        curated(executor, workspace, sources)
    assert contents(tmp_path / "shards") == expected


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense:x"])
def test_no_cluster_at_an_address_is_one_sentence(workspace: Workspace, address: str) -> None:
    with pytest.raises(InputError, match=f"no Ray cluster answers at '{address}'"):
        RayExecutor(workspace, address=address)
