"""English statements of finished work; the letters are those of ``language``."""

from __future__ import annotations

from typing import Final

from mnemos.language.closing.language import (
    FREELY,
    STEP,
    THING,
    WORK,
    Language,
    noun,
    phrases,
    statements,
    tail,
    words,
)
from mnemos.language.closing.words import ENGLISH as KEYS
from mnemos.language.closing.words import NOUNS

_WORDS: Final = words(
    NOUNS,
    {
        "d": "the my our your his her their its",
        "g": "a an each every any another more",
        "t": "this that these those",
        "i": "i we you ya u",
        "u": "it everything all both stuff",
        "f": "they he she someone somebody anyone anybody people everybody others them him me us",
        "b": "is are am 're 'm",
        "P": "was were",
        "p": "been",
        "s": "'s",
        "v": "have has had 've having",
        "k": "got",
        "R": "load loads starts runs shows opens builds compile compiles render renders respond responds"
        " connect connects boot boots saves",
        "m": "will would should could may might must shall gonna wanna need needs needed want wants"
        " wanted 'll 'd hope hopefully try trying tried wish expect expected plan planning planned ought"
        " supposed going become becomes becoming gets getting get be being",
        "N": "can please pls plz let lets",
        "r": "tell tells told show say says said saying ask asks asked asking ping notify make makes"
        " ensure checks checking verify confirm wait waiting think thinks thought believe guess assume"
        " assumes know knows knew see look looks looking seem seems seemed appears appear sounds claim"
        " claims claimed remember remind explain describe find give gives add create write push publish"
        " finish implement rename move use using keep put set mean means hide skip exclude include"
        " return returns ignore select delete remove drop archive rebase squash run help listening"
        " reading watching eating playing talking thinking do does did doing go come start stop continue"
        " begin take bring turn redo retry read consider replace generate configure migrate document"
        " mark sync pretend treat prefer love hate wonder doubt figure understand learn teach follow"
        " report resolve solve open convert extract insert apply enable disable allow allows require"
        " requires fetch pull clone increase decrease reduce improve optimize simplify clean downgrade"
        " bump integrate investigate debug trace analyze analyse compare summarize summarise translate"
        " prepare approve reject assign sees depends save ship tick",
        "*": "filter sort list log count format schedule track display print check send install watch"
        " highlight draft handle fix release deploy build update merge refactor rewrite upgrade change"
        " commit cleanup test review launch patch import export",
        "a": "now already just finally finaly again here there today tonight also too fully completely"
        " totally entirely officially successfully actually really definitely fine great good instead"
        " everywhere literally up itself very super green pretty confirmed verified tested reviewed"
        " approved overnight lovely awesome perfect nice excellent amazing",
        "_": "properly correctly perfectly well nicely smoothly beautifully flawlessly cleanly reliably"
        " manually safely quickly automagically",
        "o": "ok okay okey k yes yep yeah yup yea sure cool sweet thanks thx thank ty tysm cheers hey hi"
        " hello wow phew whew alright boom bam hooray hurray woohoo wohoo yay fantastic brilliant"
        " wonderful beautiful oh ah aha haha lol fyi btw voila tada folks guys everyone anyway congrats"
        " sorry nvm heads-up tldr gotcha dude man mate buddy bro kudos glad confirming",
        "l": "and & + plus so",
        ">": "then",
        "y": "but however yet or nevertheless nonetheless otherwise",
        "yw": "although though while whereas",
        "c": "if when once until till unless whenever whether before assuming provided suppose supposing"
        " imagine lest upon goal target expectation hypothetically example eg e.g i.e",
        "w": "since what who whom whose where why how which whichever wherever whatever whoever anything"
        " because cause bc cuz coz",
        "e": "some many most several few lots certain various almost nearly mostly partly partially half"
        " halfway somewhat kinda sorta basically practically virtually roughly supposedly apparently"
        " allegedly probably maybe perhaps possibly presumably seemingly theoretically technically"
        " potentially approximately soon besides except only barely hardly scarcely rarely still"
        " tomorrow later eventually locally sometimes wrongly badly semi",
        "x": "not no never nothing none nobody neither nor without 't isn aren wasn weren don doesn didn"
        " won wouldn cannot cant couldn shouldn hasn haven hadn isnt arent wasnt werent dont doesnt"
        " didnt wont wouldnt couldnt shouldnt hasnt havent hadnt aint ain nope nah zero",
        "z": "fail fails failed failing broke broken breaks breaking crash crashes crashed crashing down"
        " throws throwing hang hangs hanging stuck wrong missing incorrect incorrectly worse flaky"
        " reverted regressed unfortunately sadly incomplete blocked unstable complaining complain happen"
        " happens happening occur occurs occurring timeouts freeze freezes freezing leaking erroring"
        " bugged buggy wtf ugh panic panics accidentally mistakenly prematurely reappeared stopped stops"
        " revert reverting rollback undo reopen 500 500s 404 404s 502 503 excuses bullshit nonsense slow"
        " slower mess weird strange blank garbage timeout timing spiking complaints angry introduced"
        " caused causes causing",
        "H": "earlier always usually often typically normally generally ever formerly previously"
        " originally daily weekly nightly hourly twice annually historically ago per automatically",
        "T": "yesterday",
        "1": "to into onto",
        "2": "in within",
        "3": "on at across",
        "4": "with",
        "5": "by",
        "6": "for",
        "7": "of from",
        "8": "after following",
        "0": "via through as like under over behind about against between during than around",
    },
    KEYS,
)  # fmt: skip

