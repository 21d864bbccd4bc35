"""Looking for proofs: which rules to apply, so that terms that are equal become the same.

What is chosen here need not be right: the kernel does what a rule says, or refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations, product
from math import comb, factorial, floor, gcd, lcm, prod
from typing import Any

from flint import fmpq, fmpz

from symattn.calculus.kernel import kinds
from symattn.calculus.kernel.computing import Step
from symattn.calculus.kernel.kinds import UNIT, Atom, Exponent, Mono, Place
from symattn.calculus.kernel.proof import Kernel
from symattn.calculus.kernel.rules import divided, identity
from symattn.calculus.kernel.sum_rules import solved
from symattn.calculus.kernel.terms import (
    Poly,
    Unproved,
    divides,
    inverse,
    is_index,
    led_back,
    number,
    ordered,
    places_in,
    power,
    single,
    without,
)
from symattn.calculus.language import Array, Index
from symattn.expressions.elementary import ELEMENTARY

_MOST_WRITTEN = 8
_MOST_ORDERS = 800
_MOST_BOUND = 12


class SumChoices:
    """Chooses rules for sums over axes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.equations: Callable[[Mono], Step | None] | None = None
        self.symmetric: dict[Array, bool] = {}
        self.unseen = ""
        """Why a limit was left as it stands."""
        self._kept: set[Atom] = set()
        """Sums whose indices are in order."""

    def _sum(self, mono: Mono, atom: kinds.Sum, e: Exponent) -> Step | None:
        if e != 1:
            return None
        axes = atom.axes
        kernel = self.kernel
        with kernel.inside(*axes) as variables:
            body = kernel.opened(atom.body, variables)
            for k, own in enumerate(variables):
                if any(solved(a, own) for a, _ in body):
                    return Step("collapse", mono, k)
            for k, own in enumerate(variables):
                if isinstance(own.size, int) and own.size <= _MOST_WRITTEN:
                    return Step("written", mono, k)
            if len(axes) == 1 and self._counts(body, variables[0]):
                return Step("counted", mono, _whole(body))
            if any(isinstance(a, kinds.Sum) and isinstance(k, int) and k > 0 for a, k in body):
                return Step("flatten", mono)
            for k, own in enumerate(variables):
                mine = tuple(pair for pair in body if own in pair[0].free)
                alone = all(pair[0].free.isdisjoint(set(variables) - {own}) for pair in mine)
                if len(axes) > 1 and not alone and self._counts(mine, own):
                    return Step("nest", mono, (k,))
            if (group := self._contracted(body, variables)) is not None:
                return Step("nest", mono, group)
            for k, own in enumerate(variables):
                if by := _least_offset(body, own):
                    return Step("slide", mono, (k, by))
            groups = _components(body, variables)
            if len(groups) > 1:
                return Step("nest", mono, groups[0])
            if (led := self._led_back(body, variables)) is not None:
                return Step("permuted", mono, led)
            return self._arranged(mono, body, variables)

    def _counts(self, body: Mono, own: Index) -> bool:
        here = (own, 0, ())
        match body:
            case ((kinds.Position(at), int(e)),):
                return bool(at == here and 0 < e <= 8)
            case ((kinds.AtMost(first, second), 1),):
                other = second if first == here else first if second == here else None
                return other is not None and other[0] is not None and other[1:] == (0, ())
        return False

    def _contracted(self, body: Mono, variables: tuple[Index, ...]) -> tuple[int, ...] | None:
        """Indices whose sum is there below: ``exp(S[i, j]) / Z[i]`` summed over j is 1."""
        for below, e in body:
            if not isinstance(below, kinds.Sum) or e >= 0:
                continue
            axes, pattern = below.axes, below.body
            for names in permutations(variables, len(axes)):
                if tuple(each.size for each in names) != axes:
                    continue
                inner = self.kernel.opened(pattern, names)
                powers = dict(body)
                if not all(powers.get(a, 0) == k for a, k in inner):
                    continue
                rest = without(body, *(a for a, _ in inner))
                if single(rest).free.isdisjoint(names) and len(names) < len(variables):
                    return tuple(variables.index(each) for each in names)
        return None

    def _led_back(
        self, body: Mono, variables: tuple[Index, ...]
    ) -> tuple[int, tuple[tuple[str, int], ...]] | None:
        """An index that goes through fewer permutations when it is led back."""
        for k, own in enumerate(variables):
            ways = {images for _, offset, images in places_in(body, own) if images and not offset}
            cost = _images(body, own)
            for images in sorted(ways):
                moved = self.kernel.put(single(body), {own: (own, 0, led_back(images))})
                if len(moved) == 1 and _images(next(iter(moved)), own) < cost:
                    return k, led_back(images)
        return None

    def _arranged(self, mono: Mono, body: Mono, variables: tuple[Index, ...]) -> Step | None:
        kernel = self.kernel
        if mono[0][0] in self._kept:
            return None
        if len(variables) > _MOST_BOUND:
            raise Unproved("a sum over too many indices at once")
        colours = self._colours(body, variables)
        for atom, _ in body:
            if not isinstance(atom, kinds.AtMost) or not all(map(is_index, atom.places)):
                continue
            first, second = atom.first[0], atom.second[0]
            if first not in colours or second not in colours:
                continue
            pair, others = (variables.index(first), variables.index(second)), without(body, atom)
            # The comparison itself tells which comes first: what stands beside it decides.
            beside = self._colours(others, variables)
            if beside[first] > beside[second]:
                return Step("reversed", mono, pair)
            if beside[first] == beside[second] and len(variables) == 2:
                rest = single(others)
                if kernel.put(rest, {first: atom.second, second: atom.first}) == rest:
                    return Step("halved", mono, pair)
        groups: dict[int, list[int]] = {}
        for k, each in enumerate(variables):
            groups.setdefault(colours[each], []).append(k)
        if prod(factorial(len(group)) for group in groups.values()) > _MOST_ORDERS:
            raise Unproved("a sum over too many indices that look alike")
        orders = [
            tuple(k for group in choice for k in group)
            for choice in product(*(permutations(groups[c]) for c in sorted(groups)))
        ]
        own = mono[0][0]
        atoms: dict[Atom, tuple[int, ...]] = {}
        for order in orders:
            with kernel.apart():
                value = kernel.rules["exchange"](kernel, mono, order)
            if not value:
                return Step("exchange", mono, order)
            ((other, _),) = value.items()
            atoms.setdefault(other[0][0], order)
        least = min(atoms, key=lambda atom: atom.number)
        self._kept.add(least)
        return None if least is own else Step("exchange", mono, atoms[least])

    def _colours(self, body: Mono, variables: tuple[Index, ...]) -> dict[Index, int]:
        """Numbers for summed indices that tell apart those with different parts in a sum."""
        own = set(variables)
        stand = [
            (f"{e}{path}", at)
            for atom, e in body
            if not atom.free.isdisjoint(own)
            for path, at in self._standing(atom)
        ]
        colours = _numbered({each: str(each.size) for each in variables})
        for _ in variables:
            marks: dict[Index, list[str]] = {each: [] for each in variables}
            for path, at in stand:
                if not any(base in own for base, _ in at):
                    continue
                labels = [f"{colours.get(base, _outer(base))}{more}" for base, more in at]
                alike = path.endswith("~")
                if alike:
                    labels.sort()
                for k, (base, more) in enumerate(at):
                    if base in own:
                        marks[base].append(f"{path}{more if alike else k}{labels}")
            before = len(set(colours.values()))
            colours = _numbered(
                {each: f"{colours[each]:03}{sorted(marks[each])}" for each in variables}
            )
            if len(set(colours.values())) in (before, len(variables)):
                break
        return colours

    def _standing(self, atom: Atom) -> Iterator[tuple[str, tuple[tuple[Any, str], ...]]]:
        """Yield where indices stand in an atom, and which."""
        if atom.places:
            match atom:
                case kinds.Entry(array):
                    word = f"{array.name}{'~' if self._is_symmetric(array) else ' '}"
                case kinds.Derivative((of, _), (by, _)):
                    word = f"{of.name}D{by.name}"
                case kinds.Delta():
                    word = f"{atom.letter}~"
                case _:
                    word = atom.letter
            yield word, tuple((base, f"{offset}{images}") for base, offset, images in atom.places)
        for mono, c in atom.parts:
            for inner, e in mono:
                if inner.free:
                    for path, at in self._standing(inner):
                        yield f"{atom.letter}{c}.{e}{path}", at

    def _is_symmetric(self, array: Array) -> bool:
        """Return whether rows and columns of a matrix may be exchanged."""
        if self.equations is None or len(array.axes) != 2 or len({*array.axes}) != 1:
            return False
        if array not in self.symmetric:
            self.symmetric[array] = False
            with self.kernel.inside(*array.axes) as two:
                first, second = ((each, 0, ()) for each in two)
                ways = (first, second), (second, first)
                entries = [self.kernel.entry(array, way) for way in ways]
            self.symmetric[array] = entries[0] == entries[1]
        return self.symmetric[array]


