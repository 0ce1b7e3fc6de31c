"""The corpus as an SPDX 3.0.1 document with the dataset profile: https://spdx.github.io/spdx-spec/v3.0.1/model/Dataset/"""

from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.card.facts import Facts, SourceFacts, Written
from corpus_assets.licences.documents import NONE
from corpus_assets.licences.names import canonical

CONTEXT = "https://spdx.org/rdf/3.0.1/spdx-context.jsonld"
NO_DAY = "1970-01-01T00:00:00Z"
"""What stands where a day must stand that nobody has given."""

_NO_LICENCE = "expandedlicensing_NoAssertionLicense"


def spdx(facts: Facts, said: Written) -> dict[str, Any]:
    """Returns the document: the corpus, its sources, and the licence of each. Its ids follow from the content."""
    writer = _Writer(facts, said)
    return {"@context": CONTEXT, "@graph": list(writer.elements())}


class _Writer:
    def __init__(self, facts: Facts, said: Written) -> None:
        self._facts = facts
        self._said = said
        self._base = f"urn:corpus:{facts.name}:{facts.digest}"
        day = facts.card["released"]
        self._day = f"{day}T00:00:00Z" if day else NO_DAY
        if not day:
            said.lacks("released", "the day of publication")

    def _id(self, name: str) -> str:
        return f"{self._base}#{name}"

    def _element(self, kind: str, key: str, /, **values: Any) -> dict[str, Any]:
        given = {name: value for name, value in values.items() if value not in (None, [], "")}
        return {"type": kind, "spdxId": self._id(key), "creationInfo": "_:creation", **given}

    def elements(self) -> Iterator[dict[str, Any]]:
        facts = self._facts
        yield {
            "type": "CreationInfo",
            "@id": "_:creation",
            "specVersion": "3.0.1",
            "created": self._day,
            "createdBy": [self._id("maker")],
            "createdUsing": [self._id("tool")],
        }
        yield self._maker()
        yield self._element("Tool", "tool", name="corpus-assets", comment=_words(facts.versions))
        names = [f"source-{source.name}" for source in facts.sources]
        yield self._element(
            "SpdxDocument",
            "document",
            name=facts.title,
            profileConformance=["core", "software", "simpleLicensing", "dataset"],
            rootElement=[self._id("corpus")],
            element=[self._id(name) for name in ("corpus", *names)],
        )
        yield self._corpus()
        for source in facts.sources:
            yield self._source(source)
            yield from self._licences(f"source-{source.name}", " AND ".join(sorted(_expressions(source.licences))))
        yield from self._licences("corpus", facts.card["licence"] or "")
        if names:
            yield self._related("made-of", "corpus", "descendantOf", [self._id(name) for name in names])

    def _maker(self) -> dict[str, Any]:
        made_by = self._facts.card["creators"]
        first: Mapping[str, str] = made_by[0] if made_by else {"kind": "organization", "name": ""}
        name = first["name"] or self._said.lacks("creators", "who made the corpus")
        return self._element(first["kind"].title(), "maker", name=name)

    def _corpus(self) -> dict[str, Any]:
        facts, card = self._facts, self._facts.card
        return self._dataset(
            "corpus",
            facts.title,
            facts.text_bytes,
            description=card["description"] or self._said.lacks("description", "what the corpus is"),
            software_packageVersion=card["version"],
            software_downloadLocation=card["url"],
            dataset_dataPreprocessing=list(facts.steps),
            dataset_intendedUse=card["uses"],
            dataset_knownBias=[card["limitations"]] if card["limitations"] else [],
            dataset_datasetUpdateMechanism=card["updates"],
            dataset_hasSensitivePersonalInformation="noAssertion",
        )

    def _source(self, source: SourceFacts) -> dict[str, Any]:
        given = self._facts.of_source(source.name)
        return self._dataset(
            f"source-{source.name}",
            source.name,
            source.text_bytes,
            description=given.get("description"),
            software_downloadLocation=given.get("url"),
            dataset_dataCollectionProcess=given.get("collected"),
        )

    def _dataset(self, key: str, name: str, size: int, **values: Any) -> dict[str, Any]:
        values["software_downloadLocation"] = values.get("software_downloadLocation") or "urn:none"
        return self._element(
            "dataset_DatasetPackage",
            key,
            name=name,
            dataset_datasetType=["text"],
            dataset_datasetSize=size,
            software_primaryPurpose="data",
            builtTime=self._day,
            releaseTime=self._day,
            originatedBy=[self._id("maker")],
            **values,
        )

    def _licences(self, key: str, expression: str) -> Iterator[dict[str, Any]]:
        """Yields the one declared and the one concluded licence that the profile asks for."""
        known = canonical(expression) if expression else None
        target = self._id(f"licence-{key}") if known else _NO_LICENCE
        if known:
            yield self._element(
                "simplelicensing_LicenseExpression", f"licence-{key}", simplelicensing_licenseExpression=known
            )
        yield self._related(f"declared-{key}", key, "hasDeclaredLicense", [target])
        yield self._related(f"concluded-{key}", key, "hasConcludedLicense", [_NO_LICENCE])

    def _related(self, key: str, start: str, kind: str, to: list[str]) -> dict[str, Any]:
        return {**self._element("Relationship", key, relationshipType=kind, to=to), "from": self._id(start)}


def _expressions(licences: Mapping[str, int]) -> set[str]:
    """Returns licences as SPDX expressions; one that is none, or not stated, as a reference of its own."""
    found = set()
    for name in licences:
        plain = canonical(name) if name != NONE else None
        if plain is None:
            plain = "LicenseRef-" + "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in name).split())
        found.add(f"({plain})" if " OR " in plain else plain)
    return found


def _words(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
