"""Limits on what a chat template costs, whatever it does; and that a process of its own changes no text."""

import signal
from collections.abc import Iterator

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.modes.chat import limited_template as module
from corpus_assets.tokenize.modes.chat.chat import chat_rows
from corpus_assets.tokenize.modes.chat.dialogues import Cut, Dialogue, Rendered, TemplateFault
from corpus_assets.tokenize.modes.chat.limited_template import Found, LimitedTemplate, open_template, try_template
from corpus_assets.tokenize.modes.chat.template import ChatTemplate
from corpus_assets.tokenize.modes.chat.template_server import Asked, Part
from corpus_assets.tokenize.modes.mode import Tools
from resources.errors import ConfigError, CorpusError
from resources.formats.examples import Example, Messages
from resources.processes.limited_work import Limits
from tests.tokenize.sections import chat
from tests.tokenize.test_chat import CHATML, LLAMA_2, LLAMA_3, TOOLS, ZEPHYR, example, talk, tokenizer

SMALL = Limits(cpu_seconds=0.2, memory=64 << 20)
GROW = (
    "{{% set n = namespace(a='abcdefgh') %}}{{% for i in range(64) %}}{{% set n.a = {} %}}{{% endfor %}}{{{{ n.a }}}}"
)
HOSTILE = {
    "a power": "{{ nine ** (nine ** nine) }}",
    "squares": "{% set n = namespace(a=7) %}{% for i in range(99) %}{% set n.a = n.a * n.a %}{% endfor %}",
    "a shift by division": "{% set a = (nine ** 9999999) // 7 %}{{ a }}",
    "a repeated string": "{{ 'a' * big }}",
    "a repeated list": "{{ ([1] * big) | length }}",
    "growth by ~": GROW.format("n.a ~ n.a"),
    "growth by +": GROW.format("n.a + n.a"),
    "growth by replace": GROW.format("n.a | replace('a', 'aaaaaaaa')"),
    "growth by the method": GROW.format("n.a.replace('a', 'aaaaaaaa')"),
    "growth by join": GROW.format("[n.a, n.a, n.a] | join(n.a)"),
    "growth by the method join": GROW.format("n.a.join([n.a, n.a, n.a])"),
    "growth by a list": "{% set n = namespace(a=[1]) %}{% for i in range(64) %}{% set n.a = n.a + n.a %}{% endfor %}",
    "growth by set blocks": "{% set n = namespace(a='abcdefgh') %}{% for i in range(64) %}"
    "{% set b %}{{ n.a }}{{ n.a }}{% endset %}{% set n.a = b %}{% endfor %}",
    "growth by escape": GROW.format("(n.a ~ n.a) | forceescape"),
    "growth by urlencode": GROW.format("(n.a ~ n.a ~ '%') | urlencode"),
    "growth by tojson": GROW.format("(n.a ~ '\"') | tojson"),
    "growth by format": GROW.format("'%s%s' | format(n.a, n.a)"),
    "urlize": "{{ ('www.a.com ' * (nine * 999999)) | urlize }}",
    "wordwrap": "{{ ('ab ' * (nine * 99999)) | wordwrap(1) }}",
    "a wide format": "{{ '%999999999d' % nine }}",
    "a wide method format": "{{ '{:999999999}'.format(nine) }}",
    "a wide center": "{{ 'a' | center(big) }}",
    "a wide method": "{{ 'a'.ljust(big) }}",
    "a wide indent": "{{ ('a\n' * nine ** 5) | indent(nine ** 5) }}",
    "a tree of macros": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(64) }}",
    "sorts in loops": "{% for i in range(9999) %}{% for j in range(9999)|sort(reverse=true) %}{% endfor %}{% endfor %}",
    "loops in loops": "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "batches": "{{ range(99999) | batch(1) | map('list') | list | tojson(indent=9999) | length }}",
    "slices": "{{ 'abc' | slice(big) | list | length }}",
    "a deep recursive loop": "{% for x in [[[[[nine] * 99] * 99] * 99] * 99] recursive %}"
    "{% if x is iterable %}{{ loop(x) }}{% endif %}{% endfor %}",
}


