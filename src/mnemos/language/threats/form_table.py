"""Table of structural forms: commands, imitated blocks, tool calls, and phrases everybody knows.

Every pattern is over folded text, begins with something rare and has bounded gaps, so that a search takes
time linear in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ThreatKind(StrEnum):
    OVERRIDE = "override"
    SYSTEM = "system block"
    EXFILTRATION = "exfiltration"
    PERSISTENCE = "persistence"
    HIDDEN = "hidden text"
    TOOL_CALL = "tool call"
    CONCEALMENT = "concealment"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Form:
    """A structure to look for; ``needs`` lists literals, at least one of which a text must have.

    A form without a reason only weighs with the words around it.
    """

    kind: ThreatKind
    reason: str
    needs: str
    pattern: str
    is_certain: bool = True


# Files and variables that hold secrets; public keys and templates of them do not.
_STORE: Final = (
    r"(?:\.ssh/?(?![\w./]{0,30}(?:\.pub|config|known_hosts))|id_(?:rsa|ed25519|ecdsa)(?!\.pub)|\.aws\b"
    r"|\.gnupg"
    r"|\.env\b(?!\.(?:example|sample|template|dist))|\.netrc|\.kube/|\.docker/config|\.npmrc|\.pypirc"
    r"|\.pgpass"
    r"|\.git-credentials|credentials\b|\.config/(?:gh|gcloud|google-chrome|chromium)|/etc/shadow|cookies\b"
    r"|keychains?\b|\.kdbx|\.pem\b|\.password-store|_history\b|wallet\.dat|secrets?\.(?:ya?ml|json|toml)"
    r"|\.vault-token"
    r"|\.azure\b|~/(?:documents|pictures)|/home/\w{1,30}/(?:documents|pictures)|appdata\W)"
)
_SECRET: Final = rf"(?:{_STORE}|\$\{{?\w{{0,40}}(?:token|secret|password|api_?key)\w{{0,20}})"
_DUMP: Final = rf"(?:{_SECRET}|\bprintenv\b|\benv(?= ?[|)])|\bhistory(?= ?[|)]))"
_AWAY: Final = r"(?:https?://|ftp://|s3://|gs://|\w@|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[\w-]{1,40}\.(?:example|[a-z]{2,5})\b)"
_HOME: Final = r"(?!\S{0,20}(?:localhost|127\.0|192\.168|10\.\d|\.local\b|\.lan\b))"
_SHELL: Final = r"(?:sudo (?:-\w{1,9} )?)?(?:/bin/)?(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex|powershell)\b"
_KNOWN_INSTALLERS: Final = (
    r"(?![^\n|]{0,80}(?:astral\.sh|sh\.rustup\.rs|get\.docker\.com|githubusercontent\.com/homebrew"
    r"|deno\.land|bun\.sh"
    r"|nixos\.org|localhost|127\.0\.0\.1|get\.helm\.sh|get\.k3s\.io|install\.python-poetry\.org|nvm-sh"
    r"|\.internal\b|codecov\.io|tailscale\.com|nodesource\.com))(?=[^\n|]{0,100}(?:\w\.\w|://))"
)
_TEMP: Final = r"(?:/tmp/|/var/tmp/|/dev/shm/)"
_EVERYTHING: Final = (
    r"[\"']?(?:/(?:home|etc|var|usr|boot|root|opt|srv|bin|lib)?/?\*?|~/?\*?|\$\{?home\}?/?\*?|\*|\.git"
    r"|/home/\S{1,60}"
    r"|~/(?:documents|desktop|pictures|projects|\.ssh|\.gnupg)\S{0,60})[\"']?(?=[\s`\"';|&),]|\.?$)"
)
_GUARD: Final = (
    r"(?:auditd|firewalld?|ufw|apparmor|fail2ban|clamav|crowdstrike|falcon-sensor|wazuh|osqueryd?|rsyslog"
    r"|mdatp"
    r"|sentinel|windefend|nftables|iptables|selinux|defender|antivirus|branch protection|audit log\w{0,4}"
    r"|mfa|2fa)"
)
_HOST: Final = (
    r"(?:system|sys|developer|operator|admin(?:istrator)?|root|platform|vendor|maintainer|anthropic"
    r"|openai|host|policy"
    r"|security team|assistant|model|agent|ai|systeme|sistema|systemnachricht|systemanweisung"
    r"|systemmeldung|系统|系統"
    r"|システム|система|системное|sistem|he thong|시스템|orchestrator|supervisor|runtime|instructions?)"
)
_LABEL: Final = (
    r"(?: (?:message|prompt|notice|override|update|note|alert|instructions?|policy|directive|command|mode"
    r"|patch|console"
    r"|configuration|advisory|memo|nachricht|mesaji|消息|通知|提示))?"
)
_TOOL_WORDS: Final = r"(?:tool|function|werkzeug|outil|herramienta|ferramenta|strumento|plugin|工具)"

_K: Final = ThreatKind
FORMS: Final = (
    # --- data carried away
    Form(
        _K.EXFILTRATION,
        "has a command that sends secrets or private files to another machine",
        "|",
        rf"{_DUMP}[^\n]{{0,160}}\|[^\n]{{0,60}}\b(?:curl|wget|ncat|nc|netcat|socat|ssh|s_client|telnet"
        rf"|mail|sendmail|dig"
        rf"|nslookup)\b",
    ),
    Form(
        _K.EXFILTRATION,
        "has a command that uploads secrets or private files",
        "curl, wget, http, ftp",
        rf"\b(?:curl|wget|https?|ftp|invoke-\w{{1,20}})\b[^\n]{{0,160}}(?:-d|-f|-t|--data[\w-]{{0,12}}"
        rf"|--form|--upload-file"
        rf"|--post-\w{{4}}|--body-\w{{4}}|put|<)[ =]?[\"']?[\w.]{{0,20}}=?[@<]?\S{{0,60}}?{_STORE}",
    ),
    Form(
        _K.EXFILTRATION,
        "has a command that puts the output of another one into a request",
        "$(, `",
        r"\b(?:curl|wget|dig|nslookup|ping|nc)\b[^\n]{0,200}(?:\$\(|`)(?:sudo )?(?:cat|env|printenv"
        r"|base64|head|tar|grep|history"
        r"|security|gpg|pass)\b",
    ),
    Form(
        _K.EXFILTRATION,
        "has a command that copies secrets or private files to another machine",
        "scp, rsync, s3, gsutil, rclone, nc , curl, dig ",
        rf"\b(?:scp|rsync|aws s3 (?:cp|sync|mv)|gsutil cp"
        rf"|rclone copy)\b[^\n]{{0,60}}(?!\.env){_SECRET}\S{{0,60}} {{1,3}}"
        rf"{_HOME}\S{{0,60}}(?:\d:|@\d|s3://|gs://|\.example)",
    ),
    Form(
        _K.EXFILTRATION,
        "packs secrets or private files and sends them away",
        "tar , zip, cat , base64, cp , read, open(",
        rf"(?:\b(?:tar|zip|7z|cat|base64|cp|for f in|find)\b|read\w{{0,4}}\("
        rf"|open\()[^\n]{{0,80}}{_SECRET}[^\n]{{0,120}}[\n;&|)]"
        rf"[^\n]{{0,40}}\b(?:curl|wget|nc|ncat|scp|dig|fetch|requests?\.post|urlopen)\b[^\n]{{0,80}}",
    ),
    Form(
        _K.EXFILTRATION,
        "has an image or link that carries data to another machine",
        "](http, <img, document.cookie",
        r"!?\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}[?=&/][^)\n]{0,80}(?:\{\{?|<|\$|%s|\bbase64|secret"
        r"|token|api_?key|conversation"
        r"|password|history|memory|context)|document\.cookie|<img [^>\n]{0,200}src=[^>\n]{0,120}[?&=]"
        r"(?:\{|<|\$|%s)",
    ),
    Form(
        _K.EXFILTRATION,
        "names secrets or private files together with a place outside",
        ".env, .ssh, id_, .aws, cred, cookies, token, secret, key, .config, password, printenv",
        rf"{_SECRET}[^\n]{{0,120}}{_HOME}{_AWAY}|\b(?:post|send|upload|copy|mail"
        rf"|push)\w{{0,3}}\b[^\n]{{0,60}}(?:{_SECRET}|\bprintenv\b)",
        is_certain=False,
    ),
    # --- what is done to a machine
    Form(
        _K.COMMAND,
        "downloads a program and runs it at once",
        "|, <(, $(, -c ",
        rf"\b(?:curl|wget|iwr|irm|fetch|invoke-webrequest)\b{_KNOWN_INSTALLERS}[^\n|]{{0,200}}\|\s?{_SHELL}"
        rf"|\b(?:ba|z)?sh (?:-c )?[\"']?(?:<\(|\$\()(?:curl|wget){_KNOWN_INSTALLERS}|\beval [\"']?\$\("
        rf"(?:curl|wget)",
    ),
    Form(
        _K.COMMAND,
        "opens the machine to somebody outside",
        "/dev/tcp, /dev/udp,  -e, exec:, mkfifo, socket, fsockopen, tcpclient, /inet/tcp",
        r"/dev/(?:tcp|udp)/(?!localhost|127\.)|\b(?:nc|ncat"
        r"|netcat)\b[^\n|;]{0,60}\s-\w{0,3}[ec]\w{0,2} ?(?:/bin/|cmd|bash|sh)"
        r"|\bsocat\b[^\n]{0,60}\bexec:|\bmkfifo [^\n]{0,80}\b(?:nc|ncat|s_client)\b"
        r"|(?:import socket|use socket|fsockopen|tcpclient|/inet/tcp)[^\n]{0,240}(?:subprocess|\bpty\b"
        r"|dup2|/bin/\w{0,3}sh|cmd\.exe|\biex\b)",
    ),
    Form(
        _K.COMMAND,
        "gives somebody else access to the machine",
        "authorized_keys, useradd, net user, chmod, nopasswd, clusterrolebinding",
        r"(?<!cat )>> ?[\"']?\S{0,60}authorized_keys|\btee (?:-a )?\S{0,60}authorized_keys"
        r"|\buseradd\b[^\n;|]{0,60}-u ?0\b"
        r"|\bnet user \S{1,30} \S{1,30} /add\b|\bchmod (?:[ugoa]{0,3}\+\w?s|[2467]\d{3}) \S{0,40}/(?:ba|z"
        r"|da)?sh\b"
        r"|\bnopasswd: ?all\b[^\n]{0,60}(?:>|\btee\b)|--clusterrole=cluster-admin|\bchmod (?:-r )?"
        r"(?:0?777|666) /(?:etc|root|\s|$)",
    ),
    Form(
        _K.COMMAND,
        "destroys what is on the machine",
        "rm -, --no-preserve-root, :|:, shred, find , of=/dev, mkfs, del /, rd /, remove-item, vssadmin",
        rf"\brm -(?:rf|fr|r -f)\w{{0,3}} (?:--no-preserve-root|{_EVERYTHING})|--no-preserve-root"
        rf"|:\(\)\s?\{{\s?:\|:&\s?\}};:"
        rf"|\bfind (?:~|/|\$home|/home\S{{0,40}})/?\s[^\n|]{{0,60}}(?:-delete\b|-exec (?:rm|shred)\b)"
        rf"|\bshred\b[^\n;|]{{0,40}}(?:~/|/home\b|/dev/)|\b(?:del|rd|rmdir) (?:/[a-z] ){{1,3}}[\"']?c:"
        rf"|\bremove-item\b[^\n;|]{{0,60}}(?:c:|\$home\b|\$env:userprofile\b)|\bvssadmin delete shadows\b",
    ),
    Form(
        _K.COMMAND,
        "runs a command in disguise",
        "base64, xxd, eval, exec, powershell, pwsh",
        rf"base64 (?:-d|--decode|-di)\b[^\n]{{0,20}}\|\s?{_SHELL}|xxd -r -p[^\n]{{0,20}}\|\s?{_SHELL}"
        rf"|\beval [\"']?\$\((?:echo|printf)[^\n]{{0,200}}base64|\bexec\s?\(\s?(?:base64|zlib|codecs"
        rf"|bytes\.fromhex|__import__)"
        rf"|(?:powershell|pwsh)[^\n]{{0,60}}\s-e(?:nc\w*|c)? [a-z0-9+/=]{{8,}}",
    ),
    Form(
        _K.COMMAND,
        "makes a command come back by itself or poses as another one",
        "alias , preload, insert_libraries, cron, hooks, bashrc, @reboot, schtasks, reg add, currentversion",
        rf"\balias (?:sudo|ssh|su|scp|passwd|gpg|git|login)=[^\n]{{0,40}}(?:{_TEMP}|curl|wget|tee|nc|/\.\w)"
        rf"|\b(?:ld_preload|dyld_insert_libraries)=[\"']?(?:{_TEMP}|\S{{0,60}}/\.)|/etc/ld\.so\.preload"
        rf"|@reboot (?:{_TEMP}|\S{{0,40}}/\.\w|curl|wget)"
        rf"|(?:curl|wget|{_TEMP})[^\n]{{0,120}}(?:>|\|) ?[^\n]{{0,40}}(?:crontab|\.git/hooks/|\.bashrc"
        rf"|\.zshrc|\.profile|autostart)"
        rf"|\\currentversion\\run\b|\bschtasks(?:\.exe)? /create\b",
    ),
    Form(
        _K.COMMAND,
        "removes traces or switches off what guards the machine",
        "auditctl, wevtutil, clear-eventlog, -mppreference, cloudtrail, guardduty, /var/log, _history",
        r"\bauditctl -(?:e ?0|d)\b|\bwevtutil(?:\.exe)? (?:cl|clear-log)\b|\bclear-eventlog\b"
        r"|\bset-mppreference\b[^\n]{0,30}-disable"
        r"|\baws cloudtrail (?:stop-logging|delete-trail)\b|\bguardduty delete-detector\b"
        r"|(?:> ?|\b(?:shred|truncate)\b[^\n;|]{0,30})/var/log/(?:auth|audit|secure|syslog|wtmp)"
        r"|\bln -sf? /dev/null \S{0,40}_history\b|\bhistory -c\b[^\n]{0,20}(?:rm|_history|unset)",
    ),
    Form(
        _K.COMMAND,
        "switches off a guard",
        "disable, stop, setenforce, --force, -f, no-verify, skip, histfile, history -c, off, "
        "insecure, remove, 0.0.0.0",
        rf"\b(?:stop|disable|mask|turn off|switch off|remove|kill\w{{0,3}}"
        rf"|uninstall)\b[^\n.]{{0,24}}\b{_GUARD}|\b{_GUARD} (?:off|disable|reset|stop)\b"
        r"|\bsetenforce 0|\biptables -f\b|--no-verify\b|--dangerously-\w|\bhistory -c\b|\bhistfile="
        r"|--trusted-host|0\.0\.0\.0/0"
        r"|\bsslverify[ =]false|reject_unauthorized=",
        is_certain=False,
    ),
    Form(
        _K.COMMAND,
        "destroys data",
        "drop , destroy, delete, --force, -f , flushall, truncate, rm -r, dd if, mkfs, wipe",
        r"\bdrop (?:database|schema|table)\b|\b(?:terraform|pulumi|zfs|zpool) destroy\b"
        r"|\bkubectl delete (?:ns|namespace|pvc?|all)\b"
        r"|\bgh repo delete\b|\bflushall\b|\btruncate table\b|\bpush [^\n.]{0,40}(?:--force|-f)(?!\S)"
        r"|\brm -rf?\b|\bdd if=/dev/(?:zero|u?random)"
        r"|\bmkfs\b|\bwipefs\b",
        is_certain=False,
    ),
    Form(
        _K.COMMAND,
        "runs what somebody outside wrote",
        "curl, wget, http, install, load , npx, pip",
        rf"\b(?:curl|wget)\b[^\n]{{0,160}}(?:\| ?{_SHELL}|&& ?(?:\./|{_SHELL}|chmod))|\b(?:run|execute"
        rf"|eval|load|install|import)\w{{0,3}}\b[^\n.]{{0,60}}https?://"
        r"|\b(?:pip|npm|npx|uvx) [^\n]{0,60}(?:--index-url|--registry|git\+|http)",
        is_certain=False,
    ),
    # --- imitated blocks
    Form(
        _K.SYSTEM,
        "imitates the markers of a chat template",
        "<|, [inst], <<sys>>, <s>, <start_of_turn>, [|, <｜, ✿",
        r"<[|｜](?:im_start|start_header_id|start_of_role|turn|system|begin_of_text|begin▁of▁sentence"
        r"|start|user|assistant)[|｜]?>\s{0,3}(?!(?:and|or|around|before)\b)\w"
        r"|\[inst\]\s{0,3}(?!and\b|\")[^\s\]/,]|<<sys>>\s{0,3}\S|<start_of_turn>\s{0,3}\w|\[\|(?:system"
        r"|user|assistant)\|\]",
    ),
    Form(
        _K.SYSTEM,
        "imitates a block of system instructions",
        "<system, <developer, <operator, <admin, <instructions, <policy, <system_prompt, <sys, <important",
        r"(?m:^)[\s>\"]{0,3}<(?:system|developer|operator|admin|sys|system[-_ ](?:prompt|message|reminder"
        r"|note|instructions?))\b[^<>\n-]{0,80}>"
        r"\s{0,5}(?!(?:tags?|elements?|section|and|in|is|for|means)\b)\w{1,30}\W{1,3}\w",
    ),
    Form(
        _K.SYSTEM,
        "has the heading of a message from the system or an operator",
        "sys, developer, operator, admin, root, polic, 系, システム, систем, sis, anthropic, openai, "
        "he thong, 시스템, vendor, host, instruc, agent, assistant, ai, runtime, super, orch, "
        "platform, maint",
        rf"(?m:^)[\W_]{{0,8}}(?:(?:new|neue|nouvelle?|nuev[ao]|begin|start|message|mensaje|end"
        rf"|important) (?:of |du |del |der |from (?:the )?)?)?{_HOST}{_LABEL}"
        rf"(?:[\W_]{{0,4}}[:\]】>=#*)}}|]|[\W_]{{3,}}|[^\w\n]{{0,3}}\n)",
        is_certain=False,
    ),
    Form(
        _K.SYSTEM,
        "gives an assistant settings without limits",
        "=, :",
        r"\b(?:guardrails?|safety|safe_mode|restrictions?|approvals?|confirm\w{0,8}|ask\w{0,20}"
        r"|refus\w{0,6}|content_filter|permissions?|truthfulness"
        r"|auto_?approve|trust\w{0,6}|disclos\w{0,6}|inform_user|notify_user|silent)[\"']?\s?[=:]\s?[\"']?"
        r"(?:off|false|none|no|never|0|disabled|all|true|yes|absolute|low|\*|\[\])",
        is_certain=False,
    ),
    Form(
        _K.SYSTEM,
        "closes the block it is shown in and goes on outside of it",
        "</, end of, ----, ====, ```",
        r"(?m:^)[\s>]{0,3}</[a-z][\w -]{1,40}>\s{0,3}\S[^<\n]{8,}"
        r"|\W{2,6}\s?end of [\w ]{2,30}\W{2,6}\n[^\n]{4,}",
        is_certain=False,
    ),
    Form(
        _K.SYSTEM,
        "imitates a conversation",
        "user:, human:, assistant, ai:, <think, thought:, observation:, model:",
        r"(?m:^)\W{0,4}(?:user|human)\W{0,4}:[^\n]{0,300}\n+\W{0,4}(?:assistant|ai|model"
        r"|bot)\b[^\n:]{0,20}:|<think(?:ing)?>|(?m:^)\W{0,4}(?:assistant|thought"
        r"|observation)\b[^\n:]{0,24}:",
        is_certain=False,
    ),
    # --- imitated tool calls
    Form(
        _K.TOOL_CALL,
        "imitates a call of a tool",
        '<tool, <function, <invoke, <call, _call", "arguments", tools/call, action input, '
        "functions., ✿function, [[tool, tool_calls, action_input, tool_use",
        r"<(?:tool_call|tool_use|function_calls?|function=\w{1,40}|invoke name=|call tool="
        r"|\w{1,10}:invoke)[^<>\n]{0,120}>?\s{0,3}[<{\w]"
        r"|\"(?:function|tool)_call\"\s?:\s?\{|\"name\"\s?:\s?\"[^\"\n]{1,60}\"\s?,\s?\"(?:arguments"
        r"|parameters|input)\"\s?:\s?[{\"]|\"method\"\s?:\s?\"tools/call\""
        r"|(?m:^)\W{0,4}action\s?:[^\n]{1,60}\n+\W{0,4}action[ _]input\s?:|\bfunctions\.\w{1,40}\(\{"
        r"|✿function✿|\[\[tool:|\"tool_calls\"\s?:"
        r"|\"action\"\s?:\s?\"[^\"\n]{1,60}\"\s?,\s?\"action_input\"",
    ),
    Form(
        _K.TOOL_CALL,
        "reads like a call of a tool",
        '({, tool, werkzeug, /, !, function, ":, 工具, herramienta, outil, @',
        rf"{_TOOL_WORDS}\w{{0,8}}(?: ?(?:call|aufruf|output|result|ausgabe))?[\])】]?\s?[:：=]\s?\S"
        rf"|\b\w{{1,30}}[._]\w{{1,30}}\(\{{\s?\"|\[{_TOOL_WORDS}[^\]\n]{{0,40}}\]"
        rf"|\"(?:{_TOOL_WORDS}|action|cmd|command)\"\s?:\s?\"|(?m:^)\s{{0,3}}(?:@\w{{1,20}} )?/(?:approve"
        rf"|run|permissions?|sudo|exec|grant|allow)\b|(?m:^)!(?:run|exec|shell)\b",
        is_certain=False,
    ),
    # --- text a page keeps from its readers
    Form(
        _K.HIDDEN,
        "speaks where a page shows nothing",
        "<!--, display, visibility, font-size, opacity, hidden, color, ]: #, left:-, left: -, <template",
        r"<!--[^<>]{12,}|display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?[01](?:px|pt)?\b"
        r"|opacity\s?:\s?0(?![.\d])"
        r"|color\s?:\s?(?:white|transparent|#fff)|(?:left|text-indent)\s?:\s?-\d{3,6}|<\w{1,10} hidden\b"
        r"|<template\b|\[(?://|comment)\]: ?# ?\(",
        is_certain=False,
    ),
    Form(
        _K.OVERRIDE,
        "asks to decode something and to do what it says",
        "deco, deci, dekod, entschl, rot13, base64, backwards, reverse, unscramble, 解码, hex",
        r"\b(?:deco\w{1,6}|decipher\w{0,3}|dekod\w{1,6}|entschlussel\w{0,3}|rot13|base64|descifra\w{0,3}"
        r"|backwards|in reverse|unscramble\w{0,3}|dechiffre\w{0,3})\b[^\n]{0,160}"
        r"\b(?:and|then|und|et|y|e|as) (?:\w{1,12} ){0,2}(?:do|follow|obey|execute|run|carry|act|tu"
        r"|befolge|fuhre|fais|execute|suis|haz|ejecuta\w{0,3}|cumple\w{0,3}|instruction|order)",
        is_certain=False,
    ),
    Form(
        _K.OVERRIDE,
        "tells the model to drop its instructions",
        "ignor, disregard, forget, overlook, vergiss, vergesst, oubli, olvida, esque, 忽略, 無視, "
        "игнорир, забудь, dimentica, pomin",
        r"\b(?:ignor\w{0,6}|disregard\w{0,3}|forget|overlook|vergiss|vergesst|oublie\w{0,2}|olvida\w{0,2}"
        r"|esque[cç]a\w{0,2}|dimentica\w{0,2}|игнорируй\w{0,2}|забудь\w{0,2})"
        r"\b[^\n.;:]{0,40}\b(?:previous|prior|earlier|above|your|all|any|every|bisherig\w{0,3}"
        r"|vorherig\w{0,3}|alle|deine|toutes?|tes|vos|precedent\w{0,3}|todas?|tus|suas|anterior\w{0,2}"
        r"|tutte|precedenti"
        r"|все|предыдущ\w{0,3})\b[^\n.;:]{0,30}\b(?:instruc\w{0,8}|istruzion\w|instruktion\w{0,2}|rules?"
        r"|guidelines?|directives?|prompts?|orders?|commands?|anweisung\w{0,2}|regeln|vorgaben|consignes"
        r"|regles|reglas|regras|regole|инструкци\w|правила)\b"
        r"|忽略[^\n。]{0,12}(?:指令|规则|指示)|(?:指示|命令|ルール)[^\n。]{0,10}無視",
        is_certain=False,
    ),
    Form(
        _K.CONCEALMENT,
        "tells the model to keep something from the user",
        "tell, mention, inform, know, notice, say, dis , dire, digas, avis, 告诉, 知らせ, сообщ, говори",
        r"\b(?:do not|don't|dont|never|without|not|no one|nobody) (?:\w{1,12} ){0,3}?(?:tell|telling"
        r"|mention\w{0,3}|inform\w{0,3}|notify\w{0,3}|reveal\w{0,3}|let) (?:\w{1,12} ){0,3}?(?:the )?"
        r"(?:user|owner|operator|human|anyone|customer|them|him|her|it)\b"
        r"|\b(?:user|owner|operator)s? (?:must|should|may|need|does|do|will)(?: not|n't|n't have to"
        r"| never)(?: \w{1,12}){0,2} (?:know|notice|find out|hear|learn|see|told)\b"
        r"|\bohne (?:es )?(?:dem|der) (?:nutzer|benutzer)|\bne (?:le )?(?:dis|dites|parle) (?:rien|pas)"
        r"|\bno (?:se )?(?:lo |le )?(?:digas|avises|menciones)|不要(?:让用户知道|告诉用户)"
        r"|ユーザーに[^\n。]{0,10}(?:知らせ"
        r"|言わ)ない|не (?:говори|сообщай)",
        is_certain=False,
    ),
    Form(
        _K.OVERRIDE,
        "",
        "scanner, inject, phish, attack, jailbreak, malware, red team, detect, incident, pentest, block",
        r"\b(?:scanner|injections?|phish\w{0,4}|attack\w{0,4}|jailbreaks?|malware|red team|detect\w{0,4}"
        r"|incident|pentest|blocklist|test case|fixture)\b",
        is_certain=False,
    ),
    Form(
        _K.OVERRIDE,
        "tells the model to drop its instructions",
        "ignor, disregard, forget",
        r"(?m:^)[\s*#>-]{0,4}(?:please |now )?(?:ignore|disregard|forget) "
        r"(?:(?:all|any|the|of|your|my|these|those) ){0,3}(?:previous|prior|above"
        r"|earlier|preceding) (?:instructions?|rules|guidelines|directions|prompts?|orders)"
        r"(?! (?:about|for|in|on|of|from|regarding)\b)",
    ),
)
