"""A folder with all that a paper needs of a run, the archive of it, and the proof of such an archive."""

from __future__ import annotations

import hashlib
import io
import platform
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError, VerifyError, reason_of
from inpaintbench.eval.paper.figures import STYLES, Style, paper_figures, strip
from inpaintbench.eval.paper.references import references
from inpaintbench.eval.paper.tables import FACTS, Asked, Float, rebuilt, stored, tex
from inpaintbench.eval.report.gallery import Media
from inpaintbench.eval.results.quantity import first_shown
from inpaintbench.eval.results.tables import SEED, Results
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.files import replacing, write_atomically, zip_entry
from inpaintbench.frozen import is_edit, is_unpaired
from inpaintbench.manifest import column, own_hash
from inpaintbench.pages import save_chart
from inpaintbench.table_files import json_bytes

ARCHIVE, _HASHES, _DOCUMENT = "paper.zip", "SHA256SUMS", "main.tex"
_MEASURING = ("inpaintbench", "numpy", "scipy", "opencv-python-headless", "opencv-python", "scikit-image", "torch", "av")
# An archive is read into memory.
_MOST_BYTES = 2 << 30


@dataclass(frozen=True)
class Source:
    """Whatever a paper is made of beside the scores."""

    media: Media
    """Where pixels come from."""
    asked: Asked
    methods: Sequence[MethodSpec] = ()
    """As they were run; of those that were not run here nothing is known."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Label -> version of the method whose predictions were scored."""


def write_paper(folder: Path, results: Results, source: Source, *, style: str) -> Path:
    """Write the folder; return the archive in it. An earlier one in its place goes away.

    The same run gives the same bytes on the same machine.

    Args:
        folder: where.
        results: the scores.
        source: what else there is.
        style: one of ``STYLES``.

    Raises:
        InputError: the folder holds something else.
    """
    folder = folder.absolute()
    check_folder(folder)
    sheet, quantity = STYLES[style], first_shown(results.quantities, results.protocol)
    data = stored(results, source.asked)
    # Of what is stored, so that nothing else can be in them.
    tables = rebuilt(data)
    figures = paper_figures(results, quantity, source.asked.efforts, sheet)
    edits = any(is_edit(row) or is_unpaired(row) for row in results.dataset.items)
    if shown := strip(results, quantity, source.media, sheet, edits=edits):
        figures["frames"] = shown
    floats = {**tables, **{name: Float("", one.caption, one.wide) for name, one in figures.items()}}
    metrics = [quantity.metric, *(one.metric for one in source.asked.quantities)]
    files = {
        **data,
        **{name: one.text.encode() for name, one in tables.items()},
        "references.bib": references(results.dataset, results.protocol, metrics, source.methods).encode(),
        "environment.json": json_bytes(_environment(results, source, style)),
        _DOCUMENT: _document(results, floats, sheet).encode(),
    }
    with replacing(folder, what="paper ") as made:
        for name, one in figures.items():
            for ending in (".pdf", ".svg"):
                files[f"{name}{ending}"] = save_chart(one.chart, made / f"{name}{ending}").read_bytes()
        lines = (f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items()))
        files[_HASHES] = "".join(lines).encode()
        for name, content in files.items():
            write_atomically(made / name, content)
        write_atomically(made / ARCHIVE, _archive(files))
    return folder / ARCHIVE


def check_folder(folder: Path) -> None:
    """Raise ``InputError`` where a folder, or a file of that name, holds something else than a paper."""
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / FACTS).is_file())):
        raise InputError(f"{str(folder)!r} holds something else than a paper; choose another folder")


