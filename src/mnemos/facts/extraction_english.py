"""How facts are stated in English."""

from __future__ import annotations

from typing import Final

from mnemos.facts.extraction_forms import Language, Rule, Values, form, words
from mnemos.facts.notation import Mark

_ADV: Final = r"(?:(?:now|just|also|finally|already|therefore|all|both|really|generally|usually|always|currently|still) )*"
_WE: Final = r"\b(?:we|the team|our team|management|everybody|everyone|the client|the customer|the board)"
# What is chosen must be named: "let's go with that" says nothing later.
_NAMED: Final = (
    r"(?! ?(?:it|that|this|them|those|these|so|one|(?:the|your|my|an?) (?:first|second|third|last|other|former|latter|same"
    r"|above|one|idea|suggestion|proposal|option|approach|way)(?! of)|option(?! \w+ (?:from|of|,|\())|which|what|a bit|for now)\b)(?= ?\S)"
)
_OF_POLICY: Final = (
    r"(?:use|support|deploy|allow|accept|store|log|ship|merge|commit|write|release|rebase|squash|mock|expose|share|send"
    r"|touch|host|sell|offer|pin|push|publish|delete|edit|test|hard-?code|cache|sign|tag|backport|format|review|pay|charge"
    r"|run|keep|change|import|hire|mark|document|start|end|put|track|bill|print|show|reply|answer)"
)
_CHOOSE: Final = (
    r"(?:go(?:ing)? (?:with|for)|us(?:e|ing)|stick(?:ing)? (?:with|to)|stay(?:ing)? (?:with|on)|switch(?:ing)?|mov(?:e|ing)"
    r"|migrat(?:e|ing)|drop(?:ping)?|keep(?:ing)?|skip(?:ping)?|adopt(?:ing)?|standardi[sz](?:e|ing) on|target(?:ing)?"
    r"|support(?:ing)?|stor(?:e|ing)|host(?:ing)?|ship(?:ping)?|avoid(?:ing)?|ditch(?:ing)?|postpon(?:e|ing)"
    r"|renam(?:e|ing)|split(?:ting)?|call(?:ing)?|nam(?:e|ing)|pick(?:ing)?|choos(?:e|ing)|replac(?:e|ing)|defer(?:ring)?"
    r"|deploy(?:ing)? (?:to|on|with)|cap(?:ping)?|limit(?:ing)?|remov(?:e|ing) support|not|build(?:ing)?|writ(?:e|ing)|run(?:ning)?|do(?:ing)?)"
)
_BASE: Final = r"(?!(?:mind|hesitate|been|had|seen|was|were|got|knew|thought|wanted|forget|fails?|worr)\w*\b)[a-z][a-z-]+"
_NOT_ALONE: Final = r"(?:it|this|that|there|i|he|she|they|which|what)"

