"""Run every bench and write what was measured into bench/README.md. `--quick` runs reduced counts and writes nothing."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
INTRODUCTION = """# Measured

Every figure below was printed by the command above it, on the machine named here. Times are compared within one run; what a
program took on another machine says nothing about this one. `make bench` runs everything and rewrites this page.

"""


def machine() -> str:
    """Processor count, operating system and versions that figures depend on."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "opencv-python-headless", "av", "scikit-image", "pillow")
    )
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}, {packages}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="reduced counts; print only")
    parser.add_argument("only", nargs="*", help="names of benches; all by default")
    options = parser.parse_args()
    benches = sorted(path for path in HERE.glob("*.py") if path.name != "run.py" and not path.name.startswith("_"))
    if options.only:
        benches = [path for path in benches if path.stem in options.only]
    sections, failed = [], 0
    for path in benches:
        command = [sys.executable, str(path), *(["--quick"] if options.quick else [])]
        print(f"bench: {path.name}", file=sys.stderr)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        failed += done.returncode != 0
        sections.append(f"<!-- {path.stem} -->\n`python bench/{path.name}`\n\n{done.stdout.strip()}\n")
        print(sections[-1])
    if not options.quick:
        (HERE / "README.md").write_text(_merged(sections, everything=not options.only))
    return failed


def _merged(sections: list[str], *, everything: bool) -> str:
    """The page; sections that did not run this time stay as they were."""
    page = HERE / "README.md"
    kept: dict[str, str] = {}
    if page.exists() and not everything:
        for part in page.read_text().split("<!-- ")[1:]:
            kept[part.split(" -->")[0]] = "<!-- " + part.rstrip() + "\n"
    kept |= {section.split(" -->")[0].removeprefix("<!-- "): section for section in sections}
    return INTRODUCTION + f"Machine: {machine()}.\n\n" + "\n".join(kept[name] for name in sorted(kept))


if __name__ == "__main__":
    raise SystemExit(main())
