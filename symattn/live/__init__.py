"""Figures of an article that are computed where it is built: MyST, Sphinx, Quarto, pandoc."""
