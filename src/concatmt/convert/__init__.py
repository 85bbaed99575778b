"""Models in and out: Marian, Hugging Face."""
