"""Where the contents of a rendered conversation lie."""

from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.modes.chat.alignment import Frame, _as_they_are, _between_marks
from corpus_assets.tokenize.modes.chat.control_tokens import ControlTokens
from corpus_assets.tokenize.modes.chat.masking import Text

WORDS = st.text("ab \n", max_size=4)


@given(first=WORDS, turns=st.lists(st.tuples(WORDS.filter(bool), WORDS), max_size=5), other=WORDS)
def test_texts_that_a_template_leaves_lie_where_the_search_finds_them(
    first: str, turns: list[tuple[str, str]], other: str
) -> None:
    texts = [Text(text, number, ControlTokens({"a a": 1})) for number, (text, _) in enumerate(turns)]
    frame = Frame(first, tuple((number, literal) for number, (_, literal) in enumerate(turns)))
    rendered = first + "".join(text + literal for text, literal in turns)
    found = _as_they_are(rendered, frame, texts)
    assert found == _between_marks(rendered, frame, texts)
    assert found is not None
    assert [rendered[start:stop] for start, stop, _ in found] == [text for text, _ in turns]
    if other:
        assert _as_they_are(rendered + other, frame, texts) is None
