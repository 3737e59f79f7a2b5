"""How decisions and preferences are stated in English, and what only sounds like them."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.forms import form, rule
from mnemos.language.notation import Mark

_WE: Final = (
    r"\b(?:we|(?:the|our) (?:\w+ )?(?:team|client|customer|board|boss|cto|group|committee|council|family)"
    r"|management|everybody|everyone|legal)"
)
_ADV: Final = r"(?:(?:now|just|also|finally|already|therefore|all|both|really|generally|still) )*"
_LATELY: Final = r"(?: (?:earlier|yesterday|today|now|finally|again|together|(?:last|this) \w+))?"
# What is chosen must be named: "let's go with that" says nothing later.
_NAMED: Final = (
    r"(?! ?(?:it|that|this|them|those|these|so|one|you|(?:the|your|my|an?) (?:first|second|third|last"
    r"|other|former|latter|same|above|one|idea|suggestion|proposal|option|approach|way)(?! of)|option(?!"
    r" \w+ (?:from|of|,|\())|which|what|a bit|for now|up|me|him|her)\b)(?= ?\S)"
)
_CHOOSE: Final = (
    r"(?:go with|go for|use|stick (?:with|to)|stay (?:with|on)|switch|move|migrate|drop|keep(?! \w+ing)"
    r"|skip|adopt|standardi[sz]e on|target|support|store|host|ship|avoid|ditch|postpone|rename|split|call"
    r"|name|pick|choose|replace|defer|deploy (?:to|on|with)|cap|limit|remove support|not|build|write|run"
    r"|do)"
)
_CHOOSING: Final = (
    r"(?:going (?:with|for)|using|sticking|staying (?:with|on)|switching|moving (?:to|off|away|from|the)"
    r"|migrating|dropping|keeping|skipping|adopting|standardi[sz]ing|targeting|postponing|replacing|not"
    r" (?:building|doing))"
)
_AFTER_LETS: Final = (
    r"keep (?:going|it|on|up|at|each|this|that|in|\w+ing)|use (?:it|this|that|them)|run (?:the|it|this"
    r"|that|a)|write (?:the|a|it|some|this|that)|do (?:it|that|this|the|a|some|one|another|both|them)|move"
    r" (?:on|ahead|forward)|build (?:it|this|that|the|a|on)|skip (?:it|this|that)|split (?:it|this|that"
    r"|the work)|not (?:worry|forget|rush|panic|go|talk|argue|get|waste|start|decide|do (?:it|that|this))"
    r"|name it|limit ourselves|switch (?:topics?|gears|roles|back to the)|call it a day|stick (?:to|with)"
    r" (?:it|this|that)|go for (?:it|lunch|a)|pick (?:it|this|that|up)|drop (?:it|this|that)$|support each"
    r"|do more"
)

DECISIONS: Final = (
    rule(
        Mark.DECISION,
        "decided agreed settled opted resolved concluded chose chosen picked selected went adopted"
        " approved dropped decision decisions verdict consensus winner conclusion outcome final ended"
        " longer stopped going agreement resolution signed rejected confirmed voted instead set include"
        " approach strategy choice scope table hold scrapped shelved cancelled postponed plan plans green"
        " vote won per following asked wanted told go will",
        rf"{_WE}(?:'ve| have| has)? {_ADV}(?:decided|agreed|settled|opted|resolved|concluded|voted)(?:"
        rf" with (?:the )?\w+)?{_LATELY}"
        r"(?: (?:to|on|for|against|that|not|in favou?r of)\b|:)" + _NAMED,
        rf"{_WE}(?:'ve| have| has)? {_ADV}(?:chose|chosen|picked|selected|went with|adopted"
        rf"|approved|dropped|rejected)" + _NAMED,
        rf"{_WE} (?:have )?ended up (?:choosing|using|going with)\b" + _NAMED,
        r"\b(?:it was|it's been|it has been) (?:decided|agreed) (?:to|that|on)\b",
        r"^(?:decisions?|decided|agreed|agreement|resolution|verdict)(?: (?:made|taken|today|recorded|so"
        r" far|noted|now)){0,2}(?: ?[:–] ?| - )\S",
        r"^(?:final (?:answer|decision)|(?:our|the|all|key|main) decisions?)(?: (?:\w+ ){0,3}\w+)?(?:"
        r" ?[:–] ?| - )\S",
        r"\b(?:summari[sz]e|recap)\b.*\bdecisions?\b.*:",
        r"\bthe (?:(?:team )?consensus|winner|final choice|verdict) (?:is|was)\b",
        r"\b(?:that's|it's|this is) (?:now )?(?:decided|settled|agreed|final)\b",
        r"\bwe (?:no longer|stopped|don't) (?:use|using|support|supporting)\b.*\b(?:now|any ?more"
        r"|instead)\b",
        r"^going with\b" + _NAMED,
        r"^(?:please |pls )?go with\b" + _NAMED,
        r"\b(?:is|are) (?:now )?(?:off the table|on hold|scrapped|shelved|cancelled|postponed)\b|\bchange"
        r" of plans?\b",
        r"\b(?:signed off|gave (?:us |me )?(?:the|a) (?:green light|ok|okay|go-ahead))\b|\bthe vote was\b",
        r"\b(?:we|i)(?:'re|'ll|'ve| are| will| have)? .*\w(?:ing|ed|en)\b.*\binstead of\b",
        r"\bi ended up \w+ing\b" + _NAMED,
        r"\bwe (?:won't|will not) (?!be able|make it|know|see|get|have time|finish|find|need|let|forget"
        r"|manage)\w+",
        r"\b(?:per|following) (?:your|our) (?:decision|agreement|request|choice)\b",
        r"\byou(?:'ve)? (?:asked|told me|wanted) (?:me )?(?:to (?:keep|use|leave|drop|avoid|skip)|for"
        r" (?:all|the)|that)\b",
        r"\bwe(?:'re| are) (?:all )?set on\b" + _NAMED,
        r"\b(?:won't|will not) (?:include|support|cover)\b|\b(?:is|are) out of scope\b|^our (?:approach"
        r"|strategy|choice): \S",
        r"\b(?:everyone|everybody|all of us) agreed$|\bwe(?:'ll| will) (?:\S+ ){2,10}instead\b",
        r"\bas (?:agreed|decided|discussed),? (?:we|the|all)\b",
        unless=form(
            r"(?:\b(?:not|never|nothing|nobody|yet to|hardly|have you|had)|n't) (?:\w+ ){0,2}(?:decided?"
            r"|agreed?|settled|chosen|chose|picked)\b",
            r"\b(?:had|were|was) (?:agreed|decided|going)\b.*\bbut\b|\bthought we\b|\bnothing came of\b",
            r"\b(?:decided|agreed|settled|chose|picked) (?:on )?(?:that|this|it)(?: (?:yesterday|already"
            r"|before|today|earlier|last \w+))?$",
        ),
        by_assistant=True,
    ),
    rule(
        Mark.DECISION,
        "decided settled opted resolved agreed mind want",
        rf"\bi(?:'ve| have)? {_ADV}(?:decided|settled|opted|resolved|agreed)"
        r"(?: (?:to|on|for|against|that|not|in favou?r of)\b|:)" + _NAMED,
        r"\bmade up my mind\b.*\S",
        r"\bi want (?:us )?to (?:use|keep(?! \w+ing)|stick with|switch|go with)\b" + _NAMED,
        unless=form(r"(?:\b(?:not|never)|n't) (?:\w+ ){0,2}(?:decided|settled|made|agreed|want)\b"),
    ),
    rule(
        Mark.DECISION,
        "chose chosen picked opted settled decided went used implemented kept put",
        r"\bi(?:'ve| have)? (?:chose|chosen|picked|opted for|settled on|decided (?:on|to use|to"
        r" keep|against)|went (?:with|for))\b" + _NAMED,
        r"\bi(?:'ve| have)? (?:used|implemented|kept|put) .*\b(?:instead of|rather than)\b.*\b(?:because"
        r"|since|as)\b",
        r"\byou(?:'ve)? (?:chose|decided|picked|opted) (?:to|for|on|option|against)\b",
        by_assistant=True,
    ),
    rule(
        Mark.DECISION,
        "let lets",
        r"\blet(?:'s| us|s) make (?:the|all|every|each) .*\b(?:optional|mandatory|required|default"
        r"|private|public|read-only|async|configurable|immutable|nullable|lazy|stateless|idempotent"
        r"|opt-in|opt-out)\b",
        rf"\blet(?:'s| us|s) (?:just |simply |rather |all )?{_CHOOSE}\b" + _NAMED,
        unless=form(rf"\blet(?:'s| us|s) (?:just |simply |rather |all )?(?:{_AFTER_LETS})\b"),
        commands=True,
    ),
    rule(
        Mark.DECISION,
        "we",
        rf"\bwe(?:'ll| will| are going to|'re going to|'re gonna| shall) (?:not |only |just |now"
        rf" |also )*{_CHOOSE}\b" + _NAMED,
        unless=form(
            r"\bwe'll (?:run|write|build|do) (?:the|a|it|some|this|that)\b|\b(?:first|next),? we(?:'ll|"
            r" will)\b",
        ),
    ),
    rule(
        Mark.DECISION,
        "we plan decision agreement strategy roadmap it called named written built hosted based released"
        " rewritten replaced dropped removed migrated",
        rf"\bwe(?:'re| are) (?:not |only |now |also |all |still )*{_CHOOSING}\b" + _NAMED,
        r"\bwe(?:'re| are) not going to\b",
        r"\bwe(?:'ve| have)? (?:now |only |all |always |generally |mostly |also |currently"
        r" )*(?:use|switched|migrated|standardi[sz]ed on|replaced|renamed|went with|moved (?:\S+"
        r" ){0,3}(?:from|to|off))\b" + _NAMED,
        r"\b(?:will be|is going to be) (?:called|named|written in|built (?:with|on|in)|hosted|based on"
        r"|released|rewritten|replaced|dropped|removed|migrated)\b",
        r"\bthe (?:plan|decision|agreement|strategy|roadmap) is (?:to|that|now)\b",
        r"^(?!(?:what|that|this|how|as|here|there|so|who|where|when|whatever|like|and|i|love"
        r"|that's)\b)(?:[\w.+#/-]+ ){1,3}it is(?:,? then)?$",
        unless=form(
            r"\bused to\b|\bwe (?:use|using) (?:it|this|that)\b|\bwere going to\b",
        ),
        by_assistant=True,
    ),
)

PREFERENCES: Final = (
    rule(
        Mark.DECISION,
        "prefer favor favour rather like love enjoy dislike hate stand loathe detest favourite favorite"
        " preferred preference fan fond find",
        r"\bi(?:'d| would)? (?:really |strongly |generally |usually |much |always |also "
        r"|personally |tend to |do )*(?:prefer|favou?r)\b" + _NAMED,
        r"\bi(?:'d| would) like (?:all|every|each|my)\b",
        r"\bi find .* (?:annoying|helpful|hard to read|easier|useful|distracting|confusing|ugly)\b",
        r"\bi(?:'d| would)? prefer (?:that you|it (?=if|when))|\bi (?:hate|love|like|dislike) it when\b",
        r"\bi'd (?:much |really )?rather (?:not |have |use |get |keep |see |you )",
        r"\bi (?:really |absolutely |generally |usually |also |personally |strongly |just )*(?:like|love"
        r"|enjoy|dislike|hate|can't stand|don't like|do not like|loathe|detest)\b(?! ?(?:it|that|this"
        r"|these|those|the|your|their|his|its|how|what|where|when|him|her|them|you|to (?:see|know|think"
        r"|hear|say|ask|admit|be)|so far|both|being|having|one|all|seeing|hearing|to$)\b)(?= \S)",
        r"\bmy (?:favou?rite|preferred|preference)\b.*\bis\b|\b(?:my|our) preference (?:is|would be)\b",
        r"\bi(?:'m| am) not (?:a (?:big |huge )?fan|fond) of\b" + _NAMED,
        unless=form(
            r"\bprefer(?:red)? (?:not to (?:say|think|talk|answer|discuss)|the (?:first|second|third|last"
            r"|other|former|latter))\b"
        ),
        about="user",
    ),
    rule(
        Mark.DECISION,
        "instead rather over not prefer",
        r"^(?:please |pls |just )?(?:use|choose|pick|take|write|return|call|import)\b.*\b(?:instead of"
        r"|rather than|over|, not|and not)\b",
        r"^(?:please |pls )?prefer\b",
        commands=True,
    ),
)
