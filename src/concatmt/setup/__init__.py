"""What a user meets first: what this machine and this installation have, and what fits a corpus."""
