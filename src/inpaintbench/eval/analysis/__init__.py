"""The analysis of DEVIL, CVPR 2022: its Tables 1 and 2 and Figures 3, 4, 5, 7 and 9, from any scores or the published ones."""
