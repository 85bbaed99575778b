"""`python -m concatmt` is the `concatmt` command (torchrun starts it this way)."""

from concatmt.cli import main

if __name__ == "__main__":
    main()
