"""Texts on which two encoders of one tokenizer must agree before the faster one is trusted."""

from collections.abc import Iterable, Iterator
from itertools import product

from resources.hashing import keyed_hash

_SPACES = [chr(code) for code in (9, 10, 11, 12, 13, 28, 31, 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C))]
_SPACES += ["\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff", "\u180e", "\r\n", "\u2060"]
_CONTRACTIONS = ("'s", "'S", "'t", "'RE", "'ve", "'Ve", "'m", "'ll", "'Ll", "'lL", "'d", "\u2019s", "'\u017f", "''s")
_WORDS = ("I", "don", "naïve", "E", "x1", "\u4e2d\u6587", "1", "_", "é", "e\u0301", "\u01c5", "\u02b0", "\u0e01\u0e33")
_DIGITS = [chr(code + offset) for code in (0x30, 0x660, 0x6F0, 0x966, 0xE50, 0xFF10, 0x1D7CE) for offset in (0, 5, 9)]
_DIGITS += ["\u00bd", "\u00b2", "\u2167", "\u3007", "\u2460", "\U0001f100", "\U00010107"]
_LONE = ["\x00", "\x01", "\x1b[0m", "\x7f", "\x80", "\x9f", "\ufffd", "\ufffe", "\uffff", "\ud7ff", "\ue000"]
_LONE += [
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1eb\U0001f1f7\U0001f1ef",
    "\U0001f3f3\ufe0f\u200d\U0001f308",
]
_LONE += ["\U00010348", "\U00013000", "\U0010ffff", "\U000e0001", "\U0001d518\U0001d52b", "\u05e9\u05dc\u05d5\u05dd"]
_LONE += [
    "\u200fabc\u202e\u0645\u0631\u062d\u0628\u0627",
    "\u0915\u094d\u0937\u093f",
    "\u0e01\u0e33\u0e49",
    "\uac00\u11a8",
]
_LONE += [
    "\u1100\u1161\u11a8",
    "A\u030a\u212b\u00c5",
    "q\u0323\u0307 q\u0307\u0323",
    "\u0344",
    "\u0958",
    "\ufb01\u017f",
    "\u037e",
]
_LONE += [
    "\u2581",
    "\u2581\u2581a",
    "\u0120the",
    "\u010a",
    "<0x0A>",
    "<unk>",
    "▁<s>",
    "&amp;",
    "\\u00e9",
    "\\n",
    "%C3%28",
]
_SNIPPETS = (
    "def f(x, *, y=None):\n\treturn {k: v for k, v in x.items() if v != 0.5e-3}  # note\n\n\n",
    "#include <stdio.h>\r\nint main(void)\r\n{\r\n    return a->b ? ~0x7fUL : c[i++]; /* ... */\r\n}\r\n",
    '{"a":[1,2.50,-3e+10,null,true],"b":{"c":"\\u00e9\\n","d":"http://x.y/z?q=1&r=%20#s"}}',
    "<div class='a'>&nbsp;<!-- 12345678 --></div>\n\n  * item\n    + item\n\t\t- item   \n \n",
    "aGVsbG8gd29ybGQ/+w==QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w",
    "1234567890123 12,345.67 3.14159 2024-02-29T23:59:59Z +49-30-12 0b1010 IV ½ 10³",
    "私は猫です。名前はまだ無い、どこで生れたか。\u3000한국어 문장입니다. 中文没有空格，很长的句子！",
    "МОСКВА и ёлка. Ελληνικά ΣΑΣ ς. ไทยไม่มีช่องว่าง हिन्दी में संयुक्ताक्षर. Tiếng Việt đẹp",
    "!!!???...---===***///\\\\\\'''\"\"\"((([[[{{{ -> => <- :: ;; ## $$ %% ^^ && @@ ~~ `` || __ ‚„“” … — ‹›",
)
_BLOCKS = (
    (0x00, 0x80), (0x20, 0x7F), (0x30, 0x3A), (0x41, 0x7B), (0x80, 0x250), (0x2B0, 0x370), (0x370, 0x530),
    (0x590, 0x780), (0x900, 0xE00), (0xE00, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2100), (0x2100, 0x2C00),
    (0x3000, 0x3400), (0x4E00, 0x9FFF), (0xA000, 0xAC00), (0xAC00, 0xD7A4), (0xF900, 0xFB50),
    (0xFB50, 0x10000), (0x10000, 0x11000), (0x1D000, 0x1D800), (0x1F000, 0x1FB00),
    (0x20000, 0x20800), (0xE0000, 0xE0200),
)  # fmt: skip
_RUNS = (1, 2, 3, 4, 7, 8, 15, 16, 17, 24, 25, 31, 64, 255, 1000)
_RANDOM_TEXTS = 1200


