"""Exact numbers: reading them, computing with them, printing certain digits."""
