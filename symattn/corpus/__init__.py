"""Many articles audited: what is kept of each, and one report of all."""
