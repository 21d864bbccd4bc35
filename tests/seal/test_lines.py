"""Lines of derivations as theorems: they say what the lines say, and Coq takes those that hold."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import symattn
from symattn.calculus import library
from symattn.calculus.library import derivation
from symattn.errors import Malformed
from symattn.seal.derivations import sealed
from symattn.seal.seals import Kernel
from symattn.seal.theorems import Names, Theorem
from symattn.seal.walkthroughs import sealed as of_case

from .line_reader import Reader, world

CHECKED = (
    "softmax-jacobian",
    "softmax-backward",
    "attention-gradients",
    "online-softmax",
    "permutation",
)
PROVED = 260
"""At least so many of the bundled lines go through for all sizes."""


def _rows(draw):
    shares = [[draw.uniform(0.1, 1) for _ in range(3)] for _ in range(3)]
    return lambda i: lambda j: shares[i][j] / sum(shares[i])


SPECIAL = {
    "masking": {"M": lambda _: lambda i: lambda j: float((i, j) != (0, 1))},
    "cross-entropy": {"n": lambda _: 3, "y": lambda draw: _rows(draw)(0)},
    "linear-cross-entropy": {"m": lambda _: 3, "T": _rows},
    "permutation": {"n": lambda _: 3, "pi": lambda _: lambda i: (1, 2, 0)[i]},
}


def test_lines_are_stated_by_entries() -> None:
    stated = {x.name: x for x in sealed(derivation("softmax-backward")).file.sealing()}
    assert stated["line_5"].statement == (
        "forall i j : nat, (i < n_q)%nat -> (j < n_k)%nat -> "
        "is_derive (fun x : R => L (A_of (put2 S i j x))) (S i j) "
        "(A i j * (dA i j - sum n_k (fun l => A i l * dA i l)))"
    )
    assert stated["line_5"].seals == (
        "line 5 of The backward pass of softmax: dS_ij = A_ij (dA_ij − Σ_l A_il dA_il)"
    )
    assert stated["line_8"].statement == (
        "forall i : nat, (i < n_q)%nat -> sum n_k (fun j => A i j) = 1"
    )


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("x[i]^(3/2)", "(sqrt (x i)) ^ 3"),
        ("x[i]^(-1)", "/ (x i)"),
        ("t * t^(-1/2)", "t * / (sqrt t)"),
        ("t^(1/3)", "Rpower t (1 / 3)"),
        ("-(x[i] - t) - (-t) * (-1/2)", "- (x i - t) - (- t) * ((- 1) / 2)"),
        ("t/(x[i]/t)/t - (t - x[i])", "t / (x i / t) / t - (t - x i)"),
        ("exp(i * t) + n", "exp ((INR i + 1) * t) + INR n"),
        ("sum(j, x[j] - t) * step(0 < t)", "sum n (fun j => x j - t) * above (t - 0) 0"),
    ],
)
def test_terms_of_lines_are_written_with_the_brackets_they_need(said, written) -> None:
    made = sealed(library.derive(f"x: n\nt: number\nassume t > 0\n{said} + x[i] = {said} + x[i]\n"))
    (theorem,) = made.file.sealing()
    assert theorem.statement.endswith(f"{written} + x i = {written} + x i")


def test_names_of_coq_are_left_alone() -> None:
    """The derivation's R is the weights as a row, Coq's R the real numbers."""
    text = sealed(derivation("softmax-jacobian")).file.text()
    assert "Definition R_1_of (A : nat -> R) (i j : nat) : R :=\n  A j." in text


def test_conditions_that_always_hold_are_no_hypotheses() -> None:
    stated = {x.name: x.statement for x in sealed(derivation("softmax-jacobian")).file.sealing()}
    assert "<>" not in stated["line_7"]
    stated = {x.name: x.statement for x in sealed(derivation("masking")).file.sealing()}
    assert "sum n_k (fun l => E i l) <> 0 ->" in stated["line_3"]
    assert "-> (forall j_1 : nat, (j_1 < n_q)%nat -> sum n_k" in stated["line_6"]


def test_what_has_no_words_is_told() -> None:
    made = sealed(derivation("operation-counts"))
    assert {each.why for each in made.unsealed} == {"a count of operations"}
    assert made.count == 16
    limits = [
        x for x in sealed(derivation("score-scale")).file.sealing() if "is_lim" in x.statement
    ]
    assert limits
    assert not any(theorem.proof for theorem in limits)
    why = sealed(derivation("score-scale")).missing
    assert {why[theorem.name] for theorem in limits} == {"limits"}


@pytest.mark.sampled(4, 9)
@pytest.mark.parametrize("name", library.names())
def test_what_is_stated_is_true_at_numbers(name) -> None:
    made = sealed(derivation(name))
    parts = [part for part in made.file.parts if isinstance(part, str)][1:-1]
    env = world(parts, name, SPECIAL.get(name, {}))
    read = 0
    for theorem in made.file.sealing():
        if "is_lim" in theorem.statement:
            continue
        assert Reader(theorem.statement).statement()(env), theorem.seals
        read += 1
    assert read or len(made.unsealed) == made.count or name == "score-scale"


def test_a_reader_of_its_own_sees_what_is_false() -> None:
    made = sealed(derivation("softmax-jacobian"))
    parts = [part for part in made.file.parts if isinstance(part, str)][1:-1]
    env = world(parts, 1, {})
    wrong = 0
    for theorem in made.file.sealing():
        for mutant in _mutants(theorem.statement):
            wrong += not Reader(mutant).statement()(env)
    assert wrong >= 40


# -- conditions, places, derivatives, names -----------------------------------------------

#: Lines that have conditions of their own; together they exclude each other.
_OWN = (
    "sum(i, log(x[i])) = sum(log(x))",
    "sum(i, log(-x[i])) = sum(log(-x))",
    "x[i]*x[i] = x[i]^2",
    "x[i]/x[i] = 1",
    "sqrt(t)^2 = t",
    "log(t) + log(-t) = log(t)",
    "x[i-1] = x[i-1]",
    "x[i+1] + t = t + x[i+1]",
    "diff(log(x[i]), x[i]) = 1/x[i]",
)


def _hypotheses(file):
    return [part for part in file.parts if isinstance(part, str) and "Hypothesis" in part]


@given(st.lists(st.sampled_from(_OWN), min_size=1, max_size=4))
@settings(max_examples=10)
def test_conditions_are_those_of_their_own_line(lines) -> None:
    """A line is stated as it is where it stands alone, whatever stands beside it: no theorem has
    a premise of another line, and no line makes hypotheses for a file."""
    text = "x: n\nt: number\n"
    together = sealed(library.derive(text + "\n".join(lines)))
    for line, theorem in zip(lines, together.file.sealing(), strict=True):
        alone = sealed(library.derive(text + line))
        assert [x.statement for x in alone.file.sealing()] == [theorem.statement]
        assert _hypotheses(alone.file) == _hypotheses(together.file)


@st.composite
def _compared(draw):
    """A comparison of places, as a line says it and as a loop does."""

    def place():
        base, offset = draw(st.sampled_from(["i", "j", "n", ""])), draw(st.integers(-3, 3))
        if not base:
            return str(max(0, offset)), lambda at: max(0, offset)
        sign = f"{'+' if offset > 0 else '-'}{abs(offset)}" if offset else ""
        return f"{base}{sign}", lambda at: at[base] + offset

    (one, left), (other, right) = place(), place()
    match draw(st.sampled_from(["delta", "<=", "<", ">="])):
        case "delta":
            return f"delta({one}, {other})", lambda at: float(left(at) == right(at))
        case "<=":
            return f"step({one} <= {other})", lambda at: float(left(at) <= right(at))
        case "<":
            return f"step({one} < {other})", lambda at: float(left(at) < right(at))
    return f"step({one} >= {other})", lambda at: float(left(at) >= right(at))


@st.composite
def _sides(draw):
    """A side of a line, by its entries or summed over j."""
    said, of = draw(_compared())
    if draw(st.booleans()):
        more, also = draw(_compared())
        sign = draw(st.sampled_from("+-*"))
        said = f"({said} {sign} {more})"
        first = of
        of = {
            "+": lambda at: first(at) + also(at),
            "-": lambda at: first(at) - also(at),
            "*": lambda at: first(at) * also(at),
        }[sign]
    if draw(st.booleans()):
        return (
            f"x[i]*sum(j, {said}*x[j])",
            lambda at, x: (
                x(at["i"] - 1)
                * math.fsum(of({**at, "j": j}) * x(j - 1) for j in range(1, at["n"] + 1))
            ),
        )
    return f"x[i]*x[j]*{said}", lambda at, x: x(at["i"] - 1) * x(at["j"] - 1) * of(at)


def _wholes(size):
    """Of whole numbers what is equal is equal exactly."""
    return {"n": lambda _: size, "x": lambda _: (1.0, 3.0, 10.0).__getitem__}


@given(st.lists(st.tuples(_sides(), _sides()), min_size=6, max_size=6))
@settings(max_examples=8, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_places_mean_what_the_line_means(lines) -> None:
    """What is compared may lie before the first place of an axis or after the last: a statement
    is true at the sizes at which a loop says that the line is."""
    text = "x: n\n" + "".join(f"{left[0]} = {right[0]}\n" for left, right in lines)
    made = sealed(library.derive(text))
    of = {theorem.name: theorem.statement for theorem in made.file.sealing()}
    parts = [part for part in made.file.parts if isinstance(part, str)][1:-1]
    for size in (1, 2, 3):
        env = world(parts, size, _wholes(size))
        for number, ((_, left), (_, right)) in enumerate(lines, 1):
            if (statement := of.get(f"line_{number}")) is None:
                continue
            truth = all(
                left(at, env["x"]) == right(at, env["x"])
                for i, j in itertools.product(range(1, size + 1), repeat=2)
                for at in ({"i": i, "j": j, "n": size},)
            )
            assert Reader(statement).statement()(env) == truth, statement


def test_a_place_before_the_first_is_a_premise() -> None:
    """Subtraction of naturals says nothing where it would stop."""
    made = sealed(library.derive("x: n\nx[i-2]*x[n-2] = x[n-2]*x[i-2]\n"))
    assert [x.statement for x in made.file.sealing()] == [
        "forall i : nat, (i < n)%nat -> (2 <= i)%nat -> (3 <= n)%nat -> "
        "x (i - 2)%nat * x (n - 3)%nat = x (n - 3)%nat * x (i - 2)%nat"
    ]


def test_a_condition_without_words_costs_its_own_line_only() -> None:
    made = sealed(library.derive("x: n\nw: m\nsum(j, x[j+1]) = sum(j, x[j+1])\nx[i] = x[i]\n"))
    assert [x.name for x in made.file.sealing()] == ["line_2"]
    assert [x.why for x in made.unsealed] == ["the condition j + 1 <= n for all j"]


@pytest.mark.parametrize(
    "line", ["2*x[i] = diff(x[i]^2, x[i])", "diff(x[i]^2, x[i]) = 2*x[i]",
             "2*x[i] = diff(x[i]^2, x[i]) = x[i] + x[i]"]
)  # fmt: skip
def test_a_derivative_is_said_to_exist_on_either_side(line) -> None:
    made = sealed(library.derive(f"x: n\n{line}\n"))
    (theorem,) = made.file.sealing()
    slope = "is_derive (fun x_1 : R => (put1 x i x_1 i) ^ 2) (x i) "
    assert f"-> {slope}(2 * x i)" in theorem.statement
    assert theorem.statement.count(slope) == line.count("=")
    assert not made.notes


def test_derivatives_within_a_line_are_noted() -> None:
    made = sealed(library.derive("x: n\nx[i]*diff(x[i]^2, x[i]) = 2*x[i]^2\n"))
    assert [*made.notes] == ["line_1"]
    assert not sealed(derivation("softmax-backward")).notes.keys() - {"line_2"}


@pytest.mark.parametrize(
    ("line", "is_definition"),
    [
        ("x[i]/n = x[i]/n", True),
        ("sum(i, x[i]) = sum(x)", True),
        ("D[i] = 2*x[i]", True),
        ("2*x[i] = D[i]", True),
        ("sum(i, D[i]) = sum(j, 2*x[j])", True),
        ("x[i]*x[j] = x[j]*x[i]", False),
        ("D[i] = x[i] + x[i]", False),
        ("D[i] = D[i] = x[i] + x[i]", False),
        ("sum(i, x[i]*x[j]) = sum(j, x[i]*x[j])", False),
    ],
)
def test_what_holds_by_definition(line, is_definition) -> None:
    made = sealed(library.derive(f"x: n\nD[i] = 2*x[i]\n{line}\n"))
    assert (made.file.sealing()[-1].name in made.defined) == is_definition


#: Names that something in a file of theorems has.
_HOSTILE = (
    "A", "A_of", "A_is", "A_gradient", "A_keeps", "A_part", "A_1", "A_0_0_printed", "A_0_0_is",
    "figure_1", "figure_1_1", "line_1", "assumed_1", "all_of_it", "loss_by_A", "dA", "dA_0_0",
    "dA_is_derivative", "is_positive", "n", "n_positive", "in_i", "i", "j", "k", "x", "y", "d",
    "t", "a", "p", "path", "R", "S", "O", "sum", "delta", "above", "put2", "erf", "nat", "Rabs",
    "Derive", "sums", "slopes", "moving", "bounded", "Symattn", "Hi", "H", "fun", "Type",
    "copy_back", "partials", "lines", "cited", "Lines", "eq_refl", "Rlt_not_le",
)  # fmt: skip


def _declared(text):
    """The names that a file gives, those of indices and of functions within it aside."""
    plain = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    return re.findall(
        r"^(?:Definition|Theorem|Lemma|Variable|Hypothesis|Local Notation) ([\w']+)",
        plain,
        re.MULTILINE,
    )


#: What binds names within a definition, a statement or a proof.
_BINDING = re.compile(
    r"(?:fun|forall|exists|let|intros|as \[\||as \(|destruct) ?((?:[\w'&?]+ ?)+)|\(((?:[\w']+ )+): "
)


def _words_of(text):
    """The words that a file is written with, but for the names that are given in it."""
    plain = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    bound = {word for found in _BINDING.findall(plain) for word in " ".join(found).split()}
    return {*re.findall(r"[A-Za-z_][\w']*", plain)} - bound - {*_declared(text)}


@pytest.fixture(scope="module")
def words():
    """What names can't be: the words that files of theorems are written with."""
    made = [sealed(derivation(name)) for name in CHECKED]
    made += [of_case(name) for name in ("cat-sat-mat-causal", "please-study-man")]
    return set().union(*(_words_of(sealing.file.text()) for sealing in made))


