"""Measures of source code (docs/formats/dolma.md "Code")."""

import re

import numpy as np

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.kernels.flags import ALPHABETIC, ALPHANUMERIC
from corpus_assets.attributes.taggers.lengths import whitespace_tokenizer
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

COMMENT_STARTS = ("//", "#", "--")
_BLOCK_COMMENT = re.compile(r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
_COPYRIGHT = re.compile("copyright", re.IGNORECASE)
_NO_TEXT = -1.0


def code_copyright_comments(text: Text) -> Spans:
    """Returns the first block comment if it mentions copyright; without block comments, the leading comment lines."""
    size = len(text.string)
    return _shared(
        text, {kind: (start, min(end, size), 1.0) for kind, (start, end, _) in _copyright(text.string).items()}
    )


def code_copyright_comments_of_dolma(text: Text) -> Spans:
    """Returns the same with a span of comment lines that may end one character after the text."""
    return _shared(text, _copyright(text.string))


def _shared(text: Text, found: dict[str, Span]) -> Spans:
    if not found:
        return {"doc": text.whole(0.0)}
    ((start, end, _),) = found.values()
    share = (end - start + 1) / len(text.string) if text.string else _NO_TEXT
    return {**{kind: [span] for kind, span in found.items()}, "doc": text.whole(share)}


def _copyright(string: str) -> dict[str, Span]:
    if match := _BLOCK_COMMENT.search(string):
        return {"copyright_notice": (*match.span(), 1.0)} if _COPYRIGHT.search(match[0]) else {}
    end = lines = 0
    for line in string.split("\n"):
        if line and not line.startswith(COMMENT_STARTS):
            break
        end += max(len(line), 1)  # As in the toolkit: an empty line counts one character, any other loses its newline.
        lines += 1
    return {"comment_block": (0, end, 1.0)} if lines else {}


def code_redpajama_taggers(text: Text) -> Spans:
    """Returns the longest and the mean line, and the shares of letters and digits."""
    size = len(text.string)
    lengths = [len(line) for line in text.string.splitlines()]
    flags = character_flags()[text.once(codes)]
    ((_, _, tokens),) = text.once(whitespace_tokenizer)["length"]
    return {
        "max_line_length_doc": text.whole(float(max(lengths, default=0))),
        "avg_line_length_doc": text.whole(sum(lengths) / len(lengths) if lengths else 0.0),
        "alnum_prop_doc": text.whole(int(np.count_nonzero(flags & ALPHANUMERIC)) / size if size else 0.0),
        "alpha_token_prop_doc": text.whole(int(np.count_nonzero(flags & ALPHABETIC)) / tokens),
    }


_SOURCE = "RedPajama, as in Dolma"
TAGGERS = [
    Tagger(
        "code_copyright_comments_v1",
        code_copyright_comments,
        version="1",
        types=(
            "copyright_notice",
            "comment_block",
            "doc",
        ),
        gives="`copyright_notice`: 1 for the first block comment if it speaks of copyright; `comment_block`: 1 for "
        "leading lines of comment where there is no block comment; `doc`: its share of the text",
        source=_SOURCE,
        dolma=code_copyright_comments_of_dolma,
    ),
    Tagger(
        "code_redpajama_taggers_v1",
        code_redpajama_taggers,
        version="1",
        types=(
            "max_line_length_doc",
            "avg_line_length_doc",
            "alnum_prop_doc",
            "alpha_token_prop_doc",
        ),
        gives="`max_line_length_doc`, `avg_line_length_doc`; `alnum_prop_doc`: share of letters and digits; "
        "`alpha_token_prop_doc`: letters by pieces of `whitespace_tokenizer_v1`",
        source=_SOURCE,
    ),
]
