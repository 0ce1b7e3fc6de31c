"""`corpus trace`: which document, and which raw row, a token of a dataset comes from."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tracing.from_tokens.exports import Traced, is_exported, trace_export
from corpus_assets.tracing.from_tokens.rows import Sought, trace_row
from corpus_assets.tracing.origins import Origin
from resources.documents.names import document_name
from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {10: "\\n", 9: "\\t", 13: "\\r"}


def run(config: Path | None, dataset: str, file: str, place: tuple[int, int], *, as_json: bool) -> None:
    """Prints where a token comes from. place: row of the file, and position in it."""
    corpus = Corpus.open(config, read_only=True)
    known = [entry["name"] for entry in corpus.settings.values["datasets"]]
    if dataset not in known:
        raise ConfigError(f"no dataset named {dataset!r}; there are {', '.join(known)}{did_you_mean(dataset, known)}")
    trace = trace_export if is_exported(corpus, dataset) else trace_row
    found = trace(corpus, dataset, file, *place)
    if as_json:
        print_json({"dataset": dataset, "file": file, "row": place[0], "position": place[1], **asdict(found)})
        return
    out = output()
    for line in _lines(found):
        print_line(out, line)


def _lines(found: Traced | Sought) -> Iterator[str]:
    yield f"text      ...{shown(found.before)}«{shown(found.token)}»{shown(found.after)}..."
    if isinstance(found, Sought):
        if not found.found:
            yield "document  none has this text as it stands: it was cleaned or written by a template before tokenizing"
        for one in found.found:
            yield from _origin(one)
        return
    yield from _origin(found.origin)
    where = "a separator" if found.position is None else f"id {found.position:,}"
    yield f"position  {where} of the document's {found.ids:,}" + (f", use {found.copy + 1} of it" if found.copy else "")
    before, after = ("none" if one is None else document_name(one.source, one.id) for one in found.neighbours)
    yield f"before    {before}"
    yield f"after     {after}"


def _origin(found: Origin) -> Iterator[str]:
    yield f"document  {document_name(found.source, found.id)}"
    if found.shard is None:
        yield "raw file  not known: the mix that is there now has no such document"
        return
    row = "" if found.row is None else f", row {found.row:,} from 0"
    yield f"raw file  {found.file or f'gone; it was shard {found.shard}'}{row}"


def shown(text: str) -> str:
    """Returns a text on one line of a terminal: control characters as escapes."""
    return text.translate(_ESCAPES)
