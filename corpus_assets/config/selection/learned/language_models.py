"""`language_models` of `corpus.yaml`: models of n-grams that are trained on sources."""

from typing import Annotated

from pydantic import AfterValidator, Field

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

    @property
    def prefix(self) -> str:
        """Returns its name as attribute keys have it."""
        return key_prefix(self.name)