def _whole(body: Mono) -> tuple[Fraction, ...] | None:
    """The coefficients of ``1^p + ... + n^p`` (J. Faulhaber), by the numbers of Bernoulli."""
    match body:
        case ((kinds.Position(), int(p)),):
            # The last power is counted: the one number of odd place that is not 0 is 1/2, not -1/2.
            downwards = range(p, -1, -1)
            highest = [comb(p + 1, k) * (-1) ** k * fmpq.bernoulli(k) / (p + 1) for k in downwards]
            return (Fraction(0), *(Fraction(int(x.p), int(x.q)) for x in highest))
    return None


def _components(body: Mono, variables: tuple[Index, ...]) -> tuple[tuple[int, ...], ...]:
    """Indices in groups that no factor has in common."""
    groups = [{each} for each in variables]
    for atom, _ in body:
        linked = [group for group in groups if not atom.free.isdisjoint(group)]
        if linked:
            groups = [group for group in groups if group not in linked]
            groups.append(set().union(*linked))
    numbers = (tuple(k for k, each in enumerate(variables) if each in group) for group in groups)
    return tuple(sorted(numbers))


def _least_offset(body: Mono, own: Index) -> int:
    """Return how far beyond an index all its places are; 0 where some are where it is."""
    least = min((offset for _, offset, _ in places_in(body, own)), default=0)
    return least if abs(least) <= _MOST_SHIFTED and not _images(body, own) else 0


