"""Commands that carry secrets out of the machine, and orders in words to do the same with a file.

Judged is what is sent and where it goes, each by itself: a store (``stores``), a way out, and
something that leads from one to the other. ``curl -d @.env https://…`` sends a file of secrets, while
``curl -H "Authorization: Bearer $TOKEN"`` shows a key to the service it belongs to. A key that is used
(``ssh -i``, ``--netrc-file``, ``source .env``) is not sent.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mnemos.text.threats.context import is_negated
from mnemos.text.threats.forms import Forms, Seen, Span
from mnemos.text.threats.machine import CUE, is_harmless, line_of, machine
from mnemos.text.threats.stores import (
    NUMBERS,
    PRIVATE_NET,
    SHADY,
    Kept,
    Store,
    goes_home,
    hosts,
    is_own,
    stores,
)

Find = tuple[str, str, int, int]
"""The kind, the reason, where it starts, and where it ends."""

CARRIES: Final = "carries secrets out of the machine"

# --- ways out ---------------------------------------------------------------------------------------

_WEB: Final = Forms(r"""
\b(?:curl|curl\.exe|wget)(?=\s)
\b(?:http|https|httpie|xh) (?:post|put)\b
\b(?:invoke-webrequest|invoke-restmethod|iwr|irm|start-bitstransfer)\b
""")
_RAW: Final = Forms(r"""
\b(?:nc|ncat|netcat|socat|telnet)\b(?= -?\S)
/dev/(?:tcp|udp)/
\bopenssl s_client\b
\b(?:wormhole|croc) send\b
""")
_SSH: Final = Forms(r"(?<=\| )ssh(?=\s)")
_CODE: Final = Forms(r"""
\brequire\([\"'](?:node:)?https?[\"']\)\.(?:get|request|post)
\b(?:requests|httpx|axios|urllib\.request|session|client|http|https|aiohttp|got|s3)\.(?:post|put|request
    |urlopen
    |get|upload_file|upload)\s?\(
\b(?:fetch|urlopen|upload_file|sendbeacon)\s?\(
xmlhttprequest
\bhttps?://[^\s\"'`|;]{1,160}\$\(
\.(?:uploadstring|uploadfile|uploaddata|sendall|sendmail|storbinary)\(
\bnet::http\.post
""")
_COPY: Final = Forms(r"""
\b(?:scp|rsync|sftp|rclone|ftp|tftp|lftp|ncftpput|smbclient|azcopy|s3cmd put|mc cp|b2 upload-file|ipfs add)\b
\baws (?:s3 cp|s3 sync|s3 mv|s3api put-object)\b
\bgsutil (?:-m )?(?:cp|rsync)\b
\bgcloud storage cp\b
\baz storage (?:blob|file) upload
\bhuggingface-cli upload\b
""")
_PUBLIC: Final = Forms(r"""
\b(?:mail|mailx|mutt|sendmail|swaks|msmtp)\b(?= -|\s\S{1,60}@)
\bsend-mailmessage\b
\bgh (?:gist create|issue create|issue comment|pr create|pr comment|release upload)\b
\bglab snippet create\b
\bpastebinit\b
\bgit push\b
\|\s?(?:pastebin|termbin|sprunge)
""")
_DNS: Final = Forms(r"""
\b(?:nslookup|dig|ping|resolve-dnsname|gethostbyname)\b
\bhost(?= [$`-])
""")
_WAYS: Final = (_WEB, _RAW, _SSH, _CODE, _COPY, _PUBLIC, _DNS)
_WITH_DATA: Final = re.compile(
    r"\s(?:-d|--data(?:-\w+)?|-f|--form(?:-string)?|-t|--upload-file|--json|--post-data|--post-file"
    r"|--body-data|--body-file|-body|-infile|--url-query)[ =@\"'`$]|-x ?(?:post|put)|--request[ =](?:post"
    r"|put)|--method[ =](?:post|put)|\|\s*(?:curl|wget)\b|-d@|-method (?:post|put)|@-|\s<\s?[~$/.\w]"
)
_INSERTED: Final = re.compile(r"\$\(|`|@|<|\+")
_HEADS: Final = (
    r"(?:\s-h\b|--header\b|\s-u\b|--user\b|authorization|bearer|x-api-key|headers\s?[=:]|auth\s?=)"
)
_HEADER: Final = re.compile(_HEADS + r"[^|;\n]{0,60}$")
_HEADER_AHEAD: Final = re.compile(_HEADS)
# All that is sent, not a field of it.
_AS_DATA: Final = re.compile(r"\s(?:-d|--data(?:-\w+)?|--post-data|--json)[ =][\"']?(?:\$\(|`)$")
# Part of the name of a key, and of the hosts it belongs to.
_VENDORS: Final = dict.fromkeys(
    "anthropic azure cloudflare digitalocean github gitlab google groq linear notion npm openai openrouter"
    " pypi sendgrid slack stripe twilio vercel".split()
) | {"gh_": "github", "aws": "amazonaws", "hf_": "hugging", "huggingface": "hugging", "gemini": "google"}
_OWN_COPY: Final = Forms(r"""
\b(?:our|my|his|her|their|its) own\b
's own\b
\bown (?:server|account|bucket|cloud)\b
""")
_BACKUP: Final = Forms(r"\b(?:backup|back-up|nas\b|restic\b|borg\b|sicherung|sauvegarde|respaldo)")
# The settings of an application go to where it runs.
_DEPLOYED: Final = re.compile(r":/?(?:srv|opt|var/www|app|etc|home/\w+/app)\b|:\S{0,60}\.env\b")


def commands(text: str) -> Iterator[Find]:
    """Where ``text``, folded, has a command that sends secrets, opens the machine, unguards or wipes it."""
    seen = Seen(text)
    yield from _carried(seen)
    for reason, start, end in machine(seen):
        yield "command", reason, start, end


# So many stretches are looked at closely; no note has more, and a hostile text may have thousands.
_MOST: Final = 400


def _carried(seen: Seen) -> Iterator[Find]:
    kept = stores(seen)
    if not kept:
        return
    for stretches in (_commanded(seen, kept), _told(seen, kept)):
        last = -1
        for start, end in islice(stretches, _MOST):
            if start >= last and not is_harmless(seen, start, end):
                last = end
                yield "exfiltration", CARRIES, start, end


# --- by command ---------------------------------------------------------------------------------------

# A command with more secrets than that around it is none.
_MOST_NEAR: Final = 12
# How far above a command something is kept that it sends.
_LINES: Final = 400
_LEADS_ON: Final = ("|", "; do", "-exec", "xargs")


def _commanded(seen: Seen, kept: list[Kept]) -> Iterator[Span]:
    """Every stretch from a store to the command that sends it, or the other way round."""
    starts = [one.start for one in kept]
    sinks = (Sink(way, *span, *line_of(seen.text, *span)) for way in _WAYS for span in seen.spans(way))
    near = (
        (sink, bisect_left(starts, sink.start - _LINES), bisect_left(starts, sink.last)) for sink in sinks
    )
    for sink, first, last in islice((one for one in near if one[1] < one[2]), _MOST):
        # The nearest ones: those before may stand in lines above.
        for one in kept[max(first, last - _MOST_NEAR) : last]:
            if _is_sent(seen, sink, one):
                yield min(sink.start, one.start), max(sink.end, one.end)
                break


@dataclass(frozen=True, slots=True)
class Sink:
    """A way out at ``text[start:end]``, and the line it stands in."""

    way: Forms
    start: int
    end: int
    first: int
    last: int


def _is_sent(seen: Seen, sink: Sink, one: Kept) -> bool:
    between = seen.text[one.end - 1 : sink.start]
    in_line = one.start >= sink.first and any(way in between for way in _LEADS_ON)
    piped = in_line or _is_passed_on(seen.text, sink, one, between)
    return (piped or sink.start < one.start) and _goes_out(seen, sink, one, piped=piped)


# Files that are written on the way.
_KEPT_IN: Final = re.compile(
    r"/tmp/[\w.-]+|\b[a-z]:\\[\w\\.-]+|\b[\w-]{1,40}\.(?:zip|t?gz|tar|7z|txt|b64|enc|gpg|bin|out|dat)\b"  # noqa: S108
    r"|(?<=dest=)[\w./-]{2,60}|(?<=> )[\w./-]{2,60}"
)
_NAMES_IT: Final = re.compile(r"(?:^|[\s;\"'(])\$?([a-z_]\w{0,30})\s?=\s?[^=;\n]{0,80}$")


def _is_passed_on(text: str, sink: Sink, one: Kept, between: str) -> bool:
    """Whether what was written or named in between is what is sent: ``env > /tmp/e; curl -d @/tmp/e …``."""
    if not any(way in between for way in ("&&", ";", "\n", " then ", " and ")):
        return False
    before = text[max(0, one.start - 80) : one.start]
    if any(text.find(name, sink.end, sink.last) >= 0 for name in _KEPT_IN.findall(before + between)):
        return True
    if text.startswith("git push", sink.start):
        return "git add" in before
    named = _NAMES_IT.search(text, max(0, one.start - 120), one.start)
    return named is not None and re.search(rf"\b{named[1]}\b", text[sink.end : sink.last]) is not None


def _goes_out(seen: Seen, sink: Sink, one: Kept, *, piped: bool) -> bool:
    text, way = seen.text, sink.way
    inserted = _INSERTED.search(text, sink.end, max(sink.end, one.start + 2)) is not None
    if one.kind is Store.VALUE:
        return way in (_WEB, _CODE, _DNS, _RAW) and _leaks_value(seen, sink, one, piped=piped)
    if way is _SSH:
        return piped and _BY_NUMBER.search(text, sink.end, sink.last) is not None
    if way is _DNS:
        return inserted or piped
    if way is _COPY:
        return _copies_out(seen, sink, one)
    sends = way is not _WEB or piped or inserted or _WITH_DATA.search(text, sink.first, sink.last) is not None
    return sends and not goes_home(seen, sink.first, sink.last)


_BY_NUMBER: Final = re.compile(rf"(?:@|\s){NUMBERS}\b")
# A file on the other side: what is copied over, or fetched.
_REMOTE: Final = re.compile(r"[\w\]]{2,}:[\w~/.-]{0,60}$")
_BUCKET: Final = re.compile(
    r"\b(?:s3|gs)://|\bazcopy\b|\baz storage\b|\bs3cmd\b|\bs3api\b|\bb2 upload|\bipfs\b|\bhuggingface-cli\b"
    r"|\brclone (?:copy\w*|sync|move\w*) \S{1,80} [\w-]+:|\bmc cp\b"
)


def _copies_out(seen: Seen, sink: Sink, one: Kept) -> bool:
    """A copy to another machine; people copy their own things, so that a place of their own is believed."""
    if _REMOTE.search(seen.text, max(sink.start, one.start - 80), one.start):
        return False
    if seen.has(SHADY, sink.first, sink.last):
        return True
    if seen.has(_OWN_COPY, sink.first, sink.last):
        return False
    # What is named last is where these two copy to.
    start = one.end if seen.text.startswith(("scp", "rsync"), sink.start) else sink.end
    named = [host for host in hosts(seen.text, start, sink.last) if not is_own(host)]
    if not named and not _BUCKET.search(seen.text, sink.start, sink.last):
        return False
    if any(host[-1].isdigit() for host in named):
        return True
    if one.kind is Store.PRIVATE:
        return not seen.has(_BACKUP, sink.first, sink.last)
    return not _DEPLOYED.search(seen.text, one.end, sink.last)


def _leaks_value(seen: Seen, sink: Sink, one: Kept, *, piped: bool) -> bool:
    """A key in a header belongs to the host; elsewhere it may be sent to its own vendor only."""
    if seen.has(SHADY, sink.first, sink.last):
        return True
    if goes_home(seen, sink.first, sink.last) or _HEADER.search(seen.text, sink.first, one.start):
        return False
    value = seen.text[one.start : one.end]
    if not value.startswith("$"):
        if piped:
            return not _HEADER_AHEAD.search(seen.text, sink.end, sink.last)
        if _AS_DATA.search(seen.text, sink.end, max(sink.end, one.start)):
            return True
    vendor = next((host or name for name, host in _VENDORS.items() if name in value), None)
    host = next(hosts(seen.text, sink.first, sink.last), None)
    return vendor is not None and host is not None and vendor not in host


# --- in words -----------------------------------------------------------------------------------------

_SEND: Final = Forms(r"""
\b(?<!\bwe )(?<!\bi )(?<!\bthey )(?<!\bcan )(?<!-)(?:send|upload|copy|post(?! ?-?mortem)|paste|publish|push
    |forward|mail|email|e-mail|transmit|attach|include|put|append|add|sync|mirror|move|ship|share|deliver
    |submit
    |embed|lade|kopiere|kopieren|sende|senden|schick|schicke|schicken|hochladen|hange|anhangen|poste|posten
    |stelle
    |leite|weiterleiten|ubertrage|ubertragen|fuge|envoie|envoyer|envoyez|copie[rz]?|televerse[rz]?|publie[rz]?
    |transmettre|colle[rz]?|joins|joindre|envia|enviar|sube|subir|copia|copiar|publica|publicar|pega|adjunta
    |adjuntar|manda|mandar)\b(?!-)
\b(?:make|create|open|file) (?:an? |the )?(?:new |public |secret )?(?:gist|issue|paste|pull request|ticket)\b
\bbe (?:sent|uploaded|copied|posted|published|pushed|forwarded|mailed|attached|included|mirrored|shared
    |submitted|pasted)\b
""")
_OUT_THERE: Final = Forms(rf"""
\b(?:https?|ftps?|sftp|rsync|s3|gs|webdavs?)://[^\s/:\"'`)]
@[\w-]{{1,60}}\.[\w.-]{{0,100}}[a-z]{{2}}\b
\bpublic (?:\w{{1,20}} )?(?:gist|repo\w*|bucket|issue|tracker|channel|paste|wiki|forum|page|fork|branch|drive
    |folder|share|link)\b
\b(?:gist|pastebin|webhook|telegram|discord)\b
\b(?:query|url) param
\bimage (?:address|url|link)\b
\b(?:bug|crash|issue) reports?\b
\b(?:comment|reply|answer|response|antwort|reponse|respuesta|commentaire|kommentar)\b[^.\n]{{0,30}}\b(?:issue
    |ticket|pull request|mail|e-?mail|pr|thread)\b
\b(?!{PRIVATE_NET})(?:1|2|3|4|5|6|7|8|9)\d{{0,2}}(?:\.\d{{1,3}}){{3}}\b
""")
# How far the words of one order may be apart.
_REACH: Final = 160
_END: Final = re.compile(r"[.!?](?=\s|$)|\n\n")


def _told(seen: Seen, kept: list[Kept]) -> Iterator[Span]:
    """Where a verb of sending, a store by its path and a place outside stand in one sentence."""
    for one in kept:
        around = one.start - _REACH, one.end + _REACH
        if not one.is_file or not (seen.has(_SEND, *around) and seen.has(_OUT_THERE, *around)):
            continue
        if _INTO.search(seen.text, max(0, one.start - 40), one.start):
            continue
        first, last = _sentence(seen.text, one)
        place = _aim(seen, first, last)
        verb = _near(seen, _SEND, first, last, one) if place else None
        if verb is None or place is None or is_negated(seen.text, verb[0]):
            continue
        if not goes_home(seen, first, last) and not _is_ones_own(seen, first, last, one):
            yield min(verb[0], one.start, place[0]), max(verb[1], one.end, place[1])


def _near(seen: Seen, forms: Forms, first: int, last: int, one: Kept) -> Span | None:
    """The first before the store, else the first behind it."""
    before = next(seen.within(forms, first, one.start), None)
    return before or next(seen.within(forms, one.end, last), None)


def _aim(seen: Seen, first: int, last: int) -> Span | None:
    """A place outside that something goes to: an address alone may be where one reads about it."""
    for start, end in seen.within(_OUT_THERE, first, last):
        is_named = seen.text[start].isalpha() and "://" not in seen.text[start:end]
        if is_named or _TOWARDS.search(seen.text, max(first, start - 60), start):
            return start, end
    return None


_TOWARDS: Final = re.compile(
    r"\b(?:to|into|in|at|on|via|as|with|an|auf|nach|per|unter|vers|sur|dans|par|a|al|en|hacia|con|avec)\b[^.;\n]{0,40}$"
)
# A file that something is put into does not travel.
_INTO: Final = re.compile(
    r"\b(?:to|into|in|under|unter|nach|dans|en|from within)\s(?:(?:the|your|my|a) )?"
    r"(?:file |folder )?[`\"']?[~$\w{}/]{0,20}$"
)


def _is_ones_own(seen: Seen, first: int, last: int, one: Kept) -> bool:
    if seen.has(SHADY, first, last) or _BY_NUMBER.search(seen.text, first, last):
        return False
    if seen.has(_OWN_COPY, first, last):
        return True
    # Documents are sent about every day, by those whose they are.
    return one.kind is Store.PRIVATE and (
        seen.has(_BACKUP, first, last)
        or not (seen.has(CUE, first, last) or _CALL.search(seen.text, first, one.start))
    )


_CALL: Final = re.compile(r"\w\(\{?\s?[\"']?\w{1,20}[\"']?\s?[:=]")


def _sentence(text: str, one: Kept) -> Span:
    first = max(0, one.start - _REACH)
    for stop in _END.finditer(text, first, one.start):
        first = stop.end()
    ended = _END.search(text, one.end, one.end + _REACH)
    return first, ended.start() if ended else min(len(text), one.end + _REACH)
