"""EditBoard, AAAI 2025, from a list of edited videos: what is wrong with it, its scores, the transcript and its plots."""
