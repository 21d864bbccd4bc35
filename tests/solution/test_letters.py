"""Cases in letters: formulas that are what solving gives wherever numbers are put in."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn import attention, case, solve, verify
from symattn.cases.case import Case
from symattn.errors import Malformed, SymattnError
from symattn.numbers.letters import put
from symattn.numbers.reading import Masked, read
from symattn.solution.quantity import Quantity
from symattn.verdicts import Verdict

#: Steps that are defined for all numbers, each of a matrix of two rows and columns.
STEPS = [
    "softmax({x})", "softmax({x}, axis=0)", "softmax(causal({x}))", "logsumexp({x})",
    "log_softmax({x})", "exp({x}/3)", "tanh({x})", "sigmoid({x})", "silu({x})", "softplus({x})",
    "gelu({x})", "gelu({x}, approximate='tanh')", "sin({x})", "cos({x})", "erf({x})",
    "layernorm({x}, eps=1)", "rmsnorm({x}, eps=1)", "{x} @ {x}.T", "{x} * {x} + 1", "{x}**3",
    "var({x}, axis=1) + {x}", "mean({x}, axis=0) * {x}", "cumsum({x})", "concat({x}, {x})",
    "{x} / sqrt(1 + {x} * {x})", "sqrt(exp({x}))", "entropy(softmax({x}))", "log(1 + exp({x}))",
    "l2norm(exp({x}))", "outer({x}[0], {x}[:, 1])", "rope({x})", "{x} @ [[1, 2], [0, 1/2]]",
    "cross_entropy({x}, onehot([0, 1], 2))",
]  # fmt: skip

_ENTRIES = st.sampled_from(["a", "b", "t", "a*b", "a - 1", "t/2", "1", "-1/2", "0"])
_NUMBERS = st.fractions(min_value=-2, max_value=2, max_denominator=3)
SYMBOLS = {"a": "real", "b": "real", "t": "positive"}


def two_by_two(entries: list[str], steps: dict[str, str]) -> Case:
    """A case of one matrix."""
    return case("letters", {"X": [entries[:2], entries[2:]]}, steps, symbols=SYMBOLS)


def differs(form: Quantity, there: Quantity, numbers: dict[str, Fraction]) -> bool:
    """Whether a form with numbers put in is another number than there."""
    known = {name: read(number) for name, number in numbers.items()}
    for ours, theirs in zip(sum(form.rows, ()), sum(there.rows, ()), strict=True):
        if isinstance(ours, Masked) or isinstance(theirs, Masked):
            if ours is not theirs:
                return True
        elif (put(ours, known) - theirs).is_zero() is Verdict.REFUTED:
            return True
    return False


@pytest.mark.sampled(3)
@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_defined_in_letters(step):
    """Its formulas and its gradients are what solving gives at several points."""
    made = two_by_two(["a", "b", "a*b", "t"], {"Y": step.format(x="X")})
    found = verify(made, symbolic=False)
    assert found.verdict is not Verdict.REFUTED
    assert len(found.points) == 5


@pytest.mark.heavy
@given(
    st.lists(_ENTRIES, min_size=4, max_size=4),
    st.sampled_from(STEPS),
    st.sampled_from(STEPS[:17]),
    _NUMBERS,
    _NUMBERS,
    _NUMBERS.filter(lambda x: x > 0),
)
def test_numbers_put_in_are_as_solving_with_them(entries, outer, inner, a, b, t):
    """For random steps upon steps: by the solution, by a quantity, and in the formula."""
    if "logsumexp" in inner:
        inner = "softmax({x})"
    steps = {"S": inner.format(x="X"), "Y": outer.format(x="S")}
    numbers = {"a": a, "b": b, "t": t}
    try:
        lettered = solve(two_by_two(entries, steps))
    except SymattnError:
        return
    texts = [
        str(put(read(x, symbols=True), {k: read(v) for k, v in numbers.items()})) for x in entries
    ]
    plain = solve(two_by_two(texts, steps))
    used = {name: numbers[name] for name in lettered.case.letters}
    there = lettered.at(**used)
    for name in ("Y", "dL/dX"):
        floats = (found[name].nearest(undecided="nan") for found in (there, plain))
        ours, theirs = floats
        assert np.array_equal(ours, theirs, equal_nan=True)
        if used:
            assert not differs(lettered[name], plain[name], used)


def test_some_letters_may_stay():
    """And numbers are put in for the others later on."""
    s = solve(two_by_two(["a", "b", "1", "0"], {"A": "softmax(X)"}))
    assert s.at(a=1).case.letters.keys() == {"b"}
    assert s.at(a=1)["A"].at(b=1) == s.at(a=1, b=1)["A"]
    assert s["A"].symbols == ("a", "b")
    assert s["A"][1].symbols == ()
    assert s["A"][0].at(a=1, b=1).decimal(1) == (Decimal("0.5"), Decimal("0.5"))


def test_exact_values_have_the_symbols_of_sympy():
    """Those that were given, whatever SymPy knows of them."""
    x, y = sympy.Symbol("x_0", positive=True), sympy.Symbol("y_0")
    s = solve(case("two", {"Q": [[x, y]]}, {"A": "softmax(Q)", "R": "sqrt(Q[0, 0])"}))
    assert sympy.simplify(s["A"].exact[0, 0] - 1 / (1 + sympy.exp(y - x))) == 0
    assert s["R"].exact[0, 0] == sympy.sqrt(x)


def test_a_linear_upstream_over_letters_is_put_in_too():
    """Symbols of the upstream gradient are letters like all others there."""
    a = attention([["a", 1]], [[1, 0], ["b", 1]], [[1], ["c"]], symbols="a b c", scale=1)
    gradients = a.backward([["g*h + 1"]])
    numbers = {"a": 1, "b": 0, "c": 2, "g": 3, "h": "1/3"}
    plain = attention([[1, 1]], [[1, 0], [0, 1]], [[1], [2]], scale=1).backward([[2]])
    for name in ("dQ", "dK", "dV", "dA"):
        assert gradients[name].at(**{x: numbers[x] for x in gradients[name].letters}) == plain[name]
    assert a.lse.at(a=0, b=0, c=0).decimal(3) == (Decimal("1.313"),)


def test_heads_in_letters():
    """Along leading axes each head has its own."""
    a = attention([[["a"]], [["b"]]], [[[0], [1]]] * 2, [[[1], [0]]] * 2, symbols="a b", scale=1)
    assert str(a.output[1, 0, 0]) == "1/(1 + e^b)"
    assert a.output.at(a=0, b=1).decimal(2)[1][0][0] == Decimal("0.27")


@pytest.mark.parametrize(
    ("given", "step", "said"),
    [
        ({"X": ["a", 1]}, "relu(X)", "which is larger, 0 or a: the sign of -a depends on a: put"),
        ({"X": ["a", 1]}, "sqrt(X)", "the sign of a depends on a: put numbers in"),
        ({"X": ["a", 1]}, "mask(X, X)", "a mask holds 0 (hide) and 1 (keep), found a"),
        ({"X": ["a", 1]}, "onehot(X, 2)", "onehot: ids[0]: expected 0 or 1, found a"),
        ({"X": ["c", 1]}, "X", "given.X[0]: unknown name 'c' in 'c': a symbol is declared, as in"),
        ({"X": ["1.5*", 1]}, "X", "given.X[0]: '1.5*': expected a value"),
        ({"d_k": "a"}, "1/sqrt(d_k)", "given.d_k: a size is a number, found a: call what is no"),
        ({"a": [1, "a"]}, "a", "given.a: the symbol 'a' is a quantity's name"),
        ({"X": [sympy.Symbol("e")]}, "X", "given.X: 'e' is reserved for Euler's number"),
        (
            {"X": [sympy.Symbol("w"), sympy.Symbol("w", positive=True)]}, "X",
            "given.X[1]: two symbols are called 'w', with different assumptions",
        ),
    ],
)  # fmt: skip
def test_letters_where_only_numbers_may_stand(given, step, said):
    """The message says where, and what to do."""
    with pytest.raises(Malformed) as caught:
        solve(case("two", given, {"Y": step}, symbols={"a": "real", "t": "positive"}))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        ({"a": "complex"}, "symbols.a: unknown domain 'complex': expected one of real, positive"),
        (["softmax"], "symbols.softmax: 'softmax' is reserved"),
        ("2a", "symbols.2a: '2a' is no name"),
        (["a", 1], "symbols[1]: expected a name, found a number"),
        (3, "symbols: expected a table of symbols, or a list, found a number"),
    ],
)
def test_declarations_that_are_none(symbols, said):
    """A fault of what is declared is the only one that is told of it."""
    with pytest.raises(Malformed) as caught:
        case("two", {"X": ["a", 1]}, {"Y": "X * a"[:1]}, symbols=symbols)
    assert str(caught.value) == said or said in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["pi", "E", "I", "oo", "zoo", "nan", "inf", "e", "i", "j", "tau", "phi", "gamma", "Pi", "exp",
     "sqrt", "GoldenRatio", "EulerGamma", "Catalan", "N", "O", "beta", "lambda", "True", "None"],
)  # fmt: skip
def test_what_is_declared_is_a_symbol_or_is_refused(name):
    """Never a number or a function of that name; where it is refused, what is said to write
    instead will do. In text, as SymPy's symbol, in a case and in an upstream gradient."""
    try:
        one = attention([[name]], [[2]], [[3]], symbols=name, scale=1).scores
    except Malformed as refusal:
        error = str(refusal)
    else:
        assert one.letters == (name,)
        assert [x.name for x in one.exact.free_symbols] == [name]
        assert one.at(**{name: 5}).nearest().tolist() == [[10]]
        return
    # "call it E or e1": each of them.
    for other in error.partition(": call it ")[2].split(" or "):
        found = attention([[other]], [[2]], [[3]], symbols=other, scale=1).scores
        assert found.at(**{other: 5}).nearest().tolist() == [[10]]
    assert f"symbols.{name}: {name!r} is reserved for" in error
    for refused in (
        lambda: attention([[sympy.Symbol(name)]], [[2]], [[3]]),
        lambda: case("one", {"X": [name]}, {"Y": "X * 2"}, symbols=[name]),
        lambda: attention([[1]], [[2]], [[3]]).backward([[sympy.Symbol(name)]]),
    ):
        with pytest.raises(Malformed, match="is reserved for"):
            refused()


