"""Cases: the walkthrough file, its checks, the bundled library."""
