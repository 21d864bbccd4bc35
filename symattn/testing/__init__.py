"""Tests of attention code against the exact truth."""
