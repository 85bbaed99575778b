"""The figures of the paper, and what we make of them."""