_RULES: Final = (
    # --- decisions
    Rule(
        Mark.DECISION,
        form(
            rf"{_WE}(?:'ve| have| has)? {_ADV}(?:decided|agreed|settled|opted|resolved|concluded)(?: (?:earlier|yesterday|today|now|finally|again|together|\w+ week))?"
            r"(?: (?:to|on|for|against|that|not|in favou?r of)\b|:)" + _NAMED,
            rf"{_WE}(?:'ve| have| has)? {_ADV}(?:chose|chosen|picked|selected|went with|adopted|approved|dropped)" + _NAMED,
            r"\b(?:it was|it's been|it has been|was|has been) (?:decided|agreed) (?:to|that|on)\b",
            r"^(?:decision|decided|agreed|agreement|resolution|verdict)(?: \w+){0,2} ?[:–-] ?\S",
            r"^(?:final (?:answer|decision)|(?:our|the|all|key|main) decisions?)(?: (?:\w+ ){0,3}\w+)? ?[:–-] ?\S|\b(?:summari[sz]e|recap)\b.*\bdecisions?\b.*:",
            r"\bthe (?:(?:team )?consensus|winner|conclusion|outcome|final choice|verdict) (?:is|was)\b",
            r"\b(?:that's|it's|this is) (?:now )?(?:decided|settled|agreed|final)\b",
            rf"{_WE} (?:have )?ended up (?:choosing|using|going|with)\b" + _NAMED,
            r"\bwe (?:no longer|stopped|don't) (?:use|using|support|supporting)\b.*\b(?:now|any ?more|instead)\b",
            r"^(?:ok |so )?going with\b" + _NAMED,
            r"\byou(?:'ve)? (?:chose|decided|picked|opted)\b" + _NAMED,
            r"\b(?:as|like we) (?:agreed|decided|discussed),? (?:we|the|all)\b",
        ),
        unless=form(
            r"(?:\b(?:not|never|nothing|nobody|yet to|hardly)|n't) (?:\w+ ){0,2}(?:decided|decide|agreed|agree|settled|chosen|picked)\b",
            r"\b(?:had|were|was) (?:agreed|decided|going)\b.*\bbut\b|\bthought we\b",
            r"\b(?:decided|agreed|settled|chose|picked) (?:that|this|it|on (?:that|this|it))(?: (?:yesterday|already|before|today|earlier|last \w+))?$",
            r"\bnothing came of\b",
        ),
    ),
    Rule(
        Mark.DECISION,
        form(
            rf"\bi(?:'ve| have)? {_ADV}(?:decided|settled|opted|resolved|agreed)(?: (?:to|on|for|against|that|not|in favou?r of)\b|:)" + _NAMED,
            r"\bmade up my mind\b.*\S",
            r"\bi want (?:us )?to (?:use|keep|stick|switch|go)\b" + _NAMED,
        ),
        unless=form(r"\b(?:not|never) (?:\w+ ){0,2}(?:decided|settled|made|agreed|want)\b|n't (?:\w+ ){0,2}(?:decided|settled|made|agreed|want)\b"),
        spoken_by_user=True,
    ),
    Rule(
        Mark.DECISION,
        form(
            r"\blet(?:'s| us|s) make (?:the|all|every|each) .*\b(?:optional|mandatory|required|default|private|public|read-only|async|configurable|immutable|nullable|lazy|stateless|idempotent|opt-in|opt-out)\b",
            rf"\blet(?:'s| us|s) (?:just |simply |rather |all )?{_CHOOSE}\b" + _NAMED,
        ),
        unless=form(
            r"\blet(?:'s| us|s) (?:just |simply |rather |all )?(?:keep (?:going|it|on|working|moving|looking|digging|this|that|in)"
            r"|use (?:it|this|that|them)\b|run (?:the|it|this|that|a)\b|write (?:the|a|it|some|this|that)|do (?:it|that|this|the|a|some|one|another|both|them)\b|move (?:on|ahead|forward)"
            r"|build (?:it|this|that|the|a)\b|not (?:worry|forget|rush|panic|go|talk|argue|get|waste|start|do (?:it|that|this))|switch (?:topics?|gears|roles|back to the)|skip (?:it|this|that)"
            r"|split (?:it|this|that|the work)|call it a day|name it|stick (?:to|with) (?:it|this|that)|go for (?:it|lunch|a)|pick (?:it|this|that|up)|drop (?:it|this|that)$|limit ourselves)"
        ),
        spoken_by_user=True,
        commands=True,
    ),
    Rule(
        Mark.DECISION,
        form(
            rf"\bwe(?:'ll| will| are going to|'re going to|'re gonna| shall) (?:not |only |just |now |also |always )*{_CHOOSE}\b"
            + _NAMED,
            rf"\bwe(?:'re| are) (?:not |only |now |also |all |still )*(?:going (?:with|for)|us(?:ing)|stick(?:ing)|stay(?:ing)|switch(?:ing)"
            r"|moving (?:to|off|away|from|the)|migrating|dropping|keeping|skipping|adopting|standardi[sz]ing|targeting|postponing|replacing|not (?:building|doing|going to))\b"
            + _NAMED,
            r"\bwe(?:'re| are) not going to\b",
            r"\bwe (?:now |only |all |always |generally |mostly |also |currently )*(?:use|switched|migrated|standardi[sz]ed on|replaced|"
            r"renamed|went with|moved (?:\S+ ){0,3}(?:from|to|off))\b" + _NAMED,
            r"\b(?:will be|is going to be) (?:called|named|written in|built (?:with|on|in)|hosted|based on|released|rewritten|replaced|dropped|removed|migrated)\b",
            r"\bthe (?:plan|decision|agreement|strategy|roadmap|verdict) is (?:to|that|now)\b",
            r"^(?!(?:what|that|this|how|as|here|there|so|who|where|when|whatever|like)\b)[\w.+#/ -]{2,40} it is(?:,? then)?$",
            r"\b(?:management|the (?:team|client|customer|board|boss|po|cto|ceo)|legal|my boss|ops) (?:has |have )?(?:approved|decided|chose|agreed|signed off|picked|rejected|settled|confirmed)\b",
        ),
        unless=form(
            r"\bwe(?:'ll| will) (?:see|need|have|get|be|find|talk|start|come)\b",
            r"\bused to\b|\bwe (?:use|using) (?:it|this|that)\b|\bwe'll do (?:it|that|this)\b|\bwere going to\b",
            r"\bwe'll (?:run|write|build|do) (?:the|a|it|some|this|that)\b",
        ),
    ),
    Rule(
        Mark.DECISION,
        form(
            r"\bi(?:'ve| have)? (?:chose|chosen|picked|opted for|settled on|decided (?:on|to use|to keep|against)|went with)\b" + _NAMED,
            r"\bi(?:'ve| have)? (?:used|implemented|kept|put) .*\b(?:instead of|rather than)\b.*\b(?:because|since|as|so that)\b",
        ),
    ),
    # --- what the user prefers
    Rule(
        Mark.DECISION,
        form(
            r"\bi(?:'d| would)? (?:really |strongly |generally |usually |much |always |also |personally |tend to |do )*(?:prefer|favou?r)\b" + _NAMED,
            r"\bi'd (?:much |really )?rather (?:not |have |use |get |keep |see |you )",
            r"\bi (?:really |absolutely |generally |usually |also |personally |strongly )*(?:like|love|enjoy|dislike|hate|can't stand|don't like|do not like|loathe|detest)\b"
            r"(?! ?(?:it|that|this|these|those|the|your|how|what|where|when|him|her|them|you|to (?:see|know|think|hear|say|ask|admit|be)|so far|both|being|having|one)\b)(?= \S)",
            r"\bmy (?:favou?rite|preferred|preference)\b.*\bis\b",
            r"\b(?:my|our) preference (?:is|would be)\b|\bnot (?:a (?:big |huge )?fan|fond) of\b" + _NAMED,
        ),
        unless=form(r"\bprefer(?:red)? (?:not to say|the (?:first|second|third|last|other|former|latter))\b|\bi like (?:where|how)\b"),
        about="user",
        spoken_by_user=True,
    ),
    Rule(
        Mark.DECISION,
        form(
            r"^(?:please |pls |always |just )?(?:use|choose|pick|take|write|prefer|return|call|import)\b.*\b(?:instead of|rather than|over|, not|and not)\b",
            r"^(?:please |pls )?prefer\b",
        ),
        spoken_by_user=True,
        commands=True,
    ),
    # --- constraints
    Rule(
        Mark.CONSTRAINT,
        form(
            r"\bmust(?: not|n't)?\b(?! (?:have (?:been|\w+ed|broken|lost|missed|forgotten|done|gone|seen|made|got|had|left|taken|put|set|to)"
            r"|be (?:the|a|an|why|because|some\w*|that|due|related|caused|joking|kidding|nice|hard|annoying|tired|wrong|right|missing|from"
            r"|about|my|your|his|her|it|in|on|coming|fun|great|tough|crazy|broken|one|how|where|what)\b|be at (?!least|most)|say|admit|confess|go|leave|run|be off|point|decide))"
        ),
        unless=form(r"\bi must\b|\b(?:it|that|this|there) must be\b(?! (?:\w+ed|possible|able|compatible|unique|idempotent)\b)|\byou must (?:feel|know|think|mean|see|have|be)\b"),
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            r"\b(?:should|shall|may|can|will) (?:never|always)\b|\bshould under no\b",
            r"\bmay not\b|\b(?:shall|should) not\b|\bshouldn't\b",
            r"\b(?:is|are|be) (?:strictly |absolutely |explicitly |not |never |always )*(?:allowed|forbidden|prohibited|banned|mandatory|compulsory|permitted|disallowed|obligatory"
            r"|off[- ]limits|taboo|out of the question|non-negotiable|a no-go|a must|not ok|not okay|not acceptable|unacceptable|verboten|required(?! to\b)|not (?:accepted|tolerated|welcome|wanted)|(?:not )?supported (?:here|in)|rejected)\b",
            r"\bgets? (?:rejected|reverted|blocked|closed without)\b|\bgo(?:es)? through (?:me|us|review|legal|ops|security|the \w+ team|qa)\b",
            r"\b(?:it is|it's) (?:mandatory|required|forbidden|essential|crucial|important|critical|vital|imperative) (?:that|to)\b",
            r"\b(?:nothing|nobody|no one|none|no \w+)(?: \S+){0,6} (?:may|should|must|can|is allowed to)\b",
        ),
        unless=form(
            rf"^{_NOT_ALONE} (?:should|shall|may|can|will)(?:n't| not| always| never)\b",
            r"\b(?:this|that|it|we|i|they|you) (?:should not|shouldn't|will (?:never|always)|can always|may not|can never)\b(?! (?:use|store|log|touch|commit|push|deploy|change|delete|share|send|expose|write|edit|rely|call|run|need to|overwrite|skip|modify|merge|be (?:logged|stored|committed|changed|deleted)))",
            r"\b(?:it's|that's|is it|i'm|am i) (?:not )?(?:allowed|required)\b|\bthis (?:\w+ )?is required\b|\bno (?:one|way|idea|reason)\b.*\bcan\b",
        ),
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            rf"(?:^|[,:–-] ?|\b(?:and|but|so|then|please|to|that you|sure you|users|clients|we|us|let's|that|the \w+|\w+s) )(?:please |pls )?(?:never|always)(?: ever)? {_BASE}",
            r"\b(?:is|are|get|gets|stay|stays) (?:never|always) (?:\w+ed|\w+en|kept|sent|set|put|done|run|in|on|at|to|first|last|read-only)\b",
            r"\b\w+, always$|\bi (?:never|always) want\b|\byou (?:never|always) want\b",
        ),
        commands=True,
        unless=form(
            rf"\b{_NOT_ALONE}(?:'s|'ve| is| has| have)? (?:always|never)\b(?! want)(?!.*\bsure\b)",
            r"\b(?:tests?|build|app|page|server|script|query|browser|job|deploy)s? (?:always|never)\b|(?<!are )(?<!is )\b(?:always|never) (?:\w+ed|\w+s|breaks?|works?|happens?|fails?|crash(?:es)?|forgets?|found|felt|saw|heard|did|went)\b(?<!address)(?<!access)(?<!pass)(?<!process)(?<!press)",
            r"\b(?:we|you)(?:'ve| have)? (?:always|never) (?:get|see|have|end|forget|ran|run into|find|fail|had|said|knew|wanted|seem|know|agreed|decided|used|did|got|manage|happen|work|hear|talk|were|was)\b",
            r"\bto (?:always|never)\b.*\b(?:annoying|hard|weird)\b|\bas always\b|^always (?:the|a|happy|good|nice|fun|something)\b|^never (?:the|a|again$|in|heard|seen|tried|used|had|been|thought)\b",
            r"\bi(?:'ll| will|'m| am| can| try| always| never)\b(?!.*\byou (?:always|never|must)\b)",
        ),
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            r"(?:^|[,:–-] ?|\b(?:and|but|so|please|pls|also) )(?:please |pls )?(?:do not|don't|dont)(?: ever| you dare)? (?!(?:worry|know|think|have|need|bother|forget|you|we|they|understand"
            r"|get|see|remember|care|mind|want|like|hesitate|believe|feel|panic|be|rush|laugh|give up|look|let|start|tell me|wait|stop)\b)[a-z]+",
            r"(?:^|[,:–-] ?|\b(?:and|but|please|pls) )(?:do not|don't|dont)(?: ever)? (?:start|let|tell|forget to|look at|get|be) (?:\w+ ){1,8}(?:without|before|until|unless|on|in|when)\b",
            rf"\bwe (?:do not|don't|never) (?:ever )?{_OF_POLICY}\b",
            r"\bwe (?:can't|cannot|can not|may not|must not) (?:ever )?(?:store|use|ship|deploy|share|send|exceed|break|change|upgrade|log|host|spend|go (?:over|above|below)|rely|touch|publish|show"
            r"|accept|support|expose|transfer|process|sell|require|assume|raise|delete|move)\b",
            r"\bnever (?:ever )?(?:want|expose|touch)\b|\bi (?:don't|do not) want (?:you to|any|to see|to have|the|\w+s\b)",
        ),
        commands=True,
        unless=form(r"\bwe don't (?:use|need|run|keep|start|end|put) (?:it|that|this)\b|\bdon't (?:use|do|try|change|touch|delete|send|merge|push|run|write|keep) (?:it|that|this)$"),
        spoken_by_user=True,
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            r"(?:^|[,:] |\b(?:please|and|so) )only (?:ever )?(?:use|allow|accept|write|commit|push|deploy|support|send|ask|answer|run|touch|edit|change|read|merge|store|log|show|return|call|import|work|reply|query|cite|buy|book|recommend|suggest)\b",
            r"\buse only\b|\bonly be \w+(?:ed|en|t)\b|\b(?:is|are) only (?:allowed|permitted|to be|for|\w+ed|caught|kept|read|sent|run)\b",
            r"\bonly (?:\S+ ){1,6}(?:may|can|must|should|shall|is allowed|are allowed|gets? to)\b",
            rf"\bwe only {_OF_POLICY}\b",
        ),
        commands=True,
        unless=form(r"\bthe only (?:thing|way|one|problem|issue|option|reason)\b|\bonly you can\b|\bif only\b"),
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            r"\b(?:from now on|going forward|from today on|henceforth|from here on|in (?:the )?future,)\b(?=.* \S+ \S+)",
            r"^(?:(?:a |another |one |new |hard |house |important |general |project |basic |golden )*(?:rule|constraint|requirement|policy|convention|guideline|restriction|hard limit|non-goal)s?)(?: (?:\w+ ){0,5}\w+)? ?[:–-] ?\S",
            r"\b(?:under no circumstances|at all times|without exception|no exceptions|whatever you do|no matter what|at no point|in no case)\b",
            r"\b(?:house rule|hard rule|strict rule|hard requirement|our policy|our rule|our convention|the rule is|the convention is|the policy is|company policy|team convention|as a rule|by convention|by policy)\b",
            r"^(?:in|for|on) (?:this|our) (?:project|repo|repository|codebase|team|company|house|module|package),? (?!i\b|there|it\b|the (?:bug|error|problem))(?=.* \S)",
            r"\bno (?:\S+ ){1,6}without (?:asking|my|your|our|explicit|prior|written|approval|a review|review|permission|confirmation)\b",
            r"\b(?:the )?(?:client|customer|legal|security|compliance|management|boss|cto|auditors?|ops|gdpr|the contract) (?:requires?|insists?|demands?|forbids?|doesn't allow|does not allow|expects?|wants?)\b",
        ),
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            r"\b(?:has|have|needs?) to (?!be (?:fixed|done|updated|changed|rewritten|added|removed|deployed|merged|tested|restarted|checked|reviewed|looked|decided|there|here|discussed)\b|do with|wait|go\b|admit|say|leave|decide|clarify)\w+",
            r"\bwe (?:need|have) to (?:support|stay|be (?!done|finished|careful|ready|there)|keep|comply|guarantee|run on|work (?:with|on)|fit|remain)\b",
            r"\b(?:every|each|all|any|no) (?:\S+ ){1,5}(?:needs?|requires?|should|has to|have to|goes through|go through|gets|may|can only|carries)\b",
            r"\byou need (?:my|our|an?|the|explicit|written) (?:\w+ )?(?:approval|permission|ok|okay|consent|sign-off|confirmation)\b",
            r"\bneeds? (?:my|two|an?|explicit|written|one) (?:\w+ )?(?:approvals?|permission|sign-off|reviews?|reviewers?|consent)\b",
            r"\b(?:no|without) (?:\w+ ){0,3}(?:without|before) (?:asking|my|approval|a review|review|permission|confirmation)\b",
            r"\bsubject to (?:approval|review)\b",
        ),
        commands=True,
        unless=form(
            r"\b(?:i|you|it|this|that|he|she|they)(?:'ll| will|'d)? (?:just |only |still |also |don't |do not |doesn't )?(?:has|have|need|needs) to\b|\bwe(?:'ll| will|'d)? (?:just |only |still |also )?(?:have|need) to (?!support|stay|be|keep|comply|guarantee|run on|work|fit|remain)\w+|\bkeep (?:going|working|trying|looking|in mind)\b",
            r"\b(?:all|any) (?:i|you|we|that|this|it|of (?:it|this|that)|the (?:tests?|checks?)) \b.*\b(?:needs?|should)\b",
            r"\bno (?:one|need|idea|reason|wonder|doubt)\b",
        ),
        spoken_by_user=True,
    ),
    Rule(
        Mark.CONSTRAINT,
        form(
            r"^(?:please |pls )?(?:keep|limit|restrict|cap) (?!going|it up|up\b|in mind|me\b|working|calm|digging).*\b(?:under|below|short|at most|within|in|to|at|small|free of|out of|separate|stable|up to date|simple|private|sorted|backwards?|as)\b",
            r"^(?:please |pls )?(?:avoid|refrain from|stay away from|stick to|be careful never|make sure (?:that )?(?:you |we )?(?:always|never)|ensure (?:that )?(?:you |we )?(?:always|never)|(?:make sure|ensure)(?: that)? (?:no|nothing|nobody|every|each))\b(?= \S)",
            r"^when(?:ever)? (?:you|we|\w+ing)\b[^,]{3,80}, (?:please )?(?!it\b|i\b|the\b|there|we get|what|do\b|does|can|should|how|is\b|are\b|you\b|this|that|they|my\b|nothing|all\b)\w+",
            r"^(?:please |pls )?(?:answer|reply|respond|write|speak|comment|document|address me|talk to me|format|name|prefix|sort|store|put|use|call|run|start|end|sign|log|test|round|cite|quote)\b"
            r".*\b(?:everywhere|throughout|by default|in all|for all|in every|for every|for each|in each|at all|from now on|each time|every time|whenever|before (?:each|every|you|any)|after (?:each|every)|only|in (?:\w+ )?(?:english|german|french|spanish|dutch|italian))\b",
            r"^(?:please |pls )?(?:call me|address me|speak|talk|answer|reply|respond) (?:\w+ )?(?:in|as|with|by|briefly)\b",
            r"^no (?!(?:problem|idea|worries|luck|errors?|rush|thanks|thank|need|way|clue|doubt|changes?|hurry|one|offen[cs]e|wonder|matter|big|news|point|comment|response|answer|output|result|difference|effect|surprise|pressure|such|i|it|we|that|this|you|but|the|he|she|they|not|don't|sorry|wait|please|stress|longer|warnings?)\b)"
            r"[\w.-]+(?: [\w./-]+){0,3} ?(?:in|on|without|before|after|for|from|to|anywhere|allowed|please|at all|unless|except|outside|other than|with|or)\b",
            r"^(?:before|after) (?:each|every|any) .*(?:, | )(?:we |please |always |you )?(?:run|update|check|ask|tag|bump|test|make|notify|write|create|do|call|review)\b",
            r"^(?:whenever|every time|each time) (?!i\b|it\b)(?:[^,]+), (?!it\b|i\b|the\b|there\b|we get\b)(?:please )?\w+",
            r"\b(?:limited to|at most|no more than|not more than|at least|a maximum of|a minimum of) \S+.*\b(?:per|each|every)\b",
        ),
        commands=True,
        unless=form(r"\b(?:my|the) (?:test|build|app|page|server)s? (?:crash|fail|hang)", r"^(?:run|put|call|start|test|use) (?:it|this|that)\b(?!.*\b(?:every|each|before)\b)"),
        spoken_by_user=True,
    ),
    # --- who the user is
    Rule(
        Mark.VALUE,
        form(
            r"\bi(?:'m| am) (?:also |currently |originally |now )*(?:based|located|living|from|allergic|vegetarian|vegan|diabetic|left-handed|colou?r-?blind|deaf|dyslexic|retired|married|divorced|fluent|native|lactose|gluten|muslim|jewish|pregnant|responsible for|in charge of|on (?:windows|mac|macos|linux|ubuntu|debian|fedora|arch|python|node|android|ios)|using (?:windows|mac|macos|linux|ubuntu|debian|fedora|vim|neovim|emacs|vs ?code|python|node|pycharm|intellij|an? \w+ (?:keyboard|mac|laptop))|running (?:windows|mac|macos|linux|ubuntu|debian))\b",
            r"\bi(?:'m| am) an? (?!(?:bit|little|big fan|fan|idiot|lot|huge|moron|mess|tad|fool|step|couple|believer|minute)\b)",
            r"\bi(?:'m| am) (?:\d{1,2}|(?:twenty|thirty|forty|fifty|sixty)(?:-\w+)?)(?: years old)?$",
            r"\bi (?:also |currently |usually |mostly |only |now )*(?:live in|live with|work (?:as|at|for|in|from|with|night|part|full|on (?:windows|mac|linux))|study|speak|teach|own an?|grew up|was born|drive an?|play (?:the|in)|have (?:an? |two |three |four |five |no )(?:[\w-]+ ){0,2}(?:kids?|child(?:ren)?|cats?|dogs?|daughters?|sons?|sisters?|brothers?|allerg\w+|degree|phd|condition|garden|car|house))\b",
            r"\bmy (?:name|nickname|birthday|age|job|pronouns|timezone|time zone|employer|company|title|role|wife|husband|partner|daughter|son|mother|father|mum|mom|dad|brother|sister|dog|cat|boss|manager|address|hometown|native language|mother tongue|handle|username)(?:'s(?: \w+)?)? (?:is|are|has|have|works|lives|was born)\b",
            r"^(?:please )?call me \w+$",
            r"\bi(?:'m| am) in (?:the )?\w+(?: \w+)? (?:time ?zone|office|team|department)\b",
            r"\bi (?!(?:get|see|have|forget|struggle|hit|lose|try|keep)\b)(?:\w+ ){1,8}(?:every|each) (?:day|morning|evening|night|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
        ),
        unless=form(r"\bi(?:'m| am) (?:not|from now)\b|\bis (?:annoying|angry|here|coming|waiting|calling|not)\b"),
        about="user",
        spoken_by_user=True,
    ),
    Rule(
        Mark.VALUE,
        form(
            r"\bwe(?:'re| are) (?:now |currently |still |all )*(?:on|running|at) (?:\w+ ){1,3}v?\d",
            r"\bwe (?:now |currently |still |only )*(?:run|host|deploy)(?: \w+){0,3} (?:on|in|to|at|with) \S+",
            r"\b(?:i|we)(?:'ve| have)? (?:set|renamed|changed|bumped|raised|lowered|increased|reduced|moved|upgraded|pinned|configured|switched|named|called) (?:\S+ ){1,8}(?:to|as|at|in|into) (?:\S*[\d\x01/_.:-]\S*|version)",
            r"\b(?:i|we)(?:'ve| have)? (?:created|added|registered|opened) (?:an? |the )?(?:new )?(?:\w+ ){0,2}(?:branch|user|bucket|database|table|queue|channel|ticket|issue|account|role|topic|repo|repository|index|endpoint|variable|folder|directory|project) (?:called |named )?\S*[\d\x01/_.-]\S*",
            r"\b(?:was|were|has been|have been) (?:changed|set|moved|renamed|bumped|raised|lowered|upgraded|switched|increased|reduced|pinned) (?:from \S+ )?to \S+",
            r"\bwe (?:\w+ ){1,4}(?:every|each|on) (?:second |other |first |last )?(?:day|week|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
            r"\bwe have (?:about |only |roughly |currently |around )?(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|twelve) (?!(?:minute|hour|day|week|error|issue|test|failure|problem|option|choice|bug|thing|warning|question)s?\b)[a-z]+",
            r"\byou(?:'ll| can| will| could)? (?:find|reach|access|get to) (?:\S+ ){1,8}(?:at|under|on|in|via) \S*(?:://|\.\w|/|`|\x01)\S*",
            r"\bwas caused by\b|\bturned out to be (?:caused|due|an? )\b",
            r"\bthe (?:root )?cause (?:of .{3,60})?(?:is|was)\b(?! (?:unclear|unknown|not))",
            r"^(?:lesson(?: learned)?|learning|takeaway|gotcha|root cause|finding)s? ?[:–-] ?\S",
            r"^(?:please )?(?:remember|keep in mind|note for later|for the record|make a note|don't forget|bear in mind)(?: that|:|,)(?! (?:time|day|when|one)\b)(?=.* \S+ \S+)",
        ),
        unless=form(r"^i(?:'ve| have)? (?:moved|changed) .*\bto (?:the|a|its)\b"),
    ),
)

