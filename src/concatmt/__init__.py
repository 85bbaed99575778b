"""Document-level neural machine translation by concatenation, with sentence-position encodings."""

from concatmt.processor import avoid_missing_tiles

__version__ = "0.1.0"

avoid_missing_tiles()
