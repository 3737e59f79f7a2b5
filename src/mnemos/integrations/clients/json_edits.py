"""Changing one member of a JSON text, in the hand of who wrote it; every other byte stays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemos.errors import Refused
from mnemos.integrations.clients.edits import Addition, Keys, Trace, at
from mnemos.integrations.clients.jsonc import Container, Document, Part, decoded

_SPACES: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Json:
    """Settings in JSON; with ``comments``, comments and a comma after the last member are read too."""

    comments: bool = False

    def value(self, text: str, where: str) -> dict[str, Any]:
        value: dict[str, Any] = self._document(text, where).value
        return value

    def add(self, text: str, addition: Addition, where: str) -> tuple[str, Trace]:
        document = self._document(text, where)
        if document.is_blank:
            changed, trace = _begun(document, addition)
        else:
            changed, trace = _inserted(document, addition)
        expected = _with(document.value, addition)
        return self._checked(changed, expected, where), trace

    def entry(self, text: str, keys: Keys, where: str) -> dict[str, Any]:
        document = self._document(text, where)
        if not isinstance(at(document.value, keys), Mapping):
            return {}
        found: dict[str, Any] = document.plain(_inside(document, keys))
        return found

    def remove(self, text: str, keys: Keys, trace: Trace, where: str) -> str:
        document = self._document(text, where)
        expected = _without(document.value, keys)
        changed = self._checked(_cut(document, keys), expected, where)
        outer = [keys[:depth] for depth in range(len(keys) - 1, -1, -1)]
        for container in outer[: trace.made]:
            document = self._document(changed, where)
            inside = _inside(document, container)
            if not _is_blank(document, inside):
                return changed
            if not container:
                return _ended(document, inside, trace)
            changed = _cut(document, container)
        left = outer[trace.made : trace.made + 1]
        if trace.empty is not None and left:
            return _emptied(self._document(changed, where), left[0], trace.empty)
        return changed

    def _document(self, text: str, where: str) -> Document:
        return Document(text, where, comments=self.comments)

    def _checked(self, text: str, expected: Any, where: str) -> str:
        # Nothing that would change anything else is ever written.
        if self._document(text, where).value != expected:
            raise Refused(f"{where} is written in a way that cannot be changed safely; change it by hand")
        return text


# --- putting in ----------------------------------------------------------------------------------


def _begun(document: Document, addition: Addition) -> tuple[str, Trace]:
    """A document where there was none."""
    hand = _Hand.of(document)
    text = document.text
    lead = hand.newline if document.bare.strip(_SPACES) != text.strip(_SPACES + "\ufeff") else ""
    lead = "" if text.endswith(("\n", "\r")) else lead
    whole = hand.written(_nested(addition, 0), "")
    trace = Trace(made=len(addition.containers) + 1, empty=text)
    return f"{text}{lead}{whole}{hand.newline}", trace


def _inserted(document: Document, addition: Addition) -> tuple[str, Trace]:
    hand = _Hand.of(document)
    names = addition.containers
    depth = 0
    inside = document.outermost()
    while depth < len(names):
        kind = "[" if addition.is_item and depth + 1 == len(names) else "{"
        below = document.container(names[: depth + 1], kind)
        if below is None:
            break
        inside, depth = below, depth + 1
    made = len(names) - depth
    nested = _nested(addition, depth)
    if made == 0 and addition.is_item:
        key, value = None, addition.value
    else:
        ((key, value),) = nested.items()
    text = _put(document, inside, hand, key, value)
    blank = document.text[inside.open + 1 : inside.close]
    is_empty = not inside.parts and not blank.strip(_SPACES)
    return text, Trace(made=made, empty=blank if is_empty else None)


def _put(document: Document, inside: Container, hand: _Hand, key: str | None, value: Any) -> str:
    text = document.text
    content = len(text[: inside.close].rstrip(_SPACES))
    last = inside.parts[-1] if inside.parts else None
    ends_with_comma = last is not None and "," in document.bare[last.end : inside.close]
    is_empty = last is None and content == inside.open + 1
    is_spread = hand.is_spread if is_empty else "\n" in text[inside.open : inside.close]
    own = _indent_of(text, inside.open)
    if is_spread:
        indent = _indent_of(text, last.start) if last and _begins_line(text, last.start) else own + hand.unit
        lead = hand.newline + indent
        member = hand.member(key, value, indent)
    else:
        lead = "" if is_empty else hand.gap
        member = hand.member(key, value, None)
    closes_there = "\n" in text[content : inside.close]
    tail = hand.newline + own if is_spread and is_empty and not closes_there else ""
    comma = last.end if last and not ends_with_comma else content
    return "".join(
        (
            text[:comma],
            "," if last and not ends_with_comma else "",
            text[comma:content],
            lead,
            member,
            "," if ends_with_comma else "",
            tail,
            text[content:],
        )
    )


def _nested(addition: Addition, depth: int) -> dict[str, Any]:
    """The addition in the containers that are not there."""
    names = addition.containers[depth:]
    value: Any = [addition.value] if addition.is_item else {addition.path[-1]: addition.value}
    for name in reversed(names):
        value = {name: value}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class _Hand:
    """How somebody writes JSON."""

    newline: str
    unit: str
    """One step of indentation."""
    gap: str
    """What stands after a comma and a colon in one line."""
    is_spread: bool
    """Members stand on lines of their own."""

    @classmethod
    def of(cls, document: Document) -> _Hand:
        text = document.text
        newline = "\r\n" if "\r\n" in text else "\n"
        if document.is_blank:
            return cls(newline, "  ", " ", is_spread=True)
        parts = document.outermost().parts
        first = parts[0] if parts else None
        is_spread = first is None or "\n" in text[document.root :].rstrip(_SPACES)
        unit = _indent_of(text, first.start) if first and _begins_line(text, first.start) else "  "
        gap = "" if first and text[first.value - 1] == ":" else " "
        return cls(newline, unit, gap, is_spread=is_spread)

    def member(self, key: str | None, value: Any, indent: str | None) -> str:
        """A member, or an item; ``indent`` is that of its line, None: all in one line."""
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + ":" + (self.gap or "")
        return name + (self._in_line(value) if indent is None else self.written(value, indent))

    def written(self, value: Any, indent: str) -> str:
        """A value on several lines; lists of plain values stay on one."""
        if isinstance(value, Mapping) and value:
            inner = [
                f"{self.newline}{indent}{self.unit}{self.member(key, one, indent + self.unit)}"
                for key, one in value.items()
            ]
            return "{" + ",".join(inner) + f"{self.newline}{indent}}}"
        if isinstance(value, Sequence) and any(isinstance(one, Mapping | list) for one in value):
            inner = [
                f"{self.newline}{indent}{self.unit}{self.written(one, indent + self.unit)}" for one in value
            ]
            return "[" + ",".join(inner) + f"{self.newline}{indent}]"
        return self._in_line(value)

    def _in_line(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=("," + self.gap, ":" + self.gap))


# --- taking out ----------------------------------------------------------------------------------


def _cut(document: Document, keys: Keys) -> str:
    """The text without one member or item, with every comment that is not in it."""
    inside = _inside(document, keys[:-1])
    number, part = next((n, part) for n, part in enumerate(inside.parts) if part.key == keys[-1])
    text = document.text
    lead = _lead(text, part)
    following = inside.parts[number + 1].start if number + 1 < len(inside.parts) else inside.close
    comma = document.bare.find(",", part.end, following)
    cuts = [(lead, part.end)]
    if comma >= 0:
        cuts.append((comma, comma + 1))
    elif number:
        before = document.bare.find(",", inside.parts[number - 1].end, part.start)
        cuts.append((before, before + 1))
    rest = text[max(part.end, comma + 1) : following].lstrip(" \t")
    ends_line = rest.startswith(("\r", "\n", "//"))
    after_comment = lead in document.line_comments
    is_last = following == inside.close
    if "\n" in text[lead : part.start] and not ends_line and (after_comment or not is_last):
        # What follows in this line must not move up, perhaps into a comment.
        cuts[0] = (part.start, part.end)
    return _without_cuts(text, cuts)


def _lead(text: str, part: Part) -> int:
    return len(text[: part.start].rstrip(_SPACES))


def _without_cuts(text: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def _inside(document: Document, keys: Keys) -> Container:
    found = document.container(keys, "[" if isinstance(at(document.value, keys), list) else "{")
    return document.outermost() if found is None else found


def _is_blank(document: Document, inside: Container) -> bool:
    return not document.text[inside.open + 1 : inside.close].strip(_SPACES)


def _emptied(document: Document, keys: Keys, blank: str) -> str:
    """The text with the blanks back that stood in an empty container."""
    inside = _inside(document, keys)
    if not _is_blank(document, inside):
        return document.text
    return document.text[: inside.open + 1] + blank + document.text[inside.close :]


def _ended(document: Document, root: Container, trace: Trace) -> str:
    """The text as it was before there was a document in it, unless something stands behind it now."""
    if document.text[root.close + 1 :].strip(_SPACES):
        return document.text
    before = document.text[: root.open]
    return trace.empty if trace.empty is not None and before.startswith(trace.empty) else document.text


# --- both ----------------------------------------------------------------------------------------


def _begins_line(text: str, position: int) -> bool:
    return text[:position].rstrip(" \t").endswith(("\n", "\r"))


def _indent_of(text: str, position: int) -> str:
    """The blanks that the line of a position begins with."""
    line = text[max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _with(value: Any, addition: Addition) -> Any:
    """What the settings say with an addition; they themselves stay, and are not copied whole."""
    changed = inside = dict(value)
    for name in addition.path[:-1]:
        inside[name] = inside = dict(inside.get(name, {}))
    last = addition.path[-1]
    own = decoded(addition.value)
    inside[last] = [*inside.get(last, ()), own] if addition.is_item else own
    return changed


def _without(value: Any, keys: Keys) -> Any:
    changed: Any = value.copy()
    inside = changed
    for key in keys[:-1]:
        inside[key] = inside = inside[key].copy()
    del inside[keys[-1]]
    return changed
