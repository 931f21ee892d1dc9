"""`eval diagnose`: where the methods of a run fail."""

from __future__ import annotations

from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Scored
from inpaintbench.cli.exits import UsageError
from inpaintbench.cli.run_folder import results_of
from inpaintbench.cli.table import MetricName, RegionName, asked_quantity
from inpaintbench.eval.diagnosis.diagnose import diagnose
from inpaintbench.eval.diagnosis.records import (
    Diagnosis,
    clearest_first,
    effects_csv,
    explained_words,
    interval_words,
    left_out_words,
    plain,
    rests_on,
    together_words,
    unexplained_words,
    what_words,
    when_words,
)
from inpaintbench.eval.results.quantity import Quantity, quantity_title
from inpaintbench.files import without_controls, write_atomically
from inpaintbench.pages.words import count, p_words
from inpaintbench.table_files import canonical_bytes

# Effects that are not told and that a terminal shows all the same where none is.
_MOST_UNTOLD = 5


def diagnose_command(
    dataset: InDataset,
    *,
    run: Scored,
    protocol: ProtocolName = None,
    metric: MetricName = None,
    region: RegionName = None,
    everything: bool = False,
    as_json: AsJson = False,
    as_csv: bool = False,
    out: Path | None = None,
) -> None:
    """Say where methods fail. What does each axis and attribute cost each of them, and which failures does nothing explain?

    Args:
        everything --all: Show every effect, not only those that are more than chance.
        as_csv --csv: Print every effect by every metric as CSV.
        out: File to write all of it to: its name ends in .csv or .json. [default: standard output]

    Example: inpaintbench eval diagnose DATASET --run RUN --out diagnosis.csv
    """
    if as_json and as_csv:
        raise UsageError("give --json or --csv, not both")
    if out is not None and out.suffix not in (".csv", ".json"):
        raise UsageError(f"--out is {str(out)!r}; its name has to end in .csv or .json")
    results = results_of(run, dataset, protocol)
    found = diagnose(results)
    quantity = asked_quantity(results, metric, region)
    if out is not None:
        table = out.suffix == ".csv"
        data = effects_csv(found.effects, results.protocol) if table else canonical_bytes(plain(found, results.protocol))
        write_atomically(out, data)
    if as_json:
        print_json(plain(found, results.protocol))
    elif as_csv:
        print(without_controls(effects_csv(found.effects, results.protocol).decode()), end="")
    else:
        _tell(found, quantity, quantity_title(quantity, results.protocol), everything=everything)
        if out is not None:
            console.say(f"wrote {console.shown(out)}")


def _tell(found: Diagnosis, quantity: Quantity, title: str, *, everything: bool) -> None:
    effects = clearest_first(found.effects, quantity)
    told = [effect for effect in effects if effect.told]
    shown = effects if everything else told or effects[:_MOST_UNTOLD]
    if shown:
        heads = ("What", "When", "Effect and interval", "p", "Rests on")
        rows = [(what_words(one), when_words(one), interval_words(one), p_words(one.p), rests_on(one)) for one in shown]
        console.print_table(title if told or everything else f"{title}: none is more than chance", heads, rows)
        console.say(
            f"{len(told)} of {count(len(effects), 'effect')} by it more than chance; intervals and p hold for all together"
        )
    else:
        console.say("nothing that differs between the items rests on enough of them")
    for together in found.together:
        console.say(together_words(together))
    if words := explained_words(found.explained, quantity):
        console.say(words)
    for failure in found.unexplained:
        if failure.quantity == quantity:
            console.say(f"unexplained: {unexplained_words(failure)}")
    for sentence in left_out_words(found):
        console.say(sentence)
