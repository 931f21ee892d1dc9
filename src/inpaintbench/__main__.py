"""`python -m inpaintbench` is the command line."""

from inpaintbench.cli import main

if __name__ == "__main__":
    main()
