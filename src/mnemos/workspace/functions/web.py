"""Web pages and other found text: made readable, and searched for JSON and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemos.workspace.functions.function import (
    Function,
    FunctionFailed,
    Value,
    as_json,
    as_text,
    as_whole,
    declare,
    expression,
    quote_value,
    refuse_constant,
)

FUNCTIONS: list[Function] = []

# Elements whose content is not for readers.
_HIDDEN = frozenset("script style template noscript svg math iframe object canvas".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol option p pre section"
    " select summary table tbody tfoot thead title tr ul".split()
)
# Blocks with a blank line around them.
_PARAGRAPHS = frozenset("article blockquote h1 h2 h3 h4 h5 h6 ol p pre section table title ul".split())
_ROWS = frozenset(["li", "tr"])
_CELLS = frozenset(["td", "th"])

# Quotes may contain the sign that ends a tag. Possessive, so that a tag without an end is read once.
_TAG_END = r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>"""
_TAG = r"<(?:(?P<closing>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:_-]*+)(?=[\s/>])|(?P<other>[!?]))"

# A reference beyond any code point. The standard library would convert it to a number, however long.
_HUGE_REFERENCE = r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?"

_INVISIBLE = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]+"
)
# A flag such as the one of Scotland is spelled in tag characters, which are invisible elsewhere.
_FLAG = "(\U0001f3f4[\U000e0020-\U000e007f]+)"
_LINE_BREAK = "\r\n?|[\x85\u2028\u2029]"
_BLANKS = "[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+"
# Nobody reads more marks on one letter, and normalising a stack takes the square of its height.
_MOST_MARKS = 30

# Characters read in vain for JSON before the rest of a text is given up: each bracket may lead to its end.
MOST_READ = 40_000_000

# Only with what may follow, so that brackets in prose and code cost little.
_OPENING = r'\{(?=[ \t\r\n]*+["}])|\[(?=[ \t\r\n]*+[\[\]{"0-9tfn-])'

# Letters of scripts with blanks between words. Others may touch an address.
_LETTER = r"[^\W\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]"
# Only tried where a name can begin, so that a long run of letters is read once.
_EMAIL = (
    rf"(?<!{_LETTER})(?<![.+%-])((?:{_LETTER}|[+%-])(?:{_LETTER}|[.+%-]){{0,63}})"
    r"@((?:[^\W_][\w-]{0,62}\.){1,10}[A-Za-z]{2,63})(?![A-Za-z0-9_-])"
)

_URL = (
    r"(?<![\w@.])(?i:(?:https?|ftp)://|www\.(?=[^\W_]))(?:[^\s<>\"'\[\]/]*@)?(?:\[[0-9a-fA-F:.]{2,45}\](?::[0-9]{1,5})?)?"
    "[^\\s<>\"'`\\[\\]{}|\\\\^\x00-\x1f\u3000-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u201c\u201d\u2019]*"
)

_PARTS = {
    "scheme": "scheme", "protocol": "scheme", "host": "host", "hostname": "host", "domain": "host",
    "port": "port", "path": "path", "filename": "filename", "file": "filename", "query": "query",
    "search": "query", "fragment": "fragment", "hash": "fragment", "ref": "fragment", "anchor": "fragment",
    "user": "user", "username": "user", "password": "password", "authority": "authority",
    "netloc": "authority", "origin": "origin",
}  # fmt: skip
# A host without a scheme. Its port would otherwise be taken for what follows a scheme.
_BARE_HOST = r"(?:[\w-]+(?:\.[\w-]+)+|localhost)(?::[0-9]+)?(?:[/?#].*)?"


