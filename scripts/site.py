"""The documentation site: pages, navigation and llms.txt from the index, docs/README.md.

mkdocs loads this file as a hook (see mkdocs.yml). ``python scripts/site.py`` writes docs/llms.txt.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
LLMS = DOCS / "llms.txt"

_SECTION = re.compile(r"^(##|###) (.+)$")
_ITEM = re.compile(r"^(?:-|\d+\.) \[([^\]]+)\]\(([^)#]+)\)(.*)$")
_OUTSIDE = re.compile(r"\]\(((?:\.\./)+)((?!\.\.)[^)]+)\)")
_EXTERNAL = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=.?https?:|<link\b[^>]*\bstylesheet\b[^>]*https?:"
)


@dataclass
class Section:
    """A heading of the index with its pages, each a title, a path and a remark, and its subsections."""

    title: str
    pages: list[tuple[str, str, str]] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)


def read_index() -> list[Section]:
    """Return the sections of the index in order."""
    sections: list[Section] = []
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        if heading := _SECTION.match(line):
            above = sections if heading[1] == "##" else sections[-1].sections
            above.append(Section(heading[2]))
        elif item := _ITEM.match(line):
            here = sections[-1].sections[-1] if sections[-1].sections else sections[-1]
            here.pages.append((item[1], item[2], item[3].lstrip(":, ")))
    return sections


def render_llms() -> str:
    """Return llms.txt: the index as a list of links for a model."""
    text = INDEX.read_text(encoding="utf-8")
    summary = " ".join(text.split("\n\n")[1].split())
    lines = ["# Mnemos", "", f"> {summary}"]
    for section in read_index():
        lines += ["", f"## {section.title}", ""]
        for one in (section, *section.sections):
            for title, path, remark in one.pages:
                # Files outside of docs are at the top of the site.
                target = path.removeprefix("../")
                lines.append(f"- [{title}]({target})" + (f": {remark}" if remark else ""))
    return "\n".join(lines) + "\n"


def outside_files() -> list[str]:
    """Return the files of the repository outside of docs that pages link to, but the README."""
    found = set()
    for page in DOCS.rglob("*.md"):
        for _, target in _OUTSIDE.findall(page.read_text(encoding="utf-8")):
            path = target.partition("#")[0]
            if path != "README.md" and not (DOCS / path).exists() and (ROOT / path).is_file():
                found.add(path)
    return sorted(found)


def on_config(config: Any) -> Any:
    def entries(section: Section) -> list[Any]:
        pages: list[Any] = [{title: path.removeprefix("../")} for title, path, _ in section.pages]
        return pages + [{below.title: entries(below)} for below in section.sections]

    config["nav"] = [{"Home": "README.md"}, *({one.title: entries(one)} for one in read_index())]
    return config


def on_files(files: Any, config: Any) -> Any:
    # Only mkdocs has it, which is not in the environment of the tests.
    from mkdocs.structure.files import File

    for path in outside_files():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links out of docs, and those of files that came from outside, lead to the page on the site."""
    page.meta["search"] = {"boost": _find_boost(page.file.src_uri)}
    if page.file.src_uri == "README.md":
        page.meta["hide"] = ["navigation"]  # it has only the page itself
    if page.file.src_uri in outside_files():
        return markdown.replace("](docs/", "](")
    depth = page.file.src_uri.count("/")

    def inside(link: re.Match[str]) -> str:
        ups = link[1].count("../")
        return f"]({'../' * (ups - 1)}{link[2]})" if ups > depth else link[0]

    return _OUTSIDE.sub(inside, markdown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Shorten signatures to the name of the function in the table of contents."""

    def shorten(items: Any) -> None:
        for item in items:
            item.title = re.sub(r"^(\w+)\(.+\)$", r"\1()", item.title)
            shorten(item.children)

    shorten(page.toc)
    return html


def _find_boost(path: str) -> float:
    """Return how much a page counts in search: guides before reference, and decisions last."""
    folder = path.partition("/")[0]
    return {"adr": 0.2, "explanation": 0.6, "reference": 0.6, "CHANGELOG.md": 0.1, "faq.md": 1.0}.get(
        folder, 2.0
    )


def on_post_build(config: Any) -> None:
    """Put the source of each page next to it, for models, and refuse anything loaded from elsewhere."""
    site = Path(config["site_dir"])
    for page in [*DOCS.rglob("*.md"), *(ROOT / path for path in outside_files() if path.endswith(".md"))]:
        base = DOCS if page.is_relative_to(DOCS) else ROOT
        target = site / page.relative_to(base)
        target.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    loaded = [
        str(page) for page in site.rglob("*.html") if _EXTERNAL.search(page.read_text(encoding="utf-8"))
    ]
    if loaded:
        raise SystemExit(f"pages that load something from another server: {', '.join(loaded)}")


if __name__ == "__main__":
    LLMS.write_text(render_llms(), encoding="utf-8")
