"""The tokens that a chat template writes as markers of turns, and whether an answer ends with one.

In many tokenizers they are added tokens that are not special (`<|im_end|>`, DeepSeek's roles). Here all tokens that a
template writes around texts are control tokens: learned at the end of an answer, and plain text where a message spells
them. Tags within answers (`<think>`, `<tool_call>`) are not.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.dialogues import Dialogue, Rendered, TemplateFault
from corpus_assets.tokenize.modes.chat.encoding import ChatEncoder, Talk
from corpus_assets.tokenize.modes.chat.limited_template import LimitedTemplate
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError

# Noncharacters: no token holds them.
_ASKED, _SAID = "\ufdd2", "\ufdd3"
_USER: Final = {"role": "user", "content": _ASKED}
_SYSTEM: Final = {"role": "system", "content": _ASKED}


def turn_markers(template: LimitedTemplate, tokenizer: Tokenizer, role: str) -> set[str]:
    """Returns the added tokens that the template writes around a question, before an answer, and at its end.

    role: who answers.
    """
    # Some tokenizers add line ends as tokens.
    added = ControlTokens({token: id_ for token, id_ in tokenizer.added_tokens.items() if not token.isspace()})
    if not set(added.ids) - set(tokenizer.special_tokens):
        return set()
    questions = [[_USER], [_SYSTEM, _USER]]
    asked = [
        *map(Dialogue, questions),
        *(Dialogue(question, generation_prompt=True) for question in questions),
        *(Dialogue([*question, {"role": role, "content": _SAID}]) for question in questions),
    ]
    texts = [found.text if isinstance(found, Rendered) else "" for found in template.render_all(asked)]
    markers = set[str]()
    for bare, prompted, answered in zip(texts[:2], texts[2:4], texts[4:], strict=True):
        markers.update(_tokens(added, bare))
        if prompted.startswith(bare):
            markers.update(islice(_tokens(added, prompted[len(bare) :]), 1))
        markers.update(list(_tokens(added, answered.rpartition(_SAID)[2]))[-1:])
    return markers


def _tokens(added: ControlTokens, text: str) -> Iterator[str]:
    return (text[start:stop] for start, stop in added.find(text, 0, len(text)))


def check_ends(encoder: ChatEncoder, tokenizer: Tokenizer, role: str) -> None:
    """Raises ConfigError if no end of an answer is learned, since the model would never learn to stop.

    A conversation that the template refuses is no fault here; some refuse any without a system message.
    """
    messages = [{"role": "user", "content": "One?"}, {"role": role, "content": "Two."}]
    asked = [messages, [{"role": "system", "content": "Say it."}, *messages]]
    texts = encoder.write_all([Talk(Dialogue(said), (None,) * len(said)) for said in asked])
    written = next((found[0] for found in texts if not isinstance(found, TemplateFault) and found[0].spans), None)
    if written is None:
        return
    sequence = encoder.encode(written)
    control = set(tokenizer.special_tokens.values()) | ({tokenizer.eos_id} - {None})
    learned = [int(id_) for id_, taught in zip(sequence.ids, sequence.learned, strict=True) if taught]
    if not control.intersection(learned[1:]):
        text = written.aligned.text
        tail = text[text.rfind("Two.") + len("Two.") :]
        eos = None if tokenizer.eos_id is None else tokenizer.decode([tokenizer.eos_id])
        raise ConfigError(
            f"the chat template ends an answer with {tail!r}, and no control token is learned of that, "
            "so a model would never learn to stop; valid: a tokenizer with the marker among its added tokens"
            + (f", or a template that ends answers with its end of text {eos!r}" if eos else "")
        )
