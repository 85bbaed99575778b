"""Characters <-> token ids."""