CASE = """[given]
{0} = [[1, 2], [3, 4]]
{1} = [[2, 1], [0, 1]]
[steps]
{2} = "{0} @ {1}.T"
{3} = "softmax(causal({2}))"
{4} = "exp({3}) @ {1}"
[loss]
output = "{4}"
upstream = [[1, 2], [3, 4]]
wrt = ["{0}", "{1}"]
[[claims]]
where = "w"
of = "{3}[0, 0]"
printed = 1
"""


@given(st.lists(st.sampled_from(_HOSTILE), min_size=5, max_size=5, unique=True))
@settings(max_examples=30)
def test_quantities_never_have_names_of_something_else(tmp_path_factory, words, names) -> None:
    """Every name of a file is given once, and none is a word that files are written with."""
    path = tmp_path_factory.mktemp("names") / "a.toml"
    path.write_text(CASE.format(*names), "utf-8")
    try:
        made = of_case(path)
    except Malformed:
        # A word of the language of cases.
        return
    declared = _declared(made.file.text())
    assert len(declared) == len(set(declared)) > 20
    assert not words & {*declared}
    assert made.count == len(made.file.sealing())


@given(st.lists(st.sampled_from(_HOSTILE), min_size=4, max_size=4, unique=True))
@settings(max_examples=30)
def test_arrays_never_have_names_of_something_else(words, names) -> None:
    one, other, size, own = names
    try:
        found = library.derive(
            f"{one}: {size} x {size}\n{other} = softmax({one})\nL: loss of {other}\n"
            f"{own} = {other} {one}\nsum(u, {other}[v,u]) = 1\n{own}[u,v] = {own}[u,v]\n"
        )
    except Malformed:
        return
    made = sealed(found)
    declared = _declared(made.file.text())
    assert len(declared) == len(set(declared))
    assert not words & {*declared}