_PHRASES: Final = phrases(
    {
        "us": "its now|its all",
        "usD": "its done",
        "usE": "its finished|its completed",
        "usM": "its merged|its deployed|its shipped|its released",
        "usF": "its fixed|its solved|its resolved",
        "usL": "its live",
        "usV": "its working",
        "ts": "thats",
        "ibD": "were done",
        "ib": "im",
        "iv": "ive|weve",
        "ba": "is all|are all",
        "sa": "'s all",
        "bL": "is back online|is back up|are back online|are back up",
        "sL": "'s back online|'s back up",
        "bz": "is back|are back",
        "sz": "'s back",
        "bU": "is out|are out",
        "sU": "'s out",
        "r": "not sure|unsure|no idea|not certain|not convinced|merged main|merged master"
        "|merged upstream|merged trunk",
        "a": "at last|like it should|as expected|as intended|as planned|as it should|as desired"
        "|like a charm|like a dream|a treat|out of the box|like magic|just fine|for good|in time|on time"
        "|right now|end to end|first try|first time|without issues|without errors|without problems"
        "|without any issues|without any problems|without a hitch|without any errors|with no issues"
        "|with no errors|no issues|no errors|no problems|no more errors|no conflicts|no more issues"
        "|no regressions|this morning|this afternoon|this evening|last night|yesterday evening"
        "|yesterday morning|yesterday afternoon|about an hour ago|half an hour ago|an hour ago"
        "|a minute ago|a few minutes ago|minutes ago|hours ago|a moment ago|a while ago|all the way"
        "|across the board|of course|for real|from now on|from last week|from yesterday|now that"
        "|looks good|look good|looking good|at noon|at midnight|in the end|as well|in full|on schedule"
        "|just now|to everyone|to all users|to all customers|all good|on my side|on my end|on our side"
        "|on our end|for everyone|for everybody|for all users|for all customers|on all platforms"
        "|on all browsers|to develop|into develop",
        "I": "in prod|in production|on prod|on production|to prod|to production|in main|on main|to main"
        "|into main|in master|on master|to master|into master|to pypi|on pypi|to npm|on npm"
        "|into production|into prod|on the live site",
        "o": "i can finally say|can finally say|thank you|thanks a lot|good news|great news|good job"
        "|great job|great work|good work|nice work|nice job|nice one|well done|no worries|there we go"
        "|here we go|heads up|sounds good|looks great|that was it|can confirm|i can confirm|i confirm"
        "|we can confirm|happy to report|happy to say|pleased to report|glad to say|good to see"
        "|glad to see|i 'm happy to report|i am happy to report|i 'm happy to say|i 'm glad to say"
        "|i 'm pleased to report|wanted to say|want to say|wanted to let you know|just to let you know"
        "|letting you know|never mind|thanks a ton|thanks a bunch|thank you so much|so much",
        "x": "no one|not yet|far from|nowhere near|anything but|instead of|rather than|close to|ready to"
        "|ready for",
        "e": "one bug|one problem|one issue|one test|one more|to staging|on staging|easy part|hard part"
        "|first part|main part|boring part|first half|kind of|sort of|pretty much|more or less|so far"
        "|in theory|in principle|as good as|all but|apart from|other than|two of|three of|four of"
        "|part of|some of|half of|one of|most of|none of|few of|parts of|a bit|on paper|up to|in part"
        "|for the most part",
        "m": "has to|have to|had to|about to|to be|need to|needs to|next week|next month|by tomorrow"
        "|by friday|by monday|by tonight|by then|by now|by the end|by eod|by end",
        "c": "as soon as|as long as|in case|so that|such that|as if|definition of done"
        "|acceptance criteria|for example|each time|every time|the moment|let me know|any time"
        "|by the time|given that|such as|in order",
        "z": "came back|since then|to go|is red|are red|went red|by accident|by mistake|rolled back"
        "|roll back|roll it back|is left|are left|left to do",
        "H": "three times|several times|a few times|last week|last month|last year|last quarter"
        "|last sprint|last time|years ago|months ago|weeks ago|long ago|in the past|back then|back in"
        "|many times|used to|at some point|all the time|at the time|in general|by default|on merge"
        "|on push|on save|on click|on commit|on demand|at runtime|at startup",
        "Z": "no longer|no more",
        "S": "any more|anymore|any longer",
        "D": "done and dusted",
        "K": "closed out",
        "Ct": "closing this out|closing it out|close this out|closing out",
        "uW": "this works",
        "E": "wrapped up|signed off|ticked off|checked off",
        "M": "rolled out|went live|gone live|did the trick|does the trick|did the job|does the job",
        "L": "up and running|taken care of|dealt with",
        "N": "let 's|feel free to|go ahead and|we can|you can|you may",
        "U": "went through|went out|went smoothly|went fine|went well|gone through",
        "X": "ship it|ship this|mission accomplished|case closed|that 's a wrap|thats a wrap|job done"
        "|looks good to me|nailed it|problem solved|nothing left to do|nothing else to do"
        "|nothing more to do",
        "X3": "that 's a wrap on|it 's a wrap on",
        "X6": "that 's a wrap for",
        "A": "did it|cracked it|sorted it",
        "9": "as resolved|as done|as completed|as fixed|as complete|as closed|as merged",
        "V": "to work",
        "B": "mark|marking|marked|call|calling|consider|considering|declare|declaring",
    }
)  # fmt: skip

