"""What a chat template reads, found in its source: names of variables, and keys of messages."""

from collections.abc import Iterator
from typing import Final

from jinja2 import nodes

from corpus_assets.tokenize.modes.chat.dialogues import Reads
from corpus_assets.tokenize.modes.chat.template import names_read, parsed

_MESSAGES: Final = "messages"
_NAMESPACE: Final = "namespace"
_WRITES_ALL: Final = {"dictsort", "items", "pprint", "string", "tojson", "xmlattr"}
"""Filters, and methods of a dictionary, that give every key of an object."""
_ALL_METHODS: Final = {"copy", "get", "items", "keys", "values"}
_COUNTS: Final = {"length", "count"}


def reads_of(source: str) -> Reads:
    """Returns what a template reads. The source is one that compiles.

    A key counts as read if its name stands anywhere in the template, so a key that is not among `keys` is read nowhere.
    """
    template = parsed(source)
    messages = _names_of_messages(template)
    found = {one.attr for one in template.find_all(nodes.Getattr)}
    found.update(one.value for one in template.find_all(nodes.Const) if isinstance(one.value, str))
    any_key = any(_any_key(node, messages) for node in template.find_all(nodes.Node))
    return Reads(frozenset(names_read(source)), None if any_key else frozenset(found))


def _names_of_messages(template: nodes.Template) -> set[str]:
    """Returns the variables that hold the messages or one of them; those of a namespace begin with a dot."""
    macros = {macro.name: macro for macro in template.find_all(nodes.Macro)}
    known, before = {_MESSAGES}, 0
    while len(known) > before:
        before = len(known)
        for loop in template.find_all(nodes.For):
            if _whole(loop.iter, known):
                known.update(_names(loop.target))
        for assigned in template.find_all(nodes.Assign):
            if _whole(assigned.node, known):
                known.update(_names(assigned.target))
        for call in template.find_all(nodes.Call):
            if macro := macros.get(_called(call)):
                given_to = zip(macro.args, call.args, strict=False)
                known.update(arg.name for arg, given in given_to if _whole(given, known))
            if _called(call) in (*macros, _NAMESPACE):
                dot = "." if _called(call) == _NAMESPACE else ""
                known.update(dot + given.key for given in call.kwargs if _whole(given.value, known))
    return known | {f"{macro}()" for macro in macros}  # What a macro is given was looked at above.


def _called(call: nodes.Call) -> str:
    return call.node.name if isinstance(call.node, nodes.Name) else ""


def _names(target: nodes.Node) -> Iterator[str]:
    if isinstance(target, nodes.NSRef):
        yield f".{target.attr}"
    for name in (target, *target.find_all(nodes.Name)):
        if isinstance(name, nodes.Name):
            yield name.name


def _whole(node: nodes.Node, messages: set[str]) -> bool:
    """Returns whether a value may hold a whole message: not if a key of one is taken, or messages are counted."""
    match node:
        case nodes.Name():
            return node.name in messages
        case nodes.Getattr():
            return f".{node.attr}" in messages
        case nodes.Getitem(arg=nodes.Const(value=str())):
            return False
        case nodes.Getitem():
            return _whole(node.node, messages)
        case nodes.Filter() if node.name in _COUNTS:
            return False
        case nodes.Test() | nodes.Compare() | nodes.Call(node=nodes.Name()):
            return False
    return any(_whole(child, messages) for child in node.iter_child_nodes())


def _any_key(node: nodes.Node, messages: set[str]) -> bool:
    """Returns whether a node may read any key of a message."""
    match node:
        case nodes.Filter() if node.name in _WRITES_ALL and node.node is not None:
            return _whole(node.node, messages)
        case nodes.Call() if _called(node) != _NAMESPACE and f"{_called(node)}()" not in messages:
            return any(_whole(given, messages) for given in (*node.args, *node.kwargs)) or _method(node, messages)
        case nodes.Getitem(node=nodes.Name(name=name), arg=nodes.Name()):
            return name in messages - {_MESSAGES}
        case nodes.Output() | nodes.Concat() | nodes.Add():
            return any(
                isinstance(one, nodes.Name | nodes.Getitem) and _whole(one, messages) for one in node.iter_child_nodes()
            )
    return False


def _method(call: nodes.Call, messages: set[str]) -> bool:
    """Returns whether a method of a message gives its keys; `get` of a constant names its key."""
    method = call.node
    if not isinstance(method, nodes.Getattr) or method.attr not in _ALL_METHODS:
        return False
    named = method.attr == "get" and call.args and isinstance(call.args[0], nodes.Const)
    return not named and _whole(method.node, messages)