CHOICE = "{% set i = messages[0].content %}" + "".join(
    f"{{% if i == '{name}' %}}{source}{{% endif %}}" for name, source in HOSTILE.items()
)
ONE_OF_EACH_KIND = ("squares", "growth by ~", "growth by set blocks", "a wide format", "a tree of macros")
COMPILED = ("{{ 9 ** (9 ** 9) }}", "{{ 'abc' | slice(999999999) | list }}")


@pytest.fixture(scope="module")
def hostile() -> Iterator[LimitedTemplate]:
    template = LimitedTemplate(CHOICE + "ok", {"nine": 9, "big": 999999999}, limits=SMALL)
    yield template
    template.close()


def reasons(found: list[Found]) -> list[str]:
    return [one.reason if isinstance(one, TemplateFault) else one.text for one in found]


@pytest.mark.parametrize(
    "name", [name if name in ONE_OF_EACH_KIND else pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE]
)
def test_limits_hold_whatever_a_template_does(hostile: LimitedTemplate, name: str) -> None:
    assert reasons(hostile.render_all([Dialogue(talk(("user", name)))])) == ["template_limit"]


def test_one_conversation_that_costs_too_much_takes_no_other_along(hostile: LimitedTemplate) -> None:
    good, slow, large = (talk(("user", name)) for name in ("none of them", "squares", "growth by ~"))
    found = hostile.render_all([*map(Dialogue, [good, slow, good, large, good])])
    assert reasons(found) == ["ok", "template_limit", "ok", "template_limit", "ok"]


def test_a_cut_that_costs_too_much_takes_nothing_else_along() -> None:
    template = LimitedTemplate("{{ 'a' * 999999999 if messages | length == 2 }}ok", {}, limits=SMALL)
    try:
        dialogue = Dialogue(talk(("user", "a"), ("assistant", "b"), ("user", "c")))
        found = template.render_cut([Asked(dialogue, [Cut(1), Cut(2), Cut(3)]), Asked(dialogue)])
        assert found == [(Rendered("ok"), [Part(2, ""), None, Part(2, "")]), (Rendered("ok"), ())]
    finally:
        template.close()


def process_of(template: LimitedTemplate) -> psutil.Process:
    process = template._process._process
    assert process is not None
    return psutil.Process(process._popen.pid)


@pytest.mark.parametrize("source", COMPILED)
def test_limits_hold_while_a_template_is_compiled(source: str) -> None:
    with pytest.raises(ConfigError, match="chat template cannot be compiled: it takes more than"):
        LimitedTemplate(source, {}, limits=SMALL)


def test_a_process_that_breaks_is_a_limit(hostile: LimitedTemplate) -> None:
    """No template is known that breaks Python; the process is broken for it."""
    assert reasons(hostile.render_all([Dialogue(talk(("user", "x")))])) == ["ok"]
    process_of(hostile).send_signal(signal.SIGSEGV)
    assert reasons(hostile.render_all([Dialogue(talk(("user", "x")))])) == ["ok"]


def test_a_process_that_somebody_kills_is_no_fault_of_the_conversation(hostile: LimitedTemplate) -> None:
    assert reasons(hostile.render_all([Dialogue(talk(("user", "x")))])) == ["ok"]
    process_of(hostile).kill()
    with pytest.raises(CorpusError, match="ended by signal 9; what it was asked is not the reason"):
        hostile.render_all([Dialogue(talk(("user", "x")))])
    assert reasons(hostile.render_all([Dialogue(talk(("user", "x")))])) == ["ok"]


def test_a_template_that_costs_too_much_for_one_question_is_refused_before_a_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LIMITS", SMALL)
    with pytest.raises(ConfigError, match="costs too much for one question and answer"):
        try_template("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", {})
    try_template("{{ raise_exception('needs tools') }}", {})


