"""Addresses in the place of paths are refused before any work, by every option and argument that names a folder or a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from program import run_here

from inpaintbench.cli import app
from inpaintbench.errors import UsageError

ROOT = typer.main.get_command(app)


def leaves(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    for name in command.with_parts():
        yield from leaves(command.get_command(None, name), (*path, name))


def test_every_path_of_every_command_refuses_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = set()
    for path, command in leaves():
        arguments = [one for one in command.params if one.param_type_name == "argument"]
        for one in command.params:
            if one.name not in command.callback.paths:
                continue
            before = ["x"] * arguments.index(one) if one in arguments else [one.opts[0]]
            for address in ("s3://bucket/a", "memory://a", "ftp://host/a"):
                with pytest.raises(UsageError, match=rf"'{address}' is an address, and a path on this machine is wanted"):
                    command.make_context(path[-1], [*before, address])
            seen.add((path, one.opts[0]))
    assert {(("build", "devil"), "--labels"), (("export", "freeze"), "--to"), (("eval", "report"), "--out")} <= seen
    assert len(seen) > 140
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [path for path, command in leaves() if command.callback.addresses], ids=" ".join)
def test_no_command_that_takes_an_address_makes_a_folder_of_its_name(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    [command] = (command for of, command in leaves() if of == path)
    words = list(path)
    for one in command.params:
        if one.param_type_name == "argument" or one.required or one.name in command.callback.addresses:
            value = f"memory://none/{tmp_path.name}" if one.name in command.callback.addresses else "none"
            words += [value] if one.param_type_name == "argument" else [one.opts[0], value]
    told = run_here(*words, cwd=work)
    assert "Traceback" not in told.stderr
    assert not [found for found in work.rglob("*") if ":" in found.name]


@pytest.mark.parametrize(
    "words",
    [
        ("--log", "s3://key:hush-hush@bucket/log", "doctor"),
        ("export", "diff", ".", "gs://key:hush-hush@bucket/b?token=hush-hush"),
        ("export", "verify", "az://key:hush-hush@bucket/b"),
        ("eval", "compare", "hf://key:hush-hush@bucket/b", ".", "--run", "r"),
        ("eval", "run", "--for", "predictions", ".", "--run", "r", "--saved", "a=S3://key:hush-hush@bucket/b"),
        ("build", "devil", "--out", "w", "--saved", "folder=s3://key:hush-hush@bucket/b"),
        ("build", "devil", "--out", "w", "--sources", "memory://key:hush-hush@films"),
    ],
)
def test_the_sentence_is_one_without_credentials_and_nothing_is_made(tmp_path: Path, words: tuple[str, ...]) -> None:
    told = run_here(*words, cwd=tmp_path)
    assert told.returncode == 2
    assert told.stdout == ""
    [sentence] = told.stderr.splitlines()
    assert "***@" in sentence
    assert "hush-hush" not in sentence
    assert not list(tmp_path.iterdir())


def test_an_address_in_the_environment_is_no_path_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_LOG", "s3://bucket/log")
    told = run_here("doctor", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("inpaintbench: --log: 's3://bucket/log' is an address")
    assert not list(tmp_path.iterdir())


def test_the_address_of_a_file_of_this_machine_is_told_as_its_path(tmp_path: Path) -> None:
    told = run_here("build", "devil", "--out", "file:///some%20where", cwd=tmp_path)
    assert told.stderr.rstrip().endswith("write its path alone: '/some where'")


def test_what_people_write_may_tell_of_addresses(tmp_path: Path) -> None:
    told = run_here("export", "freeze", ".", "--about", "origin=s3://bucket/a", cwd=tmp_path)
    assert "is an address" not in told.stderr
    assert told.returncode == 1  # no workspace is there
