"""STACK questions: matrices to fill in, marked by Maxima with follow-through.

The versions of an exercise are the variants of one question: its code holds the given numbers of
all, and the seed chooses. Each part has a tree of its own: an answer is right, or follows from the
student's own earlier answers, or is what a common fault makes of the given numbers. The code that
computes a part is one function of those that it is computed from, so that the truth, what follows
from an answer and the question's tests are all made by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal

import numpy as np

from symattn.errors import Malformed
from symattn.escaping import html_text
from symattn.exercises import quiz
from symattn.exercises.exercise import Exercise
from symattn.exercises.faults import VersionChain
from symattn.exercises.marking.collecting import DEFAULT
from symattn.exercises.marking.follow_through import Steps
from symattn.expressions import typesetting as t
from symattn.expressions.elementary import ELEMENTWISE
from symattn.expressions.syntax import shown
from symattn.languages.language import ENGLISH, Language
from symattn.numbers.reading import Masked, read_entry
from symattn.numbers.values import Value
from symattn.printers import blocks as b
from symattn.printers import web
from symattn.programs.enclosures import FloatOperations, Matrix
from symattn.programs.enclosures import matrix as numbers
from symattn.programs.nodes import FLOW, Node, ancestors

# -- programs as Maxima code -------------------------------------------------------------
# What a question computes from its numbers.
#
# A quantity is a matrix of its grid, and one of a single entry a plain number. Numbers stay exact
# up to the first exponential, logarithm or tanh, which are floats. A masked score is ``-inf``;
# whatever holds ``inf`` is one.


def _entrywise(name: str, entry: str, more: str = "") -> str:
    return f"{name}(x{more}) := sa_plain(matrixmap(lambda([s], {entry}), sa_matrix(x)))"


#: The functions that the code of operations calls, by name. To STACK e, i and j are numbers.
_HELPERS: Mapping[str, str] = {
    "sa_matrix": "sa_matrix(x) := if matrixp(x) then x else matrix([x])",
    "sa_plain": "sa_plain(x) := if is(length(x) = 1) and is(length(x[1]) = 1) then x[1, 1] else x",
    "sa_at": "sa_at(x, u, w) := x[min(u, length(x)), min(w, length(x[1]))]",
    "sa_spread": "sa_spread(x, n, m) := block([y], y: sa_matrix(x), "
    "sa_plain(genmatrix(lambda([u, w], sa_at(y, u, w)), n, m)))",
    "sa_root": _entrywise("sa_root", "sqrt(s)"),
    "sa_exp": _entrywise("sa_exp", "if freeof(inf, s) then float(exp(s)) else 0"),
    **{
        f"sa_{name}": _entrywise(f"sa_{name}", f"float({name}(s))")
        for name in ELEMENTWISE
        if name not in ("sqrt", "exp")
    },
    # A masked score is less than every number.
    "sa_less": "sa_less(s, t) := if freeof(inf, t) then "
    "(if freeof(inf, s) then is(float(s) < float(t)) else true) else false",
    "sa_larger": "sa_larger(s, t) := if sa_less(s, t) then t else s",
    "sa_maximum": "sa_maximum(x, y, n, m) := block([a, b], a: sa_matrix(x), b: sa_matrix(y), "
    "sa_plain(genmatrix(lambda([u, w], sa_larger(sa_at(a, u, w), sa_at(b, u, w))), n, m)))",
    "sa_above": "sa_above(x, y, n, m) := block([a, b], a: sa_matrix(x), b: sa_matrix(y), "
    "sa_plain(genmatrix(lambda([u, w], "
    "if sa_less(sa_at(b, u, w), sa_at(a, u, w)) then 1 else 0), n, m)))",
    "sa_rowmax": "sa_rowmax(x) := sa_plain(apply(matrix, "
    "map(lambda([r], [lreduce(sa_larger, r)]), args(sa_matrix(x)))))",
    "sa_open": _entrywise("sa_open", "if freeof(inf, s) then s else 0"),
    "sa_hide": "sa_hide(x, k, n, m) := block([y, z], y: sa_matrix(x), z: sa_matrix(k), "
    "sa_plain(genmatrix(lambda([u, w], "
    "if is(sa_at(z, u, w) = 0) then -inf else y[u, w]), n, m)))",
    # The largest score is taken away first, so that no power is too large for a float.
    "sa_weights": "sa_weights(r) := block([s, q], "
    "s: sublist(r, lambda([t], freeof(inf, t))), "
    "if emptyp(s) then r else (s: apply(max, s), "
    "q: map(lambda([t], if freeof(inf, t) then float(exp(t - s)) else 0), r), "
    'q/apply("+", q)))',
    "sa_softmax": "sa_softmax(x) := sa_plain(apply(matrix, "
    "map(lambda([r], sa_weights(r)), args(sa_matrix(x)))))",
    "sa_pick": "sa_pick(x, r, c) := block([y], y: sa_matrix(x), "
    "sa_plain(genmatrix(lambda([u, w], y[r[u], c[w]]), length(r), length(c))))",
    "sa_scatter": "sa_scatter(x, r, c, n, m) := block([y], y: sa_matrix(x), "
    "sa_plain(genmatrix(lambda([u, w], if member(u, r) and member(w, c) then "
    "y[sa_place(u, r), sa_place(w, c)] else 0), n, m)))",
    "sa_place": "sa_place(u, r) := first(sublist(makelist(k, k, 1, length(r)), "
    "lambda([k], is(r[k] = u))))",
    "sa_close": "sa_close(x, y, t) := block([a, b], a: sa_matrix(x), b: sa_matrix(y), "
    "is(length(a) = length(b)) and is(length(a[1]) = length(b[1])) and "
    "not member(false, flatten(args(genmatrix(lambda([u, w], sa_near(a[u, w], b[u, w], t)), "
    "length(b), length(b[1]))))))",
    "sa_near": "sa_near(x, y, t) := if freeof(inf, y) then "
    "numberp(float(x)) and is(abs(float(x) - float(y)) <= t + 1.0e-9) "
    "else is(x = -inf) or is(x = minf)",
    "sa_rounded": _entrywise(
        "sa_rounded",
        "if not freeof(inf, s) then -inf else if integerp(s) then s "
        "else round(float(s)*10^p)/10.0^p",
        ", p",
    ),
    # What is left empty is null, or EMPTYANSWER.
    "sa_filled": "sa_filled(x, y) := if freeof(null, x) and freeof(EMPTYANSWER, x) then x else y",
    "sa_moved": "sa_moved(x, k, p) := block([y], y: sa_matrix(x), "
    "sa_rounded(genmatrix(lambda([u, w], y[u, w] + k*(u + 2*w)), length(y), length(y[1])), p))",
    "sa_shown": _entrywise(
        "sa_shown", "if not integerp(s) and integerp(10^6*s) then float(s) else s"
    ),
}
_HELPER = re.compile(r"\bsa_\w+")
_ATOM = re.compile(r"\w+")
_CALL = re.compile(r"\w+\(.*\)")


def helpers(code: Iterable[str]) -> list[str]:
    """The definitions of the functions that statements call, and of those that these call.

    >>> helpers(["T: sa_root(S)"])[-1]
    'sa_root(x) := sa_plain(matrixmap(lambda([s], sqrt(s)), sa_matrix(x)))'
    """
    needed: set[str] = set()
    waiting = [*code]
    while waiting:
        for name in set(_HELPER.findall(waiting.pop())) & _HELPERS.keys() - needed:
            needed.add(name)
            waiting.append(_HELPERS[name])
    return [definition for name, definition in _HELPERS.items() if name in needed]


def number(value: Value | Masked) -> str:
    """An exact number.

    >>> from symattn.numbers.reading import read
    >>> number(read("0.3")), number(read("sqrt(2)/2")), number(read("-exp(1)"))
    ('3/10', 'sqrt(2)/2', '-%e')
    """
    if isinstance(value, Masked):
        return str(value)
    if value.has_symbols:
        raise Malformed(f"{value} has symbols: expected numbers")
    return re.sub(r"\b(e|pi)\b", r"%\1", shown(value.formula()))


def matrix(rows: Sequence[Sequence[Value | Masked]]) -> str:
    """Exact numbers by rows of the grid.

    >>> from symattn.numbers.arrays import read_rows
    >>> matrix(read_rows([[1, "1/2"], [0, "-inf"]])[1])
    'matrix([1, 1/2], [0, -inf])'
    """
    if [len(row) for row in rows] == [1]:
        return number(rows[0][0])
    return _matrix([[*map(number, row)] for row in rows])


def _matrix(rows: Iterable[Iterable[str]]) -> str:
    lines = (f"[{', '.join(row)}]" for row in rows)
    return f"matrix({', '.join(lines)})"


def function(name: str, target: Node, known: Mapping[int, str], parameters: Sequence[str]) -> str:
    """A function that computes ``target`` from what is ``known``: variables, by the serial numbers
    of their nodes. Raises :class:`Malformed` for an operation that has no Maxima code.

    >>> from symattn.programs.program import program
    >>> p = program({"Q": (2, 3), "K": (4, 3)}, {"S": "Q @ K.T", "T": "S / sqrt(3)"})
    >>> known = {node.serial: name for name, node in p.quantities.items()}
    >>> function("f", p.quantities["T"], known, ["S"])
    'f(S) := S/sqrt(3)'
    """
    # What is computed is not taken as known, what is given is.
    written = {
        k: variable for k, variable in known.items() if k != target.serial or target.op == "given"
    }
    needed = ancestors([target], stop=lambda node: node.serial in written)
    uses = Counter(x.serial for node in needed for x in node.operands)
    names: list[str] = []
    statements: list[str] = []
    for node in needed:
        if node.serial in written:
            continue
        if node.op not in _OPERATIONS:
            raise Malformed(f"the operation {node.op!r} can't be exported: it has no Maxima code")
        code = _OPERATIONS[node.op](node, [written[x.serial] for x in node.operands])
        if uses[node.serial] > 1 and not _ATOM.fullmatch(code):
            names.append(f"t_{len(names) + 1}")
            statements.append(f"{names[-1]}: {code}")
            code = names[-1]
        written[node.serial] = code
    body = written[target.serial]
    if names:
        body = f"block([{', '.join(names)}], {', '.join([*statements, body])})"
    return f"{name}({', '.join(parameters)}) := {body}"


def _bracketed(code: str) -> str:
    """Code in brackets, unless it is one word, or one call, whose first bracket ends it."""
    depths = accumulate((c == "(") - (c == ")") for c in code[code.find("(") :])
    is_call = _CALL.fullmatch(code) and 0 not in [*depths][:-1]
    return code if _ATOM.fullmatch(code) or is_call else f"({code})"


def _arithmetic(sign: str) -> Callable[[Node, list[str]], str]:
    def operation(node: Node, x: list[str]) -> str:
        if node.extra == FLOW:
            x = [f"sa_open({code})" for code in x]
        sides = [
            code
            if operand.grid in (node.grid, (1, 1))
            else f"sa_spread({code}, {node.grid[0]}, {node.grid[1]})"
            for operand, code in zip(node.operands, x, strict=True)
        ]
        return sign.join(map(_bracketed, sides))

    return operation


def _matmul(node: Node, x: list[str]) -> str:
    plain = any(operand.grid == (1, 1) for operand in node.operands)
    return ("*" if plain else " . ").join(map(_bracketed, x))


def _call(name: str) -> Callable[[Node, list[str]], str]:
    return lambda node, x: f"{name}({', '.join(x)})"


def _rowsum(node: Node, x: list[str]) -> str:
    columns = node.operands[0].grid[1]
    return x[0] if columns == 1 else f"{_bracketed(x[0])} . {_matrix([['1']] * columns)}"


def _colsum(node: Node, x: list[str]) -> str:
    rows = node.operands[0].grid[0]
    return x[0] if rows == 1 else f"{_matrix([['1'] * rows])} . {_bracketed(x[0])}"


def _concat(node: Node, x: list[str]) -> str:
    parts = [
        f"matrix([{code}])" if operand.grid == (1, 1) else code
        for operand, code in zip(node.operands, x, strict=True)
    ]
    return f"addcol({', '.join(parts)})" if len(parts) > 1 else x[0]


def _places(axis: range) -> str:
    """Indices, which Maxima counts from 1."""
    return f"[{', '.join(str(k + 1) for k in axis)}]"


def _pick(node: Node, x: list[str]) -> str:
    rows, columns = node.extra
    return f"sa_pick({x[0]}, {_places(rows)}, {_places(columns)})"


def _scatter(node: Node, x: list[str]) -> str:
    rows, columns = map(_places, node.extra)
    return f"sa_scatter({x[0]}, {rows}, {columns}, {node.grid[0]}, {node.grid[1]})"


def _triangle(node: Node, x: list[str]) -> str:
    rows, columns = node.grid
    if node.grid == (1, 1):
        return "1"
    return _matrix([str(int(j <= i)) for j in range(columns)] for i in range(rows))


def _sized(name: str) -> Callable[[Node, list[str]], str]:
    return lambda node, x: f"{name}({', '.join([*x, *map(str, node.grid)])})"


_OPERATIONS: Mapping[str, Callable[[Node, list[str]], str]] = {
    "constant": lambda node, x: number(node.extra),
    "table": lambda node, x: matrix(node.extra),
    "triangle": _triangle,
    "copy": lambda node, x: x[0],
    "reshape": lambda node, x: x[0],
    "transpose": lambda node, x: x[0] if node.grid == (1, 1) else f"transpose({x[0]})",
    "negate": lambda node, x: f"-{_bracketed(x[0])}",
    "add": _arithmetic(" + "),
    "subtract": _arithmetic(" - "),
    "multiply": _arithmetic("*"),
    "divide": _arithmetic("/"),
    "matmul": _matmul,
    "sqrt": lambda node, x: _call("sqrt" if node.grid == (1, 1) else "sa_root")(node, x),
    **{op: _call(f"sa_{op}") for op in (*ELEMENTWISE, "rowmax", "softmax") if op != "sqrt"},
    **{op: _sized(f"sa_{op}") for op in ("maximum", "above", "hide", "spread")},
    "concat": _concat,
    "rowsum": _rowsum,
    "colsum": _colsum,
    "total": lambda node, x: _colsum(node, [_rowsum(node, x)]),
    "pick": _pick,
    "scatter": _scatter,
}


# -- trials ------------------------------------------------------------------------------
# The answers that a question is tested with, and what it should say of them.
#
# A test holds for all versions of a question, whatever their numbers: so what is to be
# expected of each is computed, in floats.

#: The answers of a test: all right; a fault in the head of the chain, propagated; nonsense;
#: the first common fault of each part.
AnswerSet = Literal["right", "propagated", "nonsense", "faults"]


def nonsense(k: int) -> int:
    """Return how far the nonsense of a part is from what is right."""
    return 50 + 13 * k


class Trial:
    """One version of an exercise on trial.

    >>> from symattn.cases.library import load
    >>> from symattn.exercises.exercise import exercise
    >>> made = exercise(load("cat-sat-mat"))
    >>> Trial(VersionChain([made]), made).outcomes("propagated")
    {1: None, 2: 1, 3: 1, 4: 1}
    """

    def __init__(self, chain: VersionChain, exercise: Exercise) -> None:
        self._chain, self._case = chain, exercise.case
        self._right = self._computed(lambda k, value: value)
        steps = self._steps()
        #: What common faults make of each part.
        self._faulty = {
            k: [steps[fault.nodes[part.quantity]] for fault in chain.faults[k]]
            for k, part in chain.parts.items()
        }

    def outcomes(self, answers: AnswerSet) -> dict[int, int | None]:
        """Return which node of each part's tree a test ends at: the first that holds, if any
        does."""
        given = self._right
        if answers == "propagated":
            head = self._chain.head
            given = self._computed(
                lambda k, value: self._rounded(k, moved(value, 1) if k == head else value)
            )
        elif answers == "nonsense":
            given = {k: moved(value, nonsense(k)) for k, value in given.items()}
        elif answers == "faults":
            given = {k: [*self._faulty[k], value][0] for k, value in given.items()}
        steps, nodes = self._steps(), self._chain.nodes
        rounded = {k: self._rounded(k, answer) for k, answer in given.items()}
        steps.put.update((nodes[k].serial, answer) for k, answer in rounded.items())
        return {k: self._outcome(k, rounded[k], steps[nodes[k]]) for k in self._chain.parts}

    def _steps(self) -> Steps[Matrix]:
        return Steps(FloatOperations(), self._case, numbers)

    def _computed(self, change: Callable[[int, Matrix], Matrix]) -> dict[int, Matrix]:
        """The parts one after the other, each from those before as they were changed."""
        steps, values = self._steps(), dict[int, Matrix]()
        for k in self._chain.order:
            node = self._chain.nodes[k]
            values[k] = steps.put[node.serial] = change(k, steps[node])
        return values

    def _rounded(self, k: int, value: Matrix) -> Matrix:
        return np.asarray(np.round(value, self._chain.parts[k].places))

    def _outcome(self, k: int, answer: Matrix, follows: Matrix) -> int | None:
        truths = [self._right[k], *self._faulty[k]]
        if self._chain.sources[k]:
            truths.insert(1, follows)
        tolerance = float(self._chain.parts[k].tolerance)
        places = (
            place
            for place, truth in enumerate(truths)
            if np.allclose(answer, truth, rtol=0, atol=tolerance)
        )
        return next(places, None)


def moved(value: Matrix, by: int) -> Matrix:
    """A matrix that is off in every entry, in each by another amount."""
    rows, columns = value.shape
    steps = np.arange(1, rows + 1)[:, None] + 2 * np.arange(1, columns + 1)
    return np.asarray(value + by * steps)


# -- stack -------------------------------------------------------------------------------

#: What is taken off for each wrong try, where a quiz allows several.
_PENALTY = 0.1
#: Letters that fit into a blank.
_BOX = 8
#: How a field reads answers: one that is left empty keeps no other from being marked.
_INPUT: Mapping[str, object] = {
    "boxsize": _BOX, "strictsyntax": 1, "insertstars": 0, "syntaxhint": "", "syntaxattribute": 0,
    "forbidwords": "", "allowwords": "", "forbidfloat": 0, "requirelowestterms": 0,
    "checkanswertype": 0, "mustverify": 1, "showvalidation": 1, "options": "allowempty",
}  # fmt: skip
#: The STACK that has what the questions use, by the number of its version.
_STACK = 2023010400

#: The question's tests: the letter of their answers in its code, and what they are.
_TESTS: Mapping[AnswerSet, tuple[str, str]] = {
    "right": ("a", "The right answers."),
    "propagated": ("e", "A mistake in one part, and correct work from there."),
    "nonsense": ("g", "Nonsense."),
    "faults": ("u", "A common mistake in each part."),
}
_SETTINGS: Mapping[str, object] = {
    "questionsimplify": 1, "assumepositive": 0, "assumereal": 0, "decimals": ".",
    "scientificnotation": "*10", "multiplicationsign": "dot", "sqrtsign": 1, "complexno": "i",
    "inversetrig": "cos-1", "logicsymbol": "lang", "matrixparens": "[",
    "variantsselectionseed": "",
}  # fmt: skip


def stack(exercises: Sequence[Exercise], say: Language = ENGLISH) -> str:
    """The question of an exercise, its versions as variants, as an element of
    Moodle's XML (see :func:`~symattn.exercises.quiz.quiz`).

    Common mistakes, and what follows from earlier answers, give what they give by default.
    Raises :class:`Malformed` for proofs, for operations that have no Maxima code
    and where the versions are no variants of each other.

    >>> from symattn.exercises.exercise import exercise
    >>> from symattn.cases.library import load
    >>> made = stack([exercise(load("cat-sat-mat"))])
    >>> "f_3(s_2) := sa_softmax(s_2)" in made
    True
    """
    return quiz.question("stack", _StackQuestion(VersionChain(exercises), say).elements())


class _StackQuestion:
    def __init__(self, chain: VersionChain, say: Language) -> None:
        self.chain = chain
        self.first = chain.first
        self.say = say
        self.text = quiz.QuestionText(chain.first, say)

    # -- code ----------------------------------------------------------------------

    def variables(self) -> str:
        """The code of the question: given numbers, functions, right answers."""
        functions = [*self._functions()]
        rest = [*self._answers(), *self._tests()]
        checks = [x for k in self.chain.parts for x in self._following(k)]
        checks += [test for k in self.chain.parts for test, _, _ in self._nodes(k)]
        called = helpers([*functions, *rest, *checks])
        return _code([*self._given(), *called, *functions, *rest])

    def _given(self) -> Iterator[str]:
        yield f"sa_variant: mod(stack_seed - 1, {len(self.chain.exercises)}) + 1"
        for name, node in self.text.given():
            rows = (
                exercise.case.given.get(name, exercise.case.upstream)
                for exercise in self.chain.exercises
            )
            yield f"{_variable(node)}: {_of_variant(map(matrix, rows))}"

    def _functions(self) -> Iterator[str]:
        """Yield what each part is (``f``), by those it is computed from, and what common faults
        make of it (``z``), by the given numbers."""
        given = {node.serial: _variable(node) for _, node in self.text.given()}
        for k in self.chain.order:
            part = self.chain.parts[k]
            answers = {self.chain.nodes[j].serial: f"s_{j}" for j in self.chain.sources[k]}
            try:
                yield function(f"f_{k}", self.chain.nodes[k], given | answers, [*answers.values()])
            except Malformed as error:
                raise Malformed(fault.inside(part.quantity) for fault in error.faults) from None
            for place, fault in enumerate(self.chain.faults[k]):
                node = fault.nodes[part.quantity]
                known = {x.serial: _variable(x) for x in ancestors([node]) if x.op == "given"}
                yield function(f"z_{k}_{place}", node, known, [])

    def _call(self, k: int, argument: Callable[[int], str]) -> str:
        return f"f_{k}({', '.join(map(argument, self.chain.sources[k]))})"

    def _answers(self) -> Iterator[str]:
        """The truth (``r``), and what a student writes of it (``ta``)."""
        for k in self.chain.order:
            yield f"r_{k}: {self._call(k, 'r_{}'.format)}"
        for k, part in self.chain.parts.items():
            yield f"ta_{k}: sa_rounded(r_{k}, {part.places})"

    def _tests(self) -> Iterator[str]:
        """The answers of the question's tests, but for the right ones."""
        for k in self.chain.order:
            places = self.chain.parts[k].places
            propagated = f"sa_rounded({self._call(k, 'e_{}'.format)}, {places})"
            faulty = f"z_{k}_0()" if self.chain.faults[k] else f"r_{k}"
            is_head = k == self.chain.head
            yield f"e_{k}: {f'sa_moved(r_{k}, 1, {places})' if is_head else propagated}"
            yield f"g_{k}: sa_moved(r_{k}, {nonsense(k)}, {places})"
            yield f"u_{k}: sa_rounded({faulty}, {places})"

    def _following(self, k: int) -> list[str]:
        """The code of what follows for a part (``c``) from the student's answers; what they
        left empty follows too."""
        if not self.chain.sources[k]:
            return []
        needed = {k}
        for j in reversed(self.chain.order):
            if j in needed:
                needed |= set(self.chain.sources[j])
        answered = "sa_filled(ans{0}, c_{0})".format
        return [f"c_{j}: {self._call(j, answered)}" for j in self.chain.order if j in needed]

    def _nodes(self, k: int) -> Iterator[tuple[str, float, b.Line]]:
        """The nodes of a part's tree: what each tests, its score, and what is said of it."""
        tolerance = self.chain.parts[k].tolerance

        def close(truth: str) -> str:
            return f"sa_close(ans{k}, {truth}, {tolerance})"

        yield close(f"r_{k}"), 1, ()
        if self.chain.sources[k]:
            follows = self.say("This agrees with your earlier answers, not all of which are right.")
            yield close(f"c_{k}"), float(DEFAULT.follows), follows
        for place, fault in enumerate(self.chain.faults[k]):
            remark: b.Line = fault.said(self.say)
            yield close(f"z_{k}_{place}()"), float(DEFAULT.slip), (*remark, "?")

    # -- elements ------------------------------------------------------------------

    def elements(self) -> Iterator[str]:
        """The elements of the question, as STACK's importer reads them."""
        say = self.say.text
        yield quiz.plain("name", quiz.title(self.first, version=False))
        yield quiz.rich("questiontext", self._questiontext())
        yield quiz.rich("generalfeedback", self._generalfeedback())
        fields = {"defaultgrade": self.first.points, "penalty": _PENALTY, "hidden": 0}
        yield from quiz.elements(fields | {"idnumber": ""})
        yield quiz.plain("stackversion", str(_STACK))
        yield quiz.code("questionvariables", self.variables())
        yield quiz.rich("specificfeedback", "")
        # Variants are told apart by their notes.
        yield quiz.rich("questionnote", "{@sa_variant@}")
        yield quiz.rich("questiondescription", "")
        yield quiz.rich("prtcorrect", web.paragraph((say("Correct."),)))
        yield quiz.rich("prtpartiallycorrect", web.paragraph((say("Partly correct."),)))
        yield quiz.rich("prtincorrect", web.paragraph((say("Incorrect."),)))
        yield from quiz.elements(_SETTINGS)
        yield from map(self._input, self.chain.parts)
        yield from map(self._tree, self.chain.parts)
        for seed, _ in enumerate(self.chain.exercises, 1):
            yield quiz.element("deployedseed", seed)
        yield from self._questiontests()

    def _questiontext(self) -> str:
        given = (
            rf"\({html_text(t.latex(quiz.letter(name)))} = {{@sa_shown({_variable(node)})@}}\)"
            for name, node in self.text.given()
        )
        blocks = self.text.opening(" &ensp; ".join(given))
        for k, part in self.chain.parts.items():
            blocks.append(self.text.task(k, part))
            if any(answer.is_infinite() for row in self.first.right(part) for answer in row):
                blocks.append(
                    web.paragraph(self.say("A masked score is {masked}.", masked=b.Code("-inf")))
                )
            blocks.append(f"<p>[[input:ans{k}]]</p><div>[[validation:ans{k}]]</div>")
            blocks.append(f"<div>[[feedback:prt{k}]]</div>")
        return "\n".join(blocks)

    def _generalfeedback(self) -> str:
        answers = (
            rf"<p>\({html_text(t.latex(self.text.result(part)))} {{@ta_{k}@}}\)</p>"
            for k, part in self.chain.parts.items()
        )
        return "\n".join([web.paragraph(self.say("The correct answers:")), *answers])

    def _input(self, k: int) -> str:
        kind = "numerical" if self.chain.nodes[k].grid == (1, 1) else "matrix"
        fields = {"name": f"ans{k}", "type": kind, "tans": f"ta_{k}", **_INPUT}
        return _element("input", quiz.elements(fields))

    def _tree(self, k: int) -> str:
        nodes = [*self._nodes(k)]
        points = self.chain.parts[k].points
        fields = {"name": f"prt{k}", "value": points, "autosimplify": 1, "feedbackstyle": 1}
        code = quiz.code("feedbackvariables", _code(self._following(k)))
        printed = (
            self._node(k, place, *node, place + 1 if place + 1 < len(nodes) else -1)
            for place, node in enumerate(nodes)
        )
        return _element("prt", [*quiz.elements(fields), code, *printed])

    def _node(
        self, k: int, place: int, test: str, score: float, remark: b.Line, otherwise: int
    ) -> str:
        """A node that tests an answer: with its score if it holds, else on to another."""
        fields: dict[str, object] = {"name": place, "description": "", "answertest": "AlgEquiv"}
        fields |= {"sans": test, "tans": "true", "testoptions": "", "quiet": 1}
        inside = [*quiz.elements(fields)]
        branches: tuple[tuple[str, float, int, b.Line], ...]
        branches = (("true", score, -1, remark), ("false", 0, otherwise, ()))
        for branch, points, then, line in branches:
            note = _note(k, place, branch == "true")
            values = {"scoremode": "=", "score": f"{points:g}", "penalty": _penalty(points)}
            values |= {"nextnode": then, "answernote": note}
            inside += quiz.elements({f"{branch}{name}": value for name, value in values.items()})
            feedback = web.paragraph(line) if line else ""
            inside.append(quiz.rich(f"{branch}feedback", feedback))
        return _element("node", inside)

    # -- question tests --------------------------------------------------------------

    def _questiontests(self) -> Iterator[str]:
        trials = [Trial(self.chain, exercise) for exercise in self.chain.exercises]
        for case, (answers, (letter, description)) in enumerate(_TESTS.items(), 1):
            inside = [*quiz.elements({"testcase": case, "description": description})]
            for k in self.chain.parts:
                # The right digits are symattn's own: Maxima's are checked against them.
                value = self._right(k) if answers == "right" else f"{letter}_{k}"
                inside.append(
                    _element("testinput", quiz.elements({"name": f"ans{k}", "value": value}))
                )
            outcomes = [trial.outcomes(answers) for trial in trials]
            for k in self.chain.parts:
                common = {outcome[k] for outcome in outcomes}
                # A test is the same for all variants: it says what they have in common.
                if len(common) == 1:
                    inside.append(self._expected(k, *common))
            yield _element("qtest", inside)

    def _right(self, k: int) -> str:
        part = self.chain.parts[k]
        rows = (
            [[read_entry(answer) for answer in row] for row in exercise.right(part)]
            for exercise in self.chain.exercises
        )
        return _of_variant(map(matrix, rows))

    def _expected(self, k: int, outcome: int | None) -> str:
        nodes = [*self._nodes(k)]
        place, score = (len(nodes) - 1, 0.0) if outcome is None else (outcome, nodes[outcome][1])
        fields: Mapping[str, object] = {
            "name": f"prt{k}",
            "expectedscore": f"{score:g}",
            "expectedpenalty": _penalty(score),
            "expectedanswernote": _note(k, place, outcome is not None),
        }
        return _element("expected", quiz.elements(fields))


def _element(name: str, inside: Iterable[str]) -> str:
    return "\n".join([f"<{name}>", *inside, f"</{name}>"])


def _code(statements: Iterable[str]) -> str:
    return "".join(f"{statement};\n" for statement in statements)


def _of_variant(code: Iterable[str]) -> str:
    variants = [*code]
    return variants[0] if len(set(variants)) == 1 else f"[{', '.join(variants)}][sa_variant]"


def _variable(node: Node) -> str:
    """Return what something given is called in code: the names of Maxima and of STACK start
    otherwise."""
    return f"v_{node.extra}"


def _penalty(score: float) -> float:
    return 0 if score == 1 else _PENALTY


def _note(k: int, place: int, is_true: bool) -> str:
    return f"prt{k}-{place + 1}-{'T' if is_true else 'F'}"
