"""Evaluates systems: figures from their scores and translations, with intervals and tests."""
