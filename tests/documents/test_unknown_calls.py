"""What a function that nobody knows returns is unknown: it is only what is printed of it, and
nothing is built on what figures alone say of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn.documents.binding import binder
from symattn.documents.files import article

from .test_scientific import notebook

GIVEN = (
    "import torch\ns = torch.tensor([[0., 1.], [2., 0.]])\n"
    "values = torch.tensor([[1., 2.], [2., 8.]])\nw = torch.softmax(s, dim=-1)"
)
RENEWED = f"{GIVEN}\nw = torch.tensor([[0.3, 0.7], [0.9, 0.1]])"
STACK = (
    "tensor([[[0.3000, 0.6000],\n         [0.9000, 1.8000]],\n\n"
    "        [[1.4000, 5.6000],\n         [0.2000, 0.8000]]])\n"
)
SUM = (
    "outputs = weighted_values.sum(dim=0)\nprint(outputs)",
    "tensor([[1.7000, 6.2000],\n        [1.1000, 2.6000]])\n",
)
SHOWN = notebook(
    (RENEWED, ""), ("weighted_values = foo(values)\nprint(weighted_values)", STACK), SUM
)
SILENT = notebook((RENEWED, ""), ("weighted_values = foo(values)", ""), SUM)


def reading(source, suffix="ipynb"):
    """How an article is understood."""
    return binder.read(article(Path(f"post.{suffix}"), source.encode()))


@pytest.mark.parametrize("source", [SHOWN, SILENT], ids=["shown", "silent"])
def test_the_result_of_an_unknown_call_is_not_its_argument(source):
    """Nor what its name calls it, nor is there a mask that the code doesn't have."""
    found = reading(source)
    expressions = [step.expression for step in found.steps.values()]
    assert not any("colsum" in one or "causal" in one for one in expressions)
    assert not found.assumptions
    assert found.steps["w"].expression == "softmax(s)"


@pytest.mark.parametrize("name", ["weights", "values_2", "scores", "attention_output", "x"])
def test_what_nobody_knows_means_nothing_whatever_it_is_called(name):
    """A step that is computed from it is no step, in any cell after it."""
    source = notebook((GIVEN, ""), (f"{name} = foo(s)", ""), (f"y = {name} @ values", ""))
    found = reading(source)
    assert "y" not in found.steps
    shown = notebook(
        (GIVEN, ""),
        (f"{name} = foo(s)\nprint({name})", "tensor([[1.5, 2.5],\n        [0.5, 3.5]])\n"),
        (f"y = {name} @ values", ""),
    )
    assert reading(shown).steps["y"].expression.endswith("@ values")


def test_code_that_has_no_mask_is_read_without_one():
    """Figures that no mask makes a difference to assume none, and code says what it hides."""
    shown = (
        "w = torch.softmax(s, dim=-1)\nprint(w)",
        "tensor([[0.2689, 0.7311],\n        [0.8808, 0.1192]])\n",
    )
    found = reading(notebook((GIVEN, ""), shown))
    assert found.steps["w"].expression == "softmax(s)"
    assert not found.assumptions
