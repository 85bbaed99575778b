"""Document-level neural machine translation by concatenation, with sentence-position encodings."""

__version__ = "0.1.0"
