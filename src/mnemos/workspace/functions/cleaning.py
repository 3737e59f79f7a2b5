"""Making readable text of web pages and of text with hidden or odd characters."""

from __future__ import annotations

import re

from mnemos.workspace.functions.base import Function, Value, as_text, expression

# Their content is not for readers.
_HIDDEN = frozenset("script style template noscript svg math iframe object canvas".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol option p pre section"
    " select summary table tbody tfoot thead title tr ul".split()
)
# Those that stand apart from what is around them.
_PARAGRAPHS = frozenset("article blockquote h1 h2 h3 h4 h5 h6 ol p pre section table title ul".split())
_ROWS = frozenset(["li", "tr"])
_CELLS = frozenset(["td", "th"])

# Quotes may hold the sign that ends a tag. Possessive, so that a tag that never ends is read once.
_TAG_END = r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>"""
_TAG = r"<(?:(?P<closing>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:_-]*+)(?=[\s/>])|(?P<other>[!?]))"

# A reference past any code point: the standard library would make a number of it, however long.
_HUGE_REFERENCE = r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?"

_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]+"
)
# A flag such as the one of Scotland is spelled in tag characters, which are invisible elsewhere.
_FLAG = "(\U0001f3f4[\U000e0020-\U000e007f]+)"
_LINE_BREAK = "\r\n?|[\x85\u2028\u2029]"
_BLANKS = "[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+"
# Nobody reads more marks on one letter, and the normal form of a stack takes the square of its height.
_MOST_MARKS = 30


class _Page:
    """The text of a page while it is read: blanks as a browser shows them, outside of ``pre``."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.breaks = 2
        """Line breaks at the end so far; at the beginning none are wanted."""
        self.blank = False
        self.is_item = False
        """The next text is the first of a list item."""
        self.tabs = 0
        """Cells begun since the last text in the row."""
        self.cells = 0
        self.preformatted = 0

    def write(self, text: str) -> None:
        if self.preformatted:
            self._put(text)
            return
        words = text.split()
        if not words:
            self.blank = self.blank or bool(text)
            return
        if not self.breaks and not self.tabs and (self.blank or text[0].isspace()):
            self.pieces.append(" ")
        self._put(" ".join(words))
        self.blank = text[-1].isspace()

    def _put(self, text: str) -> None:
        if text:
            self.pieces += ("- " if self.is_item else "\t" * self.tabs, text)
            self.is_item = False
            self.tabs = 0
            self.breaks = 0
            self.blank = False

    def end_line(self, breaks: int) -> None:
        if self.breaks < breaks and not self.is_item:
            self.pieces.append("\n" * (breaks - self.breaks))
            self.breaks = breaks
        self.blank = False

    def tag(self, name: str, *, closing: bool) -> None:
        """Lay out what a tag asks for."""
        if name == "br":
            self.pieces.append("\n")
            self.breaks += 1
            self.blank = False
        elif name in _CELLS:
            if not closing:
                self.tabs += 1 if self.cells else 0
                self.cells += 1
        elif name in _BLOCKS:
            self.end_line(2 if name in _PARAGRAPHS else 1)
            if name == "pre":
                self.preformatted = max(0, self.preformatted + (-1 if closing else 1))
            elif name in _ROWS:
                self.is_item = name == "li" and not closing
                self.cells = self.tabs = 0

    def text(self) -> str:
        lines = "\n".join(line.rstrip() for line in "".join(self.pieces).split("\n"))
        return expression(r"\n{3,}").sub("\n\n", lines).strip()


def html_to_text(html: Value) -> Value:
    source = as_text(html)
    page = _Page()
    next_tag = expression(_TAG).search
    tag_end = expression(_TAG_END).match
    at = close = 0
    quotes_end = True
    while found := next_tag(source, at):
        start = found.start()
        if start > at:
            page.write(_unescaped(source[at:start]))
        if close <= start:
            close = source.find(">", start)
        if close < 0:
            # Nothing ends a tag any more. A comment hides the rest, as in a browser; else it is text.
            at = len(source) if found["other"] else start
            break
        name = found["name"]
        if name is None:
            at = _after_declaration(source, start, close)
            continue
        at = close + 1
        if found.end() < close and quotes_end:
            quoted = tag_end(source, found.end())
            at = quoted.end() if quoted else at
            # After a quote that never ends quotes mean nothing, or each tag would look for the end again.
            quotes_end = quoted is not None
        name = name.lower()
        if name in _HIDDEN and not found["closing"]:
            at = _after_hidden(source, name, at)
        else:
            page.tag(name, closing=bool(found["closing"]))
    if at < len(source):
        page.write(_unescaped(source[at:]))
    return page.text()


def _after_declaration(source: str, start: int, close: int) -> int:
    """Where a comment, declaration or instruction ends; ``close`` is the first sign that may end it."""
    if not source.startswith("<!--", start):
        return close + 1
    end = source.find("-->", start + 4)
    return end + 3 if end >= 0 else len(source)


def _after_hidden(source: str, name: str, at: int) -> int:
    """Where an element ends whose content is left out; without an end it is the rest of the page."""
    if source[at - 2] == "/":
        return at
    found = expression(f"(?i:</{name})").search(source, at)
    close = source.find(">", found.end()) if found else -1
    return close + 1 if close >= 0 else len(source)


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    # html: its table of names is large, and only for those who use it.
    from html import unescape

    return unescape(expression(_HUGE_REFERENCE).sub("\ufffd", text))


def clean_text(text: Value) -> Value:
    # unicodedata: only for those who use it.
    from unicodedata import combining, normalize

    whole = expression(_LINE_BREAK).sub("\n", as_text(text))
    whole = expression(f"{_FLAG}|{_INVISIBLE}").sub(lambda found: found[1] or "", whole)
    marks = "".join(sorted(character for character in set(whole) if combining(character)))
    if marks:
        # Not kept by `expression`: it depends on the text.
        whole = re.sub(f"([{marks}]{{{_MOST_MARKS}}})[{marks}]+", r"\1", whole)
    whole = expression(_BLANKS).sub(" ", normalize("NFC", whole))
    whole = expression(" ?\n ?").sub("\n", whole)
    return expression("\n{3,}").sub("\n\n", whole).strip()


FUNCTIONS = (
    Function(
        "html_to_text",
        "html_to_text(html)",
        "What a reader sees: no tags, scripts or styles; paragraphs, list items and table rows on lines of"
        " their own.",
        "html_to_text('<p>Fish &amp; <b>chips</b></p><script>x()</script>')",
        "'Fish & chips'",
        call=html_to_text,
    ),
    Function(
        "clean_text",
        "clean_text(text)",
        "Blanks and line breaks made plain, runs of them made one (a blank line stays), invisible and control"
        " characters removed, accents composed.",
        "clean_text('  a' || char(160, 8203, 9) || 'b ' || char(13, 10) || 'c ')",
        "'a b' || char(10) || 'c'",
        call=clean_text,
    ),
)
