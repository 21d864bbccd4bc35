"""Names by which people call gradients, besides ``dA``.

>>> [*differentiated("grad_z", ["z", "p"])], [*differentiated("dCE_dz", ["z", "p"])]
([('z', True)], [('z', True)])
>>> [*differentiated("L_z", ["z", "L"])], [*differentiated("f_z", ["z"])]
([('z', False)], [])
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

LOSSES = ("L", "J", "loss", "Loss", "cost", "Cost", "ell")
"""Names that a number has which is a loss."""
#: What stands before an array in the name of a gradient, and what behind it; and before it in
#: names that may well be others.
_LEAD = re.compile(r"grad_?|nabla_?|d(?P<whole>\w+?)_d|d(?P<joined>[^_]+)d")
_WEAK_LEAD = re.compile(r"[dDgG]_?|delta_?|bar_|(?P<of>\w+)_")
_MARKS = re.compile(r"_?(?:grad|bar)")


def differentiated(name: str, known: Collection[str]) -> Iterator[tuple[str, bool]]:
    """The known arrays whose gradient a name may be, capital or not; and whether it can hardly
    be anything else."""
    for array in known:
        lead, mark = name[: -len(array)], name[len(array) :]
        if lead and name[len(lead) :].lower() == array.lower():
            if surely := _LEAD.fullmatch(lead):
                if (of := surely["joined"]) is None or of in known or of in LOSSES:
                    yield array, True
            elif (may := _WEAK_LEAD.fullmatch(lead)) and (
                may["of"] is None or may["of"] in known or may["of"] in LOSSES
            ):
                yield array, False
        elif name[: len(array)].lower() == array.lower() and _MARKS.fullmatch(mark):
            yield array, mark.endswith("grad")
