"""How English says what something is, where it is and when it happens, and who the user is."""

from __future__ import annotations

from typing import Final

from mnemos.language.extraction.forms import Values, form, rule, words
from mnemos.language.notation import Mark

_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SYSTEMS: Final = r"(?:windows|mac|macos|linux|ubuntu|debian|fedora|arch|python|node|android|ios)"
_TOOLS: Final = r"(?:vim|neovim|emacs|vs ?code|pycharm|intellij|an? \w+ (?:keyboard|mac|laptop))"

ABOUT_USER: Final = (
    rule(
        Mark.VALUE,
        "i best",
        r"\bi(?:'m| am) (?:also |currently |originally |now )*(?:based in|located in|living in|allergic"
        r"|vegetarian|vegan|diabetic|left-handed|colou?r-?blind|deaf|dyslexic|retired|married|divorced"
        r"|fluent|lactose|gluten|muslim|jewish|pregnant|responsible for|in charge of|originally from)\b",
        rf"\bi(?:'m| am) (?:now |currently )?(?:on|using|running) (?:{_SYSTEMS}|{_TOOLS})\b",
        r"\bi(?:'m| am) an? (?!(?:bit|little|big|(?:\w+ ){0,2}fan|idiot|lot|huge|moron|mess|tad|fool|step"
        r"|couple|believer|minute)\b)",
        r"\bi(?:'m| am) (?:usually|mostly|typically|generally) [a-z]+|\bworks? best for me\b",
        r"\bi(?:'m| am) (?:\d{1,2}|(?:twenty|thirty|forty|fifty|sixty)(?:-\w+)?)(?: years old)?$",
        r"\bi(?:'ve| have) been an? .*\b(?:for|since)\b",
        r"\bi(?:'m| am) in (?:the )?\w+(?: \w+)? (?:time ?zone|office|team|department)\b",
        r"\bi (?:also |currently |usually |mostly |only |now )*(?:live in|live with|work (?:as|at|for"
        r"|from|night|part-|full-)|study|speak|teach|own an?|grew up|was born|drive an?|play the)\b",
        r"\bi have (?:an? |two |three |four |five |no )(?:[\w-]+ ){0,2}(?:kids?|child(?:ren)?|cats?|dogs?"
        r"|daughters?|sons?|sisters?|brothers?|allerg\w+|degree|phd|condition|garden|car|house)\b",
        r"\bi (?!(?:get|see|have|forget|struggle|hit|lose|try|keep)\b)(?:\S+ ){1,8}(?:every|each) (?:day"
        r"|morning|evening"
        rf"|night|week|weekend|month|year|{_DAY})\b",
        about="user",
    ),
    rule(
        Mark.VALUE,
        "my me",
        r"\bmy (?:name|nickname|birthday|age|job|pronouns|timezone|time zone|employer|company|title|role"
        r"|wife|husband|partner|daughter|son|mother|father|mum|mom|dad|brother|sister|dog|cat|boss"
        r"|manager|address|hometown|native language|mother tongue|handle|username)(?:'s(?: \w+)?)? (?:is"
        r"|are|has|have|works|lives|was born)\b",
        r"^(?:please )?call me \w+$",
        unless=form(r"\bis (?:annoying|angry|here|coming|waiting|calling|not|in the list|so|really)\b"),
        about="user",
    ),
)

