"""What the package declares, and the files that install it: each names only what is there."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from inpaintbench.annotate.space import write_space

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


CORE = names(PROJECT["dependencies"])
# Extras of users: those of developers bring nothing to them.
OPTIONAL = set().union(*(names(some) for extra, some in EXTRAS.items() if extra not in ("all", "dev", "docs")))


BRINGS = packages_distributions()


def imported() -> Iterator[tuple[str, str]]:
    """Modules of other packages, and the files that import them."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else modules
            for module in modules:
                yield module.partition(".")[0], str(path.relative_to(ROOT))


def test_every_import_is_of_a_declared_package() -> None:
    """Not of one that a declared package happens to bring today."""
    others = {one for one in imported() if one[0] not in sys.stdlib_module_names | {"inpaintbench"}}
    assert len({module for module, _ in others}) > 30
    declared = CORE | OPTIONAL
    assert not {
        (module, path)
        for module, path in others
        if not {canonicalize_name(name) for name in BRINGS.get(module, [module])} & declared
    }


def test_every_declared_package_is_named_in_the_source() -> None:
    """Some are imported by a name in a text, so words are looked for."""
    words = {word for path in (ROOT / "src").rglob("*.py") for word in re.findall(r"\w+", path.read_text())}
    modules: dict[str, set[str]] = {}
    for module, distributions in BRINGS.items():
        for name in distributions:
            modules.setdefault(canonicalize_name(name), set()).add(module)
    assert not {name for name in CORE | OPTIONAL if not modules.get(name, {name}) & words}


def test_the_page_on_licences_names_every_package_of_users() -> None:
    page = {canonicalize_name(word) for word in re.findall(r"[\w-]+", (ROOT / "docs" / "licences.md").read_text())}
    assert not (CORE | OPTIONAL) - page


def instructions(text: str) -> list[tuple[str, str]]:
    """Instruction and its arguments, in order, with continued lines joined and remarks left out."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [(words[0], words[1].strip()) for line in lines.splitlines() if len(words := line.split(None, 1)) == 2]


def stages() -> list[str]:
    return [arguments.rpartition(" AS ")[2] for name, arguments in instructions(DOCKERFILE) if name == "FROM"]


def test_the_image_is_made_of_what_is_there() -> None:
    asked = instructions(DOCKERFILE)
    before: list[str] = []
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = set()
    for name, arguments in asked:
        if name == "FROM":
            image, _, stage = arguments.partition(" AS ")
            if image.startswith("python:"):
                (number,) = re.findall(r"^python:(3\.\d+)-slim$", image)
                assert f"{number}.0" in SpecifierSet(PROJECT["requires-python"])
            else:
                assert image in before
            before.append(stage)
        if name == "COPY":
            *sources, _ = arguments.split()
            origin = sources[0].removeprefix("--from=") if sources[0].startswith("--") else None
            assert origin is None or origin in before
            copied |= set() if origin else {path.rstrip("/") for path in sources}
    assert before[-1] == "cpu", "the last stage is the one that is built where none is named"
    assert set(before) == {"wheel", "core", "cuda", "cpu"}
    assert copied == set(kept), "the context holds what is copied, and nothing else"
    assert all((ROOT / path).exists() for path in copied)
    assert {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src"} <= copied, "what a wheel is made from"
    for name, arguments in asked:
        for extras in re.findall(r"\$1\[([\w,]+)\]", arguments):
            assert set(extras.split(",")) <= set(EXTRAS), extras
        if name == "ENTRYPOINT":
            assert arguments == f'["{next(iter(PROJECT["scripts"]))}"]'
    users = [arguments for name, arguments in asked if name == "USER"]
    assert users[-1] == "1000"
    assert ("LABEL", "GPL-3.0-or-later AND Apache-2.0") in [
        (n, " AND ".join(re.findall(r"GPL-3.0-or-later|Apache-2.0", a)[:2])) for n, a in asked
    ]


def test_pages_name_stages_that_are_there() -> None:
    named = {
        stage
        for page in (ROOT / "Dockerfile", *(ROOT / "docs").rglob("*.md"))
        for stage in re.findall(r"docker build [^`\n]*--target (\w+)", page.read_text())
    }
    assert named == {"core", "cuda"}
    assert named < set(stages())


def test_the_image_of_a_study_and_the_general_one_agree(tmp_path: Path) -> None:
    write_space(tmp_path / "space", title="A study")
    study = instructions((tmp_path / "space" / "Dockerfile").read_text())
    assert [arguments for name, arguments in study if name == "USER"] == ["1000"]
    (extras,) = re.findall(r"\[([\w,]+)\]", next(arguments for name, arguments in study if "pip install" in arguments))
    assert set(extras.split(",")) <= set(EXTRAS)


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_images_have_nothing_that_the_linter_minds(tmp_path: Path) -> None:
    write_space(tmp_path / "space", title="A study")
    for path in (ROOT / "Dockerfile", tmp_path / "space" / "Dockerfile"):
        done = subprocess.run(["hadolint", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_the_environment_of_conda_has_a_python_and_extras_that_are_there() -> None:
    asked = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (number,) = [one.partition("=")[2] for one in asked if isinstance(one, str) and one.startswith("python=")]
    assert f"{number}.0" in SpecifierSet(PROJECT["requires-python"])
    (packages,) = [one["pip"] for one in asked if isinstance(one, dict)]
    assert [set(re.findall(r"[a-z]+", text)) <= set(EXTRAS) for text in packages] == [True]
    assert all(text.startswith(".[") for text in packages), "the clone, since no index has the package"


def test_the_workflow_runs_what_ci_runs_under_every_python_that_is_allowed() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    (job,) = workflow["jobs"].values()
    steps = job["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100
    allowed = SpecifierSet(PROJECT["requires-python"])
    versions = [f"3.{minor}" for minor in range(8, 30) if f"3.{minor}.0" in allowed]
    assert job["strategy"]["matrix"]["python"] == versions
    assert [name.rpartition(":: ")[2] for name in PROJECT["classifiers"] if ":: Python :: 3." in name] == versions
