"""Models of other toolkits in."""
