"""Every script in the package is JavaScript: Node, which comes with Playwright, reads it."""

from __future__ import annotations

import subprocess
from importlib.resources import files
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

# Modules are strict, and so are all of our scripts; none is run.
READ = """
const { readFileSync } = require("fs");
const { SourceTextModule } = require("vm");
for (const identifier of process.argv.slice(1)) new SourceTextModule(readFileSync(identifier, "utf8"), { identifier });
"""


def read(*scripts: Path) -> subprocess.CompletedProcess[str]:
    node, _ = compute_driver_executable()
    options = ["--no-warnings", "--experimental-vm-modules", "-e", READ, *map(str, scripts)]
    return subprocess.run([node, *options], capture_output=True, text=True, check=False)


def test_every_script_can_be_read() -> None:
    scripts = sorted(Path(str(files("inpaintbench"))).rglob("*.js"))
    assert len(scripts) > 40
    told = read(*scripts)
    assert (told.returncode, told.stderr) == (0, "")


def test_a_slip_is_found_and_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.js"
    broken.write_text("export const sum = (a, b) => a + ;\n")
    told = read(broken)
    assert told.returncode != 0
    assert f"{broken}:1" in told.stderr
    assert "SyntaxError" in told.stderr
