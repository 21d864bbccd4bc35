"""Cases: the case file, its checks, the bundled library."""
