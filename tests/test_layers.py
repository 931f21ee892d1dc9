"""Imports run one way: each layer only from those above it, and the five rooms never from each other."""

from __future__ import annotations

import ast
from pathlib import Path

import inpaintbench

ROOT = Path(inpaintbench.__file__).parent
LAYERS = (
    {"types", "errors", "__init__"},
    {"files", "compiled", "lazily"},
    {
        "tables",
        "table_files",
        "ledgers",
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
        "manifest",
        "streaming",
        "steps",
        "fingerprints",
        "download",
        "http_client",
        "claims",
    },
    {"executors", "models", "pages"},
    {"curation", "masks", "annotate", "export", "eval"},
    {"recipes"},
    {"cli", "__main__"},
)
ROOMS = LAYERS[4]
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


def test_no_module_is_imported_by_what_it_imports() -> None:
    """Neither at the top nor where a function imports later what it needs."""
    paths = [path.relative_to(ROOT.parent).with_suffix("") for path in ROOT.rglob("*.py")]
    modules = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    left = {name: _imported(name) & modules - {name} for name in modules}
    while free := [name for name, wanted in left.items() if not wanted & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"imported in a circle: {', '.join(sorted(left))}"


def _imported(name: str) -> set[str]:
    """The modules that a module imports, or imports something of, but for type checkers alone."""
    path = ROOT.parent / name.replace(".", "/")
    module = path.with_suffix(".py")
    tree = ast.parse((module if module.exists() else path / "__init__.py").read_text())
    for_checkers = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unseen = {id(node) for block in for_checkers for node in ast.walk(block)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in unseen:
            for alias in node.names:
                inner = ROOT.parent / node.module.replace(".", "/") / alias.name
                is_module = (inner / "__init__.py").exists() or inner.with_suffix(".py").exists()
                found.add(f"{node.module}.{alias.name}" if is_module else node.module)
    return found


def test_only_video_opens_videos_and_images() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "video" and path.name != "second_decoder.py":
            text = path.read_text()
            for call in ("VideoCapture", "av.open", "Image.open", "imread"):
                assert call not in text, f"{path.relative_to(ROOT)} opens media with {call}"


def test_decoding_never_passes_interpolation_flags() -> None:
    for path in (ROOT / "video").glob("*.py"):
        assert "interpolation=" not in path.read_text().split('"""', 2)[2], path.name
