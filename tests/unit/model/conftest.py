"""Makes the helpers of this folder importable."""
