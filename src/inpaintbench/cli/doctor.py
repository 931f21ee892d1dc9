"""`doctor`: what this installation can do, and what to do about the rest."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from inpaintbench.api.installation import Finding, findings
from inpaintbench.cli import console
from inpaintbench.errors import InpaintBenchError

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
