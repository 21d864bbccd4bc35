"""Students and their versions: a list of students."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from symattn.errors import Fault, Faults, Malformed, blamed_on, short
from symattn.exercises.marking.answer_files import rows_of, text_of
from symattn.spelling import whole
from symattn.tables.file import content

#: Students of one list, and letters of a name, at most.
MOST, LETTERS = 2000, 80
_LIST = ("list of students", "expected a table in CSV")


def read_students(path: Path, versions: int) -> list[tuple[str, int]]:
    """The students in a ``.csv`` file, each with the number of a version.

    The table has a column ``student``, and ``version`` if it is known who gets which; else
    the versions are given out in turn, 1 to ``versions``; 0 is the case as it is. Raises
    :class:`Malformed` with every fault.
    """
    with blamed_on(path):
        return read_list(text_of(content(path, "the list", *_LIST)), versions)


def read_list(text: str, versions: int) -> list[tuple[str, int]]:
    """The students in the text of such a file.

    >>> read_list("student\\nAda\\nBob\\nCyd\\n", 2)
    [('Ada', 1), ('Bob', 2), ('Cyd', 1)]
    >>> read_list("version;student\\n2;Ada\\n3;Ada\\n", 2)
    Traceback (most recent call last):
    ...
    symattn.errors.Malformed: 2 faults
      line 3: version: expected 1 to 2, found 3
      line 3: student: Ada is in the list twice
    """
    rows = [(line, row) for line, row, _ in rows_of(text) if any(cell.strip() for cell in row)]
    names = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if "student" not in names:
        found = ", ".join(names) or "nothing"
        raise Malformed(
            f"expected the heading student, and version if wanted; found {short(found)}"
        )
    faults = Faults()
    students: dict[str, int] = {}
    first, last = (1, versions) if versions else (0, 0)
    turn = (first + k % max(versions, 1) for k in count())
    for line, row in rows[1:]:
        cells = dict(zip(names, (" ".join(cell.split()) for cell in row), strict=False))
        name, asked = cells.get("student", ""), cells.get("version", "")
        number = whole(asked) if asked else next(turn)
        if number is None or not first <= number <= last:
            faults.append(
                Fault("version", f"expected {first} to {last}, found {short(asked)}", line)
            )
        if not name or len(name) > LETTERS:
            message = f"expected a name of at most {LETTERS} letters, found {short(name) or 'none'}"
            faults.append(Fault("student", message, line))
        elif name in students:
            faults.append(Fault("student", f"{short(name)} is in the list twice", line))
        students[name] = number or 0
    if not students or len(students) > MOST:
        faults.append(Fault("", f"expected 1 to {MOST} students, found {len(students)}"))
    faults.raise_all()
    return list(students.items())