# -- by Coq -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel():
    with Kernel() as made:
        yield made


@pytest.mark.needs("coqc")
@pytest.mark.heavy
@pytest.mark.parametrize("name", CHECKED)
def test_coq_takes_all_lines(name, kernel) -> None:
    checked = kernel.check(sealed(derivation(name)).file)
    assert not checked.refused
    assert checked.is_sound
    assert all(theorem.proof for theorem in checked.file.sealing())


@pytest.mark.needs("coqc")
@pytest.mark.heavy
def test_a_readers_own_lines_are_sealed(kernel) -> None:
    found = library.derive(
        """
        x: n
        p = softmax(x)
        diff(p[i], x[k]) = p[i] * (delta(i, k) - p[k])
        sum(i, p[i]) = 1
        """
    )
    checked = kernel.check(sealed(found).file)
    assert [bool(theorem.proof) for theorem in checked.file.sealing()] == [True, True]


_CHANGES = (
    (r" \+ ", " - "),
    (r" - (?=[^>])", " + "),
    (r"delta (\w+) (\w+) \* ", ""),
    (r"\bA (\w+)\b(?! \w)", r"(2 * A \1)"),
    (r"\bdA i j\b", "dA i l"),
    (r"= 1$", "= 2"),
    (r" \* ", " + "),
    (r"\bdY (\w+) (\w+)\b", r"(- dY \1 \2)"),
    (r"\bA (\w+) (\w+)\b", r"(A \1 \2 + 1)"),
    (r"= 0$", "= 1"),
    (r"\bK (\w+) (\w+)\b", r"(2 * K \1 \2)"),
)


