"""Packages: the versions of an exercise as a bank, of which a test draws one.

A package of the same exercise has the same bytes: nothing in it tells when it was made.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from symattn.exercises.qti.item import identifier
from symattn.exercises.qti.vocabulary import Vocabulary, written

#: When all files of a package were made: as early as an archive can say.
_MADE = (1980, 1, 1, 0, 0, 0)
#: Files are read by their owner and everybody else.
_RIGHTS = 0o100644 << 16


def archive(files: Mapping[str, str]) -> bytes:
    """Files by their names as an archive.

    >>> archive({"a": "b"}) == archive({"a": "b"})
    True
    """
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as whole:
        for name, text in files.items():
            entry = ZipInfo(name, _MADE)
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, _RIGHTS
            whole.writestr(entry, text.encode())
    return made.getvalue()


def package(name: str, title: str, items: Mapping[str, str], vocabulary: Vocabulary) -> bytes:
    """The package of an exercise: its versions by their names, as files in a vocabulary, and
    a test that draws one of them.

    >>> from symattn.exercises.qti.vocabulary import QTI_3
    >>> made = package("x", "An exercise", {"x-01": "<qti-assessment-item/>"}, QTI_3)
    >>> ZipFile(io.BytesIO(made)).namelist()
    ['imsmanifest.xml', 'test.xml', 'items/item-x-01.xml']
    """
    paths = {identifier(item): f"items/{identifier(item)}.xml" for item in items}
    files = {
        "imsmanifest.xml": _manifest(name, paths, vocabulary),
        "test.xml": _test(name, title, paths, vocabulary),
    }
    files |= dict(zip(paths.values(), items.values(), strict=True))
    return archive(files)


def _manifest(name: str, paths: Mapping[str, str], v: Vocabulary) -> str:
    schema, version = v.schema
    metadata = written("metadata", written("schema", schema), written("schemaversion", version))
    depends = (written("dependency", identifierref=item) for item in paths)
    resources = [_resource("test", f"imsqti_test_{v.kind}", "test.xml", *depends)]
    resources += [_resource(x, f"imsqti_item_{v.kind}", path) for x, path in paths.items()]
    listed = written("resources", "\n", *(f"{x}\n" for x in resources))
    return v.manifest(
        "\n", f"{metadata}\n", "<organizations/>\n", f"{listed}\n",
        identifier=f"package-{identifier(name)}",
    )  # fmt: skip


def _resource(name: str, kind: str, path: str, *depends: str) -> str:
    file = written("file", href=path)
    return written("resource", file, *depends, identifier=name, type=kind, href=path)


def _test(name: str, title: str, paths: Mapping[str, str], v: Vocabulary) -> str:
    one = v("selection", select=1) if len(paths) > 1 else ""
    refs = (v("assessment-item-ref", identifier=x, href=path) for x, path in paths.items())
    section = v(
        "assessment-section",
        v("item-session-control", max_attempts=0, show_feedback="true"),
        one,
        *refs,
        identifier="section",
        title=title,
        visible="false",
    )
    part = v(
        "test-part",
        section,
        identifier="part",
        navigation_mode="linear",
        submission_mode="individual",
    )
    total = v("sum", v("test-variables", variable_identifier="SCORE"))
    score = v.declared("outcome", "SCORE", "float")
    summed = v("outcome-processing", v("set-outcome-value", total, identifier="SCORE"))
    return v.document(
        "assessment-test",
        "\n",
        *(f"{x}\n" for x in (score, part, summed)),
        identifier=f"test-{identifier(name)}",
        title=title,
    )
