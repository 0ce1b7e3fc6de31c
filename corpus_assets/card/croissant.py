"""The corpus as Croissant 1.1 (JSON-LD): https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html"""

from collections.abc import Mapping
from typing import Any

from corpus_assets.card.facts import Facts, FileFacts, Written

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_MEDIA = {
    "documents": "application/jsonlines",
    "hdf5": "application/x-hdf5",
    "parquet": "application/vnd.apache.parquet",
}
COLUMNS = (
    ("id", "sc:Text", "Identifier of the document in its source; given ones may repeat."),
    ("text", "sc:Text", "The text."),
    ("source", "sc:Text", "Name of the source it comes from."),
)


def croissant(facts: Facts, said: Written) -> dict[str, Any]:
    """Returns the description of a corpus; facts that only a person can state are noted in `said`."""
    card = facts.card
    if not card["released"]:
        said.lacks("released", "the day of publication")
    known = {
        "datePublished": card["released"] and str(card["released"]),
        "citeAs": card["citation"],
        "inLanguage": card["languages"] or None,
        "publisher": _party(card["publisher"]) if card["publisher"] else None,
        "rai:dataCollection": "; ".join(_collected(facts)) or None,
        "rai:dataLimitations": card["limitations"],
        "rai:dataUseCases": card["uses"],
        "rai:personalSensitiveInformation": card["personal_information"],
        "rai:dataReleaseMaintenancePlan": card["updates"],
    }
    creators = [_party(one) for one in card["creators"]]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CONFORMS_TO, "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.title,
        "description": said("description", "what the corpus is"),
        "version": card["version"],
        "license": said("licence", "the licence of the collection"),
        "url": said("url", "the page of the corpus"),
        "creator": creators or [{"@type": "Organization", "name": said.lacks("creators", "who made the corpus")}],
        "keywords": ["text", "language model", "training corpus"],
        **{key: value for key, value in known.items() if value},
        "rai:dataPreprocessingProtocol": list(facts.steps),
        "distribution": [_file_set(one) for one in facts.files],
        "recordSet": [_record_set(one) for one in facts.files if one.kind == "documents"],
    }


def _party(party: Mapping[str, Any]) -> dict[str, Any]:
    found = {"@type": party["kind"].title(), "name": party["name"], "url": party["url"]}
    if party["contact"] and "@" in party["contact"]:
        found["email"] = party["contact"]
    return {key: value for key, value in found.items() if value}


def _collected(facts: Facts) -> list[str]:
    named = ((source.name, facts.of_source(source.name)) for source in facts.sources)
    return [f"{name}: {given['description']}" for name, given in named if given.get("description")]


def _file_set(files: FileFacts) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{files.name}-files",
        "name": f"{files.name}-files",
        "description": f"{files.files:,} files with {files.rows:,} rows of {files.name}.",
        "encodingFormat": _MEDIA.get(files.kind, "application/octet-stream"),
        "includes": files.pattern,
    }


def _record_set(files: FileFacts) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": files.name,
        "name": files.name,
        "description": f"Documents of {files.name}.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{files.name}/{name}",
                "name": name,
                "description": words,
                "dataType": kind,
                "source": {"fileSet": {"@id": f"{files.name}-files"}, "extract": {"column": name}},
            }
            for name, kind, words in COLUMNS
        ],
    }
