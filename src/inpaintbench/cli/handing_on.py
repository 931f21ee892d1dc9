"""`eval report --for hub`: scores of a run for other collections, and for the pages of models on the Hub."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

from inpaintbench.benchmarks import benchmark_of
from inpaintbench.cli import console
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Scored, results_of
from inpaintbench.cli.options import Among
from inpaintbench.errors import UsageError
from inpaintbench.eval.result_files.handing_on import (
    EVAL_YAML,
    RELATIONSHIPS,
    eval_yaml,
    every_eval_ever,
    lacks,
    lacks_words,
    results_path,
    results_yaml,
    tasks_of,
)
from inpaintbench.files import write_atomically


def hand_on(
    dataset: InDataset,
    *,
    run: Scored,
    out: Path,
    protocol: ProtocolName = None,
    organisation: str = "",
    relationship: Annotated[str, Among(RELATIONSHIPS)] = "third_party",
    repo: str | None = None,
    revision: str | None = None,
) -> None:
    """Write the scores of a run for other collections.

    A JSON a method in the schema of Every Eval Ever; with --repo eval.yaml for the dataset's repository, and for each method the
    file of .eval_results that goes into the repository of its model.

    Args:
        out: Folder for the files.
        organisation: Who measured, for Every Eval Ever. [default: nobody named]
        relationship: Of these people to the methods' authors.
        repo (OWNER/NAME): The dataset on the Hub; then files for it too.
        revision: Its commit that was scored, as `export push` prints it.

    Example: inpaintbench eval report --for hub DATASET --run RUN --out results --repo OWNER/NAME
    """
    if revision and not repo:
        raise UsageError("--revision is of the dataset on the Hub; give --repo OWNER/NAME too")
    if repo:
        from inpaintbench.export.publishing.client import check_name as check_hub_name

        check_hub_name(repo)
    results = results_of(run, dataset, protocol)
    now = datetime.datetime.now(datetime.UTC)
    written: dict[Path, bytes] = {}
    for method in results.contenders:
        written[out / f"{method}.json"] = every_eval_ever(
            results,
            method,
            organisation=organisation,
            relationship=relationship,  # type: ignore[arg-type]
            repository=repo,
            timestamp=int(now.timestamp()),
        )
        if repo:
            if reasons := lacks(results, method):
                console.say(lacks_words(method, reasons))
            if len(reasons) < len(tasks_of(results.dataset, results.protocol)):
                data = results_yaml(results, method, repository=repo, revision=revision, date=f"{now:%Y-%m-%d}")
                written[out / "models" / method / results_path(repo)] = data
    if repo:
        written[out / EVAL_YAML] = eval_yaml(results.dataset, results.protocol, description=benchmark_of(results.dataset).use)
    for path, data in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    console.say(f"{len(written)} files in {out}")
    if repo:
        console.say(
            f"{EVAL_YAML} goes into {repo}, which `export push --benchmark` sees to; the Hub shows leaderboards once the "
            "dataset is on its list of benchmarks, which a person asks for. Each file below models/ goes into the repository of "
            "that model, at the same place; `eval submit --to-hub` opens a pull request with it."
        )
