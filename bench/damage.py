"""Wrong bytes in datasets and run folders: no number changes without a word, and a repair leaves what an undisturbed run has.

python bench/damage.py [--quick]

Single bits are flipped at random in media, in the tables of the dataset, in stored predictions, and in ledgers and tables of the
run, before it is scored or after; then `eval run --report` and `eval submit`. Files of one kind are swapped.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

from program import run_here
from publishing_data import make_dataset

METHODS = ("blank", "telea")
SCORING = ("--metric", "psnr", "--metric", "ssim")
FAULT = "fault of this program"
CARD = "\n".join(
    f'{name} = "x"' for name in ("title", "summary", "model", "preprocessing", "training_data", "loss")
)  # fmt: skip
Chosen = Callable[[Path], list[Path]]
KINDS: dict[str, Chosen] = {
    "media of the dataset": lambda world: media(world, "truth") + media(world, "hole"),
    "tables of the dataset": lambda world: [*(world / "data").glob("*.parquet"), *(world / "data" / "manifest").iterdir(),
                                            world / "data" / "dataset.json"],
    "stored predictions": lambda world: sorted((world / "run" / "blobs").glob("*/*")),
    "ledgers of the run": lambda world: sorted((world / "run" / "ledger").glob("*.jsonl")),
    "tables of the run": lambda world: sorted(path for path in (world / "run" / "tables").rglob("*") if path.suffix != ".settings"
                                              and path.is_file() and path.stat().st_size),
}  # fmt: skip


def media(world: Path, what: str) -> list[Path]:
    """The truths or holes of the dataset."""
    return sorted((world / "data" / {"truth": "truth", "hole": "holes"}[what]).iterdir())


def flip(path: Path, rng: random.Random) -> None:
    """Another bit somewhere in a file."""
    data = bytearray(path.read_bytes())
    place = rng.randrange(8 * len(data))
    data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)


def commands(world: Path) -> Iterator[list[str | Path]]:
    data, run = world / "data", world / "run"
    yield ["eval", "run", data, "--run", run, "--method", "telea", "--workers", "0"]
    yield ["eval", "run", "--for=scores", data, "--run", run, *SCORING, "--workers", "0"]
    yield ["eval", "report", data, "--run", run, "--media", "1"]
    submission = ("--method", "telea", "--card", world / "card.toml", "--out", world / "telea.zip", "--predictions")
    yield ["eval", "submit", data, "--run", run, *submission]


def numbers(world: Path) -> dict[str, bytes]:
    """What a reader or a leaderboard is told, as far as it was written."""
    found = {}
    if (table := world / "run" / "report" / "scores.csv").exists():
        found["report"] = table.read_bytes()
    if (packed := world / "telea.zip").exists():
        with zipfile.ZipFile(packed) as archive:
            found["submit"] = archive.read("scores.jsonl")
    return found


def go(world: Path) -> tuple[dict[str, int], str]:
    """Status of each command, and all that they said on standard error."""
    shutil.rmtree(world / "run" / "report", ignore_errors=True)
    (world / "telea.zip").unlink(missing_ok=True)
    done = {str(words[1]): run_here(*words) for words in commands(world)}
    return {name: one.returncode for name, one in done.items()}, "".join(one.stdout + one.stderr for one in done.values())


def stored(run: Path) -> dict[str, bytes]:
    paths = [path for part in ("tables", "blobs") for path in (run / part).rglob("*") if path.suffix != ".settings"]
    return {str(path.relative_to(run)): path.read_bytes() for path in paths if path.is_file()}


def flips(worlds: dict[str, Path], wanted: dict[str, bytes], scratch: Path, *, count: int, rng: random.Random) -> Counter[str]:
    found = Counter[str]()
    for number in range(count):
        kind, state = list(KINDS)[number % len(KINDS)], ("predicted", "scored")[number // len(KINDS) % 2]
        world = Path(shutil.copytree(worlds[state], scratch / "flipped"))
        path = rng.choice(KINDS[kind](world))
        flip(path, rng)
        statuses, said = go(world)
        changed = {name for name, told in numbers(world).items() if statuses[name] == 0 and told != wanted[name]}
        found["flipped"] += 1
        found["noticed"] += any(statuses.values())
        found["changed numbers with status 0"] += bool(changed)
        found[FAULT] += FAULT in said
        if changed or FAULT in said:
            print(f"<!-- {number} {kind} {state} {path.relative_to(world)}: {changed} {said[-600:]!r} -->", file=sys.stderr)
        shutil.rmtree(world)
        print(f"\r{number + 1} of {count} flips: {dict(found)}", end="", file=sys.stderr, flush=True)
    return found


def swaps(world_of: dict[str, Path], scratch: Path, *, count: int, rng: random.Random) -> Counter[str]:
    found = Counter[str]()
    kinds: tuple[Chosen, ...] = (lambda at: media(at, "truth"), lambda at: media(at, "hole"), KINDS["stored predictions"])
    while found["swapped"] < count:
        world = Path(shutil.copytree(world_of["predicted"], scratch / "swapped"))
        one, other = rng.sample(kinds[found["swapped"] % len(kinds)](world), 2)
        first, second = one.read_bytes(), other.read_bytes()
        if first != second:
            one.write_bytes(second)
            other.write_bytes(first)
            statuses, said = go(world)
            named = one.name in said or other.name in said
            refused = statuses["score"] and statuses["report"] and statuses["submit"]
            found["swapped"] += 1
            found["named and refused"] += bool(named and refused and not numbers(world))
            print(f"\r{dict(found)}", end="", file=sys.stderr, flush=True)
        shutil.rmtree(world)
    return found


def repaired(world_of: dict[str, Path], scratch: Path, *, count: int, rng: random.Random) -> bool:
    world = Path(shutil.copytree(world_of["scored"], scratch / "repaired"))
    run, before = world / "run", stored(world_of["scored"] / "run")
    for _ in range(count):
        flip(rng.choice(KINDS[rng.choice(list(KINDS)[2:])](world)), rng)
    mended = run_here("eval", "verify", run, "--repair", "--dataset", world / "data", "--workers", "0")
    same = mended.returncode == 0 and stored(run) == before
    if not same:
        after = stored(run)
        print([name for name in {*before, *after} if before.get(name) != after.get(name)], mended.stderr, file=sys.stderr)
    shutil.rmtree(world)
    return same


def killed(world_of: dict[str, Path], scratch: Path, *, count: int, rng: random.Random) -> Counter[str]:
    """Scoring that SIGKILL ends at a random moment, and that is begun again: in forks of this process, which has all modules."""
    found, wanted = Counter[str](), stored(world_of["scored"] / "run")
    for _ in range(count):
        world = Path(shutil.copytree(world_of["predicted"], scratch / "killed"))
        words = ["eval", "run", "--for=scores", world / "data", "--run", world / "run", *SCORING, "--workers", "0"]
        child = multiprocessing.get_context("fork").Process(target=run_here, args=words)
        child.start()
        child.join(rng.uniform(0, 1.2))
        found["killed"] += child.is_alive()
        child.kill()
        child.join()
        done = run_here(*words)
        found["rerun equal"] += done.returncode == 0 and stored(world / "run") == wanted
        found["reruns"] += 1
        print(f"\r{dict(found)}", end="", file=sys.stderr, flush=True)
        shutil.rmtree(world)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="of the places that are changed")
    parser.add_argument("--amounts", type=int, nargs=4, default=(300, 50, 5, 100), help="of flips, swaps, repairs, kills")
    given = parser.parse_args()
    (n_flips, n_swaps, n_repairs, n_kills), items = ((10, 3, 1, 3), 3) if given.quick else (given.amounts, 4)
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        world = scratch / "world"
        world.mkdir()
        shutil.move(make_dataset(scratch / "made", licences=("CC0-1.0",) * items), world / "data")
        (world / "card.toml").write_text(f'{CARD}\nauthors = ["A. Author"]\n')
        methods = [word for name in METHODS for word in ("--method", name)]
        assert run_here("eval", "run", world / "data", "--run", world / "run", *methods, "--workers", "0").returncode == 0
        worlds = {"predicted": Path(shutil.copytree(world, scratch / "predicted"))}
        statuses, said = go(world)
        assert not any(statuses.values()), said
        wanted, worlds["scored"] = numbers(world), world
        kills = killed(worlds, scratch, count=n_kills, rng=rng)
        mended = sum(repaired(worlds, scratch, count=50, rng=rng) for _ in range(n_repairs))
        swapped = swaps(worlds, scratch, count=n_swaps, rng=rng)
        found = flips(worlds, wanted, scratch, count=n_flips, rng=rng)
    print("## Wrong bytes\n")
    print(f"{items} items, {len(METHODS)} methods. After every change: `eval run --report`, `eval submit`.\n")
    print("| what | asked | measured |\n|---|---|---|")
    print(f"| single bits flipped, a fifth in each of: {', '.join(KINDS)} | 300 | {found['flipped']} |")
    print(f"| noticed by some command; the others do not touch a number | | {found['noticed']} |")
    print(f"| changed numbers with status 0 | 0 | {found['changed numbers with status 0']} |")
    print(f'| "{FAULT}" | 0 | {found[FAULT]} |')
    print(f"| truths, holes or predictions swapped | 50 | {swapped['swapped']} |")
    print(f"| swaps named and refused | all | {swapped['named and refused']} |")
    print(f"| runs of 50 flipped bits whose tables `eval verify --repair` makes byte-identical | all | {mended} of {n_repairs} |")
    print(f"| scoring killed by SIGKILL at a random moment, of {kills['reruns']} starts | | {kills['killed']} |")
    print(f"| begun again, with the tables and blobs of an undisturbed run | all | {kills['rerun equal']} |")
    good = (
        kills["rerun equal"] == kills["reruns"]
        and not (found["changed numbers with status 0"] or found[FAULT])
        and swapped["swapped"] == swapped["named and refused"]
    )
    return 0 if good and mended == n_repairs else 1


if __name__ == "__main__":
    raise SystemExit(main())
