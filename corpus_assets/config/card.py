"""`card` of `corpus.yaml`: facts about a corpus that only people can state, for its published papers."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from corpus_assets.config.naming import SOURCE
from corpus_assets.config.section import Name, Section, written_day

Text = Annotated[str, Field(min_length=1)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$")]


def _day(value: object) -> object:
    written = written_day(value)
    return date.fromisoformat(written).isoformat() if isinstance(written, str) else written


Day = Annotated[str, BeforeValidator(_day)]


class Party(Section):
    """A person or an organization."""

    name: Text
    kind: Literal["organization", "person"] = "organization"
    contact: Text | None = Field(None, description="e-mail address or postal address")
    url: Url | None = None


class Model(Section):
    """The model for which the corpus is made, for the summary that the EU AI Act asks for."""

    names: list[Text] = Field(min_length=1, description="its versioned names")
    depends_on: Text | None = Field(
        None, description="the model it is a modification or fine-tune of, with its summary"
    )
    placed_on_market: Day | None = Field(None, description="when it is placed on the Union market")


class SourceCard(Section):
    """Facts that people must state about one source."""

    origin: Literal["public_dataset", "licensed", "private", "crawled", "user_data", "synthetic", "other"] | None = (
        Field(None, description="its heading in the EU summary")
    )
    description: Text | None = None
    url: Url | None = Field(None, description="where it can be found")
    collected: Text | None = Field(None, description="when it was collected, such as `2023-01 to 2024-06`")
    crawler: Text | None = Field(None, description="name of the crawler, and how it respects robots.txt and the like")
    domains: list[Text] = Field(
        default=[], description="the most relevant domain names of crawled text, where `origins` does not count them"
    )


class Card(Section):
    """Facts that only people can state about a corpus; its papers mark missing ones (docs/card.md)."""

    title: Text | None = Field(None, description="by default the name of the corpus")
    description: Text | None = None
    version: Text = Field("0.1.0", description="of the data, as Semantic Versioning")
    released: Day | None = Field(None, description="day of publication, such as 2026-11-22")
    url: Url | None = Field(None, description="page of the corpus")
    licence: Text | None = Field(None, description="licence of the collection, as an SPDX identifier")
    languages: list[Text] = Field(default=[], description="codes such as `en`; most text first")
    creators: list[Party] = Field(default=[])
    publisher: Party | None = None
    representative: Party | None = Field(None, description="authorised representative in the Union")
    contact: Text | None = Field(None, description="whom to write to about a text in the corpus")
    citation: Text | None = Field(None, description="how to cite it, best as BibTeX")
    uses: Text | None = Field(None, description="what it is meant for")
    misuses: Text | None = Field(None, description="what it is not meant for")
    limitations: Text | None = Field(None, description="known biases, risks and limits")
    personal_information: Text | None = Field(
        None, description="which personal information the texts hold, and what was done about it"
    )
    rights_reservations: Text | None = Field(
        None, description="measures to respect reservations of rights from text and data mining"
    )
    illegal_content: Text | None = Field(None, description="measures to keep out illegal content")
    updates: Text | None = Field(None, description="how and how often it is updated")
    model: Model | None = None
    sources: Annotated[dict[Name, SourceCard], SOURCE] = Field(default={}, description="by name of the source")
