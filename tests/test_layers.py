"""Imports run one way: each layer only from those above it, and the five rooms never from each other."""

from __future__ import annotations

import ast
from pathlib import Path

import inpaintbench

ROOT = Path(inpaintbench.__file__).parent
LAYERS = (
    {"types", "errors", "__init__"},
    {
        "workspace",
        "video",
        "regions",
        "benchmarks",
        "catalogue",
        "contract",
        "view",
        "compute",
        "deviations",
        "frozen",
        "fingerprints",
        "download",
        "http_transport",
        "http_client",
        "claims",
    },
    {"executors", "models", "pages"},
    {"curation", "masks", "annotate", "export", "eval"},
    {"recipes"},
    {"cli", "__main__"},
)
ROOMS = LAYERS[3]
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def imports_of(path: Path) -> set[str]:
    """The parts of the package that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("inpaintbench.")}
    return {part for part in found if part in LEVEL}


def test_each_layer_imports_only_from_those_above_it() -> None:
    paths = sorted(ROOT.rglob("*.py"))
    assert len(paths) > 30
    for path in paths:
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for other in imports_of(path) - {part}:
            assert LEVEL[other] <= LEVEL[part], f"{path.relative_to(ROOT)} imports {other}"
            assert not {part, other} <= ROOMS, f"the room {part} imports the room {other} in {path.relative_to(ROOT)}"


def test_only_video_opens_videos_and_images() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "video" and path.name != "second_decoder.py":
            text = path.read_text()
            for call in ("VideoCapture", "av.open", "Image.open", "imread"):
                assert call not in text, f"{path.relative_to(ROOT)} opens media with {call}"


def test_decoding_never_passes_interpolation_flags() -> None:
    for path in (ROOT / "video").glob("*.py"):
        assert "interpolation=" not in path.read_text().split('"""', 2)[2], path.name
