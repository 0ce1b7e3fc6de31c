"""The dataset card of the Hugging Face hub: Markdown with a YAML head (https://huggingface.co/docs/hub/datasets-cards)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile
from typing import Any

import yaml

from corpus_assets.card.facts import Facts, FileFacts, Written
from corpus_assets.numbers import count, share, size

_SIZES = ((1e3, "n<1K"), (1e4, "1K<n<10K"), (1e5, "10K<n<100K"), (1e6, "100K<n<1M"), (1e7, "1M<n<10M"))
_LARGER = ((1e8, "10M<n<100M"), (1e9, "100M<n<1B"), (1e10, "1B<n<10B"), (1e11, "10B<n<100B"), (1e12, "100B<n<1T"))
_TABLE = "| files | format | split | files | rows | tokens |"


def dataset_card(facts: Facts, said: Written) -> str:
    """Returns the card; facts that only a person can state are marked, and noted in `said`."""
    return f"---\n{_yaml(_head(facts))}---\n\n" + "\n".join(_body(facts, said)) + "\n"


def _head(facts: Facts) -> dict[str, Any]:
    documents = [files for files in facts.files if files.kind == "documents" and files.split]
    given = {
        "pretty_name": facts.title,
        "license": str(facts.card["licence"]).lower() if facts.card["licence"] else "other",
        "language": facts.card["languages"],
        "task_categories": ["text-generation"],
        "size_categories": [_size(facts.documents)],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": files.split, "path": files.pattern} for files in documents],
            }
        ]
        if documents
        else [],
    }
    return {key: value for key, value in given.items() if value}


def _size(documents: int) -> str:
    return next((words for limit, words in (*_SIZES, *_LARGER) if documents < limit), "n>1T")


def _body(facts: Facts, said: Written) -> Iterator[str]:
    tokens = f"; {facts.tokens:,} tokens to train on" if facts.tokens else ""
    yield from (f"# {facts.title}", "", said("description", "what the corpus is"), "")
    yield from (
        "## Uses",
        "",
        said("uses", "what it is meant for"),
        "",
        said("misuses", "what it is not meant for"),
        "",
    )
    yield from ("## Contents", "")
    yield f"{facts.documents:,} documents, {size(facts.text_bytes)} of text{tokens}, version {facts.card['version']}."
    yield from (
        "",
        "| source | documents | text | tokens to train on | share of text | licences |",
        "|---|---:|---:|---:|---:|---|",
    )
    for source in facts.sources:
        part = source.text_bytes / facts.text_bytes if facts.text_bytes else 0
        licences = ", ".join(_cell(name) for name in list(source.licences)[:5]) or "none stated"
        more = f" and {len(source.licences) - 5} more" if len(source.licences) > 5 else ""
        numbers = (count(source.documents), size(source.text_bytes), count(source.tokens), share(part))
        yield f"| {source.name} | {' | '.join(numbers)} | {licences}{more} |"
    yield from ("", *_table(facts.files), "", "## How it was made", "")
    yield from (f"{number}. {step}" for number, step in enumerate(facts.steps, 1))
    yield from (
        "",
        f"Tokens are those of {facts.tokenizer}." if facts.tokenizer else "",
        "",
        "## Where the texts are from",
        "",
    )
    for source in facts.sources:
        yield f"- **{source.name}**: {_origin(facts, said, source.name)}"
    yield from ("", "## Personal and sensitive information", "")
    yield said("personal_information", "what personal information is in the texts, and what was done about it")
    yield from ("", "## Bias, risks and limitations", "", said("limitations", "known biases, risks and limits"))
    yield from ("", "## Licence", "", said("licence", "the licence of the collection"), "")
    yield from _licences(facts)
    yield from ("", "## Citation", "", said("citation", "how to cite it"), "", "## Contact", "")
    yield said("contact", "whom to write to about a text in the corpus")


def _table(files: Iterable[FileFacts]) -> Iterator[str]:
    yield from (_TABLE, "|---|---|---|---:|---:|---:|")
    for one in files:
        counts = (count(one.files), count(one.rows), count(one.tokens))
        yield f"| `{one.pattern}` | {one.kind} | {one.split or '–'} | {' | '.join(counts)} |"


def published_card(card: str, files: Iterable[FileFacts], splits: Mapping[str, str]) -> str:
    """Returns a card for a repository that holds these files and no others of the corpus.

    splits: the pattern of the files of each split that `load_dataset` can read. Without one the hub shows no rows.
    """
    _, head, body = card.split("---\n", 2)
    given = {key: value for key, value in yaml.safe_load(head).items() if key != "configs"}
    data_files = [{"split": split, "path": pattern} for split, pattern in splits.items()]
    shown = {"configs": [{"config_name": "default", "data_files": data_files}]} if splits else {"viewer": False}
    before, _, rest = body.partition(f"{_TABLE}\n")
    lines = rest.splitlines(keepends=True)
    after = "".join(dropwhile(lambda line: line.startswith("|"), lines))
    return f"---\n{_yaml({**given, **shown})}---\n{before}" + "\n".join(_table(files)) + f"\n{after}"


def _yaml(head: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(head), sort_keys=False, allow_unicode=True, width=100)


def _origin(facts: Facts, said: Written, name: str) -> str:
    given = facts.of_source(name)
    text = given.get("description") or said.lacks(f"sources.{name}.description", f"what {name} is and where it is from")
    more = [given["url"]] if given.get("url") else []
    more += [f"collected {given['collected']}"] if given.get("collected") else []
    return " ".join([text, *(f"({words})" for words in more)])


def _licences(facts: Facts) -> Iterator[str]:
    if not facts.licences:
        return
    yield from ("Licences of the texts, by bytes:", "", "| licence | text | share |", "|---|---:|---:|")
    total = sum(facts.licences.values())
    for name, found in list(facts.licences.items())[:30]:
        yield f"| {_cell(name)} | {size(found)} | {share(found / total if total else 0)} |"
    if len(facts.licences) > 30:
        yield f"| {len(facts.licences) - 30:,} more | | |"


def _cell(text: str) -> str:
    """Returns a text from outside for a cell of a table: nothing in it is markup."""
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+!|~&$" else c for c in " ".join(text.split()))
    return escaped if len(escaped) <= 200 else f"{escaped[:200].rstrip(chr(92))} ..."
