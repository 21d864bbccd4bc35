"""A case solved: its quantities, exact and rounded; attention without a file."""