_NOUN: Final = noun()
_SUBJECT: Final = rf"(?:[iut]|u[1-7]{_NOUN}|u?{_NOUN})a*"
_MADE: Final = rf"(?:[iut]|u?{noun(STEP)})a*"
_BROKEN: Final = rf"[dt][{THING}z]{{1,5}}[{STEP}]a*"
# A noun and what is told of it: the problem that annoyed us for weeks; everything we planned.
_TOLD: Final = rf"(?:{_NOUN}[tw][{THING}fiudazP1-7]{{1,8}}|ut?i[{THING}dtamrv1-7]{{1,8}})"
_ANYTHING: Final = rf"(?:[ut]|u?{noun(THING)})a*"
_NAMED: Final = r"(?:[ut]|u?[dt]?a?[nG]{0,4}[jq][njq]{0,3})a*"
_PROBLEM: Final = r"(?:u?[dt]?[njhz]{0,3}q[nj]{0,2})a*"
# A noun without an article is an object only where the way goes on: merged develop into main.
_OBJECT: Final = (
    rf"(?:u(?:[dt]?[{WORK}]{{1,4}})?|t|[dt]a?[{WORK}]{{1,6}}(?:[67][dt]?[{WORK}]{{1,4}})?"
    rf"|[jq][njq]{{0,4}}|[{WORK}]{{1,4}}(?=[1I]))"
)
_GIVEN: Final = rf"(?:[ut]|[dt]a?[{WORK}]{{1,6}}(?:[67][dt]?[{WORK}]{{1,4}})?)"
_MENDED: Final = rf"(?:[dt]a?[{THING}z]{{1,6}}(?:[1-7][dt]?[{THING}]{{1,4}})?|{_OBJECT})"
_TICKET: Final = "(?:u|t[jq]?|[dt][njq]{0,2}[jq]|[jq][njq]{0,2})"
_WAS: Final = "(?:P|k|[vs]a*p)a*"
_NOW: Final = tail(adverbs="aI_")
# Done manually, done for speed: how and why it is done, and not that it is.
_STILL: Final = tail(adverbs="aIT")
_EVERYWHERE: Final = rf"[aI_]*(?:[236]u(?:7?[{THING}f]{{1,2}}))?{_NOW}"

