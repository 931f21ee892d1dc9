"""Optical flows: each says where the pixels of one frame lie in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.eval.flows.base import Flow

FLOWS: Catalogue[type[Flow]] = Catalogue(
    "flow",
    {
        "dis": "inpaintbench.eval.flows.dis:Dis",
        "farneback": "inpaintbench.eval.flows.farneback:Farneback",
        "raft_small": "inpaintbench.eval.flows.raft:RaftSmall",
        "raft_small_official": "inpaintbench.eval.flows.raft:RaftSmallOfficial",
        "raft_large": "inpaintbench.eval.flows.raft:RaftLarge",
    },
    base="inpaintbench.eval.flows.base:Flow",
)
