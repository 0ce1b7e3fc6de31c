"""`attributes` of `corpus.yaml`: which taggers look at every document, together."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from corpus_assets.config.section import Name, Section

TAKEN = ("short_documents", "duplicates")


def entry_name(value: str) -> str:
    """Returns a name that attribute keys can begin with; `ValueError` for one that is taken."""
    if value[0].isdigit():
        raise ValueError("a name that starts with a letter, because attribute keys do")
    if value in TAKEN:
        raise ValueError(f"another name: {' and '.join(TAKEN)} are attributes already")
    return value


def key_prefix(name: str) -> str:
    """Returns a name as it stands in attribute keys."""
    return re.sub("[^A-Za-z0-9_]", "_", name)


class Attributes(Section):
    """Taggers that run together: one asset `<name>_attributes`, one attribute file per shard."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        description="short name; folder of the files, and first part of every attribute key"
    )
    taggers: Annotated[list[str], Field(min_length=1)] = Field(description="names of taggers (docs/attributes.md)")
    compat: Literal["dolma"] | None = Field(
        None, description="values as Dolma 1.2.1 gives them, where its values are defects too"
    )

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute keys."""
        return key_prefix(self.name)

    @model_validator(mode="after")
    def _each_once(self) -> "Attributes":
        if twice := sorted({name for name in self.taggers if self.taggers.count(name) > 1}):
            raise ValueError(f"taggers: {', '.join(twice)} named twice; name each once")
        return self
