"""`language_models` of `corpus.yaml`: models of n-grams that are trained on sources."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from corpus_assets.config.naming import FILE, SOURCE
from corpus_assets.config.section import LocalPath, Name, Section
from corpus_assets.config.selection.attributes import entry_name, key_prefix


class LanguageModel(Section):
    """A language model: an asset `<name>_language_model`, and a tagger of that name with the type `perplexity`."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(description="name of the tagger")
    sources: Annotated[list[str], Field(min_length=1), SOURCE] = Field(
        description="sources whose texts it is trained on; one with `epochs: 0` is in no dataset"
    )
    order: Annotated[int, Field(ge=2, le=6)] = Field(5, description="words of the longest n-grams")
    tokenizer: Annotated[LocalPath | None, FILE] = Field(
        None,
        description="a SentencePiece model, whose pieces of the text as CCNet prepares it are its words; by default "
        "words are what stands between spaces",
    )
    prune: Annotated[list[Annotated[int, Field(ge=0, le=10**9)]], Field(min_length=1)] = Field(
        [0],
        description="leaves out n-grams that occur at most so often: a number for each length from 1 on, of which the "
        "last holds for longer ones too",
    )

    @model_validator(mode="after")
    def _can_prune(self) -> "LanguageModel":
        given = self.prune
        if given[0] or given != sorted(given) or len(given) > self.order:
            raise ValueError(
                f"prune: received {given}; valid: up to {self.order} numbers (`order`), of which the first is 0, since "
                "single words stay, and none is less than the one before it, such as [0, 0, 1]"
            )
        return self

    @property
    def prefix(self) -> str:
        """Returns its name as attribute keys have it."""
        return key_prefix(self.name)
