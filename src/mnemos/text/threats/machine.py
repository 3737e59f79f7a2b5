"""Commands that open a machine, come back by themselves, take its guards away, or destroy what is on it.

Some forms have no honest use in a note and are found wherever they stand. Others are the daily work of
administrators (``setenforce 0``, ``terraform destroy``, a push by force): they are found in twos, or with
words that make a standing or a secret order of them, and never where the text speaks of a trial or the past.
What is fetched and run at once is judged by where it comes from.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Final

from mnemos.text.threats.context import is_mentioned, is_negated
from mnemos.text.threats.forms import Forms, Seen, Span
from mnemos.text.threats.stores import NUMBERS, SHADY, hosts, is_own

Find = tuple[str, int, int]
"""The reason, where it starts, and where it ends."""

_OPENS: Final = "opens the machine to somebody outside"
_DESTROYS: Final = "destroys what is on the machine"
_EMPTIES: Final = "destroys data or history"
_DISGUISED: Final = "runs a command in disguise"
_FOREIGN: Final = "runs what somebody outside wrote"
_STAYS: Final = "makes a command come back by itself"
_UNGUARDS: Final = "takes away what guards the machine"
_PLANTS: Final = "puts what somebody outside wrote to where it is run"
_MIRRORS: Final = "copies a repository to somewhere else"

# --- around a command ---------------------------------------------------------------------------------

# What was found in an incident or an exercise is no command to be run.
_REPORTED: Final = Forms(r"""
(?<![\w./@-])(?:incident|incidente|alert|alerts|soc|siem|malware|malicious|compromised|attackers|forensics
    |ioc|iocs
    |yara|sigma|breach|post-?mortem|post mortem|exploit|pentest|pentester|red team|red-team|cve|honeypot
    |reimaged
    |ctf|payload|payloads|threat intel|scanner|detector|detection|detections|detect|detects|flags|flagged
    |catches
    |blocked|blocks|rejects|injection|suspicious|trojan|vorfall|angreifer|angriff|attaquant
    |atacante)(?![\w/@]|\.\w)
(?<![\w./@-])(?:the|an|by|known|this) attack(?:er|ers)?(?![\w/@]|\.\w)
""")
# In front of what is quoted, these ask to do it, whatever else the sentence speaks of.
_ORDERED: Final = Forms(
    r"\b(?:run|execute|paste|type|start|launch|call|must|always|fuhre|lance|lancer|lancez|executer|executez"
    r"|ejecuta|ejecutar)\b"
)

# "Do not forget to run …" forbids nothing.
_ANYWAY: Final = Forms(r"\b(?:forget|skip|omit|fail|hesitate|miss|vergiss|oublie|olvides)\b")


def is_harmless(seen: Seen, start: int, end: int) -> bool:
    """Whether a command is forbidden, reported from an incident, or only named."""
    first, last = line_of(seen.text, start, end)
    if seen.has(_REPORTED, first, start) or seen.has(_REPORTED, end, last):
        return True
    if is_negated(seen.text, start, reach=40) and not seen.has(_ANYWAY, start - 40, start):
        return True
    is_ordered = seen.has(_ORDERED, first, start) or seen.has(CUE, first, start) or seen.has(CUE, end, last)
    return not is_ordered and is_mentioned(seen.text, start, end)


def line_of(text: str, start: int, end: int) -> Span:
    """The line a command stands in, with lines that go on after a backslash or an open bracket."""
    first = max(text.rfind("\n", max(0, start - 200), start) + 1, start - 200)
    last = end
    while True:
        stop = text.find("\n", last, end + 400)
        if stop < 0:
            return first, min(len(text), end + 400)
        if not text[last:stop].rstrip().endswith(("\\", "(", "{", ",")):
            return first, stop
        last = stop + 1


# --- forms that speak for themselves ------------------------------------------------------------------

_SHELL: Final = r"(?:sudo (?:-\w{1,9} )?)?(?:/bin/)?(?:ba|z|da|k)?sh\b"
# Places nobody installs to.
_ODD_PLACE: Final = r"(?:/tmp/|/var/tmp/|/dev/shm/)"
_DRIVE: Final = r"c:[/\\]{0,2}(?=[\s\"'`*;]|$)"
_SYSTEM_DIR: Final = (
    r"[\"']?(?:/(?:home|etc|var|usr|boot|root|opt|srv|bin|lib)?/?\*?|~/?\*?|\$\{?home\}?/?\*?|\*|/home/\S{0,60}"
    r"|~/(?:documents|desktop|pictures|\.ssh|\.gnupg)\S{0,60}|\.git)[\"']?(?=[\s`\"';|&),]|$)"
)
_LOGS: Final = r"/var/log/(?:auth|audit|secure|syslog|wtmp|btmp|lastlog|messages|journal)\S{0,40}"
_GUARDS: Final = (
    r"(?:auditd|firewalld|ufw|apparmor|fail2ban|clamav\S{0,20}|crowdstrike|falcon-sensor|wazuh\S{0,20}|osqueryd?"
    r"|rsyslog|sshguard|mdatp|sentinel\S{0,20}|windefend|nftables|iptables|systemd-journald|aide|tripwire)\b"
)
_SENSITIVE: Final = r"(?:sudo|ssh|su|scp|passwd|gpg|git|login|doas|kubectl|aws)"
_SPYING: Final = rf"(?:{_ODD_PLACE}|\btee\b|\bcurl\b|\bwget\b|\bnc\b|https?://|/\.\w|read -s)"
_FORMS: Final = (
    (
        _DESTROYS,
        Forms(rf"""