ENGLISH: Final = Language(
    _WORDS,
    _PHRASES,
    signs=frozenset(),
    whole=statements(
        # The migration is finished.
        (rf"{_SUBJECT}[bs]a*[DEQ]", _STILL),
        (rf"{_SUBJECT}[bs]a*[EQ]", tail("6", "aIT")),
        # We're done with the API.
        (r"i[bs]a*[DE]", tail("4", "aIT")),
        # I'm done refactoring the parser.
        (rf"i[bsv]a*[DE]G(?:{_OBJECT})?", tail("126")),
        # The service is deployed to production.
        (rf"{_MADE}[bs]a*M", tail("16")),
        # The flaky test is fixed in #12.
        (rf"(?:{_MADE}|{_BROKEN})[bs]a*F", tail("2456")),
        # The problem that annoyed us for weeks is fixed.
        (rf"{_TOLD}(?:b|va*p)a*[DEMF]", tail("126")),
        # The PR has been merged, got merged, was merged.
        (rf"{_SUBJECT}{_WAS}[EMF]", FREELY),
        (rf"{_SUBJECT}{_WAS}D", _STILL),
        (rf"(?:{_MADE}|{_BROKEN}){_WAS}[MF]", FREELY),
        # I've merged the branch into main.
        (rf"{_SUBJECT}va*[DEMF]a*(?:{_OBJECT})?", tail("123567")),
        (rf"ia*(?:va*)?[EMF]a*{_OBJECT}", FREELY),
        # Migration finished; the team shipped it.
        (rf"{_SUBJECT}[EM]a*(?:{_GIVEN})?", tail("12356")),
        (rf"ia*[EM]a*(?:{_OBJECT})?", tail("12356")),
        # Step 3 done; migration complete.
        (rf"{_SUBJECT}[DQ]", _STILL),
        (rf"{_SUBJECT}F", tail("256")),
        # Your last change fixed the broken build.
        (rf"{_SUBJECT}(?:va*)?Fa*{_MENDED}", tail("23456")),
        # I pushed the fix to production.
        (rf"ia*(?:va*)?%(?:{_OBJECT})?a*I", tail("12356")),
        (rf"iE(?:{_OBJECT}|G(?:{_OBJECT})?)", tail("12356")),
        # PR landed; the deploy went through.
        (rf"{_NAMED}(?:(?:[bs]|P|k|v|[vs]a*p)a*)?U", tail("1236")),
        (rf"{_NAMED}(?:(?:[bs]|P|k|v|[vs]a*p)a*)?K", tail("0125")),
        # This can be closed.
        (rf"{_TICKET}NmK", _NOW),
        (rf"i(?:va*)?K{_TICKET}", tail("01235")),
        # The page is live.
        (rf"{_ANYTHING}(?:[bs]|[vs]a*p)a*L", tail("1236")),
        ("ia*(?:[bs]|[vs]a*p)a*L", _NOW),
        # The hotfix is on prod.
        (r"(?:[ut]|[dt]?n{0,3}j[nj]{0,3})a*[bs]a*I", _NOW),
        # That resolves it.
        (r"[tu]#(?:u|t|[dt]n{0,2}q)", _NOW),
        # The error is gone.
        (rf"{_PROBLEM}(?:[bsv]a*(?:pa*)?)?O", _NOW),
        (rf"(?:u|u?{noun(THING)})a*W", _EVERYWHERE),
        # That works now. "That works" alone may agree to a proposal.
        (r"ta*W(?:[aI_]+|(?=[o!]))", _NOW),
        (rf"{_ANYTHING}J", _NOW),
        (rf"{_ANYTHING}[bs]a*V", _NOW),
        # That got it working.
        (rf"(?:{_SUBJECT})?a*k{_OBJECT}V", _NOW),
        (rf"iv{_OBJECT}V", _NOW),
        (rf"(?:{_SUBJECT})?a*k{_OBJECT}[DEMF]", tail("12")),
        # Both buttons work now.
        (rf"(?:f|{_ANYTHING})Y[aI_]+", _NOW),
        # It no longer crashes.
        (rf"{_ANYTHING}Za*z", _NOW),
        (rf"{_PROBLEM}Za*[nzR]", _NOW),
        # It doesn't crash any more.
        (rf"{_ANYTHING}x+a*zS", _NOW),
        (rf"{_SUBJECT}A", _NOW),
    ),
    bare=statements(
        ("D", tail("4", "aIT")),
        # Done in 3fa2c1.
        ("D2j", tail("1")),
        (rf"[DE]G(?:{_OBJECT})?", tail("126")),
        ("Q", _NOW),
        # Merged it; merged develop into main.
        (rf"[EM]a*(?:{_OBJECT})?", tail("123567")),
        (rf"[EMF]a*(?:[jut]|[dt]a?[{WORK}]{{1,6}})", FREELY),
        ("M4(?:[dt]n*)?j", tail("12356")),
        (rf"Fa*(?:{_MENDED})?", tail("24567")),
        (rf"%(?:{_OBJECT})?a*I", tail("12356")),
        (rf"K(?:{_TICKET})?9?", tail("025")),
        # Has been merged.
        ("(?:b|P|k|[vs]?a*p)a*[DEMF]", tail("1")),
        ("(?:[bP]a*)?L", _NOW),
        ("U", tail("23")),
        ("[WJ]", _EVERYWHERE),
        ("V[aI_]+", _NOW),
        # Confirmed working.
        ("(?<=a)V", _NOW),
        ("N?X", tail("36")),
        ("A(?=[o!])", _NOW),
        # Closing this; you can close the ticket.
        (rf"(?:i[bs]a*|i?N)?[C<]{_TICKET}9?", rf"(?:{_NOW}|[0w].*$)"),
        ("i?N<", _NOW),
        ("C", _NOW),
        # Let's call it done.
        (rf"(?:i[bs]a*|i?N|i)?B(?:{_TICKET}|t[nj])(?:9|0?[DEFKQ])", _NOW),
        ("B9", _NOW),
    ),
)
