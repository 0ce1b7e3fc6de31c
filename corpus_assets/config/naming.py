"""Marks of keys whose values name something in the data, which may be misspelt without any other error.

The schema marks every key whose value is a column, an id, a role, a token, an attribute, a source or a file, and says
which. If the name does not exist, a build ends with an error or a note that gives the key, the existing names, and the
number of rows that were searched. `tests/build/test_names_of_data.py` walks the schema and tries each key.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel


@dataclass(frozen=True)
class Names:
    """The mark. what: what a value of the key names."""

    what: str


ROW_KEY: Final = Names("key of a row")
MESSAGE_KEY: Final = Names("key of a message")
METADATA_KEY: Final = Names("key of the metadata")
ROLE: Final = Names("role of a message")
TOKEN: Final = Names("token of the vocabulary")
MARKER: Final = Names("text that a template writes")
TEMPLATE_VALUE: Final = Names("value that a template reads")
ATTRIBUTE: Final = Names("attribute")
VALUES: Final = Names("values of documents")
TAGGER: Final = Names("tagger")
SOURCE: Final = Names("source")
DATASET: Final = Names("dataset")
LICENCE: Final = Names("licence")
FILE: Final = Names("file")
MODULE: Final = Names("module")


def keys_that_name(section: type[BaseModel], what: Names) -> list[str]:
    """Returns the keys of a section that have a mark, in their order."""
    return [name for name, field in section.model_fields.items() if what in field.metadata]


def names_given(
    section: type[BaseModel], values: Mapping[str, Any], where: str, what: Names, of: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Returns the names that a configuration gives with such keys, by their place in corpus.yaml.

    Those of a default are left out: rows need not have an id. of: keys that are read; None for all.
    """
    found = {}
    for key in keys_that_name(section, what):
        value = values.get(key)
        if value is not None and value != section.model_fields[key].default and (of is None or key in of):
            found[f"{where}.{key}"] = [value] if isinstance(value, str) else list(value)
    return found