def _mutants(statement):
    """A statement with one slip in its conclusion, at each place where one can be."""
    head, arrow, tail = statement.rpartition("-> ")
    for pattern, by in _CHANGES:
        for found in re.finditer(pattern, tail):
            changed = tail[: found.start()] + found.expand(by) + tail[found.end() :]
            yield f"{head}{arrow}{changed}"


@pytest.mark.needs("coqc")
@pytest.mark.parametrize(
    ("name", "each", "seconds"),
    [
        pytest.param("softmax-backward", 1, 2, marks=pytest.mark.heavy),
        pytest.param("softmax-jacobian", 4, 60, marks=pytest.mark.campaign),
        pytest.param("softmax-backward", 4, 60, marks=pytest.mark.campaign),
        pytest.param("attention-gradients", 4, 60, marks=pytest.mark.campaign),
    ],
)
def test_slips_do_not_go_through(name, each, seconds, kernel) -> None:
    """Lines with a slip, which are false at some numbers, are not proved."""
    file = sealed(derivation(name)).file
    env = world([part for part in file.parts if isinstance(part, str)][1:-1], 7, {})
    # The lines themselves first: those with slips cite them.
    parts: list[str | Theorem] = [*file.parts[:-1], f"Ltac line ::= line_within {seconds}."]
    tried = 0
    for theorem in file.sealing():
        false = []
        for mutant in _mutants(theorem.statement):
            # What is true after all is no slip; what can't be read, none of ours.
            try:
                if not Reader(mutant).statement()(env):
                    false.append(mutant)
            except (KeyError, AssertionError, TypeError):
                continue
        for place, mutant in enumerate(Random(theorem.name).sample(false, min(each, len(false)))):
            parts.append(Theorem(f"{theorem.name}_slip_{place}", mutant, theorem.proof, mutant))
            tried += 1
    refused = kernel.refused(replace(file, parts=(*parts, file.parts[-1])))
    slips = {x.name for x in parts if isinstance(x, Theorem) and "slip" in x.name}
    assert len(slips) == tried >= 8 * each
    assert set(refused) == slips


@pytest.mark.needs("coqc")
@pytest.mark.campaign
def test_how_many_lines_go_through(kernel) -> None:
    proved = count = 0
    for name in library.names():
        made = sealed(derivation(name))
        checked = kernel.check(made.file)
        assert checked.is_sound
        own = sum(1 for theorem in checked.file.sealing() if theorem.proof)
        left = {
            x.name: checked.refused.get(x.name, "no proof")
            for x in checked.file.sealing()
            if not x.proof
        }
        print(f"{name}: {own} of {made.count}", left, sorted({x.why for x in made.unsealed}))
        proved, count = proved + own, count + made.count
    print(proved, "of", count)
    assert count == 313
    assert proved >= PROVED


def test_an_array_is_not_called_as_tactics_call_hypotheses() -> None:
    """A tactic that is given a term with H in it would take that for its own hypothesis."""
    assert Names().fresh("H") == "H_1"


def test_what_is_put_beside_nothing_is_itself() -> None:
    """A part alone makes no step of its own, of which there would be no lemma."""
    case = symattn.case("one", {"X": [[1, 2], [3, 4]]}, {"A": "colsum(concat(X))"})
    assert of_case(case).count == 7
