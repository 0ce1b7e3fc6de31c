"""Chat templates as Hugging Face writes them: jinja in a sandbox.

The sandbox isolates a template from the program; `limited_template.py` limits its time and memory. A template gets
`messages`, `tools` and `documents` (none), `add_generation_prompt` and values of the tokenizer (`bos_token`,
`eos_token`, ...). It may refuse a conversation with `raise_exception`, and put `{% generation %}` around text to learn.
The present day is no input: `strftime_now` exists only for a fixed day.
"""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from corpus_assets.tokenize.modes.chat.dialogues import LIMIT, Dialogue, Rendered, TemplateFault
from resources.errors import ConfigError

MAX_TEMPLATE = 1 << 20
MAX_OUTPUT = 64 << 20
MAX_PROBLEM = 1000
_CLOCK = "strftime_now"
_NAMES_OF_DICTS = frozenset(dir(dict))


class ChatTemplate:
    """A compiled template; `day` is what `strftime_now` says.

    ConfigError if the source is no template, is too long, or needs the day and none was fixed. An object renders one
    conversation at a time.
    """

    def __init__(self, source: str, *, day: date | None = None) -> None:
        if len(source) > MAX_TEMPLATE:
            raise ConfigError(f"chat template has {len(source)} characters; valid: at most {MAX_TEMPLATE}")
        self.source = source
        self._environment = _Environment()
        try:
            tree = self._environment.parse(source)
            _check_clock(tree, day)
            self._template = self._environment.from_string(tree)
        except (TemplateError, RecursionError, SyntaxError, ValueError) as error:
            raise ConfigError(f"chat template cannot be compiled: {error or type(error).__name__}") from error
        if day is not None:
            at = datetime(day.year, day.month, day.day)
            self._environment.globals[_CLOCK] = at.strftime

    def render(self, dialogue: Dialogue, values: Mapping[str, Any]) -> Rendered:
        """Returns the text of a conversation. `values`: what the template may name beside those of the dialogue.

        Raises TemplateFault `template_refused` (raise_exception), `template_error`, or for a text that is too long
        `template_limit`.
        """
        given = {
            **{"tools": None, "documents": None, **values, **dialogue.values},
            "add_generation_prompt": dialogue.generation_prompt,
            "messages": dialogue.messages,
        }
        environment = self._environment
        environment.start()
        try:
            # As `Template.generate` does, without the copies that it makes of all names.
            context = Context(environment, {**environment.globals, **given}, None, self._template.blocks)
            for part in self._template.root_render_func(context):
                environment.add(part)
            text = "".join(environment.parts)
            text.encode()
        except (TemplateFault, MemoryError):
            raise
        except Exception as error:  # A template computes with its input, so it can raise any exception.
            raise TemplateFault("template_error", f"{type(error).__name__}: {error}"[:MAX_PROBLEM]) from error
        return Rendered(text, tuple(environment.generated))


def names_read(source: str) -> set[str]:
    """Returns the names that a template reads and does not set itself. The source is one that compiles."""
    return meta.find_undeclared_variables(parsed(source))


def parsed(source: str) -> nodes.Template:
    """Returns the tree of a template. The source is one that compiles."""
    return _Environment().parse(source)


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox of one template, with the text of the rendering in progress."""

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation])
        self.filters["tojson"] = _to_json
        self.globals["raise_exception"] = _refuse
        self.globals.pop("lipsum")  # Removed because it is random.
        del self.filters["random"]
        self.start()

    def start(self) -> None:
        """Forget the last rendering."""
        self.parts: list[str] = []
        self.generated: list[tuple[int, int]] = []
        self._length = 0

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Returns the value of a key of an object, which is what templates nearly always ask for."""
        if type(obj) is dict and attribute in obj and attribute not in _NAMES_OF_DICTS:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def add(self, part: str) -> None:
        """Take a part of the text, which may not become too long."""
        self.parts.append(part)
        self._length += len(part)
        if self._length > MAX_OUTPUT:
            raise TemplateFault(LIMIT, f"more than {MAX_OUTPUT} characters")

    def generation(self, text: str) -> str:
        """Note where a generation block lies; it is the next part of the text."""
        if text:
            self.generated.append((self._length, self._length + len(text)))
        return text


class _Generation(Extension):
    """`{% generation %}...{% endgeneration %}`: the block as it is, and where it lies in the text."""

    tags = {"generation"}  # noqa: RUF012  jinja2 declares it as a plain set

    def parse(self, parser: Parser) -> nodes.Node:
        """Returns a call block around the body."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_note"), [], [], body).set_lineno(line)

    def _note(self, caller: Macro) -> str:
        environment = self.environment
        text = str(caller())
        return environment.generation(text) if isinstance(environment, _Environment) else text


def _check_clock(tree: nodes.Template, day: date | None) -> None:
    """Raises ConfigError for a template that asks for the day unguarded: it would fail on every conversation."""
    is_called = any(
        isinstance(call.node, nodes.Name) and call.node.name == _CLOCK for call in tree.find_all(nodes.Call)
    )
    tests = (test for test in tree.find_all(nodes.Test) if test.name == "defined")
    is_guarded = any(isinstance(test.node, nodes.Name) and test.node.name == _CLOCK for test in tests)
    if is_called and not is_guarded and day is None:
        raise ConfigError(f"chat template asks for the day ({_CLOCK}), and results may not depend on it; fix a day")


def _refuse(problem: str) -> NoReturn:
    raise TemplateFault("template_refused", str(problem)[:MAX_PROBLEM])


def _to_json(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, **options: Any) -> str:
    """Returns JSON without the HTML escapes of jinja's own filter; `sort_keys` is the one other option."""
    sort_keys = bool(options.get("sort_keys", False))
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