def _archive(files: Mapping[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in sorted(files):
            archive.writestr(zip_entry(name), files[name], compresslevel=9)
    return data.getvalue()


def _environment(results: Results, source: Source, style: str) -> dict[str, Any]:
    """Versions, seeds, hashes and licences; constants of methods that are numbers, since others may tell who ran them."""
    dataset, protocol, versions = results.dataset, results.protocol, {"python": platform.python_version()}
    for name in _MEASURING:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    methods: dict[str, dict[str, Any]] = {}
    for one in source.methods:
        numbers = {name: value for name, value in one.constants.items() if isinstance(value, int | float)}
        methods[one.label] = {"leaf": one.leaf, "constants": numbers}
    for label, told in source.versions.items():
        methods.setdefault(label, {})["version"] = told
    return {
        "style": style,
        "versions": versions,
        "platform": f"{platform.system()} {platform.machine()}",
        "seeds": {"tests": SEED, "dataset": dataset.recipe.get("seed")},
        "dataset": {
            "name": dataset.name, "version": dataset.version, "manifest_sha256": own_hash(dataset),
            "made_with": dict(dataset.versions),
            "licences": dict(sorted(Counter(licence or "not stated" for licence in column(dataset, "licence")).items())),
        },
        "protocol": {"name": protocol.name, "fingerprint": results.fingerprint, "constants": protocol.model_dump(mode="json")},
        "methods": dict(sorted(methods.items())),
    }  # fmt: skip


_PREAMBLE = r"""% Made by inpaintbench: `pdflatex main`, and `bibtex main` between two more runs for the references.
% The widths are those of the style; with its own style file, keep what stands between \begin{document} and \end{document}.
\documentclass[10pt,COLUMNS]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx}
\renewcommand{\rmdefault}{ptm}
\pdfpagewidth=8.5in \pdfpageheight=11in
\setlength{\textwidth}{WIDTHin} \setlength{\textheight}{HEIGHTin} \setlength{\columnsep}{GAPin}
\setlength{\oddsidemargin}{\dimexpr(8.5in-\textwidth)/2-1in} \setlength{\evensidemargin}{\oddsidemargin}
\setlength{\topmargin}{\dimexpr(11in-\textheight)/2-1in} \setlength{\headheight}{0pt} \setlength{\headsep}{0pt}
\setlength{\belowcaptionskip}{4pt}
\renewcommand{\topfraction}{.95} \renewcommand{\dbltopfraction}{.95} \renewcommand{\floatpagefraction}{.7}
% A table as wide as it is, or made smaller where there is no room for that.
\newsavebox{\tablebox}
\newcommand{\fitted}[1]{\sbox{\tablebox}{\input{#1}\unskip}%
  \ifdim\wd\tablebox>\linewidth\resizebox{\linewidth}{!}{\usebox{\tablebox}}\else\usebox{\tablebox}\fi}
"""


def _document(results: Results, floats: Mapping[str, Float], style: Style) -> str:
    """A minimal article that shows everything."""
    sizes = {"COLUMNS": "twocolumn" if style.gap_inches else "onecolumn", "WIDTH": f"{style.text_inches:.4g}"}
    sizes |= {"HEIGHT": f"{style.height_inches:.4g}", "GAP": f"{style.gap_inches:.4f}"}
    preamble = _PREAMBLE
    for mark, value in sizes.items():
        preamble = preamble.replace(mark, value)
    labels = [name.removesuffix(".tex") for name in floats]
    shown = ", ".join(rf"\ref{{{label}}}" for label in labels)
    body = [
        rf"\title{{{tex(results.dataset.name)}}}", r"\author{}", r"\date{}", r"\begin{document}", r"\maketitle",
        rf"\{style.body}", f"Tables and figures {shown}.", "",
    ]  # fmt: skip
    for name, one in floats.items():
        kind = ("table" if one.text else "figure") + "*" * bool(one.wide and style.gap_inches)
        label = name.removesuffix(".tex")
        inside = rf"\small\fitted{{{label}}}" if one.text else rf"\includegraphics[width=\linewidth]{{{name}.pdf}}"
        caption = rf"\caption{{{tex(one.caption)}}}\label{{{label}}}"
        parts = (caption, inside) if one.text else (inside, caption)
        body += [rf"\begin{{{kind}}}[t]", r"\centering", *parts, rf"\end{{{kind}}}", ""]
    ending = [r"\nocite{*}", r"\bibliographystyle{plain}", r"\bibliography{references}", r"\end{document}", ""]
    return preamble + "\n".join([*body, *ending])


def verify_paper(path: Path) -> tuple[int, int]:
    """Prove an archive by its hashes, and its tables by making them again from its scores; no dataset is needed.

    Returns:
        How many files have the hash that is stated, and how many tables came out byte for byte.

    Raises:
        InputError: no such archive, or scores under a protocol that is another here. VerifyError: something differs.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > _MOST_BYTES:
                raise InputError(f"{str(path)!r} holds more than {_MOST_BYTES >> 30} GiB")
            files = {name: archive.read(name) for name in archive.namelist()}
        stated = dict(line.split("  ", 1)[::-1] for line in files.pop(_HASHES).decode().splitlines())
    except (zipfile.BadZipFile, OSError, KeyError, ValueError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{str(path)!r} is no whole archive of `eval paper`: {reason_of(error)}") from error
    found = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    if differing := [name for name in sorted({*found, *stated}) if found.get(name) != stated.get(name)]:
        of = f"{len(differing)} of {len({*found, *stated})} files"
        raise VerifyError(f"{of} of {str(path)!r} are not what was written: {', '.join(differing)}")
    try:
        tables = rebuilt(files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VerifyError(f"the scores in {str(path)!r} make no tables: {error}") from error
    if others := [name for name, one in tables.items() if one.text.encode() != files.get(name)]:
        raise VerifyError(f"the scores in {str(path)!r} make other tables than it holds: {', '.join(others)}")
    return len(files), len(tables)
