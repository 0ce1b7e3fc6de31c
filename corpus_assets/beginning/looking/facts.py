"""What was seen in the sampled rows of a source, besides its texts: dates, addresses, licences, languages, lengths."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from corpus_assets.beginning.looking.languages import languages_in_words
from corpus_assets.beginning.looking.readings import Reading, text_under
from corpus_assets.beginning.looking.values import Row

_DATE: Final = re.compile(r"(?:19|20)\d\d-[01]\d(?:-[0-3]\d)?(?:[T ].*)?")
_URL: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_HOST: Final = re.compile(r"(?:www\.)?[\w-]+(?:\.[\w-]+)+/\S*")
_LICENCE: Final = ("license", "licence", "licenses", "licences", "license_type", "spdx", "rights")
_LANGUAGE: Final = ("language", "lang", "lang_code", "locale", "iso_639_1", "programming_language")

EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+\w")


@dataclass(frozen=True)
class Facts:
    """Facts about sampled rows. texts: of documents, up to 20,000 characters of each.

    dates, urls: keys with such values. days: the first and the last date. licence: the key of the metadata with
    licences, and `licences` how often each was seen. languages: in words.
    """

    rows: int
    texts: Sequence[str]
    dates: Sequence[str] = ()
    days: tuple[str, str] | None = None
    urls: Sequence[str] = ()
    licence: str = ""
    licences: Mapping[str, int] | None = None
    languages: str = ""

    @property
    def lengths(self) -> list[int]:
        """Returns the lengths of the texts in characters, the shortest first."""
        return sorted(len(text) for text in self.texts)


def facts_of(rows: Sequence[Row], reading: Reading) -> Facts:
    """Returns what was seen in rows."""
    metadata = [dict(_metadata(row, reading)) for row in rows]
    texts = [text for row in rows if (text := text_of(row, reading))]
    licence = _named(metadata, _LICENCE)
    found = [_licence(row[licence]) for row in metadata if row.get(licence)] if licence else []
    dates = _keys(metadata, _is_date)
    days = sorted(str(row[key])[:10] for row in metadata for key in dates if _is_date(row.get(key)))
    stated = _named(metadata, _LANGUAGE)
    said = Counter(str(row[stated])[:20] for row in metadata if row.get(stated))
    top = ", ".join(f"{name} {count / said.total():.0%}" for name, count in said.most_common(4))
    return Facts(
        len(rows),
        texts,
        dates[:3],
        (days[0], days[-1]) if days else None,
        _keys(metadata, _is_url)[:3],
        licence,
        dict(Counter(found).most_common()),
        f"{top} (as `{stated}` says)" if stated else languages_in_words(texts),
    )


def text_of(row: Row, reading: Reading) -> str:
    """Returns the text of a row, or what is read most of it where it is no document."""
    if reading.is_text:
        return text_under(row, reading.text)
    parts = [row.get(key) for key in (reading.prompt, reading.completion, reading.chosen, reading.messages) if key]
    return "\n\n".join(text for part in parts for text in _texts(part, reading.content))


def _texts(value: object, content: str) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield _string(one.get(content) or one.get("value")) if isinstance(one, dict) else _string(one)
    else:
        yield _string(value)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _metadata(row: Row, reading: Reading) -> Iterator[tuple[str, Any]]:
    """Yields what is metadata of a row, as its reader merges it (`RowNames.metadata`)."""
    own = row.get("metadata") if "metadata" in row else row.get("meta")
    yield from ((key, value) for key, value in row.items() if key not in (reading.text, reading.id))
    if isinstance(own, dict):
        yield from own.items()


def _named(metadata: Sequence[Mapping[str, Any]], names: Iterable[str]) -> str:
    """Returns the first of some names that half of the rows have as a key with a value."""
    often = (name for name in names if sum(bool(row.get(name)) for row in metadata) * 2 >= max(1, len(metadata)))
    return next(often, "")


def _keys(metadata: Sequence[Mapping[str, Any]], holds: Any) -> list[str]:
    counts = Counter(key for row in metadata for key, value in row.items() if holds(value))
    return [key for key, count in counts.most_common() if count * 2 >= len(metadata)]


def _is_date(value: object) -> bool:
    text = value.isoformat() if hasattr(value, "isoformat") else value
    return isinstance(text, str) and len(text) < 40 and _DATE.fullmatch(text) is not None


def _is_url(value: object) -> bool:
    return isinstance(value, str) and (_URL.fullmatch(value) or _HOST.fullmatch(value)) is not None


def _licence(value: object) -> str:
    return ", ".join(map(str, value))[:60] if isinstance(value, list) else str(value)[:60]
