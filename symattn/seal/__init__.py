"""Figures and lines as theorems that the kernel of Coq checks."""
