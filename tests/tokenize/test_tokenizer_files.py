"""What the files of a tokenizer declare, and files that cannot be used."""

import json
from typing import Any

import pytest
from tokenizers import AddedToken as LibraryToken
from tokenizers import Tokenizer as Encoder

from corpus_assets.tokenize.tokenizers.loading import TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.errors import BadFileError, ConfigError
from tests.tokenize.tokenizers_for_tests import BOS_TEMPLATE, CONTROL, TEXTS, changed, loaded, trained


def test_end_and_padding_ids() -> None:
    config = {"eos_token": {"content": "a"}, "pad_token": "b"}
    ids = json.loads(trained())["model"]["vocab"]
    for spec, siblings, expected in (
        (TokenizerSpec("neox"), {}, (0, 1)),
        (TokenizerSpec("neox"), {"tokenizer_config": config}, (ids["a"], ids["b"])),
        (TokenizerSpec("tokenizer_json"), {"tokenizer_config": config}, (ids["a"], ids["b"])),
        (TokenizerSpec("huggingface"), {"tokenizer_config": config}, (ids["a"], ids["b"])),
        (TokenizerSpec("tokenizer_json"), {"special_tokens_map": {"eos_token": "c"}}, (ids["c"], ids["c"])),
        (TokenizerSpec("neox", eos=5), {}, (5, 5)),
        (TokenizerSpec("neox", eos="c", pad=1), {}, (ids["c"], 1)),
        (TokenizerSpec("huggingface", eos="c"), {"tokenizer_config": config}, (ids["c"], ids["c"])),
        (TokenizerSpec("tokenizer_json", pad=1), {}, (None, 1)),
    ):
        tokenizer = loaded(spec, None, **siblings)
        assert (tokenizer.eos_id, tokenizer.pad_id) == expected


@pytest.mark.parametrize(
    "spec",
    [
        TokenizerSpec("tokenizer_json"),
        TokenizerSpec("neox", eos="<none>"),
        TokenizerSpec("neox", pad=9999),
        TokenizerSpec("neox", pad=-1),
    ],
)
def test_unknown_control_tokens_are_refused(spec: TokenizerSpec) -> None:
    with pytest.raises(ConfigError):
        loaded(spec)


def test_llama_classes_put_around_a_text_what_their_settings_say() -> None:
    declared = {"bos_token": "<|padding|>", "eos_token": "<|endoftext|>"}
    for name, flags, expected in (
        ("LlamaTokenizerFast", {}, ((1,), ())),
        ("LlamaTokenizer", {"add_bos_token": False, "add_eos_token": True}, ((), (0,))),
        ("GemmaTokenizerFast", {"add_eos_token": True}, ((1,), (0,))),
        ("PreTrainedTokenizerFast", {"add_bos_token": True}, ((), ())),
    ):
        config = {"tokenizer_class": name, **declared, **flags}
        tokenizer = loaded(TokenizerSpec("huggingface"), None, tokenizer_config=config)
        assert tokenizer.around == expected
        before, after = expected
        inner = tokenizer.encode_plain(["cat"]).ids.tolist()
        assert tokenizer.encode_batch(["cat"]).ids.tolist() == [*before, *inner, *after]
    with pytest.raises(ConfigError, match="bos_token"):
        loaded(TokenizerSpec("huggingface"), None, tokenizer_config={"tokenizer_class": "LlamaTokenizerFast"})


def test_a_folder_adds_the_tokens_that_it_declares() -> None:
    size = loaded(TokenizerSpec("neox")).vocab_size
    config = {
        "eos_token": "<|endoftext|>",
        "pad_token": "[PAD]",
        "additional_special_tokens": ["<|sep|>"],
        "added_tokens_decoder": {str(size): {"content": "<code>", "special": False}},
    }
    tokenizer = loaded(TokenizerSpec("huggingface"), None, tokenizer_config=config)
    assert [tokenizer.token_id(token) for token in ("<code>", "[PAD]", "<|sep|>")] == [size, size + 1, size + 2]
    assert (tokenizer.pad_id, tokenizer.vocab_size) == (size + 1, size + 3)
    assert tokenizer.encode_plain(["<code>"]).ids.tolist() == [size]
    assert size + 2 not in tokenizer.encode_plain(["<|sep|>"]).ids
    assert tokenizer.encode_trusted("<|sep|>").tolist() == [size + 2]
    wrong = {**config, "added_tokens_decoder": {"7": {"content": "<code>"}}}
    with pytest.raises(BadFileError, match=f"has id 7, but {size}"):
        loaded(TokenizerSpec("huggingface"), None, tokenizer_config=wrong)
    with pytest.raises(ConfigError, match="no tokenizer"):
        load_tokenizer({"tokenizer_config.json": b"{}"}, TokenizerSpec("huggingface"))


