"""What the package declares, and the files that install it: each names only what is there."""

from __future__ import annotations

import ast
import json
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
                (number,) = re.findall(r"^python:(3\.\d+)-slim@sha256:[0-9a-f]{64}$", image)
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
    assert [arguments for name, arguments in asked if name == "ENTRYPOINT"] == [f'["{next(iter(PROJECT["scripts"]))}"]']
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
    assert study[0] == ("FROM", instructions(DOCKERFILE)[0][1].partition(" AS ")[0])


def locked(path: Path) -> dict[str, dict[str, int]]:
    """Package -> each of its versions (for some Pythons there are others) and how many hashes that has, of a lock file."""
    found: dict[str, dict[str, int]] = {}
    for block in re.split(r"\n(?=\w)", path.read_text().strip()):
        name, _, rest = block.partition("==")
        found.setdefault(canonicalize_name(name), {})[rest.split()[0]] = block.count("--hash=sha256:")
    return found


def test_every_package_of_every_image_is_named_by_its_hash(tmp_path: Path) -> None:
    write_space(tmp_path / "space", title="A study")
    for folder in (ROOT, tmp_path / "space"):
        installed = [
            command
            for name, arguments in instructions((folder / "Dockerfile").read_text())
            if name == "RUN"
            for command in arguments.split("&&")
            if "pip install" in command and ".whl" not in command
        ]
        assert installed
        assert all("--require-hashes" in command for command in installed), installed
        for path in {file for command in installed for file in re.findall(r"-r \S*?([\w.-]+\.lock)", command)}:
            assert all(all(versions.values()) for versions in locked(folder / path).values()), path
    wheels = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if ".whl" in line or "pip wheel" in line]
    assert len(wheels) == 2
    assert all("--no-deps" in line for line in wheels), "a wheel brings no package along"


def test_images_have_the_versions_that_are_tested() -> None:
    tested = locked(ROOT / "requirements.lock")
    space = ROOT / "src/inpaintbench/annotate/space/requirements.lock"
    for path in (ROOT / "requirements-demo.lock", ROOT / "requirements-image.lock", ROOT / "requirements-image-cpu.lock", space):
        others = {name for name, versions in locked(path).items() if not versions.keys() <= tested[name].keys()}
        assert not others, path
    whole, cpu, torch = (set(locked(ROOT / f"requirements-{name}.lock")) for name in ("image", "image-cpu", "torch-cpu"))
    assert torch == {"torch", "torchcodec", "torchvision"}
    assert not cpu & torch
    assert all(re.match(r"triton$|nvidia-|cuda-", name) for name in whole - cpu - torch)
    wanted = CORE | {
        name for extra in ("annotate", "curation", "eval", "export", "masks", "postgres") for name in names(EXTRAS[extra])
    }
    assert wanted <= cpu | torch
    assert CORE | names(EXTRAS["annotate"]) | names(EXTRAS["postgres"]) <= set(locked(space))


def test_the_list_of_packages_is_that_of_the_locks_and_has_every_licence() -> None:
    bom = json.loads((ROOT / "docs" / "sbom.cdx.json").read_text())
    assert bom["metadata"]["component"]["name"] == PROJECT["name"]
    listed = {(one["name"], one["version"]): one for one in bom["components"]}
    assert len(listed) == len(bom["components"])
    paths = [*ROOT.glob("*.lock"), *(ROOT / "src").rglob("*.lock")]
    assert len(paths) >= 7
    found: dict[tuple[str, str], set[str]] = {}
    for path in paths:
        for name, versions in locked(path).items():
            for version, hashes in versions.items():
                found.setdefault((name, version), set()).add(str(path.relative_to(ROOT)))
                assert len({one["content"] for one in listed[name, version]["hashes"]}) >= hashes, "`make sbom` after `make lock`"
    by_lock = {key: {one["value"] for one in component["properties"]} for key, component in listed.items()}
    assert by_lock == found, "`make sbom` after `make lock`"
    text = "".join(path.read_text() for path in paths)
    assert {one["content"] for component in listed.values() for one in component["hashes"]} == set(
        re.findall(r"--hash=sha256:([0-9a-f]{64})", text)
    )
    page = (ROOT / "docs" / "licences.md").read_text().partition("## Everything that lock files install")[2]
    for name, version in listed:
        licence = listed[name, version]["licenses"][0]["expression"]
        assert re.search(rf"^\| {re.escape(licence)} \|.*[ ]{re.escape(name)}[, ]", page, re.MULTILINE), name


def test_the_workflow_has_no_more_rights_than_it_needs() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    workflow = yaml.safe_load(text)
    (job,) = workflow["jobs"].values()
    assert workflow["permissions"] == {}
    assert job["permissions"] == {"contents": "read"}
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used), "tags can be moved, hashes cannot"
    assert job["steps"][0]["with"] == {"persist-credentials": False}


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


def test_what_is_read_of_a_citation_goes_into_the_wheel() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["shared-data"] == {"CITATION.cff": "share/inpaintbench/CITATION.cff"}
    assert (ROOT / "CITATION.cff").exists()
    assert "!CITATION.cff" in (ROOT / ".dockerignore").read_text().splitlines()