class _Page:
    """Text of a page under construction, with blanks as in a browser except inside of ``pre``."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.breaks = 2
        """Line breaks at the end so far. At the beginning none are wanted."""
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

    def apply_tag(self, name: str, *, closing: bool) -> None:
        """Apply the layout of a tag."""
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


@declare(
    FUNCTIONS,
    "html_to_text(html)",
    "html_to_text('<p>Fish &amp; <b>chips</b></p><script>x()</script>')",
    "'Fish & chips'",
)
def html_to_text(html: Value) -> Value:
    """The text a reader sees: no tags, scripts or styles; paragraphs, list items and table rows on separate
    lines."""
    source = as_text(html)
    page = _Page()
    next_tag = expression(_TAG).search
    tag_end = expression(_TAG_END).match
    at = close = 0
    quotes_end = True
    while found := next_tag(source, at):
        start = found.start()
        if start > at:
            page.write(_unescape(source[at:start]))
        if close <= start:
            close = source.find(">", start)
        if close < 0:
            # No tag ends any more. As in a browser, a comment hides the rest; otherwise it is text.
            at = len(source) if found["other"] else start
            break
        name = found["name"]
        if name is None:
            at = _skip_declaration(source, start, close)
            continue
        at = close + 1
        if found.end() < close and quotes_end:
            quoted = tag_end(source, found.end())
            at = quoted.end() if quoted else at
            # After an unclosed quote, quotes mean nothing, or each tag would look for the end again.
            quotes_end = quoted is not None
        name = name.lower()
        if name in _HIDDEN and not found["closing"]:
            at = _skip_hidden(source, name, at)
        else:
            page.apply_tag(name, closing=bool(found["closing"]))
    if at < len(source):
        page.write(_unescape(source[at:]))
    return page.text()


def _skip_declaration(source: str, start: int, close: int) -> int:
    """Return where a comment or declaration ends. ``close`` is the first sign that may end it."""
    if not source.startswith("<!--", start):
        return close + 1
    end = source.find("-->", start + 4)
    return end + 3 if end >= 0 else len(source)


def _skip_hidden(source: str, name: str, at: int) -> int:
    """Return where a hidden element ends. Without an end, the rest of the page is hidden."""
    if source[at - 2] == "/":
        return at
    found = expression(f"(?i:</{name})").search(source, at)
    close = source.find(">", found.end()) if found else -1
    return close + 1 if close >= 0 else len(source)


def _unescape(text: str) -> str:
    if "&" not in text:
        return text
    # html: its table of names is large.
    from html import unescape

    return unescape(expression(_HUGE_REFERENCE).sub("\ufffd", text))


@declare(
    FUNCTIONS,
    "clean_text(text)",
    "clean_text('  a' || char(160, 8203, 9) || 'b ' || char(13, 10) || 'c ')",
    "'a b' || char(10) || 'c'",
)
def clean_text(text: Value) -> Value:
    """Plain blanks and line breaks, one at a time (a blank line stays), no invisible or control characters,
    accents composed."""
    # unicodedata: loaded by the first function that needs it.
    from unicodedata import combining, normalize

    whole = expression(_LINE_BREAK).sub("\n", as_text(text))
    whole = expression(f"{_FLAG}|{_INVISIBLE}").sub(lambda found: found[1] or "", whole)
    marks = "".join(sorted(character for character in set(whole) if combining(character)))
    if marks:
        # Not cached by `expression`: it depends on the text.
        whole = re.sub(f"([{marks}]{{{_MOST_MARKS}}})[{marks}]+", r"\1", whole)
    whole = expression(_BLANKS).sub(" ", normalize("NFC", whole))
    whole = expression(" ?\n ?").sub("\n", whole)
    return expression("\n{3,}").sub("\n\n", whole).strip()


@declare(
    FUNCTIONS,
    "extract_json(text [, number])",
    """extract_json('Result: {"ok": true}, bye')""",
    """'{"ok": true}'""",
)
def extract_json(text: Value, number: Value = 1) -> Value:
    """The first JSON object or array in the text, or the one with that number, unchanged; NULL without
    one."""
    nth = as_whole(number, "number")
    if nth < 1:
        raise FunctionFailed(f"number is {nth}; the first is 1")
    for count, found in enumerate(_find_documents(as_text(text)), start=1):
        if count == nth:
            return found
    return None


def _find_documents(text: str) -> Iterator[str]:
    """Yield the outermost JSON objects and arrays from left to right.

    Where a document breaks off, the complete ones inside of it count on their own.
    """
    # json: loaded by the first function that needs it.
    from json import JSONDecodeError, JSONDecoder

    decode = JSONDecoder(parse_constant=refuse_constant).raw_decode
    opening = expression(_OPENING)
    at = wasted = 0
    while start := opening.search(text, at):
        first = at = start.start()
        try:
            at = decode(text, first)[1]
        except (ValueError, RecursionError) as exc:
            at = first + 1
            wasted += (exc.pos if isinstance(exc, JSONDecodeError) else len(text)) - first
            if wasted > MOST_READ:
                return
        else:
            yield text[first:at]


@declare(
    FUNCTIONS,
    "extract_emails(text)",
    "extract_emails('Write to ada@example.org.')",
    """'["ada@example.org"]'""",
)
def extract_emails(text: Value) -> Value:
    """JSON array of the e-mail addresses, each once."""
    found = expression(_EMAIL).finditer(as_text(text))
    return as_json(
        list(dict.fromkeys(match[0] for match in found if ".." not in match[1] and match[1][-1] != "."))
    )


@declare(
    FUNCTIONS,
    "extract_urls(text)",
    "extract_urls('See (https://example.org/a?b=1).')",
    """'["https://example.org/a?b=1"]'""",
)
def extract_urls(text: Value) -> Value:
    """JSON array of the web addresses, each once, without the punctuation around them."""
    found = (_strip_punctuation(match[0]) for match in expression(_URL).finditer(as_text(text)))
    return as_json([url for url in dict.fromkeys(found) if not url.endswith("//")])


def _strip_punctuation(url: str) -> str:
    """Strip the punctuation of the sentence. A closing bracket stays if it was opened in the address."""
    open_brackets = url.count("(") - url.count(")")
    end = len(url)
    while end:
        last = url[end - 1]
        if last == ")" and open_brackets < 0:
            open_brackets += 1
        elif last not in ".,;:!?*…。、":
            break
        end -= 1
    return url[:end]


@declare(
    FUNCTIONS,
    "url_extract(url, part [, key])",
    "url_extract('https://ada:pw@Example.org:8080/x?q=1', 'host')",
    "'example.org'",
)
def url_extract(url: Value, part: Value, key: Value = None) -> Value:
    """A part of the address: scheme, host, port, path, filename, query, fragment, user, password, authority
    or origin; 'query' with a key gives that parameter. NULL if it has none."""
    name = _PARTS.get(as_text(part).strip().lower())
    if name is None:
        raise FunctionFailed(f"part is {quote_value(part)}; use {', '.join(dict.fromkeys(_PARTS.values()))}")
    # urllib.parse: loaded by the first function that needs it.
    from urllib.parse import parse_qsl, unquote, urlsplit

    # Browsers read a backslash as a slash, which would hide the true host.
    whole = as_text(url).strip().replace("\\", "/")
    if expression(_BARE_HOST, re.DOTALL).fullmatch(whole):
        whole = f"//{whole}"
    try:
        address = urlsplit(whole)
    except ValueError:
        # A bracket of an IPv6 address is not closed.
        return None
    if name == "query" and key is not None:
        pairs = parse_qsl(address.query, keep_blank_values=True)
        return next((value for name, value in pairs if name == as_text(key)), None)
    host = address.hostname or ""
    if name in ("port", "origin"):
        try:
            port = address.port
        except ValueError:
            return None
        if name == "port":
            return port
        if not address.scheme or not host:
            return None
        bracketed = f"[{host}]" if ":" in host else host
        return f"{address.scheme}://{bracketed}{'' if port is None else f':{port}'}"
    found = {
        "scheme": address.scheme,
        "host": host,
        "path": address.path,
        "filename": address.path.rpartition("/")[2],
        "query": address.query,
        "fragment": address.fragment,
        "user": unquote(address.username or ""),
        "password": unquote(address.password or ""),
        "authority": address.netloc,
    }[name]
    return found or None