def _images(body: Mono, own: Index) -> int:
    return sum(len(images) for _, _, images in places_in(body, own))


def _outer(base: Any) -> str:
    return f"o{base.number}" if isinstance(base, Index) else f"b{base}"


def _numbered(marks: Mapping[Index, str]) -> dict[Index, int]:
    order_of = {mark: k for k, mark in enumerate(sorted(set(marks.values())))}
    return {each: order_of[mark] for each, mark in marks.items()}


# -- which rules to apply to sums --------------------------------------------------------

_MOST_SHIFTED = 8
_REDUCTIONS = 300
_TERMS = (3, 6)
_MANY_TIMES = 8


def size_of(mono: Mono) -> tuple[Fraction, Fraction, list[tuple[int, Exponent]]]:
    """An order of products that multiplying keeps: by degree, by how far places are led, then by
    the last atoms."""
    degree = Fraction(sum((e * _weight(atom) for atom, e in mono), Fraction(0)))
    # Through how many permutations its places go.
    led = sum((e * len(images) for atom, e in mono for _, _, images in atom.places), Fraction(0))
    return degree, Fraction(led), [(atom.number, e) for atom, e in reversed(mono)]


def _weight(atom: Atom) -> Fraction:
    """Return how much an atom counts: a sum as much as what is summed, and more."""
    match atom:
        case kinds.Bracket() | kinds.Delta() | kinds.AtMost():
            return Fraction(0)
        case kinds.Sum(_, body):
            return 1 + sum((e * _weight(inner) for inner, e in body), Fraction(0))
    return UNIT