\brm -(?:rf|fr|r -f)\w{{0,3}} (?:--no-preserve-root|{_SYSTEM_DIR})
--no-preserve-root
:\(\)\s?\{{\s?:\|:&\s?\}};:
\bfind (?:~|/|\$home|/home\S{{0,40}}|~/documents\S{{0,40}})\s(?![^\n|]{{0,80}}(?:cache|\.pyc|ds_store
    |node_modules|\.tmp
    |\.log|\.swp|\.bak|empty))[^\n|]{{0,80}}(?:-delete\b|-exec (?:rm|shred)\b)
\bshred\b[^\n;|]{{0,40}}(?:~/(?:documents|\.ssh)|/home\b|/dev/(?:sd|nvme|vd|hd))
\b(?:del|rd|rmdir) (?:/[a-z] ){{1,3}}[\"']?{_DRIVE}
\bremove-item\b[^\n;|]{{0,60}}(?:{_DRIVE}|\$home\b|\$env:userprofile\b)
\bvssadmin delete shadows\b
\bwbadmin delete catalog\b
"""),
    ),
    (
        _OPENS,
        Forms(r"""
\b(?:bash|sh|zsh) -i\b[^\n]{0,20}(?:>&|&>|<)[^\n]{0,10}/dev/(?:tcp|udp)/
\bexec \d{1,3}<>/dev/tcp/(?!localhost|127\.|10\.|192\.168)
\b(?:nc|ncat|netcat)\b[^\n|;]{0,60}\s(?:-\w{0,3}[ec]\w{0,2}|--(?:sh-)?exec) ?(?:/bin/|cmd|bash|sh)
\bsocat\b[^\n]{0,60}\bexec:
\bmkfifo [^\n]{0,80}\b(?:nc|ncat|s_client)\b
(?:import socket|use socket|-rsocket|fsockopen|tcpclient|require\(.net.\)|tcpsocket|/inet/tcp)[^\n]{0,240}
    (?:subprocess|\bpty\b|dup2|/bin/(?:ba|z)?sh|\bcmd\.exe\b|\biex\b)
(?<!cat )>> ?[\"']?(?:~\w{0,20}|\$home|/root|/home/[\w*$]{1,30})?/?\.ssh/authorized_keys
>> ?\S{0,40}\.ssh/authorized_keys[\"']? ?<<
\btee (?:-a )?\S{0,40}\.ssh/authorized_keys
\bssh (?:-\w{1,4} ){0,3}-[rnf]{1,4} ?\d+:[^\n]{0,40}@(?!localhost)
\b(?:open|start|spawn|launch|establish|create|set up|offne|ouvre|abre) (?:a |an |una? |une |eine )?(?:reverse
    |bind
    |remote)[ -]shell\b[^\n]{0,40}\d
\buseradd\b[^\n;|]{0,60}-u ?0\b
\bnet user \S{1,30} \S{1,30} /add\b
\bnet localgroup administrators \S{1,30} /add\b
\bchmod (?:[ugoa]{0,3}\+\w?s|[2467]\d{3}) \S{0,40}/(?:ba|z|da)?sh\b
\bnopasswd: ?all\b[^\n]{0,60}(?:>|\btee\b)[^\n]{0,30}sudoers
\bchmod (?:-r )?(?:0?777|666|a\+rw\w?) (?:/etc/(?:shadow|passwd|sudoers)|/root|/(?=\s|$))
"""),
    ),
    (
        _DISGUISED,
        Forms(rf"""
base64 (?:-d|--decode|-di)\b[^\n]{{0,20}}\|\s?{_SHELL}
xxd -r -p[^\n]{{0,20}}\|\s?{_SHELL}
\beval [\"']?\$\((?:echo|printf|curl|wget)[^\n]{{0,300}}(?:base64|https?://)
\bexec\s?\(\s?(?:base64|zlib|codecs|bytes\.fromhex|__import__)
(?:echo|printf) [\"']?(?:\\x[0-9a-f]{{2}}){{4,}}[^\n]{{0,400}}\|\s?{_SHELL}
(?:powershell|pwsh)[^\n]{{0,60}}\s-e(?:nc\w*|c)? [a-z0-9+/=]{{8,}}
"""),
    ),
    (
        _STAYS,
        Forms(rf"""
\balias {_SENSITIVE}=[^\n]{{0,40}}{_SPYING}
\b{_SENSITIVE}\s?\(\)\s?\{{[^\n]{{0,120}}{_SPYING}
\b(?:ld_preload|dyld_insert_libraries)=[\"']?(?:{_ODD_PLACE}|\S{{0,60}}/\.)
/etc/ld\.so\.preload(?<=[>e] /etc/ld\.so\.preload)
\bld\.so\.preload\b[^\n]{{0,20}}(?:/tmp/|/dev/shm/|/\.)
\bpath=[\"']?{_ODD_PLACE}
\breg(?:\.exe)? add\b[^\n]{{0,100}}\\(?:run(?:once)?|winlogon|image file execution options)\b
\b(?:new|set)-itemproperty\b[^\n]{{0,100}}\\(?:run(?:once)?|winlogon)\b
\bschtasks(?:\.exe)? /create\b[^\n]{{0,120}}(?:powershell|mshta|rundll32|regsvr32|https?:
    |\\public\\|\\temp\\|appdata)
\btrusted=yes\] http://
\bnew-service\b[^\n]{{0,120}}\\(?:public|temp|appdata)\b
\bsc(?:\.exe)? create\b[^\n]{{0,120}}\\(?:public|temp|appdata)\b
\bcore\.hookspath[ =][\"']?{_ODD_PLACE}
\b(?:index-url|index_url|registry)[ =][\"']?http://(?!localhost|127\.|10\.|192\.168)\S
@reboot (?:{_ODD_PLACE}|\S{{0,40}}/\.\w)
"""),
    ),
    (
        _UNGUARDS,
        Forms(rf"""
\bauditctl -(?:e ?0|d)\b
\bwevtutil(?:\.exe)? (?:cl|clear-log)\b
\bclear-eventlog\b
\bsystemctl (?:--\w{{1,9}} )?(?:stop|disable|mask)(?: --now)? {_GUARDS} {_GUARDS}
\bset-mppreference\b[^\n]{{0,30}}-disable\w
\badd-mppreference\b[^\n]{{0,30}}-exclusion\w{{1,12}} [\"']?(?:{_DRIVE}|\S{{0,40}}\\temp|\.exe)
\b(?:shred|truncate)\b[^\n;|]{{0,30}} {_LOGS}
> ?{_LOGS}
\baws cloudtrail (?:stop-logging|delete-trail)\b
\baws guardduty delete-detector\b
\bbranches/\S{{1,40}}/protection\b[^\n]{{0,30}}-x delete\b
-x delete \S{{0,60}}/branches/\S{{1,40}}/protection\b
\bln -sf? /dev/null \S{{0,40}}_history\b
"""),
    ),
)

# --- forms that need company --------------------------------------------------------------------------

_WEAK: Final = (
    (
        _UNGUARDS,
        Forms(rf"""
\bsystemctl (?:--\w{{1,9}} )?(?:stop|disable|mask)(?: --now)? {_GUARDS}
\bservice {_GUARDS} stop\b
\b(?:sc|net) stop {_GUARDS}
\b(?:pkill|killall) (?:-\w{{1,9}} )?{_GUARDS}
\bufw (?:--force )?(?:disable|reset)\b
\biptables -(?:f|p input accept|p forward accept)\b
\bnft flush ruleset\b
\bnetsh advfirewall set \w{{1,20}} state off\b
\bset-netfirewallprofile\b[^\n]{{0,40}}false
\bsetenforce 0\b
\bselinux=(?:disabled|permissive)\b
\baa-(?:teardown|disable)\b
\bcsrutil disable\b
\bspctl --(?:master|global)-disable\b
\bbranches/\S{{1,40}}/protection\b
\bhttp\.sslverify[ =]false\b
\bnode_tls_reject_unauthorized=[\"']?0
\bpythonhttpsverify=0\b
\bstrict-ssl false\b
\bstricthostkeychecking[ =]no\b
\bgit_ssl_no_verify=
\bcommit\.gpgsign false\b
\baws iam deactivate-mfa-device\b
\bpermitrootlogin yes\b
\bpasswd -d \w
\bgh pr merge\b[^\n;|]{{0,30}}--admin\b
--cidr 0\.0\.0\.0/0
\b(?:rm|unlink) (?:-\w{{1,4}} ){{0,2}}(?:{_LOGS}|/var/log/\*)
\bhistory -c\b
\bunset histfile\b
\bhistfile=/dev/null\b
\bhistsize=0\b
\b(?:rm|shred) (?:-\w{{1,4}} ){{0,2}}\S{{0,20}}\.(?:bash|zsh)_history\b
\bjournalctl (?:--rotate )?--vacuum-(?:time|size)=[01]\w?\b
\b(?:disable|deactivate|turn off|switch off|remove|delete|drop|lift)(?: the| all| any)?(?: \w{{1,20}})?
    [ ](?:firewall|branch protection|antivirus|anti-virus|mfa|2fa|two-factor|auditd|audit logs?|audit logging
    |selinux
    |defender
    |tls verification|certificate checks?)\b
\b(?:branch protection|firewall|antivirus|mfa|2fa|selinux) (?:off|aus)\b
\binbound 0\.0\.0\.0/0
--source-(?:address-prefixes|ranges)[ =][\"']?(?:\*|0\.0\.0\.0/0|internet)
"""),
    ),
    (
        _DESTROYS,
        Forms(r"""
\bdd if=/dev/(?:zero|random|urandom) of=/dev/\w
\bmkfs(?:\.\w{1,8})? (?:-\w{1,4} ){0,3}/dev/\w
\bwipefs -a\b
\bzfs destroy -r [\w/-]{1,60}(?![\w/@-])
\bzpool (?:destroy|labelclear)\b
\bdiskutil erasedisk\b
\bformat [c-z]: /\w
"""),
    ),
    (
        _EMPTIES,
        Forms(r"""
\bdrop (?:database|schema|table)\b(?! if exists)
\bdrop all tables\b
\btruncate table\b
\b(?:terraform|pulumi) destroy\b
\bkubectl delete (?:ns|namespace|pv|pvc|all)\b
\baws s3 (?:rb|rm) [^\n;|]{0,60}--(?:force|recursive)
\baws rds delete-db-
\bgcloud projects delete\b
\baz group delete\b
\bgh repo delete\b
\bredis-cli[^\n;|]{0,20} flushall\b
\bdropdatabase\(\)
\bdocker (?:rm|volume rm|rmi) (?:-\w{1,4} )?\$\(docker
\bpush [^\n.]{0,30}\b(?:main|master|all|every)\b[^\n.]{0,30}(?:--force|-f)(?!\S)
\bpush [^\n.]{0,20}(?:--force|-f)(?!\S)[^\n.]{0,40}\b(?:main|master|all|every)\b
\bforce-push\b[^\n.]{0,40}\b(?:main|master|all|every|empty)\b
\bcrontab -r\b
\brm -rf? /(?:var/lib|var/backups|backups?)
"""),
    ),
    (
        _OPENS,
        Forms(r"""
\b(?:add|append|put|write|copy|install|anade|ajoute|trag|fuge) [^\n.]{0,60}\bauthorized_keys\b
\bkey in authorized_keys\b
\bnopasswd: ?all\b
\b(?:cloudflared tunnel --url (?:ssh|tcp|rdp)://\S{0,40}|ngrok tcp \d|chisel client \S)
\busermod -a?g (?:sudo|wheel|docker|root) \w
"""),
    ),
    (
        _STAYS,
        Forms(r"""
\b(?:index-url|index_url|config set registry)[ =][\"']?https://\S
--trusted-host \S
"""),
    ),
    (
        _PLANTS,
        Forms(r"""
\b(?:curl|wget)\b[^\n|;]{1,160}\s(?:-\w{0,4}o|--output|>{1,2}) ?\S{0,60}(?:systemd/|/cron|launchagents
    |\.git/hooks/
    |autostart|profile\.d/|\.bashrc|\.zshrc)
"""),
    ),
    (
        _MIRRORS,
        Forms(r"""
\bgit remote add \S{1,30} \S{1,120}[^\n]{0,40}\bgit push\b
\bgit push --mirror (?:https?://|git@)\S
"""),
    ),
)
# What makes a standing or a secret order of a command.
CUE: Final = Forms(r"""
\b(?:whenever|each time|every time|as soon as|once you|when you|if you|before you|before each|before every
    |before any
    |after you|after each|after every|on all|on every|on each|in all|in every|in each|to all|to every|to each
    |at every
    |for all|for every|for each|of all|each private|each new|always|first thing|from now on|carry on|when idle
    |when done|when finished|when a|when the|at midnight|before anything|say nothing|if a|if an|if the|if it
    |if any|must be run|so it goes
    |so that it|no need to|needn't|need not|never mention|nobody|no one|no output|silently|quietly|unnoticed
    |no trace
    |later sessions|slows us|paste as is|tell the user|nothing else|on your own|off first)\b
\b(?:each|every|jeden|chaque|cada) (?:hour|day|night|evening|morning|week|weekend|month|monday|tuesday
    |wednesday
    |thursday|friday|saturday|sunday|abend|tag|soir|jour|noche|dia)\b
\bon (?:the )?(?:prod|production|error|failure)\b
\bthen (?:go on|continue|proceed|never|push|remove|run|merge)\b
\b(?:do not|don't|without) (?:bring|mention|tell|ask|report|log|show)
\b(?:jedes mal|bei jede|vor jede|nach jede|sobald|immer wenn|auf allen|chaque fois|avant chaque|apres chaque
    |sur tous
    |toujours|cada vez|antes de cada|despues de cada|siempre|en todos)
""")
# What is tried out, bounded, or over.
_SCOPED: Final = Forms(r"""
(?<![\w/])(?:preview|test|tests|testing|local|localhost|locally|dev|staging|sandbox|scratch|throwaway|tmp\w{0,20}
    |temp\w{0,20}
    |feature|wip|own branch|vm|lab|fixture|self-signed|ticket|until|because|while|was|were|had|forgot|only
    |again
    |forbidden|allowed|okay|together|ansible|old|new disk|sd card|needs|review|role|bastion|build host|ask
    |asks
    |if exists|is fine|nur|zwei|seulement|solo)\b
""")
# Words in a row: a sentence, not an option or an argument.
_SENTENCE: Final = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}\b")

# --- what is fetched and run --------------------------------------------------------------------------

_FETCH_AND_RUN: Final = Forms(rf"""
\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n
    |;]{{1,200}}\|\s*(?:tee \S{{1,60}} \|\s*)?(?:{_SHELL}
    |iex\b|invoke-expression\b|(?:sudo )?(?:python3?|perl|ruby|node|php)(?: -)?(?=\s*(?:$|[\n`\"';&),.]
    |\s[a-z]+ )))
\b(?:curl|wget)\b[^\n|;]{{1,160}}(?:&&|;)\s?(?:sudo )?(?:chmod (?:\+x|[0-7]{{3}})|(?:ba|z)?sh|\./)\s?\S
(?:sh|source|\.) <\(\s?(?:curl|wget)[^\n)]{{1,160}}
sh -c [\"']?\$\((?:curl|wget)[^\n)]{{1,160}}
\beval [\"'`]?\$?\(?(?:curl|wget)[^\n)]{{1,160}}
\biex\s?\([^\n]{{0,60}}https?:[^\n)]{{1,80}}
\bdownloadstring\([^\n)]{{1,120}}
\bmshta https?:\S{{1,100}}
\bexec\((?:\w{{1,20}}\.){{0,3}}urlopen\([^\n)]{{1,120}}
""")
# Installers that everybody runs this way.
_KNOWN: Final = Forms(r"""
\b(?:astral\.sh|sh\.rustup\.rs|docker\.com|brew\.sh|python-poetry\.org|nodesource\.com|bun\.sh|deno\.land
    |starship\.rs
    |k3s\.io|tailscale\.com|ollama\.com|fly\.io|pulumi\.com|nixos\.org|sdkman\.io|codecov\.io|pyenv\.run
    |pnpm\.io
    |mise\.run|determinate\.systems|volta\.sh|scoop\.sh|chocolatey\.org|claude\.ai|zed\.dev|just\.systems
    |rvm\.io
    |foundry\.paradigm|getcomposer\.org|haskell\.org)
\braw\.githubusercontent\.com/(?:homebrew|nvm-sh|ohmyzsh|helm|pyenv)/
""")
_INSTALLS: Final = Forms(r"\b(?:install|reinstall|setup|set up|upgrade|update|instala|einricht)")
_PLACE: Final = Forms(r"""
\b(?:crontab|rc\.local|launchagent|launch agent|launchdaemon|hookspath|autostart|sitecustomize|postinstall
    |cron job
    |cron entry|post-checkout|post-commit|post-merge|pre-commit|pre-push)
/(?:etc/cron|var/spool/cron|etc/profile)
\.(?:bashrc|zshrc|bash_profile|zprofile|profile\b|service\b|plist\b|git/hooks)
\bsystemd/
\$profile\b
@(?:hourly|daily|reboot)\b
\* \* \*
""")
_BRINGS: Final = Forms(rf"""
/dev/tcp/
\bnc -
base64 (?:-d|--decode)[^\n]{{0,20}}\|\s?{_SHELL}
""")
_WRITES: Final = re.compile(r"(?:>{1,2}|\|\s{0,3}crontab|\btee\b(?: -a)?)[^\n]{0,60}$")
_NEAR: Final = 200
# So many of a kind are looked at closely; no note has more, and a hostile text may have thousands.
_MOST: Final = 400


def machine(seen: Seen) -> Iterator[Find]:
    """Where a folded text opens a machine, stays on it, unguards it or wipes it."""
    for reason, forms in _FORMS:
        for start, end in islice(seen.spans(forms), _MOST):
            if not is_harmless(seen, start, end):
                yield reason, start, end
    yield from _in_company(seen)
    fetches = seen.spans(_FETCH_AND_RUN)
    for start, end in islice(fetches, _MOST):
        if _is_foreign(seen, start, end) and not is_harmless(seen, start, end):
            yield _FOREIGN, start, end
    if carried := sorted((*fetches, *seen.spans(_BRINGS))):
        yield from _planted(seen, carried)


def _in_company(seen: Seen) -> Iterator[Find]:
    found = sorted((*span, reason) for reason, forms in _WEAK for span in seen.spans(forms))[:_MOST]
    for at, (start, end, reason) in enumerate(found):
        first, last = line_of(seen.text, start, end)
        follows = at + 1 < len(found) and found[at + 1][0] < last and reason != _STAYS
        alone = reason in (_DESTROYS, _PLANTS) and not _SENTENCE.search(seen.text, first, last)
        if not (follows or alone or seen.has(CUE, first, last)):
            continue
        is_scoped = seen.has(_SCOPED, first, start) or seen.has(_SCOPED, end, last)
        if not is_scoped and not is_harmless(seen, start, end):
            yield reason, start, end


def _is_foreign(seen: Seen, start: int, end: int) -> bool:
    """Whether what is run comes from where nobody installs from, or is to be run again and again."""
    if seen.has(_KNOWN, start, end):
        return False
    named = list(hosts(seen.text, start, end))
    if named and all(map(is_own, named)):
        return False
    if seen.has(SHADY, start, end) or any(re.match(NUMBERS, host) for host in named):
        return True
    first, last = line_of(seen.text, start, end)
    if seen.text.find("http://", start, end) >= 0:
        return True
    if not _SENTENCE.search(seen.text, first, last) and not seen.has(_INSTALLS, start - _NEAR, start):
        return True
    return seen.has(CUE, first, start) or seen.has(CUE, end, last)


def _planted(seen: Seen, carried: list[Span]) -> Iterator[Find]:
    """Something fetched that is written to where it is run again: a timetable, a profile, a hook."""
    starts = [start for start, _ in carried]
    for place in islice(seen.spans(_PLACE), _MOST):
        found = _plants(seen.text, place, carried, bisect_left(starts, place[1]))
        if found and not seen.has(_KNOWN, *found) and not is_harmless(seen, *found):
            yield (_STAYS, *found)


def _plants(text: str, place: Span, carried: list[Span], after: int) -> Span | None:
    start, end = place
    if after < len(carried) and carried[after][0] - end < _NEAR:
        return start, carried[after][1]
    if after == 0 or not 0 <= start - carried[after - 1][1] < _NEAR:
        return None
    before = carried[after - 1]
    return (before[0], end) if _WRITES.search(text, before[1], end) else None
