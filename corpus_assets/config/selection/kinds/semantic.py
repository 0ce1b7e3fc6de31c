"""Entries of `dedupers` with `kind: semantic`: documents that mean the same, by static embeddings."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from corpus_assets.config.naming import FILE, SOURCE
from corpus_assets.config.section import Name, Section, Share, local_path
from corpus_assets.config.sections import Globs
from corpus_assets.config.selection.attributes import entry_name, key_prefix
from corpus_assets.config.selection.dedup import Rule

IN_WHEEL = "wordllama"
"""The model whose vectors its wheel brings (extra `semantic`)."""

MOST_CLUSTERS = 16_384


def is_function(model: str) -> bool:
    """Returns whether a model is a `module:function` of the user's own."""
    return re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", model) is not None


def is_folder(model: str) -> bool:
    """Returns whether a model is a folder of files."""
    return model != IN_WHEEL and not is_function(model)


def _model(value: str) -> str:
    return local_path(value) if is_folder(value) else value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Semantic(Section):
    """Documents that mean the same (docs/semantic.md).

    Assets `<name>_vectors`, `<name>_centers`, `<name>_members`, `<name>_alike` and `<name>_attributes`.
    """

    kind: Literal["semantic"]
    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        "semantic", description="short name; folder of the attribute files, and first part of the attribute key"
    )
    model: Annotated[Annotated[str, Field(min_length=1), AfterValidator(_model)], FILE] = Field(
        description=f"a folder with static embeddings (`*.safetensors`) and their tokenizer, as model2vec writes it; "
        f"`{IN_WHEEL}`, whose vectors its wheel brings (extra `semantic`); or `module:function` of your own"
    )
    threshold: Share = Field(
        0.9, gt=0, le=1, description="cosine similarity to a kept document from which on a document is marked"
    )
    keep: Annotated[Annotated[list[Rule], Field(min_length=1)] | None, BeforeValidator(_as_list)] = Field(
        None, description="rules that choose the document to keep, in order; by default those of `dedup.keep`"
    )
    clusters: int | None = Field(
        None,
        ge=1,
        le=MOST_CLUSTERS,
        description="parts in which documents are compared; by default one up to 16,384 documents, then one for every "
        "4,096",
    )
    sources: Annotated[Annotated[list[Name], Field(min_length=1)] | None, SOURCE] = Field(
        None, description="compare and mark only documents of these sources; by default all"
    )
    glob: Annotated[Globs | None, FILE] = Field(
        None, description="only documents of these files, by paths as in `glob` of a source; by default all"
    )

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute key."""
        return key_prefix(self.name)

    @property
    def key(self) -> str:
        """Returns the key of the attribute."""
        return f"{self.prefix}__semantic__duplicate"

    @model_validator(mode="after")
    def _goes_together(self) -> "Semantic":
        for what, names in (("keep", self.keep or []), ("sources", self.sources or [])):
            if len(set(names)) < len(names):
                raise ValueError(f"{what}: one is named twice in {', '.join(names)}")
        return self
