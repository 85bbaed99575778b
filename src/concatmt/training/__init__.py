"""Trains a system on a store, up to an averaged model."""