class Choices(SumChoices):
    """Chooses rules for the products that come up in a kernel."""

    def __call__(self, mono: Mono) -> Step | None:
        """The rule for a product, if any."""
        step = self._single(mono, *mono[0]) if len(mono) == 1 else self._product(mono)
        if step is None and self.equations is not None:
            step = self.equations(mono)
        return step

    def _single(self, mono: Mono, atom: Atom, e: Exponent) -> Step | None:
        match atom:
            case kinds.Sum():
                return self._sum(mono, atom, e)
            case kinds.Function():
                return self._function(mono, atom, e)
            case kinds.Bracket(of):
                return self._power(mono, Poly(of), e)
            case kinds.Positive(of):
                return self._step(mono, Poly(of))
            case kinds.AtMost(first, second):
                return self._comparison(mono, first, second)
            case kinds.Limit():
                return self._limit(mono)
            case kinds.Mean(of):
                return self._mean(mono, Poly(of))
        return None

    # -- products --------------------------------------------------------------------------------

    def _product(self, mono: Mono) -> Step | None:
        compared: dict[tuple[Place, Place], kinds.AtMost] = {}
        for atom, _e in mono:
            match atom:
                case kinds.AtMost(first, second):
                    compared[first, second] = atom
                case kinds.Delta() if step := self._transport(mono, atom):
                    return step
                case kinds.Positive(of) if len(of) == 1:
                    ((base, k),) = of
                    if k < 0 and divides(base, mono):
                        return Step("turn", mono, atom)
        if len(compared) > 1:
            for (first, second), atom in compared.items():
                if (second, first) in compared:
                    return Step("antisymmetry", mono, (atom, compared[second, first]))
            for (first, middle), one in compared.items():
                for (other, last), two in compared.items():
                    three = compared.get((first, last))
                    if middle == other and three is not None:
                        return Step("transitivity", mono, (one, two, three))
        for atom, e in mono:
            match atom:
                case kinds.Function("cos") if isinstance(e, int) and e > 1:
                    return Step("pythagoras", mono, atom)
        return None

    @staticmethod
    def _transport(mono: Mono, delta: kinds.Delta) -> Step | None:
        stands = single(without(mono, delta)).free.intersection(identity(delta))
        return Step("transport", mono, delta) if stands else None

    def _comparison(self, mono: Mono, first: Place, second: Place) -> Step | None:
        plain = not first[2] and not second[2] and None not in (first[0], second[0])
        if plain and first[1] != second[1] and abs(first[1] - second[1]) <= _MOST_SHIFTED:
            return Step("shift", mono)
        if _is_summed(second) != _is_summed(first):
            # A summed index comes first.
            return Step("reversal", mono) if _is_summed(second) else None
        return None

    def _limit(self, mono: Mono) -> Step | None:
        for terms in _TERMS:
            step = Step("expansion", mono, terms)
            try:
                with self.kernel.apart():
                    self.kernel.rules["expansion"](self.kernel, mono, terms)
            except Unproved as reason:
                self.unseen = str(reason)
                if "more terms" not in self.unseen:
                    return None
                continue
            return step
        return None

    def _mean(self, mono: Mono, of: Poly) -> Step | None:
        if len(of) == 1:
            ((product, c),) = of.items()
            arrays = [each.array for each, _ in product if isinstance(each, kinds.Entry)]
            is_known = len(arrays) < len(product) or self.kernel.random.issuperset(arrays)
            if c == 1 and not is_known:
                return None
        try:
            with self.kernel.apart():
                self.kernel.rules["moments"](self.kernel, mono, None)
        except Unproved as reason:
            self.unseen = str(reason)
            return None
        return Step("moments", mono)

    # -- functions -------------------------------------------------------------------------------

    def _function(self, mono: Mono, atom: kinds.Function, e: Exponent) -> Step | None:
        name = atom.name
        of = Poly(atom.of)
        if name == "log":
            return self._logarithm(mono, of) if e == 1 else None
        if name == "cos" and isinstance(e, int) and e > 1:
            return Step("pythagoras", mono, atom)
        if name == "exp":
            switch = _switch(of) or self._indicator(of)
            if switch is not None:
                return Step("boolean", mono, switch)
        if e != 1:
            return None
        if steps := self._cancellations(of):
            return Step("inside", mono, steps)
        if name in ("sin", "cos"):
            return self._angle(mono, of)
        if name in ELEMENTARY and ELEMENTARY[name].parity and of and of[max(of, key=size_of)] < 0:
            return Step("parity", mono)
        return None

    def _indicator(self, of: Poly) -> Atom | None:
        """An entry in a term that is known to be 0 or 1."""
        if self.equations is None:
            return None
        powers = (pair for mono in of for pair in mono)
        entries = (atom for atom, e in powers if isinstance(atom, kinds.Entry) and e == 1)
        settled = self.kernel.settled
        return next((each for each in entries if settled(((each, 2),)) == power(each)), None)

    def _angle(self, mono: Mono, of: Poly) -> Step | None:
        key = max(of, key=size_of)
        c = of[key]
        switch = next((atom for atom, _ in key if isinstance(atom, kinds.Boolean)), None)
        if switch is not None:
            return Step("boolean", mono, switch)
        if of.has(kinds.Function | kinds.Bracket):
            # Sines of sums of sines would grow without end.
            return Step("parity", mono) if c < 0 else None
        is_pi = [(type(atom), e) for atom, e in key] == [(kinds.Constant, 1)]
        if is_pi and (2 * c).denominator == 1:
            return Step("quarter", mono) if len(of) == 1 else Step("angle", mono, (key, c))
        # What is many times an angle stays so, as its powers would fill a page.
        part = c / abs(c.numerator) if abs(c.numerator) <= _MANY_TIMES else c
        if len(of) > 1 or part != c:
            return Step("angle", mono, (key, part))
        return Step("parity", mono) if c < 0 else None

    def _logarithm(self, mono: Mono, of: Poly) -> Step | None:
        if not of:
            raise Unproved("the logarithm of 0")
        if below := self.below(of):
            return Step("denominator", mono, below)
        switch = _switch(of)
        if switch is not None and all(value > 0 for value in _arms(of)):
            return Step("boolean", mono, switch)
        content, shared, rest = self._primitive(of, of_any_sign=False)
        if shared or (content != 1 and rest != number(1)):
            return Step("logarithm", mono, (content, shared))
        if len(of) == 1 and () in of:
            value = of[()]
            if value.denominator != 1 or not fmpz(value.numerator).is_prime():
                return Step("logarithm", mono, (value, ()))
        return None

    def _power(self, mono: Mono, of: Poly, e: Exponent) -> Step | None:
        if not any(key for key in of):
            return None
        whole = isinstance(e, int)
        if len(of) > 1 and (whole or self._is_over_positive(of)) and (below := self.below(of)):
            return Step("denominator", mono, below)
        switch = _switch(of)
        arms = () if whole and e > 0 else _arms(of)
        if switch is not None and all(
            value if whole else value > 0 or (e > 0 and not value) for value in arms
        ):
            return Step("boolean", mono, switch)
        content, shared, rest = self._primitive(of, of_any_sign=whole, of_roots=not whole and e > 0)
        if not whole and len(rest) == 1:
            ((key, _),) = rest.items()
            even = [pair for pair in key if (pair[1] * e) % 2 == 0 and pair[1] % 2 == 0]
            shared = ordered([*shared, *even])
        if content != 1 or shared:
            return Step("factor", mono, (content, shared))
        if e == Fraction(1, 2) and len(of) == 1 and all(k % 2 == 0 for _, k in next(iter(of))):
            return Step("magnitude", mono)
        return None

    def _step(self, mono: Mono, of: Poly) -> Step | None:
        if not of:
            raise Unproved("a step where it jumps")
        if steps := self._cancellations(of):
            return Step("inside", mono, steps)
        if self.kernel.is_positive(of):
            return Step("sign", mono, (UNIT, ()))
        switch = _switch(of)
        if switch is not None and all((switch, 1) in key for key in of):
            return Step("boolean", mono, switch)
        content, shared = self._primitive(of, of_any_sign=False)[:2]
        return Step("sign", mono, (content, shared)) if content != 1 or shared else None

    def _primitive(
        self, poly: Poly, of_any_sign: bool, of_roots: bool = False
    ) -> tuple[Fraction, Mono, Poly]:
        """A number, a product of atoms, and a sum without either: their product is ``poly``."""
        shared: dict[Atom, Exponent] = dict(next(iter(poly)))
        if len(poly) > 1:
            for atom in set(poly.atoms):
                shared[atom] = min(dict(mono).get(atom, 0) for mono in poly)
        shared = {
            atom: e
            for atom, e in shared.items()
            if e
            and (
                of_any_sign
                or self.kernel.is_above(atom)
                or (of_roots and e > 0 and self.kernel.is_not_below(power(atom)))
            )
        }
        mono = ordered(shared.items())
        rest = self.kernel.mul(poly, single(inverse(mono)))
        content = Fraction(
            gcd(*(c.numerator for c in rest.values())), lcm(*(c.denominator for c in rest.values()))
        )
        if of_any_sign and rest[max(rest, key=size_of)] < 0:
            content = -content
        return content, mono, rest * (1 / content)

    def _is_over_positive(self, poly: Poly) -> bool:
        return all(
            self.kernel.is_above(atom)
            for mono in poly
            for atom, e in mono
            if isinstance(atom, kinds.Bracket) and e < 0
        )

    @staticmethod
    def below(poly: Poly) -> tuple[Atom, int] | None:
        """Return what stands below in a term, and with which power."""
        lowest: dict[Atom, Fraction] = {}
        for mono in poly:
            for atom, e in mono:
                if isinstance(atom, kinds.Bracket) and e < 0 and not _is_number(atom):
                    lowest[atom] = min(lowest.get(atom, Fraction(0)), Fraction(e))
        if not lowest:
            return None
        base = max(lowest, key=lambda atom: atom.number)
        return base, -floor(lowest[base])

    def _cancellations(self, poly: Poly) -> tuple[tuple[Mono, Atom, Mono], ...]:
        """Quotients in a term to be cancelled, as far as one leading term shows it."""
        if not poly.has(kinds.Bracket):
            return ()
        steps: list[tuple[Mono, Atom, Mono]] = []
        for _ in range(_REDUCTIONS):
            step = next(filter(None, map(_cancellation, poly)), None)
            if step is None:
                return tuple(steps)
            steps.append(step)
            c = poly[step[0]]
            poly = poly + (divided(self.kernel, *step) * c - single(step[0], c))
        raise Unproved("too many quotients")


