"""The vocabularies of QTI 2.1 and 3.0: the same elements, spelt differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from symattn.escaping import html_attribute


@dataclass(frozen=True)
class Vocabulary:
    """A version of the standard; called with an element's name, what is inside and attributes,
    it writes the element.

    >>> QTI_3("response-if", QTI_3("variable", identifier="S"))
    '<qti-response-if><qti-variable identifier="S"/></qti-response-if>'
    >>> QTI_21("response-if", QTI_21("set-outcome-value", base_type="float"))
    '<responseIf><setOutcomeValue baseType="float"/></responseIf>'
    """

    #: What the version is called in names of files and of kinds of resources.
    name: str
    kind: str
    #: The namespaces of items and tests, and of manifests, each with the address of its schema.
    namespace: tuple[str, str]
    packaging: tuple[str, str]
    #: The metadata of a package: its schema, and the version of that.
    schema: tuple[str, str]
    #: Whether names have hyphens, and a prefix, or else capitals.
    hyphens: bool
    #: Attributes with other names; '' where there are none of the kind.
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str, /, *inside: str, **attributes: object) -> str:
        """An element; names are those of QTI 3.0 without their prefix, of attributes with low
        lines for hyphens."""
        tag = f"qti-{name}" if self.hyphens else _camel(name)
        return written(tag, *inside, **{self._attribute(x): y for x, y in attributes.items()})

    def _attribute(self, name: str) -> str:
        if ":" in name or name == "xmlns":
            return name
        if name in self.renamed:
            return self.renamed[name]
        hyphened = name.replace("_", "-")
        return hyphened if self.hyphens else _camel(hyphened)

    def declared(
        self,
        kind: Literal["outcome", "response"],
        name: str,
        of: str,
        *inside: str,
        cardinality: object = "single",
        **more: object,
    ) -> str:
        """The declaration of a variable ``of`` a type."""
        tag = f"{kind}-declaration"
        fixed = {"identifier": name, "cardinality": cardinality, "base_type": of}
        return self(tag, *inside, **fixed, **more)

    def body(self, *inside: str) -> str:
        """The content of a block of feedback or of a rubric."""
        whole = "\n".join(inside)
        return self("content-body", whole) if self.hyphens else whole

    def document(self, name: str, /, *inside: str, **attributes: object) -> str:
        """A file with an element of that name."""
        return document(self(name, *inside, **_located(*self.namespace), **attributes))

    def manifest(self, *inside: str, **attributes: object) -> str:
        """The file that lists what is in a package."""
        return document(written("manifest", *inside, **_located(*self.packaging), **attributes))


def _camel(name: str) -> str:
    first, *others = name.split("-")
    return first + "".join(x.capitalize() for x in others)


def _located(namespace: str, schema: str) -> dict[str, str]:
    return {
        "xmlns": namespace,
        "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
        "xsi:schemaLocation": f"{namespace} {schema}",
    }


def document(root: str) -> str:
    """A file of XML."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def written(tag: str, /, *inside: str, **attributes: object) -> str:
    """An element; attributes without a name are left out.

    >>> written("a", "b", c='"')
    '<a c="&quot;">b</a>'
    """
    listed = "".join(f' {x}="{html_attribute(str(y))}"' for x, y in attributes.items() if x)
    whole = "".join(inside)
    return f"<{tag}{listed}>{whole}</{tag}>" if whole else f"<{tag}{listed}/>"


QTI_3 = Vocabulary(
    name="qti3",
    kind="xmlv3p0",
    namespace=(
        "http://www.imsglobal.org/xsd/imsqtiasi_v3p0",
        "https://purl.imsglobal.org/spec/qti/v3p0/schema/xsd/imsqti_asiv3p0_v1p0.xsd",
    ),
    packaging=(
        "http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1",
        "https://purl.imsglobal.org/spec/qti/v3p0/schema/xsd/imsqtiv3p0_imscpv1p2_v1p0.xsd",
    ),
    schema=("QTI Package", "3.0.0"),
    hyphens=True,
    renamed={"label": "aria-label", "language": "xml:lang"},
)
QTI_21 = Vocabulary(
    name="qti21",
    kind="xmlv2p1",
    namespace=(
        "http://www.imsglobal.org/xsd/imsqti_v2p1",
        "http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd",
    ),
    packaging=(
        "http://www.imsglobal.org/xsd/imscp_v1p1",
        "http://www.imsglobal.org/xsd/qti/qtiv2p1/qtiv2p1_imscpv1p2_v1p0.xsd",
    ),
    schema=("QTIv2.1 Package", "1.0.0"),
    hyphens=False,
    renamed={"language": "xml:lang", "external_scored": "", "use": ""},
)
