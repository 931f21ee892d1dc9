"""`doctor`: what this installation can do; `models`: parameters of the networks that some attributes and metrics use."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from inpaintbench.api.installation import Finding, findings
from inpaintbench.cli import console
from inpaintbench.cli.commands import group
from inpaintbench.cli.options import Seconds, argument
from inpaintbench.download import Limits
from inpaintbench.errors import InpaintBenchError, NotMeasurable, UsageError
from inpaintbench.models import fetching
from inpaintbench.models.weights import known, located, named, state

_WIDTH = 80
_MARKS: Mapping[str, str] = {"absent": "-", "warning": "!", "broken": "x"}


def doctor() -> console.Answer:
    """Tell whether this can start, and what each part lacks.

    Exit status 1 when something is broken that nothing works without.

    Example: inpaintbench doctor --json
    """
    with console.busy("looking at the installation"):
        results = findings()
    broken = [finding for finding in results if finding.core and finding.state == "broken"]
    names = ", ".join(finding.part for finding in broken)
    fault = InpaintBenchError(f"nothing works until this does: {names}; {broken[0].todo}") if broken else None
    return console.Answer({"works": not broken, "findings": results}, *_lines(results, broken), fault=fault)


def _lines(findings: Sequence[Finding], broken: Sequence[Finding]) -> Iterator[str]:
    """The answer, what is counted, and every part in at most ``_WIDTH`` columns; words that are longer stay whole."""
    if broken:
        verb = "is" if len(broken) == 1 else "are"
        yield f"You cannot start yet: {len(broken)} of the parts that all commands need {verb} broken."
    else:
        yield "You can start: `inpaintbench demo` builds, scores and reports a small benchmark."
    counts = {state: sum(row.state == state for row in findings) for state in ("ok", "absent", "warning", "broken")}
    yield ", ".join(f"{count} {state}" for state, count in counts.items())
    hanging = " " * (3 + max((len(finding.part) for finding in findings), default=0))
    before = None
    for finding in findings:
        if finding.group != before:
            yield f"\n{finding.group}"
            before = finding.group
        state = "" if finding.state == "ok" else f"{finding.state}: "
        text = "; ".join(filter(None, (f"{state}{finding.told}", finding.todo)))
        first = f"{'' if finding.state == 'ok' else _MARKS[finding.state]:<2}{finding.part}".ljust(len(hanging))
        yield from textwrap.wrap(
            text, _WIDTH, initial_indent=first, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
        )


app = group(
    {
        "list": "inpaintbench.cli.installed:list_all",
        "fetch": "inpaintbench.cli.installed:fetch",
        "verify": "inpaintbench.cli.installed:verify",
        "import": "inpaintbench.cli.installed:import_file",
    },
    help="Fetch, import and check the parameters of networks.",
)

Names = Annotated[list[str] | None, argument("Which ones.", default="all", among=known())]
Fetched = Annotated[list[str] | None, argument("Which ones.", default="all that have a public address", among=known())]


def list_all() -> console.Answer:
    """List the known files, whether they are here, and who needs them.

    Example: inpaintbench models list
    """
    columns = ("name", "state", "bytes", "licence", "used_by", "file", "sha256", "origin")
    weights = [
        (weight.name, state(weight), weight.bytes, weight.licence, weight.used_by, weight.file, weight.sha256, weight.origin)
        for weight in known().values()
    ]
    rows = [(*row[:4], ", ".join(row[4]), row[5]) for row in weights]
    return console.Answer(
        console.records(columns, weights),
        console.Table("weights", ["name", "state", "bytes", "licence", "used by", "file"], rows),
    )


def fetch(names: Fetched = None, *, mirror: str | None = None, seconds: Seconds = 3600.0, allow_private: bool = False) -> None:
    """Bring files into the cache folder. They come from their public addresses and are checked by their SHA-256.

    Without names all but those that only non-commercial work may use.

    Args:
        mirror --from (URL): Another address of the same bytes; for one name.
        seconds: Longest time for one file, with all tries.
        allow_private: Also from loopback, private and link-local addresses.

    Example: inpaintbench models fetch alexnet
    """
    for_everybody = [file for file in known().values() if mirror or (file.origin and "Noncommercial" not in file.licence)]
    chosen = [named(name) for name in names] if names else for_everybody
    if mirror and len(chosen) != 1:
        raise UsageError(f"--from gives one file, {len(chosen)} were asked for: name one of {', '.join(known())}")
    for weights in chosen:
        address = mirror or weights.origin or "no known address"
        console.say(f"{weights.name}: {weights.licence}, {weights.bytes / 1e6:.1f} MB, from {address}")
        limits = Limits(most_bytes=weights.bytes, seconds=seconds, allow_private=allow_private)
        path = fetching.fetch(weights, limits=limits, mirror=mirror)
        console.say(f"{weights.name}: {console.shown(path)}")


def verify(names: Names = None) -> None:
    """Check the files that are here. Exit status 1 when one is missing or damaged.

    Example: inpaintbench models verify alexnet raft-small
    """
    wrong = 0
    for weights in [named(name) for name in names or known()]:
        try:
            console.say(f"{weights.name}: ready, {console.shown(located(weights))}")
        except NotMeasurable as error:
            wrong += 1
            console.say(f"{weights.name}: {error}")
    if wrong:
        console.stop(f"{wrong} of the weights cannot be used")


def import_file(file: Path) -> None:
    """Copy a file into the cache folder. Which one it is, its bytes tell.

    Args:
        file: A file under any name.

    Example: inpaintbench models import downloads/alexnet.pth
    """
    weights = fetching.import_file(file)
    console.say(f"{weights.name}: imported, {weights.licence}, used by {', '.join(weights.used_by)}")