_VALUES: Final = Values(
    verb=form(
        r"(?P<called>\b(?:is|are)(?: now| also)? (?:called|named|titled|spelled|known as)\b)",
        r"(?P<placed>\b(?:(?:is|are|was|were|has been|have been|gets?|get|will be)(?: now| currently| always| all)? (?:located|stored|hosted|deployed|kept|defined"
        r"|documented|reachable|available|served|published|mounted|configured|found|installed|saved|archived|pinned|based|exposed|started"
        r"|run|accessible|registered|running|listening|set|managed|mirrored|tracked|built|tested|written|maintained|owned|uploaded|exported)"
        r"|lives?|sits?|resides?|runs?|listens?|points?|goes|go|belongs?|uses?|requires?|connects?|reads? from|writes? to|moved|changed|switched|migrated|(?:is|are) sent)\b)",
        r"(?P<timed>\b(?:(?:is|are)(?: now| currently)? (?:due|planned|scheduled|refreshed|released|rotated|updated|expected|renewed)|starts?|ends?|leaves?|arrives?|begins?|expires?"
        r"|lasts?|costs?|departs?|takes place|runs every|runs at|runs daily|times? out)\b)",
        r"(?P<counted>\b(?:has|have|contains?|holds?|consists? of|comprises?)\b)",
        r"(?P<is>\b(?:is|are|will be)\b|(?<=[\w)])'s\b)",
    ),
    nouns=words(
        "port ports host hostname url urls endpoint address ip domain database db bucket region branch repo repository version path folder directory"
        " file files table tables queue topic channel user username account id ids name limit limits timeout ttl budget deadline date price cost costs rate size"
        " timezone zone locale language email mail phone number model image tag namespace cluster schema license licence owner contact lead maintainer"
        " oncall on-call threshold retention interval schedule window quota maximum minimum max min default lifetime period port's password key token variable"
        " secret prefix suffix format encoding currency server servers runner registry release launch demo meeting exam flight freeze go-live review birthday"
        " appointment trip wedding call sprint milestone presentation interview kick-off kickoff cutoff cut-off due project client customer company team"
        " environment framework editor shell os api ci stack backend frontend hosting provider vendor tenant project's ticket epic salary target goal"
        " capacity memory ram cpu disk workers replicas concurrency batch width height length distance weight temperature dose hotel train gate seat room"
        " address password login ssid network subnet gateway dns vpn proxy certificate sla uptime rpo rto gdpr budget's product app codename"
        " capital invoice iban vat rent subscription plan tier licence's extension offset page chunk resolution bitrate engine driver library var audience competitor supplier flag"
    ),
    named=words(
        "name language branch owner license licence framework editor timezone database db client customer company project product currency default shell os"
        " provider vendor codename format encoding contact maintainer lead stack hosting environment region prefix audience competitor market supplier"
    ),
    grouped=words(
        "team company office server servers runner runners machine machines cluster database db project house flat class group family app dataset corpus table file"
        " account plan contract book course api box vm node nodes router device budget sprint laptop computer phone car garden dataset"
    ),
    vague=form(
        r"(?:not|n't|already|still|also not|never|wrong|correct|right|broken|down|up\b|in use|missing|empty|too|very|so\b|quite|a bit|a little|pretty|really|the (?:problem|issue|reason|same|one|question|bug|cause|culprit|thing)"
        r"|unknown|unclear|what|why|how|where|open|closed|ok\b|okay|fine|good|bad|great|slow|fast|failing|being|getting|taken|free|blocked|busy|full|gone|ready|done|finished|invalid|valid|different|better|worse|more|less"
        r"|just|now (?:fixed|green|red|broken|correct|right|ok)|here|there|unreachable|offline|online|changing|growing|due to|because|only a|hard|easy|confusing|weird|strange|annoying|nice|awesome|huge|tiny"
        r"|exceeded|reached|hit|line \d|on line|at line|red\b|green\b|passing|merged|deployed$|live$|up to date|out of date|outdated|stale|about to|going to|no longer|nowhere|probably|maybe|to blame|unavailable"
        r"|returning|throwing|crashing|complaining|supposed|needed|necessary|important|useful|ignored|set (?:correctly|wrong)|identical|similar|equal)\b|(?:(?:at|around|about|roughly|only) )?\d+ ?%"
    ),
    others=words(
        "it this that there he she they these those what which who here everything nothing something one you i we its all some any none both everybody nobody"
        " how why where when whose whatever anything add create write make"
    ),
    ours=words("our my"),
    passing=words("example examples error errors output warning message trace line lines query loop result page response commit attempt answer first second"),
    joint=form(r"[,;:(–—]\s*|(?<!for )(?<!of )(?<!in )\bthat\b\s*|\b(?:and|but|because|since|so|while|although|as|if|when|where|which|whether|than|like|i see|i checked)\b\s*"),
    small=words("the our my your their its a an this that new old current now is are of for in on at to and or so then called named very same actual real"),
    of=form(r"\b(?:of|for|in|on|at|from)\b"),
    dates=form(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
        r"|\b(?:tomorrow|tonight|noon|midnight|next (?:week|month|year|quarter)|end of (?:the )?(?:week|month|year|quarter)|q[1-4]|daily|weekly|nightly|hourly|every (?:day|night|week|month|hour|morning))\b"
    ),
)

