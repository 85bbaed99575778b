"""Translations of windows and documents, and scores of given translations."""
