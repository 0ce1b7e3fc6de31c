"""White space beside control tokens: ids are those of the tokenizers library for the whole rendered text.

A tokenizer may put a space before a whole text alone (Metaspace, `first`: Llama 2 and Mistral as they are converted
today), and a token may take the white space beside it along (`rstrip` of Phi-3).
"""

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Encoder

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.dpo import dpo_rows
from corpus_assets.tokenize.modes.fim import fim_documents
from corpus_assets.tokenize.modes.mode import IdentifiedText, Tools
from corpus_assets.tokenize.tokenizer import spaces_go
from corpus_assets.tokenize.tokenizers.loading import LoadedTokenizer, TokenizerSpec, load_tokenizer
from resources.errors import StorageError
from resources.formats.examples import Example
from tests.failing import failing
from tests.tokenize.sections import chat, dpo, fim
from tests.tokenize.test_chat import encoded, encoder_of, talk

SPACE = "\u2581"
ROLES = ("<|user|>", "<|assistant|>", "<|end|>")
TEMPLATE = """{% for m in messages %}{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"""
CONTENT = st.text(st.sampled_from("ab \n\u00a0\u3000"), max_size=6).map("q{}".format)


def definition(scheme: str, strips: tuple[bool, bool], special: bool = True) -> dict[str, Any]:
    """Characters, and a token for each letter behind a space."""
    letters = [*"abqurseitnd<|>\n", SPACE, "\u00a0", "\u3000"]
    merges = [[SPACE, letter] for letter in "abu"]
    names = ["<unk>", *ROLES, "<s>", "</s>", *letters, *map("".join, merges)]
    flags = {"single_word": False, "lstrip": strips[0], "rstrip": strips[1], "normalized": False, "special": special}
    space = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": False}
    return {
        "version": "1.0",
        "added_tokens": [{"id": names.index(name), "content": name, **flags} for name in (*ROLES, "<s>", "</s>")],
        "pre_tokenizer": space,
        "decoder": space,
        "model": {
            **{"type": "BPE", "vocab": {name: number for number, name in enumerate(names)}, "merges": merges},
            **{"unk_token": "<unk>", "fuse_unk": False, "byte_fallback": False},
        },
    }


@cache
def tokenizer(scheme: str, strips: tuple[bool, bool], special: bool = True) -> LoadedTokenizer:
    files = {"tokenizer.json": definition(scheme, strips, special), "tokenizer_config.json": {"eos_token": "<|end|>"}}
    content = {name: json.dumps(value).encode() for name, value in files.items()}
    return load_tokenizer(content, TokenizerSpec("huggingface")).with_control(ROLES)


@settings(max_examples=60, deadline=None)
@given(
    contents=st.lists(CONTENT, min_size=2, max_size=4),
    scheme=st.sampled_from(["first", "always", "never"]),
    strips=st.tuples(st.booleans(), st.booleans()),
    special=st.booleans(),
)
def test_ids_are_those_of_the_library(
    contents: list[str], scheme: str, strips: tuple[bool, bool], special: bool
) -> None:
    loaded, said = tokenizer(scheme, strips, special), [*zip(("user", "assistant") * 2, contents, strict=False)]
    made = encoded(encoder_of(chat(512, chat_template=TEMPLATE), loaded), talk(*said))
    library = Encoder.from_str(json.dumps(definition(scheme, strips)))
    text, learned = "", np.zeros(made.ids.size, bool)
    for role, content in said:
        prompt = f"{text}<|{role}|>\n"
        text = f"{prompt}{content}<|end|>"
        if role == "assistant":
            learned[len(library.encode(prompt).ids) : len(library.encode(text).ids)] = True
        text += "\n"
    assert made.ids.tolist() == library.encode(text).ids
    np.testing.assert_array_equal(made.learned, learned)


