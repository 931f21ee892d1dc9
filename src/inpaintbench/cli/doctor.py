"""`doctor`: what this installation can do, and what to do about the rest."""

from __future__ import annotations

from dataclasses import asdict

from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json
from inpaintbench.cli.doctor_probes import Finding, findings
from inpaintbench.cli.exits import FAILED


def doctor(as_json: AsJson = False) -> None:
    """Tell which parts work, and what to do about the others.

    Exit status 1 when something is broken that nothing works without.

    Example: inpaintbench doctor --json
    """
    with console.busy("looking at the installation"):
        found = findings()
    broken = [one for one in found if one.core and one.state == "broken"]
    if as_json:
        print_json({"works": not broken, "findings": [asdict(one) for one in found]})
    else:
        _print(found)
    if broken:
        names = ", ".join(one.part for one in broken)
        console.stop(f"nothing works until this does: {names}; {broken[0].todo}", status=FAILED)


def _print(found: list[Finding]) -> None:
    rows, before = [], None
    for one in found:
        rows.append((one.group if one.group != before else "", one.part, one.state, one.told, one.todo))
        before = one.group
    console.print_table("This installation", ["", "part", "state", "found", "what to do"], rows)
    counts = {state: sum(one.state == state for one in found) for state in ("ok", "absent", "warning", "broken")}
    console.say(", ".join(f"{count} {state}" for state, count in counts.items()))
