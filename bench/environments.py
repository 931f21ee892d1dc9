"""Whether datasets are the same under other versions of packages: the demos, built by two Pythons.

python bench/environments.py [OTHER_PYTHON]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

DEMOS = ("devil", "reinpaint", "humans", "decaption", "editing", "removal", "benchmark")
BUILDS = {name: ["--demo"] for name in DEMOS} | {"fingerprint": ["--fingers", "20"]}
PACKAGES = ("numpy", "pillow")


def built(python: str, folder: Path) -> tuple[dict[str, str], str]:
    """Benchmark -> hash of its manifest, and the versions of ``PACKAGES``, of one Python."""
    hashes, versions = {}, {}
    for name, options in BUILDS.items():
        command = [python, "-m", "inpaintbench", "build", name, *options, "--out", str(folder / name)]
        subprocess.run(command, check=True, capture_output=True)
        manifest = json.loads((folder / name / "exports" / name / "dataset.json").read_text())
        hashes[name], versions = manifest["manifest_sha256"], manifest["versions"]
    return hashes, ", ".join(f"{package} {versions[package]}" for package in PACKAGES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", help="the Python of an environment with other packages and the same inpaintbench")
    other = parser.parse_args().other
    print("## Identity under other packages\n")
    if other is None:
        print("Not run: name the Python of another environment.")
        return
    with tempfile.TemporaryDirectory() as folder:
        (here, ours), (there, theirs) = built(sys.executable, Path(folder) / "here"), built(other, Path(folder) / "there")
    print(f"`manifest_sha256` of demos built with {ours} and with {theirs}; asked: equal.\n")
    print("| demo | first digits | equal |\n| --- | --- | --- |")
    for name in BUILDS:
        print(f"| {name} | {here[name][:12]} and {there[name][:12]} | {'yes' if here[name] == there[name] else 'NO'} |")


if __name__ == "__main__":
    main()
