"""First steps of a user: examine the machine and propose a configuration for a corpus."""