def _is_summed(at: Place) -> bool:
    return isinstance(at[0], Index) and at[0].name.startswith("%")


def _is_number(atom: kinds.Bracket) -> bool:
    return all(not mono for mono, _ in atom.of)


def _switch(poly: Poly) -> Atom | None:
    """Something in a sum that is 0 or 1."""
    return min(
        (atom for atom in poly.atoms if isinstance(atom, kinds.Boolean)),
        key=lambda atom: atom.number,
        default=None,
    )


def _arms(of: Poly) -> Iterator[Fraction]:
    """Yield what a sum of numbers times what is 0 or 1 is for all of these: it is taken apart as if
    any deltas could be 1 at once, and what has no value then is left as it is."""
    switches = {*of.atoms}
    if len(switches) <= _MOST_SWITCHES and all(
        isinstance(atom, kinds.Boolean) for atom in switches
    ):
        for on in product((0, 1), repeat=len(switches)):
            off = {atom for atom, value in zip(switches, on, strict=True) if not value}
            yield sum(
                (c for mono, c in of.items() if off.isdisjoint(a for a, _ in mono)), Fraction(0)
            )


_MOST_SWITCHES = 6


def _cancellation(mono: Mono) -> tuple[Mono, Atom, Mono] | None:
    for atom, e in mono:
        if not isinstance(atom, kinds.Bracket) or e > 0 or _is_number(atom):
            continue
        leading = max((key for key, _ in atom.of), key=size_of)
        if leading and divides(leading, mono):
            return mono, atom, leading
    return None
