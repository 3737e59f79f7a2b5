"""Commands that carry secrets out of the machine, let somebody in, or destroy what is there.

A command is judged by what it sends and where: ``curl -d @.env https://…`` sends a file of secrets, while
``curl -H "Authorization: Bearer $TOKEN"`` shows a key to the service it belongs to. A key that is used
(``ssh -i``, ``--netrc-file``, ``source .env``) is not sent.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from mnemos.text.threat_context import is_mentioned, is_negated

Find = tuple[str, str, int, int]
"""The kind, the reason, where it starts, and where it ends."""

_CARRIES: Final = "carries secrets out of the machine"

# --- what is sent -----------------------------------------------------------------------------------

_FILE: Final = (
    r"(?P<file>(?:[~$][\w{}]*|\.{1,2}|/[\w./-]{0,40}|@)?/?(?<!\w)(?:\.ssh/(?!\w+\.pub|config\b|known_hosts"
    r"|authorized_keys)[\w.*-]*|\.ssh\b(?!/)|\.aws\b(?:/\w*)?|\.env(?:\.(?!example|sample|template"
    r"|dist)\w+)?\b(?!\.)|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials\b|\.kube/config\b|\.gnupg\b"
    r"|\.bash_history\b|\.zsh_history\b|\.docker/config\.json|\.config/(?:gh/\w+|gcloud\b)|\.azure\b"
    r"|etc/(?:passwd|shadow)\b|id_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)|id_\*|wallet\.dat|cookies\.sqlite"
    r"|login\.keychain\S*|secrets?\.(?:json|ya?ml|toml|env|txt)\b|credentials(?:\.\w+|\b(?=[\"'`\s]))"
    r"|memories/\w+\.md|memory\.md\b|user\.md\b|\.hermes/\S+|\.mnemos/\S+|\*\.pem\b|\*\.key\b"
    r"|(?<=~/)documents\b|(?<=\$home/)documents\b))"
)
_EVERYTHING: Final = (
    r"(?P<all>(?:^|[\s;&|(`$])(?:printenv|env|set|export -p|declare -x|history)\s?(?:\||>|\)|`)|\$\((?:env"
    r"|printenv|set|history)\b|\bprintenv\b|<\(env\)|get-childitem env|\bdir env:|\bkubectl get secrets?\b"
    r"|json\.dumps\(dict\(os\.environ|os\.environ(?!\[|\.get|\.pop|\.setdefault)|process\.env(?![.\[\w])"
    r"|/proc/(?:self|\d+)/environ)"
)
_VALUE: Final = (
    r"(?P<value>\$\{?(?:env:)?\w*(?:api_?key|token|secret|passw(?:or)?d|credentials?|private_?key"
    r"|access_?key(?:_id)?)\w*\}?|os\.environ(?:\[|\.get\()[\"']?\w*(?:key|token|secret|passw)\w*"
    r"|process\.env\.\w*(?:key|token|secret|passw)\w*)"
)
_PRIVATE: Final = re.compile(f"{_FILE}|{_EVERYTHING}|{_VALUE}")
_USED: Final = re.compile(
    r"(?:\bsource|(?:^|\s)\.|\s-[io]|\bidentityfile|--(?:identity|env-file|netrc-file|key|cert|cacert|config"
    r"|kubeconfig|identity-file|from-env-file|exclude))[ =][\"']?\S{0,30}$"
)

# --- where it goes ----------------------------------------------------------------------------------

_SINK: Final = re.compile(
    r"(?P<web>\bcurl(?:\.exe)?(?=\s)|\bwget(?=\s)|\bhttp(?:ie)? (?:post|put)\b|\bxh (?:post|put)\b"
    r"|\binvoke-(?:webrequest|restmethod)\b|\biwr\b|\birm\b)|(?P<raw>\b(?:nc|ncat|netcat|socat"
    r"|telnet)\b(?= -?\S)|/dev/(?:tcp|udp)/)|(?P<ssh>(?<=\| )ssh(?=\s))"
    r"|(?P<code>\brequire\([\"']https?[\"']\)\.(?:get|request|post)|\b(?:requests|httpx|axios|urllib\.request"
    r"|session|client|http|aiohttp)\.(?:post|put|request|urlopen|get)\s?\(|\bfetch\s?\(|\burlopen\s?\("
    r"|xmlhttprequest|sendbeacon\s?\()|(?P<copy>\b(?:scp|rsync|sftp|rclone|ftp|lftp|aws s3 (?:cp|sync)"
    r"|gsutil cp)\b)|(?P<mail>\b(?:mail|mailx|mutt|sendmail|swaks)\b(?= -|\s\S+@)|\bgh gist create\b"
    r"|\bpastebinit\b|\|\s?(?:pastebin|termbin|sprunge))|(?P<dns>\b(?:nslookup|dig|host|ping)\b)"
)
_WITH_DATA: Final = re.compile(
    r"\s(?:-d|--data(?:-\w+)?|-f|--form(?:-string)?|-t|--upload-file|--json|--post-data|--post-file"
    r"|--body-data|--body-file|-body|-infile|--url-query)[ =@\"'`$]|-x ?(?:post|put)|--request[ =](?:post"
    r"|put)|--method[ =](?:post|put)|\|\s*(?:curl|wget)\b|-d@|-method (?:post|put)|@-"
)
_INSERTED: Final = re.compile(r"\$\(|`|@")
_HEADER: Final = re.compile(
    r"(?:\s-h\b|--header\b|\s-u\b|--user\b|authorization|bearer|x-api-key|headers\s?[=:]"
    r"|auth\s?=)[^|;\n]{0,60}$"
)
_SHADY: Final = re.compile(
    r"webhook\.site|requestbin|pipedream|ngrok|beeceptor|burpcollaborator|\boast\.|oastify|interact\.sh"
    r"|pastebin|transfer\.sh|file\.io|0x0\.st|termbin|ix\.io|hookbin|requestcatcher|mocky|canarytokens|dnslog"
    r"|ceye\.|evil|attack|exfil|malicious|hacker|steal|\bc2\b|collect(?:or)?\b|\bdrop\b"
    r"|//\d{1,3}(?:\.\d{1,3}){3}|\b(?:leak|loot|grab)\w*\.|\.(?:xyz|tk|top|ru|cn)\b|serveo|localtunnel"
    r"|trycloudflare"
)
_PRIVATE_NET: Final = r"(?:10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0)"
_AT_HOME: Final = re.compile(
    rf"//(?:localhost|{_PRIVATE_NET}|\[::1\])|\.local\b|\.internal\b|\.lan\b|\.svc\b"
)
_NUMBERS: Final = rf"(?!{_PRIVATE_NET})\d{{1,3}}(?:\.\d{{1,3}}){{3}}"
# A machine by its public address or full name, as scp and rsync write it.
_ELSEWHERE: Final = re.compile(
    rf"(?:@|\s)(?:{_NUMBERS}|[\w-]+(?:\.[\w-]+)*\.(?!local\b|lan\b|internal\b|home\b)[a-z]{{2,}}):"
)
_BY_NUMBER: Final = re.compile(rf"(?:@|\s){_NUMBERS}\b")
_KEYS_OR_PAST: Final = re.compile(r"\.ssh|id_\w+|etc/(?:passwd|shadow)|\.aws|\.gnupg|history|memor")
# Part of the name of a key, and of the hosts it belongs to.
_VENDORS: Final = dict.fromkeys(
    "anthropic azure cloudflare digitalocean github gitlab google groq linear notion npm openai openrouter"
    " pypi sendgrid slack stripe twilio vercel".split()
) | {"gh_": "github", "aws": "amazonaws", "hf_": "hugging", "huggingface": "hugging", "gemini": "google"}
_HOST: Final = re.compile(r"https?://([^/\s\"'`]+)")
# One of these stands in every command that is looked for.
_SIGNS: Final = (
    *(
        "curl",
        "wget",
        "nc ",
        "ncat",
        "netcat",
        "socat",
        "telnet",
        "/dev/tcp",
        "/dev/udp",
        "| ssh",
        "scp",
        "rsync",
        "ftp",
    ),
    *(
        "rclone",
        "s3 ",
        "gsutil",
        "mail -",
        "mailx",
        "mutt",
        "swaks",
        "gist",
        "pastebin",
        "termbin",
        "sprunge",
    ),
    *(
        "nslookup",
        "dig ",
        "host $",
        "ping ",
        "requests.",
        "httpx",
        "http p",
        "xh p",
        "axios",
        "urlopen",
        "session.p",
    ),
    *(
        "session.g",
        "client.p",
        "fetch(",
        "fetch (",
        "iwr ",
        "irm ",
        "invoke-",
        "require(",
        "xmlhttp",
        "sendbeacon",
    ),
    *(
        "rm -",
        "--no-pres",
        ":()",
        "base64",
        "eval ",
        "exec(",
        "exec:",
        "powershell",
        "xxd",
        "mkfifo",
        "sh -i",
    ),
    *("authorized_keys", "ssh -", "import socket", "dd if", "mkfs"),
)


def commands(text: str) -> Iterator[Find]:
    """Where ``text``, folded, has a command that sends secrets, opens the machine or wipes it."""
    if not any(map(text.__contains__, _SIGNS)):
        return
    for start, end in _carried(text):
        if not _is_harmless(text, start, end):
            yield ("exfiltration", _CARRIES, start, end)
    for reason, expression in _FORMS:
        for match in expression.finditer(text):
            if not _is_harmless(text, *match.span()):
                yield ("command", reason, *match.span())


# What was found in an incident or an exercise is no command to be run.
_REPORTED: Final = re.compile(
    r"(?<![\w./@-])(?:incident|alert|soc|siem|malware|compromised|(?:the|an|by) attackers?|attackers"
    r"|forensics|iocs?|yara|sigma|breach|post-?mortem|exploit|pentest(?:er)?|red[ -]team|cve|honeypot"
    r"|reimaged|ctf|payloads?|threat intel|scanner|detector|detection|flagged|blocked|rejects"
    r"|injection)(?![\w/@]|\.\w)"
)


def _is_harmless(text: str, start: int, end: int) -> bool:
    if is_mentioned(text, start, end) or is_negated(text, start, reach=40):
        return True
    first, last = _line(text, start, end)
    return any(_REPORTED.search(text, *part) for part in ((first, start), (end, last)))


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """The line a command stands in, with lines that go on after a backslash or an open bracket."""
    first = max(text.rfind("\n", 0, start) + 1, start - 200)
    last = end
    while True:
        stop = text.find("\n", last, end + 400)
        if stop < 0:
            return first, min(len(text), end + 400)
        if not text[last:stop].rstrip().endswith(("\\", "(", "{", ",")):
            return first, stop
        last = stop + 1


def _carried(text: str) -> Iterator[tuple[int, int]]:
    """Every stretch from a secret to the command that sends it, or the other way round."""
    privates = [private for private in _PRIVATE.finditer(text) if not _is_used(text, private)]
    starts = [private.start() for private in privates]
    for sink in _SINK.finditer(text) if privates else ():
        first, last = _line(text, *sink.span())
        near = privates[bisect_left(starts, first) : bisect_left(starts, last)]
        # A line with more secrets than that is no command.
        for private in near[:_MOST_IN_A_LINE]:
            between = text[private.end() - 1 : sink.start()]
            piped = any(way in between for way in ("|", "; do", "-exec")) or _is_passed_on(
                text, between, sink.end(), last
            )
            if (piped or sink.start() < private.start()) and _goes_out(
                text, (first, last), sink, private, piped=piped
            ):
                start = private.end() - len(private[0].lstrip(" `\"'(;&|$"))
                yield min(sink.start(), start), max(sink.end(), private.end())
                break


_MOST_IN_A_LINE: Final = 8
_KEPT_IN: Final = re.compile(r"/tmp/[\w.-]+|\b[\w-]+\.(?:zip|tgz|gz|tar|txt|b64)\b")  # noqa: S108


def _is_passed_on(text: str, between: str, start: int, end: int) -> bool:
    """Whether a file written in between is what is sent: ``env > /tmp/e; curl -d @/tmp/e …``."""
    if "&&" not in between and ";" not in between:
        return False
    return any(text.find(name, start, end) >= 0 for name in _KEPT_IN.findall(between))


def _is_used(text: str, private: re.Match[str]) -> bool:
    if not private["file"]:
        return False
    start = private.start("file")
    return _USED.search(text, max(0, start - 60), start) is not None


def _goes_out(
    text: str, line: tuple[int, int], sink: re.Match[str], private: re.Match[str], *, piped: bool
) -> bool:
    kind = sink.lastgroup
    inserted = _INSERTED.search(text, sink.end(), max(sink.end(), private.start() + 2)) is not None
    if private["value"]:
        return kind in ("web", "code", "dns") and _leaks_value(text, line, private)
    if kind == "ssh":
        return piped and _BY_NUMBER.search(text, sink.end(), line[1]) is not None
    if kind == "dns":
        return inserted
    if kind == "copy":
        bucket = "s3" in sink[0] or "gsutil" in sink[0]
        abroad = bucket or _ELSEWHERE.search(text, private.end(), line[1]) is not None
        return abroad and (_SHADY.search(text, *line) or _KEYS_OR_PAST.search(private[0])) is not None
    sends = kind != "web" or piped or inserted or _WITH_DATA.search(text, *line) is not None
    return sends and (not _AT_HOME.search(text, *line) or _SHADY.search(text, *line) is not None)


def _leaks_value(text: str, line: tuple[int, int], private: re.Match[str]) -> bool:
    """A key in a header belongs to the host; elsewhere it may be sent to its own vendor only."""
    if _SHADY.search(text, *line):
        return True
    if _AT_HOME.search(text, *line) or _HEADER.search(text, line[0], private.start()):
        return False
    vendor = next((host or name for name, host in _VENDORS.items() if name in private["value"]), None)
    host = _HOST.search(text, *line)
    return vendor is not None and host is not None and vendor not in host[1]


# --- other commands -----------------------------------------------------------------------------------

_SHELL: Final = r"(?:sudo )?(?:ba|z|da)?sh\b"
_FORMS: Final = (
    (
        "destroys what is on the machine",
        re.compile(
            r"\brm -(?:rf|fr|r -f)\w* (?:--no-preserve-root|[\"']?(?:/|~/?|/\*|\$home/?"
            r"|\*)[\"']?(?=[\s`\"';|&)]|$))|--no-preserve-root|:\(\)\s?\{\s?:\|:&\s?\};:|\b(?:run"
            r"|execute)\b\W{1,4}(?:sudo )?(?:dd if=/dev/(?:zero|u?random) of=/dev/|mkfs\.\w+ /dev/)"
        ),
    ),
    (
        "opens the machine to somebody outside",
        re.compile(
            r"\b(?:bash|sh|zsh) -i\b[^\n]{0,20}(?:>&|&>|<)[^\n]{0,10}/dev/(?:tcp|udp)/|\b(?:nc|ncat"
            r"|netcat)\b[^\n|;]{0,40}\s-\w{0,3}[ec]\w{0,2} ?(?:/bin/|cmd|bash|sh)|\bsocat\b[^\n]{0,60}\bexec:"
            r"|mkfifo [^\n]{0,60}\b(?:nc|ncat)\b"
            r"|\bpython3? -c [^\n]{0,20}import socket[^\n]{0,200}(?:subprocess|pty|dup2)"
            r"|(?<!cat )>> ?[\"']?(?:~|\$home|/root|/home/\w+)?/?\.ssh/authorized_keys"
            r"|\bssh -[rn]{1,3} ?\d+:[^\n]{0,40}@(?!localhost)"
        ),
    ),
    (
        "runs a command in disguise",
        re.compile(
            rf"base64 (?:-d|--decode|-di)\b[^\n]{{0,20}}\|\s?{_SHELL}|xxd -r -p[^\n]{{0,20}}\|\s?{_SHELL}"
            r"|\beval [\"']?\$\((?:echo|printf|curl|wget)[^\n]{0,300}(?:base64|https?://)"
            r"|\bexec\s?\(\s?(?:base64|zlib|codecs|bytes\.fromhex|__import__)"
            rf"|(?:echo|printf) [\"']?(?:\\x[0-9a-f]{{2}}){{4,}}[^\n]{{0,400}}\|\s?{_SHELL}"
            r"|powershell[^\n]{0,40}\s-e(?:nc\w*)? [a-z0-9+/=]{16,}"
        ),
    ),
    (
        "runs what somebody outside wrote",
        re.compile(
            rf"\b(?:mysqldump|pg_dump|mongodump|tar|zip|gpg|sqlite3|find)\b[^\n;]{{0,80}}\|\s?(?:nc"
            rf"|ncat) (?:-\w+ )*{_NUMBERS}\b|(?:bash|sh|zsh|source|\.) <\(\s?(?:curl"
            rf"|wget)[^\n)]{{0,80}}(?://{_NUMBERS}|evil|malware|attacker)"
            r"|\b(?:curl|wget)\b[^\n|;&]{0,80}(?:evil|malware|attacker|hacker|exploit)[^\n]{0,80}"
            rf"(?:\||&&|;) ?{_SHELL}|\b(?:curl"
            rf"|wget)\b[^\n|;]{{0,120}}//{_NUMBERS}[^\n|;]{{0,80}}(?:\|\s?{_SHELL}|\|\s?python3?\b"
            rf"|&& ?{_SHELL}|&& ?chmod)"
            r"|(?:crontab|\.bashrc|\.zshrc|\.profile|\.bash_profile|rc\.local|/etc/cron\S*|systemd/\S*"
            r"|launchagents\S*|git/hooks/\S+|hookspath)[^\n]{0,200}"
            rf"(?:\b(?:curl|wget)\b[^\n]{{0,120}}\|\s?{_SHELL}|/dev/tcp/|\bnc\b -)"
            r"|\b(?:curl|wget|nc)\b[^\n]{0,160}>{1,2} ?\S{0,60}(?:\.git/hooks/|/cron\.)"
            rf"|(?:\b(?:curl|wget)\b[^\n]{{0,120}}\|\s?{_SHELL}|/dev/tcp/)[^\n]{{0,80}}"
            r"(?:\|\s?crontab\b|>> ?\S{0,20}\.(?:bashrc|zshrc|profile|bash_profile))"
        ),
    ),
)
