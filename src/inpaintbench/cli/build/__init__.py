"""`build`: whole benchmarks, a module each. `demo`: one from embedded footage, with methods, scores and a report."""

from __future__ import annotations

from inpaintbench.cli.commands import group

app = group(
    {
        "devil": "inpaintbench.cli.build.devil:build_devil",
        "reinpaint": "inpaintbench.cli.build.reinpaint:build_reinpaint",
        "humans": "inpaintbench.cli.build.humans:build_humans",
        "decaption": "inpaintbench.cli.build.decaption:build_decaption",
        "fingerprint": "inpaintbench.cli.build.fingerprint:build_fingerprint",
        "editing": "inpaintbench.cli.build.editing:build_editing",
    },
    help="Build a whole benchmark: sources to frozen dataset.",
)