@pytest.mark.parametrize("listed", [["<s1>"], {"sound_token": "<s1>"}, [{"content": "<s1>"}]])
@pytest.mark.parametrize("key", ["additional_special_tokens", "extra_special_tokens", "model_specific_special_tokens"])
def test_declared_tokens_are_control_tokens_whatever_else_says(key: str, listed: object) -> None:
    """transformers 5.24.0 makes the same tokens special."""
    size = loaded(TokenizerSpec("neox")).vocab_size
    numbered = {str(size + n): {"content": token, "special": False} for n, token in enumerate(("<end>", "<code>"))}
    config = {"eos_token": "<end>", key: listed, "added_tokens_decoder": numbered}
    tokenizer = loaded(TokenizerSpec("huggingface"), None, tokenizer_config=config)
    spelled = tokenizer.encode_plain(["<end><code><s1>"]).ids.tolist()
    assert [id_ for id_ in spelled if id_ >= size] == [size + 1]
    assert tokenizer.encode_trusted("<end><code><s1>").tolist() == [size, size + 1, size + 2]
    before = loaded(TokenizerSpec.of_stored({"kind": "huggingface"}), None, tokenizer_config=config)
    assert before.digest != tokenizer.digest
    assert size in before.encode_plain(["<end>"]).ids


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word", "normalized"])
def test_flags_of_a_token_that_only_the_settings_add(flag: str, special: bool) -> None:
    """As transformers adds them: each flag of `added_tokens_decoder` is that of the token; some are of a role."""
    definition = changed(normalizer={"type": "Lowercase"})
    text = "one  <Code>  two one<Code>two <code>"
    size = loaded(TokenizerSpec("neox")).vocab_size
    for value in (False, True):
        token: dict[str, Any] = {"content": "<Code>", "special": special, flag: value}
        expected = Encoder.from_str(definition.decode())
        expected.add_tokens([LibraryToken(**token)])
        as_role: dict[str, object] = {"sep_token": token} if special else {}
        for config in ({"added_tokens_decoder": {str(size): token}}, as_role):
            tokenizer = loaded(TokenizerSpec("huggingface", eos=0), definition, tokenizer_config=config)
            if config:
                assert tokenizer.encode_trusted(text, bos=False).tolist() == expected.encode(text).ids
                before = loaded(
                    TokenizerSpec.of_stored({"kind": "huggingface", "eos": 0}), definition, tokenizer_config=config
                )
                changes = value is (flag != "normalized" or special)
                assert (before.digest != tokenizer.digest) == changes


def test_flags_of_a_token_that_tokenizer_json_has_leave_the_recipe() -> None:
    token = {**CONTROL, "rstrip": True}
    config = {"added_tokens_decoder": {str(CONTROL["id"]): token}}
    before = loaded(TokenizerSpec.of_stored({"kind": "huggingface", "eos": 0}), None, tokenizer_config=config)
    assert loaded(TokenizerSpec("huggingface", eos=0), None, tokenizer_config=config).digest == before.digest


SPELLED = ("<|fim_prefix|>", "<｜fim▁hole｜>", "<|EOT|>", "<fim_middle>", "<fim-suffix>")
TEXT = ("<think>", "<tool_call>", "<| a |>", "<||>", "<fim>")


@pytest.mark.parametrize("kind", ["huggingface", "tokenizer_json", "neox"])
@pytest.mark.parametrize("in_settings", [False, True])
def test_what_is_spelled_as_a_control_token_is_one_whatever_its_flag_says(kind: Any, in_settings: bool) -> None:
    """Qwen and DeepSeek declare tokens for code as text: it says that decoding shows them."""
    if in_settings and kind != "huggingface":
        pytest.skip("only a folder has settings with tokens")
    definition, spec = json.loads(trained()), TokenizerSpec(kind, eos=0)
    first = loaded(TokenizerSpec("neox")).vocab_size
    entries = [{**CONTROL, "id": first + n, "content": one, "special": False} for n, one in enumerate(SPELLED + TEXT)]
    config = {"added_tokens_decoder": {str(one["id"]): one for one in entries}} if in_settings else {}
    definition["added_tokens"] += [] if in_settings else entries
    content = json.dumps(definition).encode()
    tokenizer = loaded(spec, content, tokenizer_config=config)
    found = tokenizer.encode_plain(["".join(SPELLED + TEXT)]).ids.tolist()
    assert [id_ for id_ in found if id_ >= first] == [first + len(SPELLED) + n for n in range(len(TEXT))]
    matched = tokenizer.encode_trusted("".join(SPELLED), bos=False).tolist()
    assert matched == [first + n for n in range(len(SPELLED))]
    before = loaded(TokenizerSpec.of_stored({"kind": kind, "eos": 0}), content, tokenizer_config=config)
    assert before.digest != tokenizer.digest
    assert before.encode_plain([SPELLED[0]]).ids.tolist() == [first]


@pytest.mark.parametrize("kind", ["huggingface", "tokenizer_json", "neox"])
def test_an_added_token_to_which_the_library_gives_another_id_is_refused(kind: Any) -> None:
    definition = json.loads(trained())
    definition["added_tokens"].append({**definition["added_tokens"][0], "id": 100_000, "content": "<|far|>"})
    with pytest.raises(BadFileError, match=r"tokenizer\.json: added token '<\|far\|>' has id 100000, but [0-9]+ in"):
        loaded(TokenizerSpec(kind, eos=0), json.dumps(definition).encode())


