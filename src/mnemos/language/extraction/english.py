"""English: its rules, and what makes a sentence of it no statement of a fact."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.english_constraints import CONSTRAINTS
from mnemos.language.extraction.english_decisions import DECISIONS, PREFERENCES
from mnemos.language.extraction.english_values import ABOUT_THINGS, ABOUT_USER, VALUES
from mnemos.language.extraction.forms import Language, form, words

ENGLISH: Final = Language(
    common=words(
        "the a an is are was be been we i you it this that they our my your to of for in on at with and or"
        " but not don must never always should have has had do does did will would can could use let from"
        " by as if when all only please no s t"
    ),
    asks=form(
        r"(?:can|could|would|should|do(?! not)|does|did|is|are|was|were|has|shall|will|what|which|who"
        r"|whose|how|why|where|am|isn't|aren't|don't you|didn't|doesn't|won't|any idea|anything else|when"
        r" (?:do|did|does|will|is|are|should|can))\b"
    ),
    doubts=form(
        r"\b(?:i think|i guess|i believe|i suppose|i assume|i'm not sure|i am not sure|not sure|unsure|no"
        r" idea|i wonder|wondering|maybe|perhaps|possibly|presumably|supposedly|apparently|allegedly|i"
        r" forgot|may be wrong|might be wrong|if i remember|iirc|afaik|if i'm not mistaken|or was it|or"
        r" something|hypothetically|in theory|i'd say|i would say|i didn't say|i'm not saying|gotta go"
        r"|hurry|haha|lol|tempted to|leaning towards?|i'm considering|we're considering|thinking (?:about"
        r"|of)|would be nice|nice to have)\b",
        r"\b(?:docs?|documentation|readme|tutorials?|articles?|blog|rfc|posts?|books?|manual|forum|stack"
        r" ?overflow|errors?|warnings?|logs?|message|compiler|linter|wiki|comment|paper|video|course|page"
        r"|website|guide|changelog|trace|they|he|she|someone|somebody|people|colleague|friend|guy|output"
        r"|sign)(?: (?:of|on|in|from|for) .{1,40})? (?:also |that )?(?:says?|said|states?|claims?|claimed"
        r"|tells?|told|wrote|writes|mentions?|mentioned|recommends?|suggests?|warns?|reads?|insists?"
        r"|argues?|complains?)\b",
        r"\baccording to\b|\bi(?:'ve)? (?:read|heard|saw|was told|once (?:read|heard))\b",
        r"^(?:for example|for instance|e\.g|(?:an? |some )?examples?|imagine|suppose|say)\b|\bas the"
        r" saying goes\b|\basked (?:me )?(?:why|whether|if|how)\b|\brule was\b|\bsa(?:id|ys?) (?:that"
        r" )?you\b|\b(?:here's|here is|as) an example\b",
        r"\b(?:we|i) (?:were|was|had been) (?:going to|thinking|planning|about to)\b|\bforget (?:what"
        r"|about|the)\b",
        r"\bused to\b|\bthe old (?:rule|policy|port|plan)\b",
        r"\b(?:novel|story|film|movie|game|poem|song)s?\b.*\b(?:must|never|always|is called)\b",
        r"\b(?:they|he|she)(?:'ve| have| has)? (?:decided|agreed|chose|picked|prefers?|always|never)\b",
        r"^(?:in|with) (?:general|java|python|go|rust|c|c\+\+|javascript|typescript|sql|most|many|other"
        r"|theory|principle)\b,? ",
    ),
    unreal=form(
        r"\b(?:(?<!preference )would(?! prefer| rather)|could|might|what if|suppose|supposing|imagine"
        r"|assuming|seems?|let's (?:say|assume|pretend|imagine)|looks? like|appears?|either|should we"
        r"|should i|pretend|explain|describe|translate|if we (?:used|went|had|were|chose|did)|how about"
        r"|what about)\b"
    ),
    conditions=form(r"\b(?:if|in case|unless|whether|provided|once we know)\b"),
    orders=form(
        r"(?:please |pls |can you |then |now )?(?:add|write|create|rename|make|implement|fix|show|explain"
        r"|translate|give|tell|open|run|check|review|refactor|update(?!:)|change(?! of)|delete|remove"
        r"|generate|list|find|look|read|summari[sz]e|draft|describe|compare|test|build|install|move|copy"
        r"|convert|set up|help|send|print|return|search|try|debug|investigate|analy[sz]e|rewrite|put"
        r"|replace|insert|append|continue|start|stop|commit|push|pull|merge|deploy|do|verify|assert|ask"
        r"|see|wait|count|compute|calculate|sort|filter|let me|let us|let's|set|use|take|host|allow|learn"
        r"|proofread|edit|correct|rephrase|paraphrase|polish|shorten|improve|turn|reformat|expand|classify"
        r"|rate|rank)\b"
    ),
    helps=form(
        r"\b(?:i'll|i will|i'm going to|i am going to|i can|i can't|i cannot|let me|i need to|i must|i"
        r" should|i'm|i am|i would|i'd|i recommend|i suggest|i don't|i do not|i apologi[sz]e|i see|i"
        r" notice|i made a mistake)\b",
        r"\byou (?:can|could|might|may|should|must|need|want to|have to|would|will)\b|\byou'(?:ll|d|re)\b"
        r"|\bif you\b",
        r"\bwe (?:can|could|should|need|might|have to)\b|\bwould you\b|\bdo you\b|\bplease\b|\blet me"
        r" know\b",
        r"^(?:first|next|now|to (?!be decided|summ|recap|sum up)|option|alternatively|generally|typically"
        r"|usually|often|in general|by default|note that|keep in mind|remember|make sure|one (?:option"
        r"|way|approach)|a common|an? |the (?:code|script|file|error|output|command|line|query|regex) )\b",
        r"\bthe (?:function|method|class|loop|decorator|constructor)\b|\btests? (?:pass|fail)",
        r"\b(?:by default|typically|in general|best practice|recommended|is considered)\b",
        r"\bthis (?:line|function|method|code|test|check|loop|file|is|means|will|must|should|step|class"
        r"|command)\b",
        r"^(?:never|always|don't|do not|use|avoid|prefer|keep|only|run|ensure|foreign|primary)\b",
    ),
    open_cues=words(
        "open outstanding unresolved tbd t decided determined defined clarified confirmed discussed"
        " undecided unclear unknown decide clarify agree find figure settle determine confirm choose"
        " settled agreed chosen clear known figured knows know question questions air seen"
    ),
    open=form(
        r"^(?:(?:an? |one |another |some |the |still |remaining |unresolved )*(?:open|outstanding"
        r"|unresolved)(?: (?:question|point|issue|item|topic)s?)?|tbd|t\.b\.d|undecided|(?:still )?to be"
        r" (?:decided|determined|defined|clarified|confirmed|discussed))(?: \w+){0,3}(?: ?[:–] ?| - )\S",
        r"^(?:still )?(?:unclear|unknown): \S",
        r"\b(?:points?|questions?|issues?|things?) (?:remains?|are|is) (?:still )?open\b",
        r"\bthe question (?:of|whether|which|who|how) .*\bopen$|\bundecided (?:about|on|whether|which"
        r"|between)\b",
        r"\b(?:haven't|have not|hasn't|has not) (?:yet )?figured out\b(?= .*\S+ \S+)",
        r"\b(?:still|yet|first) (?:need|have|has|needs) to (?:decide|clarify|agree|find out|figure out"
        r"|settle|determine|confirm|choose)\b(?= \S+)",
        r"\b(?:need|have|has|needs) (?:still )?to (?:decide|clarify|agree|settle|determine) (?:still"
        r" )?(?:whether|which|how|who|what|when|where|on|between|if)\b",
        r"\b(?:have not|haven't|has not|hasn't|not|yet to) (?:yet )?(?:decided?|settled?|agreed?|chosen"
        r"|clarified?|determined?)(?: yet)? (?:whether|which|how|who|what|when|where|if|between|on (?:the"
        r"|a|which|how|who|what|whether))\b",
        r"\b(?:unclear|not clear|not known|unknown|undecided|not decided|not settled|open)(?: yet| to us|"
        r" still)? (?:whether|which|how|who|what|when|where|if)\b",
        r"\b(?:nobody|no one|we) (?:knows?|don't know) (?:yet )?(?:whether|which|how|who|what|when|where"
        r"|if)\b",
        r"^(?:an? )?questions? for (?:the )?\w+(?: \w+)?: \S|\bup in the air\b|\bremains to be seen\b",
        r"\b(?:need|have) to decide (?:\w+ ){1,4}(?:whether|which|how|who|what|when|where|if|between)\b",
        r"^whether .* (?:open|undecided|(?:not|n't) (?:yet )?(?:been )?(?:decided|clear|settled)(?:"
        r" yet)?)$",
        r"\b(?:has|have) not been (?:decided|settled|agreed|clarified)(?: yet)?$",
        r"\b(?:is|are) (?:still )?(?:tbd|to be (?:decided|determined|defined|confirmed)|undecided)$",
    ),
    rules=(*DECISIONS, *PREFERENCES, *CONSTRAINTS, *ABOUT_USER, *ABOUT_THINGS),
    values=VALUES,
)
