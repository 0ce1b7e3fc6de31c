"""The public summary of training content that Article 53(1)(d) of the EU AI Act asks for, in the order of its template.

Template: annex of the Commission's explanatory notice (C(2025) 8311, three sections). Numbers come from the graph; what
only a person can say comes from `card`, or is marked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.card.facts import Facts, SourceFacts, Written
from corpus_assets.numbers import count, share, size

_KINDS = (
    ("2.1", "Publicly available datasets", ("public_dataset",)),
    ("2.2.1", "Datasets commercially licensed by rightsholders or their representatives", ("licensed",)),
    ("2.2.2", "Private datasets obtained from other third parties", ("private",)),
    ("2.3", "Data crawled and scraped from online sources", ("crawled",)),
    ("2.4", "User data", ("user_data",)),
    ("2.5", "Synthetic data", ("synthetic",)),
    ("2.6", "Other sources of data", ("other",)),
)
_BILLION = 10**9
_TENTH = 10
"""The template asks for the tenth of the domain names with most content, at most a thousand of small companies."""


def training_summary(facts: Facts, said: Written) -> str:
    """Returns the summary as Markdown; facts that only a person can state are marked, and noted in `said`."""
    lines = [
        f"# Public summary of training content: {facts.title}",
        "",
        f"Version of the data: {facts.card['version']}.",
    ]
    return "\n".join([*lines, "", *_general(facts, said), *_sources(facts, said), *_processing(facts, said)]) + "\n"


def _general(facts: Facts, said: Written) -> Iterator[str]:
    card = facts.card
    publisher, representative, model = card["publisher"], card["representative"], card["model"]
    yield from ("## 1. General information", "", "### 1.1 Provider identification", "")
    yield f"- Provider: {publisher['name'] if publisher else said.lacks('publisher', 'the provider of the model')}"
    address = publisher and publisher["contact"]
    yield f"- Contact: {address or said.lacks('publisher.contact', 'contact of the provider')}"
    named = representative and representative["name"]
    yield f"- Authorised representative: {named or said.lacks('representative', 'who it is, or that there is none')}"
    yield from ("", "### 1.2 Model identification", "")
    names = ", ".join(model["names"]) if model else said.lacks("model.names", "versioned names of the model")
    yield f"- Versioned model names: {names}"
    depends = model and model["depends_on"]
    yield f"- Model dependencies: {depends or said.lacks('model.depends_on', 'what it builds on, or that it does not')}"
    placed = model and model["placed_on_market"]
    yield f"- Placed on the Union market: {placed or said.lacks('model.placed_on_market', 'the day')}"
    yield from ("", "### 1.3 Modalities, overall training data size and other characteristics", "")
    yield from ("- Modality: text", f"- Training data size: {_band(facts.tokens)}")
    yield f"- In figures: {facts.documents:,} documents, {size(facts.text_bytes)} of text, holdout included"
    yield f"- Tokens to train on: {count(facts.tokens)}"
    languages = ", ".join(card["languages"]) or said.lacks("languages", "the languages of the texts")
    yield f"- Linguistic characteristics: {languages}"
    yield f"- Latest date of data acquisition: {_latest(facts, said)}"
    yield from (f"- Types of content: {said('description', 'what the corpus is')}", "")


def _band(tokens: int | None) -> str:
    if tokens is None:
        return "not counted"
    if tokens < _BILLION:
        return "less than 1 billion tokens"
    return "1 billion to 10 trillion tokens" if tokens <= 10_000 * _BILLION else "more than 10 trillion tokens"


def _latest(facts: Facts, said: Written) -> str:
    spans = [facts.of_source(source.name).get("collected") for source in facts.sources]
    known = [span for span in spans if span]
    if len(known) < len(spans) or not known:
        return said.lacks("sources.*.collected", "when each source was collected")
    return "; ".join(f"{source.name}: {span}" for source, span in zip(facts.sources, known, strict=True))


def _sources(facts: Facts, said: Written) -> Iterator[str]:
    yield from ("## 2. List of data sources", "")
    for number, title, kinds in _KINDS:
        found = [source for source in facts.sources if facts.of_source(source.name).get("origin") in kinds]
        yield from (f"### {number} {title}", "", *(_described(facts, said, found) if found else ("None.",)), "")
    unsaid = [source for source in facts.sources if not facts.of_source(source.name).get("origin")]
    if unsaid:
        yield from ("### Sources that belong under one of these headings", "")
        for source in unsaid:
            yield said.lacks(f"sources.{source.name}.origin", f"under which heading {source.name} belongs")
        yield from ("", *_described(facts, said, unsaid), "")


def _described(facts: Facts, said: Written, sources: Sequence[SourceFacts]) -> Iterator[str]:
    for source in sources:
        given = facts.of_source(source.name)
        text = given.get("description") or said.lacks(f"sources.{source.name}.description", f"what {source.name} is")
        part = source.text_bytes / facts.text_bytes if facts.text_bytes else 0
        yield f"- **{source.name}** ({share(part)} of the text, {count(source.tokens)} tokens): {text}"
        if given.get("url"):
            yield f"  - Found at: {given['url']}"
        if given.get("collected"):
            yield f"  - Collected: {given['collected']}"
        if given.get("origin") == "crawled":
            crawler = given.get("crawler") or said.lacks(f"sources.{source.name}.crawler", "crawler and its behaviour")
            yield f"  - Crawler: {crawler}"
            yield f"  - Most relevant domain names: {_domains(source, given, said)}"


def _domains(source: SourceFacts, given: Mapping[str, Any], said: Written) -> str:
    """Returns the domains of a source: the tenth of them with most text, if they are counted, else those given."""
    found = source.domains
    if found is None or not found.different:
        return ", ".join(given.get("domains") or ()) or said.lacks(f"sources.{source.name}.domains", "domains")
    listed = list(found.largest.items())[: -(-found.different // _TENTH)]
    named = ", ".join(f"{name} ({share(part)})" for name, part in listed)
    whole = f"{len(listed):,} of {found.different:,} domains, {share(sum(part for _, part in listed))} of the "
    unknown = f"; {share(found.without_url)} of its documents name no URL" if found.without_url else ""
    return f"{named}. Counted: {whole}{found.measure} to train on, most first{unknown}"


def _processing(facts: Facts, said: Written) -> Iterator[str]:
    yield from ("## 3. Data processing aspects", "")
    yield from ("### 3.1 Respect of reservations of rights from text and data mining", "")
    yield said("rights_reservations", "measures to respect reservations of rights")
    yield from (
        "",
        "### 3.2 Removal of illegal content",
        "",
        said("illegal_content", "measures to keep out illegal content"),
    )
    yield from ("", "### 3.3 Other information", "", "What was done to the texts, in this order:", "")
    yield from (f"{number}. {step}" for number, step in enumerate(facts.steps, 1))
