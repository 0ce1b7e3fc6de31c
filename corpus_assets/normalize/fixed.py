"""SlimPajama's full ftfy, faster: only lines with something to fix go through it."""

import re
import unicodedata

from ftfy import TextFixerConfig, fix_text, fix_text_segment
from ftfy.badness import BADNESS_RE, is_bad
from ftfy.chardata import CONTROL_CHARS, LIGATURES, WIDTH_MAP
from ftfy.fixes import uncurl_quotes

WITH_HTML = TextFixerConfig(explain=False, normalization="NFC")

# Every character that one of ftfy's character fixers replaces or removes: control characters (escape
# sequences start with one), ligatures and width variants from ftfy's own tables, quotes, line breaks, C1
# controls and surrogates.
_TABLES = "".join(re.escape(chr(code)) for table in (CONTROL_CHARS, LIGATURES, WIDTH_MAP) for code in table)
_REPLACED = re.compile(f"[{_TABLES}\u02bc\u2018-\u201f\r\x80-\x9f\u2028\u2029\ud800-\udfff]")

# ftfy's own search for mojibake is slow. Everything it can find has two adjacent characters that its pattern
# names outside ASCII, or one of these: C1 controls, the ligature oe, A with tilde or circumflex.
_NAMED = "".join(re.findall(r"[^\x00-\x7f](?:-[^\x00-\x7f])?", BADNESS_RE.pattern))
_MAY_BE_BAD = re.compile(f"[{_NAMED}]{{2}}|[\x80-\x9f\u0152\u0153\xc2\xc3]")

# A line needs fixing only if it has a character outside the ASCII that ftfy never changes, or the start of an entity.
_SUSPECT = re.compile(r"[^\t\n\x0c\x20-\x7e]")
_SUSPECT_OR_ENTITY = re.compile(r"[^\t\n\x0c\x20-\x7e]|&")


def fix(text: str, config: TextFixerConfig = WITH_HTML) -> str:
    """Returns `ftfy.fix_text(text, normalization="NFC")` (docs/formats/slimpajama.md "Normalization"), but faster.

    config: the same with other fixes.

    ftfy fixes every line by itself, so only lines with something to fix go through it. Two rules of ftfy cross
    lines: the first line with a `<` switches HTML decoding off for itself and all that follow, and lines of more than
    1,000,000 code points are cut (for such a text ftfy itself is called).
    """
    tag = text.find("<") if config.unescape_html == "auto" else -1 if config.unescape_html else 0
    pieces: list[str] = []
    done = 0
    while suspect := (_SUSPECT_OR_ENTITY if tag < 0 or done <= tag else _SUSPECT).search(text, done):
        start = text.rfind("\n", done, suspect.start()) + 1 or done
        end = text.find("\n", suspect.start()) + 1 or len(text)
        if end - start > config.max_decode_length:
            return fix_text(text, config)
        pieces += text[done:start], _fix_line(text[start:end], config, html=tag < 0 or end <= tag)
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _fix_line(line: str, config: TextFixerConfig, html: bool) -> str:
    """Returns a line as ftfy fixes it; if only its curly quotes need fixing, without calling ftfy."""
    if config is WITH_HTML and not (html and "&" in line) and not _looks_bad(line):
        straight = uncurl_quotes(line)
        settled = straight == line or not _looks_bad(straight)
        if settled and not _REPLACED.search(straight) and unicodedata.is_normalized("NFC", straight):
            return straight
    return fix_text_segment(line, config if html else config._replace(unescape_html=False))


def _looks_bad(line: str) -> bool:
    return _MAY_BE_BAD.search(line) is not None and is_bad(line)
