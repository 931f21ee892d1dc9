"""Try the wheel where nothing else is: one new environment for each Python that is named, without extras.

python scripts/bare_environments.py /usr/bin/python3.11 /usr/bin/python3.12 ...

The wheel is made from what `Dockerfile` copies into its first stage, so that the image's own build is tried too. In each
environment `doctor`, `demo` and some tests run; a Python that the package does not allow has to be refused. Packages come from a
network. Prints a Markdown table; exit status 1 where something fails.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What runs with the packages of the wheel and of a test runner.
TESTS = (
    "tests/video/test_video.py", "tests/video/test_video_encoders.py",
    "tests/test_types.py", "tests/test_workspace.py", "tests/test_ledgers.py",
    "tests/test_regions.py", "tests/test_files.py", "tests/test_catalogue.py", "tests/cli/test_doctor.py",
    "tests/executors/test_local.py", "tests/export/test_identity.py", "tests/eval/scoring/test_score.py",
)  # fmt: skip
RUNNER = ("pytest", "hypothesis", "pytest-xdist")


def copied(stage: str) -> list[str]:
    """Paths of the clone that a stage of `Dockerfile` copies."""
    text = (ROOT / "Dockerfile").read_text().partition(f" AS {stage}\n")[2].partition("\nFROM ")[0]
    return [path for line in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE) for path in line.split()[:-1]]


def wheel(folder: Path) -> Path:
    """The wheel, made from a copy of these paths alone."""
    source = folder / "source"
    source.mkdir()
    for path in copied("wheel"):
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, source / path, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / path, source / path)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source))
    return next(folder.glob("*.whl"))


def run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a command said, which must not fail."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done


def allowed() -> list[tuple[int, int]]:
    """Versions of Python that the package allows."""
    text = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    least, below = map(int, re.fullmatch(r">=3\.(\d+),<3\.(\d+)", text).groups())
    return [(3, minor) for minor in range(least, below)]


def tried(python: str, package: Path, folder: Path) -> dict[str, str]:
    """What happened under one Python, by column of the table."""
    number = run(python, "-c", "import platform; print(platform.python_version())").stdout.strip()
    place = folder / f"environment-{number}"
    run(python, "-m", "venv", str(place))
    own, program = str(place / "bin" / "python"), str(place / "bin" / "inpaintbench")
    installed = subprocess.run(
        [own, "-m", "pip", "install", "--quiet", str(package)], capture_output=True, text=True, check=False
    )
    if tuple(map(int, number.split(".")[:2])) not in allowed():
        return {"Python": number, "wheel": "refused" if installed.returncode else "INSTALLED, FAILED"}
    if installed.returncode:
        return {"Python": number, "wheel": f"FAILED: {installed.stderr.strip()[-300:]}"}
    doctor = json.loads(run(program, "doctor", "--json", cwd=folder).stdout)
    demo = run(program, "demo", "--out", str(folder / f"demo-{number}"), cwd=folder)
    report = folder / f"demo-{number}" / "report" / "report.html"
    run(own, "-m", "pip", "install", "--quiet", *RUNNER)
    tests = subprocess.run(
        [own, "-m", "pytest", "-m", "not long", "-n", "2", *TESTS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tests.returncode:
        print(tests.stdout[-3000:], file=sys.stderr)
    took = re.search(r"Done in (\S+ \S+)\.", demo.stdout + demo.stderr)
    return {
        "Python": number,
        "wheel": "installed",
        "doctor": "works" if doctor["works"] else "BROKEN",
        "demo": took[1] if took and report.is_file() else "FAILED",
        "tests": "FAILED" if tests.returncode else tests.stdout.strip().splitlines()[-1],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", nargs="+", help="an interpreter")
    options = parser.parse_args()
    columns = ("Python", "wheel", "doctor", "demo", "tests")
    print(f"| {' | '.join(columns)} |\n| {' | '.join('---' for _ in columns)} |")
    with tempfile.TemporaryDirectory(prefix="inpaintbench-bare-") as scratch:
        package = wheel(Path(scratch))
        rows = []
        for python in options.python:
            rows.append(tried(python, package, Path(scratch)))
            print(f"| {' | '.join(rows[-1].get(name, '') for name in columns)} |", flush=True)
    return int(any(re.search("FAILED|BROKEN", " ".join(row.values())) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
