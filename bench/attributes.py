"""What one decode for all attributes saves, and what each attribute costs.

python bench/attributes.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
if assets := os.environ.get("INPAINTBENCH_TEST_ASSETS"):
    os.environ.setdefault("INPAINTBENCH_WEIGHTS", f"{assets}/weights")

import cv2

from inpaintbench import video
from inpaintbench.curation import measuring
from inpaintbench.curation.attributes import ATTRIBUTES, alignment, motion_field
from inpaintbench.curation.sources.embedded import Shot, film, shots
from inpaintbench.types import Clip
from inpaintbench.workspace import Blobs, Workspace

WIDTH, HEIGHT, FRAMES = 832, 480, 90
cv2.setNumThreads(1)


def forget(*, clip: bool) -> None:
    """What leaves have worked out for each other, and with ``clip`` the decoded pictures."""
    for function in (alignment._joined, alignment._linked, motion_field._pairs, *([measuring._decoded] if clip else [])):
        function.cache_clear()


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def measure(name: str, clip: Clip, blobs: Blobs) -> None:
    """As a worker does it."""
    measuring.measure_one({"clip": asdict(clip)}, parameters={"leaf": name, "constants": {}}, blobs=blobs)


def decode(clip: Clip, blobs: Blobs) -> None:
    view = measuring.clip_view(clip, blobs)
    _ = view.luma, view.truth_frame(0)


def written(shot: Shot, workspace: Workspace) -> Clip:
    frames = film(shot, width=WIDTH, height=HEIGHT).frames
    blob, encoded = workspace.blobs.put(".mp4", lambda path: video.write_clip(path, frames, fps=30.0))
    return Clip(
        shot.name, shot.name, 0, FRAMES, 30.0, WIDTH, HEIGHT, FRAMES, blob, encoded.yuv_sha256, encoded.rgb_sha256, 0, 0.0
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    count = 2 if parser.parse_args().quick else 12
    names = list(ATTRIBUTES)
    decoding, together, apart, shared = 0.0, 0.0, 0.0, 0.0
    alone = dict.fromkeys(names, 0.0)
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch) / "workspace")
        blobs = workspace.blobs
        (workspace.path / "scratch").mkdir()
        for place, shot in enumerate(shots(count + 1, width=WIDTH, height=HEIGHT, frames=FRAMES)):
            clip = written(shot, workspace)
            if place == 0:  # loads networks and code, which is paid once a worker
                for name in names:
                    measure(name, clip, blobs)
                continue
            forget(clip=True)
            together += seconds(lambda clip=clip: [measure(name, clip, blobs) for name in names])
            for name in names:
                forget(clip=True)
                apart += seconds(lambda name=name, clip=clip: measure(name, clip, blobs))
            forget(clip=True)
            decoding += seconds(lambda clip=clip: decode(clip, blobs))
            forget(clip=False)
            for name in names:
                spent = seconds(lambda name=name, clip=clip: measure(name, clip, blobs))
                shared, alone[name] = shared + spent, alone[name] + spent
    bound = shared + decoding
    print("## Attributes\n")
    print(f"{len(names)} attributes of {count} embedded clips, {WIDTH}x{HEIGHT}, {FRAMES} frames; one thread, CPU time a clip.\n")
    print("| what | asked | measured |\n|---|---|---|")
    print(f"| decoding once | | {decoding / count:.2f} s |")
    print(f"| all attributes on a decoded clip, what they share worked out once | | {shared / count:.2f} s |")
    print(f"| all attributes together, with decoding | | {together / count:.2f} s |")
    print(f"| together over (pure compute + one decode) | at most 1.3 | {together / bound:.2f} |")
    print(f"| each attribute with its own decode, nothing shared | | {apart / count:.2f} s |")
    print(f"| apart over together | at least 3 | {apart / together:.2f} |")
    print("\nCost of each after those above it, in decodes of the clip; in brackets what the leaf states.\n")
    print("| attribute | decodes |\n|---|---|")
    for name in names:
        print(f"| `{name}` | {alone[name] / decoding:.2f} ({ATTRIBUTES.get(name).cost:g}) |")
    return 0 if together <= 1.3 * bound and apart >= 3 * together else 1


if __name__ == "__main__":
    raise SystemExit(main())
