"""A newcomer's way from a clone to a report on footage of their own: README's own commands, in an environment with nothing in it.

python bench/newcomer.py [--quick] [--full-size]

The clone is of the last commit. The home folder is new and empty, so nothing is cached, and of the environment only the place of
Python and the settings that packages are downloaded by go along. Packages come from a network, so the first command's time says
more of the line than of the program. Footage: real videos, or without INPAINTBENCH_TEST_ASSETS generated ones. The build has the
options that README names for a first try, unless ``--full-size`` is given; ``--quick`` takes fewer videos.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
VIDEOS, FEWER_VIDEOS = 6, 2
MOST_COMMANDS = 4
FIRST_TRY = " --size 208x120 --per-slice 5"
KEPT = ("PIP_", "UV_", "SSL_", "REQUESTS_", "http_", "https_", "HTTP", "no_proxy", "NO_PROXY")
"""Beginnings of the names of settings for downloads."""


def readme_commands() -> list[str]:
    """The first block of README's part on own footage, without remarks."""
    part = (ROOT / "README.md").read_text().partition("## Your own footage")[2]
    block = part.partition("```sh\n")[2].partition("```")[0]
    return [line.partition(" #")[0].strip() for line in block.splitlines() if line.strip()]


def footage(folder: Path, count: int) -> str:
    """Fill the folder; what it holds, in words."""
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    folder.mkdir()
    if assets:
        found = sorted(path for path in (Path(assets) / "videos").rglob("*.mp4") if path.stat().st_size > 200_000)
        for path in found[:count]:
            shutil.copyfile(path, folder / f"{path.parent.name}-{path.name}")
        return f"{len(found[:count])} real videos"
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from footage import write_sources

    write_sources(folder)
    return "generated videos"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer videos")
    parser.add_argument("--full-size", action="store_true", help="the build without the options for a first try")
    options = parser.parse_args()
    added = "" if options.full_size else FIRST_TRY
    commands = readme_commands()
    print("## A newcomer's way\n")
    with tempfile.TemporaryDirectory(prefix="newcomer-") as scratch:
        home, clone = Path(scratch) / "home", Path(scratch) / "clone"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        told = footage(clone / "FOLDER", FEWER_VIDEOS if options.quick else VIDEOS)
        seconds, reports = _walk(commands, clone, home, added=added)
        print(f"Asked: at most {MOST_COMMANDS} commands from README to a report on own footage, none of them undocumented.\n")
        print(f"{len(commands)} commands, {told}{f', the build with `{added.strip()}`' if added else ''}.\n")
        print("| command | seconds |")
        print("|---|---|")
        for command, taken in zip(commands, seconds, strict=False):
            print(f"| `{command}` | {taken:.0f} |")
        found = [path for path in reports if path.is_file() and path.stat().st_size > 10_000]
        print(f"\n{'The page is there.' if found else 'NO PAGE WAS WRITTEN.'}")
    return 0 if found and len(commands) <= MOST_COMMANDS and len(seconds) == len(commands) else 1


def _walk(commands: list[str], clone: Path, home: Path, *, added: str) -> tuple[list[float], list[Path]]:
    """Seconds of every command that ended well, all in one shell, and where the last one says that the page is."""
    path = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
    settings = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    environment = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **settings}
    marked = []
    for command in commands:
        text = command + added if " build " in command else command
        marked.append(f"{text}\necho finished")
    started = time.perf_counter()
    with subprocess.Popen(
        ["bash", "-e", "-c", "\n".join(marked)], cwd=clone, env=environment, stdout=subprocess.PIPE, text=True
    ) as shell:
        seconds, reports = list[float](), list[Path]()
        for line in shell.stdout or ():
            if line.strip() == "finished":
                seconds.append(time.perf_counter() - started)
                started = time.perf_counter()
            reports += [Path(found) for found in re.findall(r"Report: (.+\.html)", line)]
    return seconds, reports[-1:]


if __name__ == "__main__":
    raise SystemExit(main())
