"""From document files to batches of windows: formats, cleaning, the store, windows."""