@settings(max_examples=60, deadline=None)
@given(
    question=CONTENT,
    answers=st.lists(st.text(st.sampled_from("ab \n"), max_size=3), min_size=3, max_size=3, unique=True),
    spelled=st.sampled_from(["<|end|>", "<|user|>", "<s>"]),
    scheme=st.sampled_from(["first", "always", "never"]),
    strips=st.tuples(st.booleans(), st.booleans()),
)
def test_preferences_have_the_ids_of_conversations(
    question: str, answers: list[str], spelled: str, scheme: str, strips: tuple[bool, bool]
) -> None:
    """What spells a control token is part of the text around it: nothing is cut there, no space is put beside it."""
    loaded = tokenizer(scheme, strips)
    chosen, rejected, around = (f"{spelled}{text}q" for text in answers)
    asked = f"{question}{around}"
    pair = Example("a", "s", prompt=asked, chosen=f"q{chosen}", rejected=f"q{rejected}")
    section = dpo(256, chat_template=TEMPLATE)
    (row,) = (row for rows in dpo_rows(section, [pair], Tools(loaded, Statistics(), TEMPLATE)) for row in rows)
    for side, answer in ((row[:3], f"q{chosen}"), (row[3:], f"q{rejected}")):
        made = encoded(
            encoder_of(chat(512, chat_template=TEMPLATE), loaded), talk(("user", asked), ("assistant", answer))
        )
        stop = int(np.flatnonzero(made.learned)[-1]) + 1
        begin = [] if loaded.bos_id is None else [loaded.bos_id]
        assert side[0][: stop + len(begin)].tolist() == [*begin, *made.ids[:stop].tolist()]
        assert side[1][len(begin) : stop + len(begin) - 1].tolist() == made.learned[1:stop].tolist()


def test_text_that_begins_a_conversation_has_its_space() -> None:
    template = "{% for m in messages %}{{ m.content + '<|end|>' }}{% endfor %}"
    made = encoded(
        encoder_of(chat(512, chat_template=template), tokenizer("first", (False, False))),
        talk(*[("assistant", "ab")] * 2),
    )
    names = tokenizer("first", (False, False)).backend.tokens
    assert [names[id_] for id_ in made.ids] == [f"{SPACE}a", "b", "<|end|>", "a", "b", "<|end|>"]


@pytest.mark.parametrize("strips", [*product((False, True), repeat=2)])
def test_parts_of_a_document_get_no_space(strips: tuple[bool, bool]) -> None:
    """Put together in their order, the parts are the text."""
    loaded = tokenizer("first", strips)
    tokens = {"prefix_token": "<|user|>", "suffix_token": "<s>", "middle_token": "<|assistant|>"}
    texts = ["ab ba qab\nab", "ba", " ab"]
    documents = [IdentifiedText(str(number), text) for number, text in enumerate(texts)]
    found = [
        ids
        for made in fim_documents(documents, loaded, fim(64, fim_rate=1, spm_rate=0, **tokens), Statistics())
        for ids in made
    ]
    for ids, text in zip(found, texts, strict=True):
        pieces = "".join(loaded.backend.tokens[id_] or "" for id_ in ids).replace(SPACE, " ")
        prefix, _, rest = pieces.removeprefix("<|user|>").partition("<s>")
        suffix, _, middle = rest.partition("<|assistant|>")
        assert prefix + middle + suffix == text


def test_a_file_that_the_machine_cannot_read_says_nothing_of_spaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that there is nothing to mind, so that a plan had another recipe and made the tokens again."""
    place = tmp_path / "tokenizer.json"
    place.write_text(json.dumps(definition("first", (False, False))))
    given = {"kind": "tokenizer_json", "path": str(place)}
    assert spaces_go(given)
    failing(monkeypatch, "stat", "tokenizer.json")
    with pytest.raises(StorageError, match="cannot be read now: Input/output error"):
        spaces_go(given)
    monkeypatch.undo()
    place.unlink()
    assert not spaces_go(given)