ABOUT_THINGS: Final = (
    rule(
        Mark.VALUE,
        "we",
        r"\bwe(?:'re| are) (?:now |currently |still |all )*(?:on|running|at) (?:\w+ ){1,3}v?\d",
        r"\bwe(?:'re| are) on (?:the )?(?:\w+ ){1,2}(?:plan|tier|branch|version)\b",
        r"\bwe (?:now |currently |still |only )*(?:run|host|deploy)(?: \w+){0,3} (?:on|in|to|at|with|from"
        r"|via|through) \S+",
        rf"\bwe (?:\w+ ){{1,4}}(?:every|each|on) (?:second |other |first |last )?(?:day|week|month"
        rf"|quarter|year|{_DAY}s?)\b",
        r"\bwe have (?:about |only |roughly |currently |around )?(?:\d[\d,.]*|two|three|four|five|six"
        r"|seven|eight|nine|ten|twelve) (?!(?:minute|hour|day|week|error|issue|test|failure|problem"
        r"|option|choice|bug|thing|warning|question)s?\b)[a-z]+",
        unless=form(r"\bwe (?:met|went|had|saw|did|talked|got|were|was)\b"),
    ),
    rule(
        Mark.VALUE,
        "set renamed changed bumped raised lowered increased reduced moved upgraded pinned configured"
        " switched named called put saved wrote stored uploaded placed created added registered opened"
        " caused cause lesson lessons gotcha finding takeaway root",
        r"\b(?:i|we)(?:'ve| have)? (?:set|renamed|changed|bumped|raised|lowered|increased|reduced|moved"
        r"|upgraded|pinned|configured|switched|named|called|put|saved|wrote|stored|uploaded|placed)"
        r" (?:\S+ ){1,8}(?:to|as|at|in|into|under) (?:\S*[\d\x01/_.:-]\S*|version)",
        r"\b(?:i|we)(?:'ve| have)? (?:created|added|registered|opened) (?:an? |the )?(?:new )?(?:\w+"
        r" ){0,2}(?:branch|user|bucket|database|table|queue|channel|ticket|issue|account|role|topic|repo"
        r"|repository|index|endpoint|variable|folder|directory|project) (?:called |named"
        r" )?\S*[\d\x01/_.-]\S*",
        r"\b(?:was|were|has been|have been) (?:changed|set|moved|renamed|bumped|raised|lowered|upgraded"
        r"|switched|increased|reduced|pinned) (?:from \S+ )?to \S*[\d\x01/_.:-]",
        r"\bwas caused by\b|\bthe root cause (?:of .{3,60})?(?:is|was)\b(?! (?:unclear|unknown|not))",
        r"^(?:lessons?(?: learned)?|takeaway|gotcha|root cause|finding)s? ?[:–-] ?\S",
        unless=form(r"\bto (?:the|a|its)\b$"),
        by_assistant=True,
    ),
    rule(
        Mark.VALUE,
        "find reach access remember mind record note",
        r"\byou(?:'ll| can| will| could)? (?:find|reach|access|get to) (?:\S+ ){1,8}(?:at|under|on|in"
        r"|via) \S*(?:://|\.\w|/|\x01)\S*",
        r"^(?:please )?(?:remember|keep in mind|note for later|for the record|make a note|bear in"
        r" mind)(?: that|:)(?! (?:time|day|when|one)\b)(?=.* \S+ \S+)",
    ),
)

