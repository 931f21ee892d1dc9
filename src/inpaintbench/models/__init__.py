"""Networks that attributes and metrics use: where their parameters come from, and how pictures go in and answers come out."""
