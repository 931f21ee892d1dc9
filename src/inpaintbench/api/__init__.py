"""What programs and notebooks use: ``import inpaintbench as ib`` gives its names, imported at their first use."""
