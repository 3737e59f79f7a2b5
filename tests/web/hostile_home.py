"""Fill a home with hostile text in every field that the page shows.

Run with the Python that has Mnemos: ``python tests/web/hostile_home.py FOLDER``.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from mnemos.errors import MnemosError
from mnemos.memory import Memory

MARK = "window.__ran=1"
RUN = f"{MARK};alert(1)"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"<SCRIPT SRC=//evil.example/x.js></SCRIPT><script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"<!--><script>{RUN}</script>-->",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"<img src=x onerror={RUN}>",
    f"<img src='//evil.example/a.png'><img/src/onerror={RUN}>",
    f"<image href=x onerror={RUN}>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>x</text></a></svg>",
    f"<svg><foreignObject><iframe srcdoc='<script>{RUN}</script>'></foreignObject></svg>",
    f"<svg><use href='data:image/svg+xml,<svg id=x onload={RUN}>#x'></svg>",
    f"<math><mtext><script>{RUN}</script></mtext></math>",
    f"<math href='javascript:{RUN}'>click</math>",
    f"<math><maction actiontype=statusline xlink:href='javascript:{RUN}'>x",
    f"<iframe src='javascript:{RUN}'></iframe>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe onload={RUN}></iframe>",
    f"<object data='javascript:{RUN}'></object>",
    f"<embed src='javascript:{RUN}'>",
    f"<a href='javascript:{RUN}'>click</a>",
    f"<a href='data:text/html,<script>{RUN}</script>'>click</a>",
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}",
    f"java\tscript:{RUN}",
    f"[click](javascript:{RUN})",
    "![x](//evil.example/track.png)",
    f"[x]: javascript:{RUN}",
    f"<details open ontoggle={RUN}>x</details>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}><option>x</select>",
    f"<textarea autofocus onfocus={RUN}>",
    f"<body onload={RUN}>",
    f"<marquee onstart={RUN}>x</marquee>",
    f"<form action='javascript:{RUN}'><button>x</button></form>",
    f"<button formaction='javascript:{RUN}'>x</button>",
    "<base href='//evil.example/'><script src=x.js></script>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    f"<style>@import '//evil.example/x.css';*{{background:url(javascript:{RUN})}}</style>",
    f"<div style=\"background:url('javascript:{RUN}')\">x</div>",
    f"<template><script>{RUN}</script></template>",
    f"<portal src='javascript:{RUN}'></portal>",
    f"<x onclick={RUN} tabindex=1 autofocus onfocus={RUN}>x</x>",
    f'"><script>{RUN}</script>',
    f"' onmouseover='{RUN}",
    f"` onmouseover=`{RUN}",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"<%= {RUN} %> {{% raw %}}{RUN}{{% endraw %}}",
    f"#{{{RUN}}} [[{RUN}]]",
    '{"__html": "<img src=x onerror=window.__ran=1>", "constructor": null}',
    '{"type":"img","props":{"src":"x","onerror":"window.__ran=1"},"key":null,"ref":null}',
    f"\u202e<script>{RUN}</script>\u202c hidden \u200b\u200d\u2060\ufeff",
    "a\u0000b\u0001\u001b[31mred\u001b]8;;//evil.example\u0007link",
    "\ufffe\uffff\U000e0041\U000e007f tags",
    "%3Cscript%3Ewindow.__ran=1%3C/script%3E &lt;script&gt;window.__ran=1&lt;/script&gt; &#60;img src=x&#62;",
    "\u003cimg src=x onerror=window.__ran=1\u003e \\u003cscript\\u003e",
    "```html\n<script>window.__ran=1</script>\n```\n~~~\n<img src=x onerror=window.__ran=1>",
    "x" * 200_000 + "<img src=x onerror=window.__ran=1>",
    "y" * 1_000_000 + f"<svg onload={RUN}>",
    f"half a pair \ud83d<img src=x onerror={RUN}>\ude00 and \udcff",
]


def write_import(folder: Path) -> None:
    """Write files of another program that can't be read. The report quotes their names."""
    folder.mkdir(parents=True)
    for number, bad in enumerate(PAYLOADS):
        name = "".join(one for one in bad[:90] if one.isprintable() and one != "/")
        (folder / f"{name} {number}.jsonl").write_text("not JSON\n")


def fill(folder: Path) -> Counter[str]:
    """Fill a home; return how many payloads each operation stored."""
    landed: Counter[str] = Counter()
    write_import(folder.parent / f"{folder.name}-person/.claude/projects/shop")
    folder.mkdir(parents=True, mode=0o700)
    (folder / "config.toml").write_text('backend = "local"\n')
    now = time.time()
    with Memory.at(folder, disabled=False, embedder="static") as memory:
        sessions = memory.sessions
        for number, bad in enumerate(PAYLOADS):
            short = bad[:180]
            # Names have one line; everything else takes any text.
            name = "".join(one for one in short if one.isprintable())[:90]
            tool = short if number % 2 else "run"
            called = [
                {
                    "id": f"c{number}",
                    "type": "function",
                    "function": {"name": tool, "arguments": json.dumps({short: bad[:5000]})},
                }
            ]
            sessions.import_sessions(
                [
                    {
                        "id": f"bad-{number:02d}",
                        "title": f"{number} {name}",
                        "source": name,
                        "model": name,
                        "project": f"/home/{name}",
                        "started_at": now - number * 3600,
                        "metadata": {short: short},
                        "messages": [
                            {
                                "role": "user",
                                "content": bad,
                                "timestamp": now - 60,
                                "metadata": {short: short, "speaker": name},
                            },
                            {"role": "assistant", "content": f"slots {short}", "tool_calls": called},
                            {
                                "role": "tool",
                                "tool_name": tool,
                                "tool_call_id": f"c{number}",
                                "content": bad,
                            },
                        ],
                    }
                ]
            )
            line = " ".join("".join(one if one.isprintable() else " " for one in short).split())
            # Orders to a model are refused, and so are names that are none: the page shows what is left.
            for operation, arguments in (
                ("memory_write", {"content": f"D[bad.{number}]: {line}", "scope": line[:60]}),
                ("notebook_add", {"target": ("memory", "user")[number % 2], "content": line[:60]}),
                (
                    "entries_set",
                    {"user": line[:60], "key": line[:90], "value": bad[:3000], "metadata": {short: short}},
                ),
                (
                    "templates_create",
                    {"session": f"bad-{number:02d}", "name": f"t{number}", "description": short},
                ),
            ):
                with suppress(MnemosError):
                    memory.call(operation, arguments)
                    landed[operation] += 1
            # The actor is a setting, shown by the log, the live view and the list of questions.
            with Memory.at(folder, disabled=False, embedder="static", actor=name) as acting:
                acting.call("entries_set", {"user": "acted", "key": f"k{number}", "value": "x"})
                acting.call("recall", {"query": line[:300]})
            column = line.replace('"', '""')[:60]
            with suppress(MnemosError):
                memory.call("sqlite_query", {"query": f'CREATE TABLE "t{number} {column}" ("{column}" TEXT)'})
                memory.call(
                    "sqlite_query",
                    {"query": f'INSERT INTO "t{number} {column}" VALUES (?)', "params": [bad[:3000]]},
                )
                landed["sqlite_query"] += 1
    return landed


if __name__ == "__main__":
    print(json.dumps(fill(Path(sys.argv[1]))))
