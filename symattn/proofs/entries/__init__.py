"""The derivations, one file each."""