def test_chat_templates_and_their_values() -> None:
    config = {"eos_token": {"content": "<|endoftext|>"}, "bos_token": "<|padding|>"}
    several = [{"name": "tools", "template": "T"}, {"name": "default", "template": "D"}]
    for chat, expected in (({}, None), ({"chat_template": "C"}, "C"), ({"chat_template": several}, "D")):
        tokenizer = loaded(TokenizerSpec("huggingface"), None, tokenizer_config=config | chat)
        assert tokenizer.chat_template == expected
        assert tokenizer.template_values == {"eos_token": "<|endoftext|>", "bos_token": "<|padding|>"}
        assert tokenizer.bos_id == 1
    files = {"tokenizer.json": trained(), "chat_template.jinja": "J é".encode()}
    assert load_tokenizer(files, TokenizerSpec("neox")).chat_template == "J é"
    assert load_tokenizer(files, TokenizerSpec("neox")).template_values == {"eos_token": "<|endoftext|>"}
    for raw, fault in ((b"\xff", "UTF-8"), (b" " * ((1 << 20) + 1), "characters")):
        with pytest.raises(BadFileError, match=fault):
            load_tokenizer({**files, "chat_template.jinja": raw}, TokenizerSpec("neox"))


def test_digest_follows_files_and_options() -> None:
    digests = {
        loaded(TokenizerSpec("neox")).digest,
        loaded(TokenizerSpec("neox", match_special_tokens=True)).digest,
        loaded(TokenizerSpec("neox"), None, tokenizer_config={}).digest,
        loaded(TokenizerSpec("neox"), changed(post_processor=BOS_TEMPLATE)).digest,
    }
    assert len(digests) == 4
    assert loaded(TokenizerSpec("neox")).digest in digests


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b"\xff\xfe\x00",
        b"{}",
        b"[" * 100_000,
        b'{"model": ' + b'{"a": ' * 100_000,
        b'{"model": []}',
        b'{"model": {"type": "BPE", "vocab": [], "merges": {}}}',
        b'{"model": {"type": "Unigram", "vocab": [1]}}',
        b'{"model": {"type": "BPE", "vocab": {}, "merges": [[]]}}',
        b'{"model": {"type": "WordLevel", "vocab": {"a": "b"}, "unk_token": "a"}, "added_tokens": [1]}',
    ],
)
def test_bad_tokenizer_files_are_refused(raw: bytes) -> None:
    with pytest.raises(BadFileError, match=r"tokenizer\.json"):
        loaded(TokenizerSpec("neox"), raw)


@pytest.mark.parametrize("length", [10, 1000, -100, -1])
def test_a_truncated_file_is_refused(length: int) -> None:
    with pytest.raises(BadFileError, match=r"tokenizer\.json"):
        loaded(TokenizerSpec("neox"), trained()[:length])


@pytest.mark.parametrize(
    "parts",
    [
        {"model": {**json.loads(train_bpe([], 300))["model"], "vocab": {"a": 2**31 - 1}}},
        {"model": {**json.loads(train_bpe([], 300))["model"], "vocab": {}}, "added_tokens": []},
        {"added_tokens": [{**CONTROL, "content": 5}]},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
        {"post_processor": {"type": "Sequence", "processors": 5}},
    ],
)
def test_hostile_parts_are_refused(parts: dict[str, object]) -> None:
    with pytest.raises(BadFileError, match=r"tokenizer\.json"):
        loaded(TokenizerSpec("neox"), changed(**parts))


@pytest.mark.parametrize("config", [b"[]", b"{", b"[" * 100_000])
def test_bad_configurations_are_refused(config: bytes) -> None:
    with pytest.raises(BadFileError, match="tokenizer_config"):
        load_tokenizer({"tokenizer.json": trained(), "tokenizer_config.json": config}, TokenizerSpec("neox"))


def test_configurations_of_wrong_types_declare_nothing() -> None:
    config = {
        "eos_token": 5,
        "bos_token": [],
        "additional_special_tokens": 7,
        "added_tokens_decoder": {"x": 1, "9": {}},
    }
    tokenizer = loaded(TokenizerSpec("huggingface", eos=0), None, tokenizer_config=config | {"chat_template": 3})
    assert (tokenizer.chat_template, tokenizer.bos_id, tokenizer.vocab_size) == (
        None,
        None,
        loaded(TokenizerSpec("neox")).vocab_size,
    )


def test_files_that_would_change_documents() -> None:
    dropout = {**json.loads(trained())["model"], "dropout": 0.1}
    with pytest.raises(BadFileError, match="dropout"):
        loaded(TokenizerSpec("neox"), changed(model=dropout))
    cut = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    padded = {"strategy": {"Fixed": 99}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0}
    padding = {**padded, "pad_type_id": 0, "pad_token": "<|endoftext|>"}
    tokenizer = loaded(TokenizerSpec("neox"), changed(truncation=cut, padding=padding))
    assert tokenizer.decode(tokenizer.encode_batch(TEXTS[:1]).ids) == TEXTS[0]