ENGLISH: Final = Language(
    common=words(
        "the a an is are was be been we i you it this that they our my your to of for in on at with and or but not don't must never always should"
        " have has had do does did will would can could use let from by as if when all only please no"
    ),
    asks=form(
        r"(?:can|could|would|should|do|does|did|is|are|was|were|has|shall|will|what|which|who|whose|how|why|where|am|isn't|aren't|don't you|didn't|doesn't|won't|any idea|anything else|when (?:do|did|does|will|is|are|should|can))\b"
        r"(?! (?:not (?:touch|use)|matters))",
    ),
    doubts=form(
        r"\b(?:i think|i guess|i believe|i suppose|i assume|i'm not sure|i am not sure|not sure|unsure|no idea|i wonder|wondering|maybe|perhaps|possibly|presumably|supposedly|apparently|allegedly|i forgot|may be wrong|might be wrong"
        r"|if i remember|iirc|afaik|if i'm not mistaken|or was it|or something|hypothetically|in theory|tempted to|leaning towards?|i'm considering|we're considering|thinking (?:about|of)|would be nice|nice to have)\b",
        r"\b(?:docs?|documentation|readme|tutorials?|articles?|blog|rfc|posts?|books?|manual|forum|stack ?overflow|errors?|logs?|message|compiler|linter|wiki|comment|paper|video|course|page|website|guide|changelog|stacktrace|they|he|she|someone|somebody|people|colleague|friend|guy|output)"
        r"(?: (?:of|on|in|from|for) .{1,40})? (?:also )?(?:says?|said|states?|claims?|claimed|tells?|told|wrote|writes|mentions?|mentioned|recommends?|suggests?|warns?|reads?|insists?|argues?|complains?)\b",
        r"\baccording to\b|\bi(?:'ve)? (?:read|heard|saw|was told|once (?:read|heard))\b|^(?:for example|for instance|e\.g|example|imagine|suppose|say,)",
        r"\b(?:here's|here is|as) an example\b|\bthe (?:docs|documentation|readme|tutorial) (?:say|claim)",
        r"\b(?:we|i) (?:were|was|had been) (?:going to|thinking|planning|about to)\b|\bforget (?:what|about|the)\b|\bused to\b",
        r"\b(?:in a |a |the )?(?:novel|story|film|movie|game|poem|song)s?\b.*\b(?:must|never|always|is called)\b",
        r"\b(?:they|he|she)(?:'ve| have| has)? (?:decided|agreed|chose|picked|prefers?|always|never)\b",
        r"^(?:in|with) (?:general|java|python|go|rust|c|c\+\+|javascript|typescript|sql|most|many|other|theory|principle)\b,? ",
    ),
    unreal=form(
        r"\b(?:(?<!preference )would(?! prefer| rather)|could|might|what if|suppose|supposing|imagine|assuming|let's (?:say|assume|pretend|imagine)|seems?|looks? like|appears?|either|should we|should i|if we (?:used|went|had|were|chose|did)|pretend|explain|describe|translate)\b",
        r"\bhow about\b|\bwhat about\b|\binstead\?",
    ),
    conditions=form(r"\b(?:if|in case|unless|whether|provided|once we know)\b"),
    orders=form(
        r"(?:please |pls |can you |then |now )?(?:add|write|create|rename|make|implement|fix|show|explain|translate|give|tell|open|run|check|review|refactor|update|change|delete|remove|generate|list|find|look|read"
        r"|summari[sz]e|draft|describe|compare|test|build|install|move|copy|convert|set up|help|send|print|return|search|try|debug|investigate|analy[sz]e|rewrite|put|replace|insert|append|continue|start|stop"
        r"|commit|push|pull|merge|deploy|do|verify|assert|ask|see|wait|count|compute|calculate|sort|filter|let me|let us|let's|set|use)\b"
    ),
    helps=form(
        r"\b(?:i'll|i will|i'm going to|i am going to|i can|i can't|i cannot|let me|i need to|i must|i should|i'm|i am|i would|i'd|i recommend|i suggest|i don't|i do not|i apologi[sz]e|i see|i notice|i'll)\b",
        r"\byou (?:can|could|might|may|should|must|need|want|have to|would|will|'ll)\b|\byou'(?:ll|d|re)\b|\bif you\b|\bwe (?:can|could|should|need|might|have to)\b|\bwould you\b|\bdo you\b|\bplease\b|\blet me know\b|\bwe'll (?:need|see|start|have)\b",
        r"^(?:first|next|now|to (?!be decided|summ|recap|sum up)|option|alternatively|generally|typically|usually|often|in general|by default|note that|keep in mind|remember|make sure|one (?:option|way|approach)|a common|an? |the (?:code|script|file|error|output|command|line|query|regex) )\b|\bthe (?:function|method|class|loop|decorator|constructor)\b|\bi made a mistake\b|\btests? (?:pass|fail)",
        r"\b(?:by default|typically|in general|best practice|recommended|it's (?:important|best|good)|is considered)\b",
        r"\bthis (?:line|function|method|code|test|check|loop|file|is|means|will|must|should|step|class|command)\b",
        r"^(?:never|always|don't|do not|use|avoid|prefer|keep|only|run|ensure|foreign|primary)\b",
    ),
    open=form(
        r"^(?:(?:an? |one |another |some |the |still |remaining |unresolved )*(?:open|outstanding|unresolved)(?: (?:question|point|issue|item|topic)s?)?|tbd|t\.b\.d|(?:still )?to be (?:decided|determined|defined|clarified|confirmed|discussed)|undecided|unclear|unknown|open)(?: \w+){0,3} ?[:–-] ?\S|\b(?:points?|questions?|issues?|things?) (?:remains?|are|is) (?:still )?open\b|\bthe question (?:of|whether|which|who|how) .*\bopen$",
            r"\bundecided (?:about|on|whether|which|between)\b|\b(?:haven't|have not|hasn't|has not) (?:yet )?figured out\b(?= .*\S+ \S+)|\bfigured out (?:yet )?is (?:how|whether|which|what|who)\b",
        r"\b(?:still|yet|first) (?:need|have|has|needs) to (?:decide|clarify|agree|find out|figure out|settle|determine|confirm|choose)\b(?= \S+)",
        r"\b(?:need|have|has|needs) (?:still )?to (?:decide|clarify|agree|settle|determine) (?:still )?(?:whether|which|how|who|what|when|where|on|between|if)\b",
        r"\b(?:have not|haven't|has not|hasn't|not|yet to) (?:yet )?(?:decided?|settled?|agreed?|chosen|clarified?|determined?)(?: yet)? (?:whether|which|how|who|what|when|where|if|between|on (?:the|a|which|how))\b",
        r"\b(?:unclear|not clear|not known|unknown|undecided|not decided|not settled|open)(?: yet| to us| still)? (?:whether|which|how|who|what|when|where|if)\b",
        r"\b(?:has|have) not been (?:decided|settled|agreed|clarified)(?: yet)?$|\b(?:is|are) (?:still )?(?:tbd|to be (?:decided|determined|defined|confirmed)|undecided)$",
    ),
    rules=_RULES,
    values=_VALUES,
)
