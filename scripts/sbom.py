"""Write docs/sbom.cdx.json, the packages of all lock files, and the table of their licences in docs/licences.md.

Names, versions and hashes are those of the lock files; licences are those of what is installed, else of ``READ``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import inpaintbench

ROOT = Path(__file__).parent.parent
SBOM = ROOT / "docs" / "sbom.cdx.json"
PAGE = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- installed packages: made by `make sbom` -->\n", "<!-- end of installed packages -->\n"
# Licences of packages that state none in a form that programs read, or that `make setup` leaves out, and where they were read.
READ = {
    "appnope": ("BSD-2-Clause", "its metadata"),
    "asttokens": ("Apache-2.0", "its metadata"),
    "audioop-lts": ("PSF-2.0", "its metadata"),
    "axe-playwright-python": ("MIT", "its LICENSE"),
    "cffi": ("MIT-0", "its metadata"),
    "cuda-toolkit": ("LicenseRef-NVIDIA-Proprietary", "stated nowhere in it; those of the packages that it names"),
    "hatchling": ("MIT", "its metadata"),
    "httpx2-jsfetch": ("BSD-3-Clause", "its metadata"),
    "mlcroissant": ("Apache-2.0", "stated nowhere in it; its repository's LICENSE"),
    "nvidia-cusparselt-cu13": ("LicenseRef-NVIDIA-Proprietary", "its metadata"),
    "ply": ("BSD-3-Clause", "its metadata say BSD, its source three clauses"),
    "protobuf": ("BSD-3-Clause", "its LICENSE"),
    "pycparser": ("BSD-3-Clause", "its metadata"),
    "ray": ("Apache-2.0", "its metadata"),
    "torchcodec": ("BSD-3-Clause", "its LICENSE; inside are libraries under their own, listed beside it"),
    "torchvision": ("BSD-3-Clause", "its LICENSE"),
    "trove-classifiers": ("Apache-2.0", "its metadata"),
}
# Trove classifiers as SPDX writes them; that of BSD does not tell how many clauses.
_TROVE = {
    "BSD License": "LicenseRef-BSD", "Apache Software License": "Apache-2.0", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU Library or Lesser General Public License (LGPL)": "LicenseRef-LGPL",
}  # fmt: skip


def components() -> list[dict[str, Any]]:
    """Packages of every lock file, each version once, with its hashes, and as properties the files that install it.

    Raises:
        KeyError: the licence of one is stated nowhere here, and nobody has read it yet: ``READ``.
    """
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for path in [*ROOT.glob("*.lock"), *(ROOT / "src").rglob("*.lock")]:
        for block in re.split(r"\n(?=\w)", path.read_text()):
            name, version = re.match(r"([\w.-]+)==(\S+)", block).groups()  # type: ignore[union-attr] # lock files hold nothing else
            facts = found.setdefault((_normal(name), version), {"hashes": set(), "locks": set()})
            facts["hashes"].update(re.findall(r"--hash=sha256:([0-9a-f]{64})", block))
            facts["locks"].add(str(path.relative_to(ROOT)))
    licences = installed_licences() | {name: licence for name, (licence, _) in READ.items()}
    return [
        {
            "type": "library",
            "bom-ref": f"{name}=={version}",
            "name": name,
            "version": version,
            "purl": f"pkg:pypi/{name}@{version.replace('+', '%2B')}",
            "licenses": [{"expression": licences[name]}],
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(facts["hashes"])],
            "properties": [{"name": "inpaintbench:lock", "value": path} for path in sorted(facts["locks"])],
        }
        for (name, version), facts in sorted(found.items())
    ]


def installed_licences() -> dict[str, str]:
    """Name -> licence of what is installed here and is not in ``READ``, by CycloneDX's own reader."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "sbom.json"
        tool = ["uv", "tool", "run", "--from", "cyclonedx-bom==7.5.0", "cyclonedx-py", "environment", "--output-reproducible"]
        subprocess.run([sys.executable, "-m", *tool, "-o", made, sys.executable], check=True)
        found = json.loads(made.read_text())["components"]
    named = {_normal(one["name"]): one for one in found}
    return {name: licence for name, one in named.items() if name not in READ and (licence := _licence(one)) is not None}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(component: dict[str, Any]) -> str | None:
    """Licence as an expression of SPDX; what the metadata state exactly counts before their classifier. None: they state none."""
    stated = [
        one.get("expression") or one["license"].get("id") or one["license"]["name"] for one in component.get("licenses", ())
    ]
    exact = [text for text in stated if not text.startswith("License ::")]
    return exact[0] if exact else _TROVE[stated[0].rpartition(":: ")[2]] if stated else None


def table(found: list[dict[str, Any]]) -> str:
    """Markdown: each licence with its packages, the most frequent first."""
    of_licence = defaultdict(list)
    names = {one["name"]: one["licenses"][0]["expression"] for one in found}
    for name, licence in names.items():
        of_licence[licence].append(name)
    rows = sorted(of_licence.items(), key=lambda row: (-len(row[1]), row[0]))
    lines = [f"{len(names)} packages in {len(found)} versions. Licences of {len(READ)} were read by a person.", ""]
    lines += ["| licence | packages |", "|---|---|", *(f"| {licence} | {', '.join(names)} |" for licence, names in rows)]
    lines += ["", "| read by a person | licence | where |", "|---|---|---|"]
    lines += [f"| {name} | {licence} | {where} |" for name, (licence, where) in READ.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both."""
    found = components()
    root = {"type": "application", "bom-ref": "inpaintbench", "name": "inpaintbench", "version": inpaintbench.__version__}
    root["licenses"] = [{"expression": "Apache-2.0"}]
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": root}}
    lines = ",\n".join(map(json.dumps, found))  # one a line, so that a change is one
    SBOM.write_text(json.dumps(bom)[:-1] + f', "components": [\n{lines}\n]}}\n')
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table(found)}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
