"""An article for live figures, and what makes one live."""

from __future__ import annotations

from pathlib import Path

POST = r"""# Two words

Let $$X = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}$$
and $A = \mathrm{softmax}(X)$.

Then $A = \begin{bmatrix} 0.7311 & 0.2689 \\ 0.2689 & 0.7311 \end{bmatrix}$,
so $A_{0,1} = 0.269$. The weight A[0, 1] = 0.2689 is small.

| A | 0 | 1 |
|---|---|---|
| 0 | 0.731 | 0.269 |
| 1 | 0.269 | 0.731 |
"""
#: Its figures, as they are printed.
FIGURES = ["0.7311", "0.2689", "0.2689", "0.7311", "0.269", "0.2689", "0.731", "0.269", "0.269", "0.731"]  # noqa: E501  # fmt: skip


def without_theme(folder: Path, configuration: str) -> str:
    """A configuration of MyST that asks no server for a theme, which pages don't need."""
    theme = folder / "theme"
    theme.mkdir()
    (theme / "template.yml").write_text("myst: v1\ntitle: none\nbuild: {install: x, start: x}\n")
    (theme / "package.json").write_text("{}")
    assert "site: {}\n" in configuration
    return configuration.replace("site: {}\n", "site: {template: theme}\n")