def test_letters_that_a_quantity_lacks_are_letters_still():
    """A number may be put in for every letter of a case: what doesn't depend on it, or is a
    number, stays as it is. A letter that the case lacks is told, in all quantities alike."""
    made = case(
        "three", {"X": ["a", "b"], "W": ["c", 1], "N": [1, 2]},
        {"Y": "softmax(X)", "Z": "W * 2", "M": "N + 1", "L": "Y * W"},
        symbols=["a", "b", "c", "unused"],
    )  # fmt: skip
    s, numbers = solve(made), {"a": 1, "b": "1/2", "c": 3, "unused": 7}
    for name in ("X", "W", "N", "Y", "Z", "M", "L", "Y[0]", "N[1] + M"):
        for some in ({"a": 1, "b": "1/2"}, {"c": 3}, {"unused": 7}, numbers):
            assert s[name].at(**some).equals(s.at(**some)[name]) is Verdict.HOLDS, (name, some)
        with pytest.raises(Malformed, match="q: unknown symbol 'q'"):
            s[name].at(a=1, q=1)
        with pytest.raises(Malformed, match="symbols, of which it has none"):
            s[name].at(**numbers).at(a=2)


def test_letters_of_one_head_are_letters_of_all():
    """Of attention: in each part, in each head, forward and backward."""
    two = attention(
        [[["a"]], [[1]]], [[["b"]], [["d"]]], [[["c"]], [[1]]], symbols="a b c d unused", scale=1
    )
    back, numbers = two.backward([[["g"]], [[1]]]), {"a": 1, "b": 2, "c": 3, "d": 4, "unused": 5}
    wanted = {"scores": [2, 4], "output": [3, 1], "weights": [1, 1], "lse": [2, 4]}
    for name, found in wanted.items():
        part = getattr(two, name).at(**numbers)
        assert part.nearest().ravel().tolist() == found
        for n in range(2):
            assert getattr(two, name)[n].at(**numbers).nearest().ravel().tolist() == [found[n]]
        with pytest.raises(Malformed, match="q: unknown symbol 'q'"):
            getattr(two, name).at(q=1)
    for part in (back.dQ, back.dK, back.dV, back.dS):
        assert np.isfinite(part.at(g=6, **numbers).nearest()).all()
        with pytest.raises(Malformed, match="q: unknown symbol 'q'"):
            part.at(q=1)


