"""Translates windows and documents, and scores given translations."""
