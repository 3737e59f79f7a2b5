"""How constraints are stated in English, and what only sounds so: what always happens, what must be true."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.forms import form, rule
from mnemos.language.notation import Mark

_POLICY: Final = (
    r"(?:use|support|deploy|allow|accept|store|log|ship|merge|commit|write|release|rebase|squash|mock"
    r"|expose|share|send|touch|host|sell|offer|pin|push|publish|delete|edit|test|hard-?code|cache|sign|tag"
    r"|backport|format|review|pay|charge|run|keep|change|import|hire|mark|document|put|track|bill|print"
    r"|show|reply|answer)"
)
_IMPERATIVE_START: Final = r"(?:^|[,:–-] ?|\b(?:and|but|so|then|please|pls|also|let's) )(?:please |pls )?"
_NOT_ALONE: Final = r"(?:it|this|that|there|i|he|she|they|which|what|who|me|you)"
# After "always", "never": what happens or is so, not what is to be done.
_HAPPENS: Final = (
    r"(?:on|there|full|in|at|up|the|a|an|good|nice|here|so|fun|great|happy|been|had|seen|was|were|got|knew"
    r"|thought|wanted|mind|hesitate|forgets?|fails?|works?|breaks?|happens?|crash(?:es)?|found|felt|saw"
    r"|heard|did|went|again|too|such|something|lovely|amazing|love|loved|wonderful|welcome|ready|down|for"
    r"|by|with|as|more|better|easy|look on|give up|stop (?:believing|dreaming|learning|being)|be (?:a|the"
    r"|there|afraid|so)|remember|worth|room|time|give up on|\w{2,}ing|\w+ed|\w+[^s\W]s)\b"
)

CONSTRAINTS: Final = (
    rule(
        Mark.CONSTRAINT,
        "cap limit supposed period stop story doubt most least than only",
        r"\b(?:hard|upper|absolute|strict) (?:cap|limit|deadline)\b|\b(?:you|we|nobody|users?)(?:'re| are"
        r"| is) not supposed to\b",
        r", (?:period|full stop|end of story|no discussion|no excuses)$|\b(?:is|are) \w+-only\b",
        r"\b(?:can|may|should|is|are) (?:only )?(?:be )?(?:at most|at least|no more than|not more than|no"
        r" longer than) \S+",
        unless=form(r"\bat least (?:i|we|it|that|you)\b"),
    ),
    rule(
        Mark.CONSTRAINT,
        "rule constraint requirement policy convention guideline restriction limit goal rules constraints"
        " requirements conventions policies guidelines restrictions",
        r"^(?:(?:a |another |one |new |hard |house |important |general |project |basic |golden |our |the"
        r" )*(?:rule|constraint|requirement|policy|convention|guideline|restriction|hard limit"
        r"|non-goal)s?)(?: (?:from|for|of|in|on|here|confirmed|noted|number)(?: [\w-]+){0,4})? ?[:–] ?\S",
        r"\b(?:house rule|hard rule|strict rule|hard requirement|our policy|our rule|our convention"
        r"|company policy|team convention|as a (?:general )?rule(?! of thumb)|by convention|by policy)\b"
        r"|\bthe (?:rule|convention|policy) is\b",
        by_assistant=True,
    ),
    rule(
        Mark.CONSTRAINT,
        "must mustn",
        r"(?<!\ba )\bmust(?: not|n't)?\b(?!['-])(?! (?:have (?:been|\w+ed|broken|lost|missed|forgotten"
        r"|done|gone|seen|made|got|had|left|taken|put|set|to)|be (?:the|a|an|why|because|some\w*|that|due"
        r"|related|caused|joking|kidding|nice|hard|annoying|tired|wrong|right|missing|from|about|my|your"
        r"|his|her|it|coming|fun|great|tough|crazy|broken|one|how|where|what|so|such|really|very|pretty"
        r"|quite|super|awesome|amazing|exciting|proud|happy)\b|be \w+ing|be at (?!least|most|\d)|worry"
        r"|forget|hesitate|feel|mean|love|taste|look|sound|seem|know|think|enjoy|miss|want|see|say|admit"
        r"|confess|go|leave|run|be off|point|decide|make .* (?:more|even)))",
        unless=form(
            r"\b(?:i|it|that|this|there|he|she|they|who) must\b|\byou must (?:feel|know|think|mean|see"
            r"|have|be|love)\b",
            r"^must\b|\bmust\b.*\b(?:so much|so many|so|such|incredible|amazing|awesome|rewarding"
            r"|exciting|felt|a lot of|having)\b",
        ),
    ),
    rule(
        Mark.CONSTRAINT,
        "should shall may can will allowed forbidden prohibited banned mandatory compulsory permitted"
        " disallowed obligatory limits taboo question negotiable acceptable unacceptable required"
        " accepted tolerated welcome wanted supported rejected reverted blocked essential crucial"
        " important critical vital imperative shouldn ok okay through go restricted limited reserved",
        r"\b(?:should|shall|may) (?:never|always)\b|\bshould under no\b",
        r"\bmay not\b(?! be as)|\b(?:shall|should) not\b|\bshouldn't\b",
        r"\b(?:is|are|be) (?:strictly |absolutely |explicitly |not |never |always )*(?:allowed|forbidden"
        r"|prohibited|banned|mandatory|compulsory|permitted|disallowed|obligatory|off[- ]limits|taboo|out"
        r" of the question|non-negotiable|a no-go|not ok|not okay|not acceptable|unacceptable|required(?!"
        r" to\b)|rejected|not (?:accepted|tolerated|welcome|wanted)|(?:not )?supported (?:here|in))\b",
        r"\b(?:is|are) (?:restricted|limited|reserved) (?:to|for)\b|\bmay only\b",
        r"\bgets? (?:rejected|reverted|blocked|closed without)\b",
        r"\bgo(?:es)? through (?:me|us|review|legal|ops|security|the \w+ team|qa)\b",
        r"\b(?:it is|it's) (?:mandatory|required|forbidden|essential|crucial|important|critical|vital"
        r"|imperative) that\b",
        r"^(?:nothing|nobody|no one|none|no \w+)(?: \S+){0,6} (?:may|should|must|can|is allowed to)\b(?!"
        r" (?:go wrong|happen|break|be fine|have))",
        unless=form(
            rf"^{_NOT_ALONE} (?:should|shall|may|can|will)(?:n't| not| always| never)\b(?! (?:call|use"
            rf"|touch|commit|push"
            r"|deploy|change|delete|share|send|expose|write|edit|log|store|run|overwrite|skip|modify"
            r"|merge)\b)",
            r"\b(?:this|that|it|we|i|they|you) (?:should not|shouldn't|will (?:never|always)|can always"
            r"|may not|can never)\b(?! (?:use|store|log|touch|commit|push|deploy|change|delete|share|send"
            r"|expose|write|edit|rely|call|run|overwrite|skip|modify|merge|be (?:logged|stored|committed"
            r"|changed|deleted))\b)",
            r"\b(?:it's|that's|is it|i'm|am i|not yet) (?:not )?(?:allowed|required)\b|\bthis (?:\w+ )?is"
            r" required\b",
            r"\b(?:no one|nobody|nothing) can\b|\bmay or may not\b|\b(?:was|were) (?:not"
            r" )?\w+\b.*\bfunny\b",
        ),
    ),
    rule(
        Mark.CONSTRAINT,
        "never always",
        rf"{_IMPERATIVE_START}(?:never|always)(?: ever)? (?!{_HAPPENS})[a-z][a-z-]+",
        rf"\b(?:sure|ensure|important|essential|remember|ask|asked|need|want|require\w*|rule"
        rf"|means)\b.{{1,80}}\b(?:never|always) (?!{_HAPPENS})[a-z]+",
        r"\b(?:is|are|stays?) (?:never|always) (?:\w+ed|\w+en|kept|sent|set|put|done|run|in utc"
        r"|read-only)\b",
        rf"\bwe (?:never|always) (?:ever )?{_POLICY}\b",
        r"\b\w+, always$|\b(?:i|you) (?:never|always) want\b",
        commands=True,
        unless=form(
            rf"\b{_NOT_ALONE}(?:'s|'ve|'re| is| has| have| are)? (?:always|never)\b(?! want)(?<!sure you"
            rf" always)"
            r"(?<!sure you never)(?<!that you always)(?<!that you never)",
            r"\b(?:tests?|build|app|page|server|script|query|browser|job|deploy)s? (?:always|never)\b"
            r"|\bas always\b",
            r"\b(?:don't|do not) (?:need|have) to (?:always|never)\b",
            r"\bi(?:'ll| will|'m| am| can| try| always| never)\b(?! want)",
            r"\b(?:hard|weird|annoying|fun|sad|dream|learn\w*|believe|best|yourself)\b",
        ),
    ),
    rule(
        Mark.CONSTRAINT,
        "don do dont can cannot never want",
        rf"{_IMPERATIVE_START}(?:do not|don't|dont)(?: ever)? (?!(?:worry|know|think|have|need|bother"
        rf"|forget|you|we|they"
        r"|understand|get|see|remember|care|mind|want|like|hesitate|believe|feel|panic|be|rush|laugh|give"
        r"|look|let|start|tell me|ask me why|wait|stop|go|leave|cry|even|really|usually|always|often|seem"
        r"|work|miss|sweat|judge|lose|just)\b)[a-z]+",
        rf"{_IMPERATIVE_START}(?:do not|don't|dont)(?: ever)? (?:start|let|tell|forget to|get|give) (?:\w+"
        rf" ){{1,8}}"
        r"(?:without|before|until|unless|on|in|when)\b",
        rf"\bwe (?:do not|don't) (?:ever )?{_POLICY}\b",
        r"\bwe (?:can't|cannot|can not|may not|must not) (?:ever )?(?:store|use|ship|deploy|share|send"
        r"|exceed|break|change|upgrade|log|host|spend|go (?:over|above|below)|rely|touch|publish|show"
        r"|accept|support|expose|transfer|process|sell|require|assume|raise|delete|move)\b",
        r"\bi (?:don't|do not) want (?:you to|any|to see|\w+ in (?:any|the|my))\b",
        commands=True,
        unless=form(
            r"\bwe don't (?:use|need|run|keep|start|end|put|show) (?:it|that|this|you)\b",
            r"\bdon't (?:use|do|try|change|touch|delete|send|merge|push|run|write|keep|say|mention) (?:it"
            r"|that|this)$|\byourself\b|\bpressure\b",
        ),
    ),
    rule(
        Mark.CONSTRAINT,
        "only",
        rf"{_IMPERATIVE_START}only (?:ever )?(?:{_POLICY}|ask|read|return|call|work|query|cite|buy|book"
        rf"|recommend"
        r"|suggest)\b",
        r"\buse only\b|\bonly be \w+(?:ed|en|t)\b",
        r"(?:\b(?:is|are)|'re) only (?:allowed|permitted|to be|for|\w+ed|caught|kept|read|sent|run)\b",
        r"^only (?:\S+ ){1,6}(?:may|can|must|should|shall|is allowed|are allowed|gets? to)\b",
        rf"\bwe only {_POLICY}\b",
        commands=True,
        unless=form(r"\bonly (?:you|i|we|he|she|they|time|thing) can\b|\bif only\b|\bshow me only\b"),
    ),
    rule(
        Mark.CONSTRAINT,
        "now forward today henceforth here future circumstances times exception exceptions whatever point"
        " case project repo repository codebase team company module package without requires require"
        " insists insist demands forbids allow expects expect wants",
        r"\b(?:from now on|going forward|from today on|henceforth|from here on|in (?:the )?future,)(?=.*"
        r" \S+ \S+)",
        r"\b(?:under (?:no|any) circumstances|at all times|without exception|no exceptions|whatever you"
        r" do|at no point|in no case)\b",
        r"^(?:in|for|on) (?:this|our) (?:project|repo|repository|codebase|team|company|module|package),?"
        r" (?!i\b|there|it\b|the (?:bug|error|problem))(?=.* \S)",
        r"\bno (?:\S+ ){1,6}without (?:asking|my|your|our|explicit|prior|written|approval|a review|review"
        r"|permission|confirmation)\b",
        r"\b(?:client|customer|legal|security|compliance|management|boss|cto|auditors?|ops|gdpr|contract)"
        r" (?:requires?|insists?|demands?|forbids?|doesn't allow|does not allow|expects?|wants?)\b",
        commands=True,
        unless=form(r"\bi(?:'ll| will|'m going)\b"),
    ),
    rule(
        Mark.CONSTRAINT,
        "has have needs need every each all any approval approvals requires require should gets carries",
        r"\b(?:has|have|needs|(?<=s )need) to (?!be (?:fixed|done|updated|changed|rewritten|added|removed"
        r"|deployed|merged|tested|restarted|checked|reviewed|looked|decided|there|here|discussed|a\b)|do"
        r" with|wait|go\b|admit|say|leave|decide|clarify|offer|share|tell)\w+",
        r"\bwe (?:need|have) to (?:support|stay (?!focused|strong|positive)|comply|guarantee|run on|work"
        r" (?:with|on) \w+ \d|fit|remain)\b",
        r"^(?:every|each|all|any) (?:\S+ ){1,5}(?:needs?|requires?|should|has to|have to|goes through|go"
        r" through|may|can only)\b",
        r"\byou need (?:my|our|an?|the|explicit|written) (?:\w+ )?(?:approval|permission|ok|okay|consent"
        r"|sign-off|confirmation)\b",
        r"\bneeds? (?:my|two|an?|explicit|written|one) (?:\w+ )?(?:approvals?|permission|sign-off"
        r"|reviews?|reviewers?|consent)\b",
        commands=True,
        unless=form(
            rf"\b(?:{_NOT_ALONE}|people|someone|anyone|everyone|what we|friends?|family)(?:'ll| will|'d)?"
            rf" (?:just |only "
            r"|still |also |don't |do not |doesn't |won't |really )?(?:has|have|need|needs) to\b",
            r"\bwe(?:'ll| will|'d)? (?:just |only |still |also )?(?:have|need) to (?!support|stay|comply"
            r"|guarantee|run on|work|fit|remain)\w+",
            r"^(?:all|any) (?:i|you|we|time|that|this|it|of (?:it|this|that)|the (?:tests?|checks?))\b",
        ),
    ),
    rule(
        Mark.CONSTRAINT,
        "keep limit restrict cap avoid refrain stay stick sure ensure answer reply respond write speak"
        " comment document address talk format name prefix sort store put use call run start sign log"
        " test round cite quote no before after whenever when every each most least more maximum minimum"
        " ask tell consult notify check warn if need want expect",
        r"^(?:please |pls )?(?:keep|limit|restrict|cap) (?!\w+ing\b|it up|up\b|in mind|me\b|calm|at\b"
        r"|it\b|each\b|your (?:head|chin)|on\b|the faith).*\b(?:under|below|short|at most|within|in|to|at"
        r"|small|free of|out of|separate|stable|up to date|simple|private|sorted|backwards?|as)\b",
        r"^(?:please |pls )?(?:avoid|refrain from|stay away from|stick to)\b(?= \S)",
        r"^(?:please |pls )?(?:ask|tell|consult|notify|check with|warn) (?:me|us) (?:first|before"
        r"|whenever|every time)\b",
        r"^(?:please |pls )?(?:make sure|ensure)(?: that)? (?:no|nothing|nobody|every|each)\b(?= \S)",
        r"^when(?:ever)? (?:in doubt|you|we|\w+ing)\b[^,]{0,80}, (?:please )?(?!it\b|i\b|i'|the\b|there"
        r"|we get|we|what|do\b|does|can|should|how|is\b|are\b|you\b|this|that|they|my\b|nothing|all\b"
        r"|just|let|feel free|call me|don't hes)\w+",
        r"^(?:please |pls )?(?:answer|reply|respond|write|speak|comment|document|address me|talk to me"
        r"|format|name|prefix|sort|store|put|use|call|run|start|end|sign|log|test|round|cite"
        r"|quote)\b.*\b(?:everywhere|throughout|by default|in all|for all|at most|at least|in every|for"
        r" every|for each|in each|at all|each time|every time|whenever|before (?:each|every|you|any)"
        r"|after (?:each|every)|only|in (?:\w+ )?(?:english|german|french|spanish|dutch|italian"
        r"|portuguese))\b",
        r"^(?:please |pls )?(?:address me|speak|talk|answer|reply|respond) (?:\w+ )?(?:in|as|with|by"
        r"|briefly)\b",
        r"(?:^|[:,] )(?:absolutely |strictly |definitely )?no (?!(?:problem|decisions?|idea|worries|luck"
        r"|errors?|rush|thanks|thank|need|way|clue|doubt|changes?(?! (?:to|in|on) the)|hurry|one"
        r"|offen[cs]e|wonder|matter|big|news|point|comment|response|answer|output|result|difference"
        r"|effect|surprise|pressure|such|i|it|we|that|this|you|but|the|he|she|they|not|don't|sorry|wait"
        r"|please|stress|longer|warnings?|more|plans?|luck|excuses?)\b)[\w.-]+(?: [\w./-]+){0,3} ?(?:in"
        r"|on|without|before|after|for|from|to|anywhere|allowed|please|at all|unless|except|outside|other"
        r" than|with|above|over|below|under)\b",
        r"^(?:before|after) (?:each|every|any) .*(?:, | )(?:we |please |always |you )?(?:run|update|check"
        r"|ask|tag|bump|test|make|notify|write|create|do|call|review)\b",
        r"^if you \w+[^,]{3,80}, (?:please )?(?!it|i|you|we|the|that|this|there|let)\w+ .*\b(?:too|as"
        r" well|also|first)$",
        r"\bi (?:need|want|expect) (?:all|every|each)\b",
        r"^(?:every time|each time) (?!i\b|it\b)(?:[^,]+), (?!it\b|i\b|the\b|there\b|we get\b)(?:please"
        r" )?\w+",
        commands=True,
        unless=form(
            r"\b(?:my|the) (?:test|build|app|page|server)s? (?:crash|fail|hang)",
            r"^(?:run|put|call|start|test|use) (?:it|this|that)\b(?!.*\b(?:every|each|before)\b)",
            r"\b(?:yourself|spirits?|in touch|good work|great work|believing|dream|momentum)\b",
        ),
    ),
)