def test_what_numbers_may_be_put_in():
    """All faults at once: names, floats, domains; a step that is not defined there."""
    s = solve(two_by_two(["a", "t", "1", "0"], {"Y": "log(X[0, 1]) / (X[0, 0] - 1)"}))
    with pytest.raises(Malformed) as caught:
        s.at(a=0.5, t=-1, z=1)
    assert [fault.where for fault in caught.value.faults] == ["a", "t", "z"]
    assert "t is positive, found -1" in str(caught.value)
    with pytest.raises(Malformed, match=r"steps\.Y: division by zero"):
        s.at(a=1)
    with pytest.raises(Malformed, match=r"Y needs values for a, t: say \.at\(a=\.\.\., t=\.\.\.\)"):
        s["Y"].decimal(2)
    with pytest.raises(Malformed, match=r"Y needs values for a, t"):
        s["Y"].nearest()
    with pytest.raises(Malformed, match="unknown symbol 'a': expected one of b"):
        s.at(a=2, t=1)["Y"].at(a=1)


def test_a_wrong_formula_is_refuted_at_points(monkeypatch):
    """The check of a case in letters would see a slip of the engine."""
    s = solve(two_by_two(["a", "b", "1", "0"], {"A": "softmax(X)"}))
    assert verify(s).verdict is Verdict.HOLDS
    wrong = 2 * next(s["A"].values())
    monkeypatch.setattr(s["A"], "rows", ((wrong, wrong), (wrong, wrong)))
    found = {check.quantity: check for check in verify(s).checks}
    assert (found["A"].verdict, found["A"].symbolic) == (Verdict.REFUTED, Verdict.REFUTED)
    assert found["X"].verdict is Verdict.HOLDS
