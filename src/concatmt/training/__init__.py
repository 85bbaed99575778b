"""From a store and a system to an averaged model."""