def probe_texts(special_tokens: Iterable[str] = ()) -> list[str]:
    """Returns about 3,000 texts, the same in every run, on which pre-tokenizers and normalizers are known to differ.

    White space of all kinds and runs of it, combining marks, characters beside the surrogates and beyond them, emoji
    sequences, right-to-left text, digits of many scripts, contractions, control characters, runs of one or two
    characters, long words, code, the `special_tokens` spelled out between other text, and pseudo-random strings
    over many blocks of Unicode. No text holds a lone surrogate, which is not text.
    """
    return [*_spaces(), *_words(), *_runs(), *_special(special_tokens), *_SNIPPETS, *_random()]


def _spaces() -> Iterator[str]:
    yield from ("", " ", "  ", "\n", "\n\n", " \n", "\n ", "\t", "\r", "\r\n\r\n")
    for space in _SPACES:
        yield from (
            space,
            f"a{space}b",
            f"a{space}",
            f"{space}a",
            f"a{space} b",
            f"a {space}b",
            f".{space}\n1",
            f"{space * 3}'s",
        )
    for first, second in product(_SPACES, repeat=2):
        yield f"a{first}{second}b{first}{second}{first}1.{second}"


def _words() -> Iterator[str]:
    yield from _LONE
    yield from (f"a {text}b{text}1 {text}\n{text}{text}" for text in [*_LONE, *_DIGITS])
    for word, contraction in product(_WORDS, _CONTRACTIONS):
        yield f"{word}{contraction}{word} {contraction}x{word}.{contraction}\n"
    yield from ("".join(_DIGITS), " ".join(_DIGITS), "a".join(_DIGITS), "12".join(_WORDS), ", ".join(_WORDS))


def _runs() -> Iterator[str]:
    for unit in (
        "a",
        " ",
        "\n",
        "\t",
        "0",
        ".",
        "-",
        "é",
        "中",
        "\U0001f600",
        "\u0301",
        "ab",
        " a",
        "a ",
        "\n ",
        "1a",
        "'s",
        "\r\n",
    ):
        yield from (unit * count for count in _RUNS)
        yield f"x{unit * 40}y {unit * 9}1"


def _special(tokens: Iterable[str]) -> Iterator[str]:
    for token in tokens:
        yield from (
            token,
            f"a{token}b",
            f" {token} {token}{token}\n",
            f"{token[:-1]}{token}",
            f"({token.upper()}{token[1:]}",
        )


def _random() -> Iterator[str]:
    """Yields texts that each draw from one to three blocks, with white space now and then."""
    for number in range(_RANDOM_TEXTS):
        draws = _draws(number)
        blocks = [_BLOCKS[next(draws) % len(_BLOCKS)] for _ in range(1 + next(draws) % 3)]
        yield "".join(_character(blocks, next(draws)) for _ in range(next(draws) % 60 + 1))


def _character(blocks: list[tuple[int, int]], draw: int) -> str:
    if draw % 7 == 0:
        return (" ", " ", "\n", "'")[draw >> 8 & 3]
    low, high = blocks[(draw >> 16) % len(blocks)]
    return chr(low + (draw >> 24) % (high - low))


def _draws(number: int) -> Iterator[int]:
    count = 0
    while True:
        yield keyed_hash("tokenizer probe", number, count) >> 8
        count += 1
