"""Derivations for every size."""
