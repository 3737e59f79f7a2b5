"""Commands that carry secrets out of the machine, let somebody in, or run what nobody can read.

A command is judged by what it sends and where: ``curl -d @.env https://…`` sends a file of secrets, while
``curl -H "Authorization: Bearer $TOKEN"`` shows a key to the service it belongs to. A key that is used
(``ssh -i``, ``--netrc-file``, ``source .env``) is not sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threat_context import is_mentioned, is_negated

Find = tuple[str, int, int]

_CARRIES: Final = "carries secrets out of the machine"
_OPENS: Final = "opens the machine to somebody outside"
_HIDES: Final = "runs a command in disguise"

# --- what is sent -----------------------------------------------------------------------------------

_PRIVATE: Final = re.compile(
    r"(?P<use>(?:(?:^|[\s;&|(`\"'])(?:source|\.|-i|--identity|--env-file|--netrc-file|--key|--cert|--cacert|-E|--config|-K|--kubeconfig|--identity-file|--from-env-file|-o)[ =]|identityfile[ =]|\bsource )[\"']?)?"
    r"(?P<file>(?:[~$][\w{}]*|\.{1,2}|/[\w./-]{0,40}|@)?/?(?<![\w])(?:\.ssh/(?!\w+\.pub|config\b|known_hosts|authorized_keys)[\w.*-]*|\.ssh\b(?!/)|\.aws/\w*|\.env(?:\.(?!example|sample|template|dist)\w+)?\b(?!\.)|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials\b|\.kube/config\b|\.gnupg\b"
    r"|\.bash_history\b|\.zsh_history\b|\.docker/config\.json|\.config/gh/\w+|etc/(?:passwd|shadow)\b|id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)|wallet\.dat|cookies\.sqlite|login\.keychain\S*|secrets?\.(?:json|ya?ml|toml|env|txt)\b|credentials(?:\.\w+|\b(?=[\"'`\s]))"
    r"|memories/\w+\.md|memory\.md\b|user\.md\b|\.config/gcloud\b|\.azure\b|\.hermes/\S+|\.mnemos/\S+))"
    r"|(?P<all>(?:^|[\s;&|(`$])(?:printenv|env|set|export -p|declare -x|history)\s?(?:\||>|\)|`)|\$\((?:env|printenv|set|history)\b|\bprintenv\b|<\(env\)|get-childitem env|\bdir env:|json\.dumps\(dict\(os\.environ|os\.environ(?!\[|\.get|\.pop|\.setdefault)|process\.env(?![.\[\w])|/proc/(?:self|\d+)/environ)"
    r"|(?P<value>\$\{?(?:env:)?\w*(?:api_?key|token|secret|passw(?:or)?d|credentials?|private_?key|access_?key(?:_id)?)\w*\}?|os\.environ(?:\[|\.get\()[\"']?\w*(?:key|token|secret|passw)\w*|process\.env\.\w*(?:key|token|secret|passw)\w*)"
)

# --- where it goes ----------------------------------------------------------------------------------

_SINK: Final = re.compile(
    r"(?P<curl>\bcurl(?:\.exe)?\b|\bwget\b|\bhttp(?:ie)? (?:post|put)\b|\bxh (?:post|put)\b|\binvoke-(?:webrequest|restmethod)\b|\biwr\b|\birm\b)"
    r"|(?P<raw>\b(?:nc|ncat|netcat|socat|telnet)\b(?= -?\S)|/dev/(?:tcp|udp)/)|(?P<code>\b(?:requests|httpx|axios|urllib\.request|session|client|http|aiohttp)\.(?:post|put|request|urlopen|get)\s?\(|\bfetch\s?\(|\burlopen\s?\(|xmlhttprequest|sendbeacon\s?\()"
    r"|(?P<copy>\b(?:scp|rsync|sftp|rclone|ftp|lftp|aws s3 (?:cp|sync)|gsutil cp)\b)|(?P<mail>\b(?:mail|mailx|mutt|sendmail|swaks)\b(?= -|\s\S+@)|\bgh gist create\b|\bpastebinit\b|\|\s?(?:pastebin|termbin|sprunge))|(?P<dns>\b(?:nslookup|dig|host|ping)\b)"
)
_SENDS_DATA: Final = re.compile(
    r"\s(?:-d|--data(?:-\w+)?|-f|--form(?:-string)?|-t|--upload-file|--json|--post-data|--post-file|--body-data|--body-file|-body|-infile|--url-query)[ =@\"'`$]|-x ?(?:post|put)|--request[ =](?:post|put)|--method[ =](?:post|put)|\|\s*(?:curl|wget)\b|-d@|-method (?:post|put)|@-"
)
_HEADER: Final = re.compile(r"(?:-h|--header|-u|--user|authorization|bearer|x-api-key|headers\s?[=:]|auth\s?=)[^|;\n]{0,60}$")
_SHADY: Final = re.compile(
    r"webhook\.site|requestbin|pipedream|ngrok|beeceptor|burpcollaborator|\boast\.|oastify|interact\.sh|pastebin|transfer\.sh|file\.io|0x0\.st|termbin|ix\.io|hookbin|requestcatcher|mocky|canarytokens|dnslog"
    r"|ceye\.|evil|attack|exfil|malicious|hacker|steal|\bc2\b|collect(?:or)?\b|\bdrop\b|//\d{1,3}(?:\.\d{1,3}){3}|\b(?:leak|loot|grab)\w*\.|\.(?:xyz|tk|top|ru|cn)\b|serveo|localtunnel|trycloudflare|telegram\.org/bot|discord(?:app)?\.com/api/webhooks|api\.telegram"
)
_HOME: Final = re.compile(r"//(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0|\[::1\])|\.local\b|\.internal\b|\.lan\b|\.svc\b")
_VENDORS: Final = {
    "openai": "openai", "anthropic": "anthropic", "github": "github", "gh_": "github", "gitlab": "gitlab", "aws": "amazonaws", "stripe": "stripe",
    "hf_": "hugging", "huggingface": "hugging", "slack": "slack", "npm": "npm", "pypi": "pypi", "google": "google", "gemini": "google", "azure": "azure",
    "twilio": "twilio", "sendgrid": "sendgrid", "groq": "groq", "openrouter": "openrouter", "cloudflare": "cloudflare", "digitalocean": "digitalocean", "notion": "notion", "linear": "linear", "vercel": "vercel",
}


def commands(text: str) -> Iterator[Find]:
    """Where ``text``, folded, has a command that sends secrets or opens the machine."""
    for sink in _SINK.finditer(text):
        first, last = _command(text, *sink.span())
        found = _carried(text, first, last, sink)
        if found is not None and not _is_harmless(text, *found):
            yield (_CARRIES, *found)
    for reason, expression in _FORMS:
        for match in expression.finditer(text):
            if not _is_harmless(text, *match.span()):
                yield (reason, *match.span())


def _is_harmless(text: str, start: int, end: int) -> bool:
    return is_mentioned(text, start, end) or is_negated(text, start, reach=40)


def _command(text: str, start: int, end: int) -> tuple[int, int]:
    """The line the command stands in, with lines that go on after a backslash."""
    first = max(text.rfind("\n", 0, start) + 1, start - 200)
    last = end
    while True:
        stop = text.find("\n", last, end + 400)
        if stop < 0:
            return first, min(len(text), end + 400)
        if text[stop - 1] != "\\" and not text[last:stop].rstrip().endswith(("(", "{", ",")):
            return first, stop
        last = stop + 1


def _carried(text: str, first: int, last: int, sink: re.Match[str]) -> tuple[int, int] | None:
    kind = sink.lastgroup
    line = text[first:last]
    shady = _SHADY.search(line) is not None
    sends = kind != "curl" or _SENDS_DATA.search(line) is not None
    for private in _PRIVATE.finditer(text, first, last):
        if private["use"] or (private["file"] and _is_used(text, private.start("file"))):
            continue
        span = min(sink.start(), private.start()), max(sink.end(), private.end())
        piped = private.end() < sink.start() and "|" in text[private.end() - 1 : sink.start()]
        inside = sink.start() < private.start()
        if not piped and not inside:
            continue
        if private["value"]:
            if kind in ("curl", "code", "dns") and _leaks_value(text, first, last, private, shady=shady):
                return span
        elif kind == "copy":
            if shady or re.search(r"\.ssh|id_\w+|etc/(?:passwd|shadow)|\.aws|\.gnupg|history|memor", private[0]):
                if inside and not _HOME.search(line) and not re.search(r"\bbackup|\bs3://|restic|\bborg", line):
                    return span
        elif kind == "dns":
            if re.search(r"\$\(|`", text[sink.end() : private.start()]):
                return span
        elif sends or piped or re.search(r"\$\(|`|@", text[sink.end() : private.start() + 1]):
            if not _HOME.search(line) or shady:
                return span
    return None


def _is_used(text: str, start: int) -> bool:
    return re.search(r"(?:\bsource|\s\.|\s-i|--[\w-]+)[ =]\S{0,30}$", text[max(0, start - 50) : start]) is not None


def _leaks_value(text: str, first: int, last: int, private: re.Match[str], *, shady: bool) -> bool:
    """A key in a header belongs to the host; elsewhere it may be sent to its own vendor only."""
    line = text[first:last]
    if shady:
        return True
    if _HOME.search(line) or _HEADER.search(text[first : private.start()]):
        return False
    vendor = next((host for name, host in _VENDORS.items() if name in private["value"]), None)
    host = re.search(r"https?://([^/\s\"'`]+)", line)
    return vendor is not None and host is not None and vendor not in host[1]


# --- other commands -----------------------------------------------------------------------------------

_FORMS: Final = (
    (
        _OPENS,
        re.compile(
            r"\b(?:bash|sh|zsh) -i\b[^\n]{0,20}(?:>&|&>|<)[^\n]{0,10}/dev/(?:tcp|udp)/|\b(?:nc|ncat|netcat)\b[^\n|;]{0,40}\s-\w{0,3}[ec]\w{0,2} ?(?:/bin/|cmd|bash|sh)|\bsocat\b[^\n]{0,60}\bexec:|mkfifo [^\n]{0,60}\b(?:nc|ncat)\b"
            r"|\bpython3? -c [^\n]{0,20}import socket[^\n]{0,200}(?:subprocess|pty|dup2)|>> ?[\"']?(?:~|\$home|/root|/home/\w+)?/?\.ssh/authorized_keys|\bssh-(?:rsa|ed25519) aaaa[^\n]{0,500}>>|\bssh -[rn]{1,3} ?\d+:[^\n]{0,40}@(?!localhost)"
        ),
    ),
    (
        _HIDES,
        re.compile(
            r"base64 (?:-d|--decode|-di)\b[^\n]{0,20}\|\s?(?:sudo )?(?:ba|z|da)?sh\b|\beval [\"']?\$\((?:echo|printf|curl|wget)[^\n]{0,300}(?:base64|https?://)|\bexec\s?\(\s?(?:base64|zlib|codecs|bytes\.fromhex|__import__)|(?:echo|printf) [\"']?(?:\\x[0-9a-f]{2}){4,}[^\n]{0,400}\|\s?(?:ba|z)?sh\b|powershell[^\n]{0,40}\s-e(?:nc\w*)? [a-z0-9+/=]{16,}"
            r"|xxd -r -p[^\n]{0,20}\|\s?(?:ba|z)?sh\b"
        ),
    ),
    (
        _OPENS,
        re.compile(
            r"\b(?:curl|wget)\b[^\n|;]{0,120}//(?!10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0)\d{1,3}(?:\.\d{1,3}){3}[^\n|;]{0,80}(?:\|\s?(?:sudo )?(?:ba|z|da)?sh\b|\|\s?python3?\b|&& ?(?:sudo )?(?:ba|z)?sh\b|&& ?chmod)"
            r"|(?:crontab|\.bashrc|\.zshrc|\.profile|\.bash_profile|rc\.local|/etc/cron\S*|systemd/\S*|launchagents\S*|git/hooks/\S+|hookspath)[^\n]{0,200}(?:\b(?:curl|wget)\b[^\n]{0,120}\|\s?(?:ba|z)?sh\b|/dev/tcp/|\bnc\b -)"
            r"|(?:\b(?:curl|wget)\b[^\n]{0,120}\|\s?(?:ba|z)?sh\b|/dev/tcp/)[^\n]{0,80}(?:\|\s?crontab\b|>> ?\S{0,20}\.(?:bashrc|zshrc|profile|bash_profile))"
        ),
    ),
)
