"""How many small faults in the modules that numbers rest on are noticed by their tests.

A seeded sample of each module's mutants is tried; ``bench/mutation.toml`` names the modules, their tests besides the mirrored
file, and what a person made of each survivor. Results are kept in ``bench/out/mutation``: a run goes on where the last one ended.
A survivor is tried again once its tests have changed. ``--quick``: a few mutants of some modules.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _mutant_runs import OUT, ROOT, TREE, caught_by, chosen, learn, prepare, write
from _mutants import Mutant, mutants

HERE = Path(__file__).parent
ASKED = 0.9
"""Of the sampled mutants, equivalent ones among them; of the others in a quick sample, of which two are an eighth."""
QUICK_SAMPLE = 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few mutants of the modules that `quick` names; print only")
    parser.add_argument("--report", action="store_true", help="print what earlier runs found, try nothing")
    parser.add_argument("only", nargs="*", help="modules, such as executors/base; all by default")
    options = parser.parse_args()
    settings = tomllib.loads((HERE / "mutation.toml").read_text())
    names = settings["quick"] if options.quick else list(settings["modules"])
    size = QUICK_SAMPLE if options.quick else settings["sample"]
    OUT.mkdir(parents=True, exist_ok=True)
    if not options.report:
        prepare()
    root = ROOT if options.report else TREE
    modules = [_Module(name, settings, size, root) for name in names if not options.only or name in options.only]
    for module in modules:
        if not options.report:
            module.try_all()
    return _report(modules, settings)


class _Module:
    """The sampled mutants of one module, and what became of them."""

    def __init__(self, name: str, settings: dict[str, Any], size: int, root: Path) -> None:
        self.name, self.root = name, root
        self.source = (root / "src" / "inpaintbench" / f"{name}.py").read_bytes()
        folder, _, stem = name.rpartition("/")
        mirrored = Path("tests", folder, f"test_{stem}.py")
        self.tests = [*([str(mirrored)] if (root / mirrored).exists() else []), *settings["modules"][name]]
        every = [one for one in mutants(self.source) if _compiles(one.applied(self.source))]
        self.count = len(every)
        self.sample = sorted(random.Random(name).sample(every, len(every))[:size])  # a larger sample begins with the smaller one
        self.kept = OUT / f"{name.replace('/', '.')}.json"
        self.results: dict[str, str] = json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def key(self, mutant: Mutant) -> str:
        """Of a result that no change of tests can undo: what the fault is, in which source."""
        return hashlib.sha256(self.source + repr(mutant).encode()).hexdigest()[:16]

    def tried_with(self) -> str:
        """Stands for the tests that a survivor has met."""
        return hashlib.sha256(b"".join((self.root / path).read_bytes() for path in self.tests)).hexdigest()[:12]

    def result(self, mutant: Mutant) -> str:
        """``caught``, ``time``, ``survived`` or ``untried``."""
        found = self.results.get(self.key(mutant), "untried")
        return found.partition(" ")[0]

    def try_all(self) -> None:
        """Try what was not tried, or survived other tests than these."""
        stale = f"survived {self.tried_with()}"
        todo = [one for one in self.sample if self.results.get(self.key(one), "") not in ("caught", "time", stale)]
        if not todo:
            return
        learnt = learn(self.name, self.tests)
        if "error" in learnt:
            print(f"{self.name}: its tests do not pass as it stands: {learnt['error']}", file=sys.stderr)
            return
        try:
            for mutant in todo:
                write(self.name, mutant.applied(self.source))
                self._try(mutant, learnt)
                self.kept.write_text(json.dumps(self.results, indent=1))
        finally:
            write(self.name, self.source)
        print(f"{self.name}: {dict(Counter(map(self.result, self.sample)))} of {self.count}", file=sys.stderr, flush=True)

    def _try(self, mutant: Mutant, learnt: dict[str, Any]) -> None:
        first, last = self._statement(mutant)
        found = "survived"
        for tests in chosen(first, last, learnt):
            if tests and found == "survived":
                found = caught_by(tests, seconds=sum(learnt["seconds"][name] for name in tests))
        self.results[self.key(mutant)] = f"survived {self.tried_with()}" if found == "survived" else found

    def _statement(self, mutant: Mutant) -> tuple[int, int]:
        """First and last line of the smallest statement around it: a list of constants is run on its first line alone."""
        last = mutant.line + self.source[mutant.start : mutant.end].count(b"\n")
        spans = [(node.lineno, node.end_lineno or 0) for node in ast.walk(ast.parse(self.source)) if isinstance(node, ast.stmt)]
        around = [(begin, end) for begin, end in spans if begin <= mutant.line and last <= end]
        return min(around, key=lambda span: span[1] - span[0])

    def survivors(self) -> Iterator[tuple[str, str]]:
        """Lines before and after."""
        return (one.told(self.source) for one in self.sample if self.result(one) == "survived")


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _report(modules: list[_Module], settings: dict[str, Any]) -> int:
    judged = {(one["module"], one["was"], one["became"]): one for one in settings.get("survivors", [])}
    totals: Counter[str] = Counter()
    rows, listed = [], []
    for module in modules:
        counts = Counter(module.result(one) for one in module.sample)
        totals += counts
        caught, tried = counts["caught"] + counts["time"], len(module.sample) - counts["untried"]
        rows.append(f"| {module.name} | {module.count} | {tried} | {caught} |")
        for was, became in module.survivors():
            one = judged.get((module.name, was, became), {"judgement": "not judged", "why": ""})
            totals[one["judgement"]] += 1
            listed.append(f"| {module.name} | `{_cell(was)}` | `{_cell(became)}` | {one['judgement']} | {_cell(one['why'])} |")
    caught, tried = totals["caught"] + totals["time"], sum(totals[name] for name in ("caught", "time", "survived"))
    share = caught / max(tried, 1)
    few = tried <= QUICK_SAMPLE * len(modules)
    enough = caught >= ASKED * (tried - totals["equivalent"] * few)
    print(
        f"## Faults that tests notice\n\n{len(modules)} modules, at most {settings['sample']} seeded mutants of each: comparisons"
        ", boundaries, arithmetic, constants, conditions, removed statements, arguments and list items, results. A mutant that"
        f" runs into the time limit counts as caught.\n\nCaught: {caught} of {tried}, {share:.1%} (asked: at least"
        f" {ASKED:.0%}); {totals['time']} of them by the time limit. Survivors: {totals['survived']}, of which"
        f" {totals['equivalent']} are judged to change nothing that a result could show, {totals['accepted']} are left for the"
        f" reason given, {totals['not judged']} are not judged. Where a survivor showed that a test was missing the test was"
        " written, so other mutants than these are caught less often.\n"
    )
    print("| module | mutants | tried | caught |\n|---|---|---|---|", *rows, sep="\n")
    if listed:
        print("\n| module | line | became | judged | why |\n|---|---|---|---|---|", *listed, sep="\n")
    return int(not enough or bool(totals["not judged"]) or tried < sum(len(one.sample) for one in modules))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


if __name__ == "__main__":
    raise SystemExit(main())