def test_a_file_has_few_conversations_that_cost_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMITS", SMALL)
    monkeypatch.setattr(module, "MAX_OVER_LIMIT", 1)
    source = CHATML + "{% if messages[0].content == 'bad' %}{{ 'a' * 999999999 }}{% endif %}"
    good, bad = talk(("user", "a"), ("assistant", "b")), talk(("user", "bad"), ("assistant", "b"))
    told: list[str] = []
    statistics = Statistics()
    section = chat(64, chat_template=source)
    tools = Tools(tokenizer(), statistics, source, lambda one, why: told.append(f"{one.id}: {why}"))
    assert sum(map(len, chat_rows(section, [example(good), example(bad, "second"), example(good)], tools))) == 2
    assert statistics.discarded_documents == {"template_limit": 1}
    assert told == ["second: template_limit: it takes more than 64 MiB of memory"]
    with pytest.raises(CorpusError, match="for 2 conversations, the last of which is books/third"):
        list(chat_rows(section, [example(good), Example("third", "books", messages=bad)], tools))


VALUES = {"bos_token": "<s>", "eos_token": "</s>"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TALKS = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXTS).map(lambda one: talk(one)[0]))


@pytest.mark.parametrize(
    "source",
    [CHATML, LLAMA_2, LLAMA_3, ZEPHYR, TOOLS, None],
    ids=["chatml", "llama-2", "llama-3", "zephyr", "tools", "own"],
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(conversations=st.lists(TALKS, max_size=4))
def test_a_process_of_its_own_changes_no_text(source: str | None, conversations: list[Messages]) -> None:
    source = source or tokenizer().chat_template or ""
    inside, template = ChatTemplate(source), open_template(source, VALUES)
    for messages, found in zip(conversations, template.render_all([*map(Dialogue, conversations)]), strict=True):
        try:
            assert found == inside.render(Dialogue(messages), VALUES)
        except TemplateFault as fault:
            assert str(found) == str(fault)


@pytest.mark.parametrize("source", [CHATML, LLAMA_2, TOOLS], ids=["chatml", "llama-2", "tools"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(messages=TALKS.filter(bool), data=st.data())
def test_cuts_give_the_text_that_they_have_alone(source: str, messages: Messages, data: st.DataObject) -> None:
    """The last word in brackets changes the text before it, so that cuts do not begin as the whole does."""
    source = "[{{ messages[-1].content }}]" + source
    inside, template = ChatTemplate(source), open_template(source, VALUES)
    cuts = data.draw(st.lists(st.builds(Cut, st.integers(1, len(messages)), st.booleans()), max_size=4))
    ((whole, parts),) = template.render_cut([Asked(Dialogue(messages), cuts)])
    if isinstance(whole, TemplateFault):
        assert not parts
        return
    for cut, part in zip(cuts, parts, strict=True):
        try:
            text = inside.render(cut.of(Dialogue(messages)), VALUES).text
        except TemplateFault:
            assert part is None
            continue
        assert part is not None
        assert whole.text[: part.shared] + part.rest == text
        assert not part.rest or whole.text[part.shared : part.shared + 1] != part.rest[0]


def test_generated_parts_and_all_of_unicode_pass_the_pipe() -> None:
    source = (
        "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}\n{% endfor %}{{ '\\ud800'[:n] }}"
    )
    contents = ["a\nb\r\u2028", "\ufdd0\x00é", "\U0001f600"]
    messages = [{"role": "user", "content": content, "number": 10**30, "share": 0.1} for content in contents]
    assert open_template(source, {"n": 0}).render(Dialogue(messages)) == ChatTemplate(source).render(
        Dialogue(messages), {"n": 0}
    )
    with pytest.raises(TemplateFault, match="template_error: UnicodeEncodeError"):
        open_template(source, {"n": 1}).render(Dialogue(messages))


def test_the_process_has_no_keys_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "not for a corpus")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for a corpus")
    before = {child.pid for child in psutil.Process().children()}
    template = LimitedTemplate(CHATML, {"bos_token": ""})
    try:
        assert template.render_all([Dialogue(talk(("user", "Hello")))])
        (child,) = [child for child in psutil.Process().children() if child.pid not in before]
        assert "not for a corpus" not in child.environ().values()
    finally:
        template.close()
