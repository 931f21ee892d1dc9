"""What the numbers rest on, ready to be copied: dataset, protocol, versions, and the commands that make the report again."""

from __future__ import annotations

import json
import shlex
from html import escape

from inpaintbench import frozen
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.report.markup import SCROLLS, breakable
from inpaintbench.eval.report.tables import Results


def provenance(results: Results) -> str:
    """A list of facts, each with a button that copies it, and the commands."""
    dataset = results.dataset
    versions = "\n".join(f"{name} {version}" for name, version in sorted(dataset.versions.items()))
    facts = {
        "Dataset": f"{dataset.name} {dataset.version}",
        "SHA-256 of its manifest": manifest_sha256(results),
        "Protocol": results.protocol.name,
        "Fingerprint of the protocol": results.fingerprint,
        "Versions that made the dataset": versions or "not stated",
    }
    rows = "\n".join(
        f'<tr><th scope="row">{name}</th><td><code id="fact-{index}">{_lines(text)}</code></td>'
        f"<td>{_button(f'fact-{index}', name)}</td></tr>"
        for index, (name, text) in enumerate(facts.items())
    )
    commands = escape("\n".join(commands_of(results)))
    copy = _button("fact-commands", "the commands")
    return f"""<div class="scroll"{SCROLLS}><table class="plain facts-table">
<caption>Scores mix only where protocol and fingerprint are equal, and items only where the manifest is.</caption><tbody>
{rows}
</tbody></table></div>
<h3>How to reproduce it</h3>
<p class="note">With the dataset in the folder DATASET; programs and saved predictions take the options of
<code>inpaintbench eval predict --help</code>.</p>
<div class="commands"><pre{SCROLLS}><code id="fact-commands">{commands}</code></pre>{copy}</div>"""


def manifest_sha256(results: Results) -> str:
    """The hash that the dataset's manifest states of itself."""
    fields = json.loads(frozen.manifest_bytes(results.dataset))
    return str(fields[frozen.OWN_HASH])


def commands_of(results: Results) -> list[str]:
    """Commands that predict, score and report with the methods called as they are here."""
    methods = " ".join(
        f"--method {shlex.quote(method)}" if method in METHODS else f"--saved {shlex.quote(method)}=FOLDER"
        for method in results.methods
    )
    protocol = f"--protocol {shlex.quote(results.protocol.name)}"
    return [
        f"inpaintbench eval predict DATASET --run RUN {methods}",
        f"inpaintbench eval score DATASET --run RUN {protocol}",
        f"inpaintbench eval report DATASET --run RUN {protocol}",
    ]


def _lines(text: str) -> str:
    return "<br>".join(breakable(line) for line in text.splitlines())


def _button(element: str, name: str) -> str:
    return f'<button type="button" class="copy js-only" data-copy="{element}" aria-label="Copy {escape(name)}">Copy</button>'
