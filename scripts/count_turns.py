"""Count turns of phrase that read as translated: ``python scripts/count_turns.py [--list]``.

Prose is Markdown outside code, comments (of Python, JavaScript and SQL), docstrings, texts of HTML, and in
shipped code and examples the strings with three words or more. Names of functions and tests are checked,
too. ``tests/house/test_turns.py`` keeps the count at zero.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "docs", "tests", "examples", "benchmarks", "scripts")
SUFFIXES = ("py", "md", "js", "html", "sql")
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "MEMORY_SPEC.md",
    "CODE_OF_CONDUCT.md",
)
# Their strings are read by people or models. Strings of tests are mostly made-up conversations.
SPEAKING = ("src/", "examples/")

_UNIT = (
    r"(?:call|line|second|CPU|minute|file|page|session|message|fact|question|row|token|process|turn|space)"
)
_NUMBER = r"(?:\d+|one|two|three|five|ten|hundred|thousand|million|bytes|[kMG]B|ms|tokens|characters|rows)"
_COMPARED = r"(?! longer| more| less| better| larger| smaller| faster| slower| newer| older)"
_PRODUCT = r"(?:ChatGPT|Claude|Codex|mem0)"
_CLAUSE = r"(?:What|Who|Whether|Whoever|Whatever)\b"
TURNS = {
    "is no": rf"(?<!there )(?<!here )\b(?:is|are|was|were) no\b{_COMPARED}",
    "so many": r"\bso (?:many|much|few|long as that)\b(?! (?:that|of|as|the)\b)",
    "stands": r"\b(?:stands?|stood)\b(?! for\b|-)",
    "told": r"\btold\b",
    "take back": r"\b(?:take|takes|taken|took|taking|brings?|brought|give|gives|given) back\b",
    "bring in": r"\b(?:brings?|brought|bringing) in\b",
    "bring back": r"\bbring(?:s|ing)?\b(?: \w+){1,4} back\b",
    "listened on": r"\bcannot be listened\b|\bbe listened on\b",
    "of its own": r"\ban? [\w-]+ of (?:its|their) own\b",
    "apart": r"\b(?:is|are|was|were|keeps?|kept|keeping|each)\b[^.;:]* "
    r"(?<!far )(?<!them )(?<!minute )apart(?=[.,;:)]|\Z)",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "tidy": r"\btid(?:y|ies|ied|ying)\b",
    "lift": r"\blift(?:s|ed|ing)?\b",
    "take away": r"\b(?:take|takes|taken|took|taking) away\b",
    "a call for per call": rf"\b{_NUMBER} an? {_UNIT}\b",
    "whatever its": r"\bwhatever (?:the|its|their) \w+(?: is| are| says)?(?=[.,;:)])",
    "nothing but": r"\bnothing but\b",
    "beside": r"\bbeside\b",
    "meanwhile at the end": r"(?<!\A)(?<![.:;] )\bmeanwhile(?=[.,;:)]|\Z)",
    "stays as it is": r"\b(?:left|leaves?|stays?) as (?:it is|they are)\b",
    "no longer holds": r"\bno longer holds?\b",
    "where none are": r"\bwhere (?:none (?:is|are)|there (?:is|are) none)\b",
    "for ever": r"\bfor ever\b",
    "good once": r"\bgood once\b",
    "a genitive of Mnemos": r"\bMnemos'(?!s)",
    "so that nobody waits": r"\bso that nobody\b",
    "an ambiguous next time": r"\bthe next time what\b",
    "like an order": r"\bread(?:s|ing)? like an order\b",
    "exports of a product": rf"\b(?:README|hooks?|exports?|transcripts?|rollouts?) of {_PRODUCT}\b",
    "clause as a subject": rf"(?:^|(?<=[.!?] )){_CLAUSE}(?![^.?!]*\?)[^.?!]+[.;:]",
}
# Fine in a test's name, tiresome in a text.
_READ_BY_USERS = (
    *("of its own", "apart", "bring back", "whatever its", "nothing but", "beside", "meanwhile at the end"),
    *("like an order", "exports of a product", "stays as it is", "no longer holds", "where none are"),
)
_CLAUSE_DOCSTRING = re.compile(rf"{_CLAUSE}|(?:How|Why|Where)\b")
_PATTERNS = {
    name: re.compile(pattern, re.IGNORECASE if name != "clause as a subject" else 0)
    for name, pattern in TURNS.items()
}
_IRREGULAR = (
    "told said shown written kept made given taken seen known sent drawn chosen built done heard gone"
)
_PARTICIPLE = re.compile(rf"_?(?:[a-z]{{2,}}ed|{_IRREGULAR.replace(' ', '|')})")
# Verbs that end like a participle.
_VERBS = {"embed", "feed", "need", "proceed", "read", "seed", "speed", "succeed"}


class Turn(NamedTuple):
    """One turn of phrase and its place."""

    path: str
    line: int
    name: str
    text: str


def find_turns(path: Path) -> Iterator[Turn]:
    """Yield the turns in a file, in no particular order."""
    where = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        prose = _read_markdown(text)
    elif path.suffix != ".py":
        prose = _read_other(path.suffix, text)
    else:
        tree = ast.parse(text)
        prose = _read_python(text, tree, strings=where.startswith(SPEAKING))
        for line, name in _find_participles(tree) if where.startswith(SPEAKING) else ():
            yield Turn(where, line, "participle as a function", name)
    for line, kind, paragraph in prose:
        if kind == "docstring" and _CLAUSE_DOCSTRING.match(paragraph):
            yield Turn(where, line, "clause as a docstring", paragraph)
        for name, pattern in _PATTERNS.items():
            if name in _READ_BY_USERS and where.startswith(("tests/", "benchmarks/")):
                continue
            if name == "clause as a subject" and kind == "docstring" and _CLAUSE_DOCSTRING.match(paragraph):
                continue
            for match in pattern.finditer(paragraph):
                start = max(0, match.start() - 40)
                yield Turn(where, line, name, paragraph[start : match.end() + 40])


def list_files() -> list[Path]:
    """Return every file whose prose counts. Migrations are released, and never change."""
    files = [
        path for folder in FOLDERS for suffix in SUFFIXES for path in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    kept = (
        path
        for path in files
        if not {"data", "results", "node_modules", "vendor", "migrations"} & set(path.parts)
    )
    return sorted([*kept, *(ROOT / page for page in PAGES)])


def _read_markdown(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the paragraphs of a page with their lines, without code, addresses and headings."""
    text = re.sub(
        r"^( *)(```+|~~~+).*?^\1\2", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S
    )
    text = re.sub(r"<!--.*?-->", lambda hidden: "\n" * hidden[0].count("\n"), text, flags=re.S)
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "`", text)
    text = re.sub(r"^(?:#| {4}\S).*$", "", text, flags=re.M)
    start, paragraph = 0, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        item = re.match(r"\s*(?:[-*|>]|\d+\.) ", line)
        if item or not line.strip():
            yield start, "page", paragraph.strip(" *_")
            start, paragraph = number, line[item.end() :] if item else ""
        else:
            start, paragraph = (start if paragraph else number), f"{paragraph} {line.strip()}"


