"""Optical flows: each says where the pixels of one frame lie in another."""

from inpaintbench.catalogue import Catalogue

FLOWS = Catalogue(
    "flow",
    {
        "dis": "inpaintbench.eval.flows.dis:Dis",
        "farneback": "inpaintbench.eval.flows.farneback:Farneback",
        "raft_small": "inpaintbench.eval.flows.raft:RaftSmall",
        "raft_small_official": "inpaintbench.eval.flows.raft:RaftSmallOfficial",
        "raft_large": "inpaintbench.eval.flows.raft:RaftLarge",
    },
)