VALUES: Final = Values(
    verb=form(
        r"(?P<called>\b(?:is|are)(?: now| also)? (?:called|named|titled|spelled|known as|owned by"
        r"|maintained by|managed by)\b|\bbelongs to\b|\breports to\b)",
        r"(?P<timed>\b(?:(?:is|are)(?: now| currently)? (?:due|planned|scheduled|refreshed|released"
        r"|rotated|updated|expected|renewed|booked|reserved)|(?:was|were) (?:founded|built|born"
        r"|introduced)|starts?|ends?|leaves?|arrives?|begins?|expires?|lasts|(?<!the )last(?= \d)|costs?"
        r"|departs?|takes place|runs(?= every| at \d| daily)|times? out|closes|opens|rotates|resets"
        r"|renews|refreshes)\b)",
        r"(?P<placed>\b(?:(?:is|are|was|were|has been|have been|gets?|get|will be)(?: now| currently|"
        r" always| all)? (?:located|stored|hosted|deployed|kept|defined|documented|reachable|available"
        r"|served|published|mounted|configured|found|installed|saved|archived|pinned|based|exposed"
        r"|started|run|accessible|registered|running|listening|set|managed|mirrored|tracked|built|tested"
        r"|written|maintained|owned|uploaded|exported|sent)|lives|sits|resides|runs|listens|points|goes"
        r"|belongs|uses|requires|connects|reads from|writes to|(?<=s )(?:live|sit|reside|run|listen|point"
        r"|go|belong|use|require|connect|read from|write to)|moved|changed|switched|migrated)\b)",
        r"(?P<acts>\b(?!(?:says|returns|fails|crashes|shows|prints|throws|takes|loads|hangs|complains"
        r"|this|its|as|is|was|has|does|looks|seems|works|gets|goes|keeps|stops|contains|reads|means"
        r"|always|sometimes|tests|files|lines|errors)\b)(?<!always )(?<!never )[a-z]{2,}[^s\W]s\b(?= ))",
        r"(?P<counted>\b(?:has|have|contains?|holds?|consists? of|comprises?)\b)",
        r"(?P<is>\b(?:is|are|will be)\b)",
    ),
    nouns=words(
        "port ports host hostname url urls endpoint address ip domain database db bucket region branch"
        " repo repository version path folder directory file files table tables queue topic channel user"
        " username account id ids name limit limits timeout ttl budget deadline date price cost costs rate"
        " size timezone zone locale language email mail phone number model image tag namespace cluster"
        " schema license licence owner contact lead maintainer oncall on-call threshold retention interval"
        " schedule window quota maximum minimum max min default lifetime period password key token"
        " variable var secret prefix suffix format encoding currency server servers runner registry"
        " release launch demo meeting exam flight freeze go-live review birthday appointment wedding"
        " sprint milestone presentation interview kick-off kickoff cutoff cut-off project client customer"
        " company team environment framework editor shell os api ci stack backend frontend hosting"
        " provider vendor tenant ticket epic salary target capacity memory ram cpu disk workers replicas"
        " concurrency batch width height length weight dose gate seat login ssid network subnet gateway"
        " dns vpn proxy certificate sla uptime rpo rto product eta org organisation organization registrar"
        " cdn value average cap standup stand-up retro codename invoice iban vat rent subscription tier"
        " extension offset chunk resolution bitrate engine driver library audience competitor supplier"
        " flag terms fee fees notice discount interest"
    ),
    named=words(
        "name org language branch owner license licence framework editor timezone database db client"
        " customer company project product currency default shell os provider vendor codename format"
        " encoding contact maintainer lead stack hosting environment region prefix audience competitor"
        " supplier"
    ),
    grouped=words(
        "team company office server servers runner runners machine machines cluster database db project"
        " house flat class app dataset corpus table account plan contract api box vm node nodes router"
        " device budget sprint laptop computer phone car garden"
    ),
    vague=form(
        r"(?:not|already|still|also not|never|wrong|correct|right|broken|down|up|in use|missing|empty|too"
        r"|very|so|quite|a bit|a little|pretty|really|the (?:problem|issue|reason|same|one|question|bug"
        r"|cause|culprit|thing)|unknown|unclear|what|why|how|where|open|closed|ok|okay|fine|good|bad|great"
        r"|slow|fast|failing|being|getting|taken|free|blocked|busy|full|gone|ready|done|finished|invalid"
        r"|valid|different|better|worse|more|less|just|here|there|now (?:fixed|green|red|broken|correct"
        r"|right|ok)|unreachable|offline|online|changing|growing|due to|because|only a|hard|easy|confusing"
        r"|weird|strange|annoying|nice|awesome|huge|tiny|exceeded|reached|hit|line \d|on line|at line|red"
        r"|green|passing|merged|deployed$|live$|up to date|out of date|outdated|stale|about to|going to|no"
        r" longer|nowhere|probably|maybe|to blame|unavailable|returning|throwing|crashing|complaining"
        r"|supposed|needed|necessary|important|useful|ignored|set (?:correctly|wrong)|identical|similar"
        r"|equal|required|one of|all about|amazing|super|such|an? (?:great|good|nice|bad|big|huge|must|lot"
        r"|bit|little|perfect|amazing|beautiful|wonderful)|always|been|finally|my favou?rite)\b|(?:(?:at"
        r"|around|about|roughly|only) )?\d+ ?%"
    ),
    others=words(
        "it this that there he she they these those what which who here everything nothing something one"
        " you i we its all some any none both everybody nobody how why where when whose whatever anything"
        " add create write make his her their not"
    ),
    every=words("all"),
    ours=words("our my"),
    passing=words(
        "example examples error errors output warning message trace line lines query loop result page"
        " response commit attempt answer diff function method class parameter argument step movie first"
        " second i'm i've i'll i'd we're we've we'll you're you've i you we let's"
    ),
    small=words(
        "the our my your their its a an this that new old current now is are of for in on at to and or so"
        " then called named very same actual real"
    ),
    joint=form(
        r"[,;:(–—]\s*|(?<!for )(?<!of )(?<!in )\bthat\b\s*|\b(?:and|but|because|since|so|while|although|as"
        r"|if|when|where|which|who|whether|than|like)\b\s*"
    ),
    of=form(r"\b(?:of|for|in|on|at|from)\b"),
    dates=form(
        rf"\b{_DAY}\b|\b(?:january|february|march|april|may|june|july|august|september|october|november"
        rf"|december)\b",
        r"\b(?:tomorrow|tonight|noon|midnight|next (?:week|month|year|quarter)|end of (?:the )?(?:week"
        r"|month|year|quarter)|q[1-4]|daily|weekly|nightly|hourly|first of|each (?:day|week|month|year)"
        r"|every (?:day|night|week|month|hour|morning))\b",
    ),
)