_OTHER = {
    ".sql": r"(?m)^ *--(?! name:).*(?:\n *--(?! name:).*)*",
    ".html": r"(?s)<!--.*?-->|>[^<>]+<",
    # Comments, and strings and texts of templates with three words or more.
    ".js": r"/\*[\s\S]*?\*/|(?m:(?<![:\"'])//.*$)|\"[^\"\n]*? [^\"\n]*? [^\"\n]*?\"|>[^<>{}$`]+<",
}


def _read_other(suffix: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield comments and texts of JavaScript, HTML and SQL with their lines."""
    for found in re.finditer(_OTHER[suffix], text):
        words = " ".join(re.sub(r"(?m)^ *(?:--|//|/?\*+/?)|[<>\"]", " ", found[0]).split())
        yield text.count("\n", 0, found.start()) + 1, "comment", words


def _read_python(text: str, tree: ast.AST, *, strings: bool) -> Iterator[tuple[int, str, str]]:
    """Yield docstrings, comments, names of tests and, if wanted, other strings with their lines."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.lineno, "name", node.name.replace("_", " ")
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        kind = "docstring" if id(node) in docstrings else "string"
        if kind == "docstring" or (strings and len(node.value.split()) >= 3 and "(?" not in node.value):
            yield (
                node.lineno,
                kind,
                re.sub(r"``[^`]*``|\s+", lambda m: "`" if m[0][0] == "`" else " ", node.value).strip(),
            )
    # Not tokenize, which takes longer than everything else here.
    for comment in re.finditer(r"(?m)^[ ]*#.*(?:\n[ ]*#.*)*|(?<=  )#.*$", text):
        words = re.sub(r"\n?[ ]*#[ ]*", " ", comment[0]).strip()
        yield text.count("\n", 0, comment.start()) + 1, "comment", words


def _find_participles(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield functions named by a participle alone. Properties and answers of yes or no may be statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            states = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
            states |= node.returns is not None and ast.unparse(node.returns).startswith("bool")
            if not states and _PARTICIPLE.fullmatch(node.name) and node.name.strip("_") not in _VERBS:
                yield node.lineno, node.name


def main() -> None:
    """Print the counts per folder, or each place with ``--list``."""
    turns = [turn for path in list_files() for turn in find_turns(path)]
    if "--list" in sys.argv:
        for turn in turns:
            print(f"{turn.path}:{turn.line}: [{turn.name}] {turn.text}")
    folders = Counter((turn.path.split("/")[0], turn.name) for turn in turns)
    for (folder, name), number in sorted(folders.items()):
        print(f"{folder:16} {name:26} {number}")
    print(f"{'all':43} {len(turns)}")


if __name__ == "__main__":
    main()
