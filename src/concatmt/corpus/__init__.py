"""Documents, their readers, the store, windows and batches."""
