"""Figures from translations and scores."""
