"""What pieces of text cost in tokens: the measurements ``tokens`` adds up.

Fitted by least squares to the counts of the tokenizers cl100k and o200k, the larger of the two, on
text in sixty languages, code and data. Costs are averages, in tokens.
"""

from __future__ import annotations

from typing import Final

# Words that are one token each, the commonest first; most of English is made of them.
COMMON_WORDS: Final = frozenset(
    """
the and for that this you with not from are was have but all can will your any more one name
they his get when new see self type out like has value time just return about license const
https aws com what software which node set their use other there were who had number function
define data would test version been her copyright also only how then error people she some
source them without its now first string make def amazon after should object file key true than
into may our used npm these public good two event array information work over even him state
know following path list size free code think could back way assert last example latest class
import int where want including user before must group because need guide html void most github
well none under such here output very param much said right end off general default docs next
being map files check result made find same really using provided did while export take create
too day year start include years long many going notice world still through never org found
those case why false add old read project each got down http line buffer index life command copy
best else module target say run team observable great package part values both does options url
support stream system length three base var python every color help conditions implied something
man returns let since please str thing home between look always link log kind love shall
instance json current service own info status console purpose null text around another
warranties input open library west whether action come local things format build little above
connection high during against better property char permission call echo complete limited policy
pull request access install place update again material program order second inc particular
light cluster called message sure foundation game keep point give variable available show big
common pass api err until based done however different full might house school left either once
fitness count try date security warranty top special control family scheduler endif context
given ever bit put level subscriber head graph later client feel documentation running share lib
real main times wait commit process global already private days view job within change terms
method person bad write business rights response foo matrix per stop money hope few boolean args
doing subject modify otherwise lot someone tag record close tests types bucket der perf position
away web systems play stack description power states along licenses city damages changes release
single company max prefix report night having language form option small results config instead
dir everything agent non document side range space script added thought shader mean anything
express texture getting func manager resource seen nothing child specific looking undefined yet
port require doc llvm account commands god women government load issue body live names enough
root far making operator table care role details week law copies vector party certificate least
sources unsigned works mapping filter clear section hard working created today reference
environment rule tell four server struct block super distribution style callback told
contributors watch break original print yes git music cmp except water note developer white
directory vec member binary national published socket included children makes specified though
believe render took google major init means float post zip app direct xml whole men area health
actually tags remove camera less cloud liable defined east received contract half face came went
parameter merge offset american services uniform black win versions history core future required
bool delete possible exception known declare says groups field country thank everyone together
trying others async ptr attribute arg able dev sub season geometry exit united empty prior allow
deal www template equal problem anyone become namespace parameters university red replace
important community large cert proxy subscribe expected symbol written started image net iam
connect simple war keys mode issues oid bytes video extends store car maybe liability comes join
promise short continue cause president story five room distributed move memory several channel
len course needs cache push obj games news thanks exports due hash fact book early sample raise
internal handler match court mind young friends members social bar hand parse pip taking normal
often remember wrong low usr building useful model research pay talk ago interval argument scene
third window loss extern bin cannot performance reason cli probably optional office hours guys
application sec death renderer auto multiple points lines registry search coming pretty arising
series item passed rules term delay idea near constructor ask food south guy ctx address lost
lesser final gets mark ref met spec development almost msg stage xxx static matter hit
understand related rather total apply international provide disclaimer element active flags
arguments skip publish associated friend windows looks girl air uint timeout flag ready session
configuration inner users component nice question happy comment functions network warning age
saying york yeah playing crypto objects word granted tree ssl txt contributor sys claim changed
cost util operation turn mesh wanted past human front platform soon taken events demo months
sign success stable lower below needed force woman media leave math sell task edge further saw
late token dict width handle indirect author pool north apache supported plan archive enable
behind rest depth direction minutes stay materials sequence invalid according six urllib
deprecated morning million police header gateway condition collection stats products asked
although errors items fire via etc region sha buy street min easy moved fun experience
management among present itself interface enabled env feature distribute identifier inside scope
quite actions act charge conf yourself myself heart visit authors similar box words review
resources takes pending schedule teams append living questions content standard throw cut
currently tools container chance analysis players phone consequential bank progress outside
expect sometimes step entry allowed emit art save schema transform requests page title zero
degree redistribute sort basic market gonna talking political loop meet split uses character
writing period ess minor location shared bash song holders generate former numbers vertex
testing union sets host permissions additional son kids education valid display month ecs unless
march appear longer sent legal properties heard bring college london higher send modified
includes snapshot iterator held dispatch height modules across cases site parts protocol tuple
linux themselves frame parents behavior profile miss department shows study baby father star
pipe wants medical cat built failed goes strong integer identity usually hereby attr moment
effect various double himself students gave round pattern considered immediately follow engine
route weight whitespace parent center ret previous initial unknown safe fine pre product scale
basis simply mother seems road thinking board town transit perfect managing params directly
sense named strict won resolve override pressure meeting email film happen especially forms
shape fight price played hear summer wife energy produces likely register elements updated
device scripts cover whom finally tort cross random heap english online typedef attributes
destination reserved design workspace america land beautiful shot problems dns floor sleep
thread individual personal catch missing eof pkg ignore calling happened begin released wide
click reading race wish zone eyes certain profits raw signed setting switch april hold amount
fast rate features variables society returned exactly deep lake pop recent knew military club
lead generally damage blue hub patch agreement settings records hour compute contains convert
weeks industry couple player county extra clang screen claims middle cool hello origin
production scaling tried factor std decision training british sorry companies algorithm caused
policies signature ones alone verify guess interest learn forward official authority dispatcher
press owner seconds theory ground gives poly trust bio headers whatever matches girls answer
gold gone king boy sun pytest giving relationship became runtime hot worth processing libraries
letter entire eks fix removed regular inspector choice green capital brought worked park average
movie church hands retain idx readonly evidence lives loader sound formation arm complex stuff
resulting neither instances starting describe yaml promote modification waiting unit mime
creates bill areas books director september website derived closed drive listen don traffic lock
projects die examples endpoint experimental portions mac exist substantial track ways modern
stand tax cycles debug limitation repeat expression ensure enum upon statement limit emitted
paths multi nodes compile situation article led quality mock picture fall felt eat federal
league feeling countries provides plans provider whose existing lookup nor lexer association
pick opening goods eye src involved august jobs internet hey trade paid mom science central
branch permitted characters definition natural virtual pack adding incidental lambda patent
distance launch fan respect figure daily calls standards pointer backend expr technology turned
targets edges await choose ssh cup chief attention vote football brother hate looked serial
speed negligence developers serious practice creation selector prop favorite num bug scheme
native implementation lang bed secret mask goal committee methods washington staff drop lord
amazing dog blood china november oil economic alternative reports effort subnet possibility
emits exemplary increase actual generated leading creating california kernel messages usage
operations replication persons font wrap cast architecture okay opt followed reported kept hat
decided born poor enjoy french attack perhaps buf seem java microsoft paper voice appropriate
fee filename wrote trace installed unique necessary grep fifth transfer towards percent arch
european council seven foreign lose financial door walk hair election permit consider forget
difference directories negative master accounts uniforms positive reproduce focus subscription
label risk offer straight upper abc deleted strategy sin agree sold hospital difficult knows
career popular crazy began daughter december tar executable cold beginning card byte bits
encoding pair warn compiler upgrade worker finish knowledge contact extension places concat
syscall fragment tables sir australia sea huge army earth addition verified approach cycle
corporation completely described notes tool packages accept avoid lol ten schools truth
professional campaign mine ball wall domain shadow elif managed levels obtaining capacity shift
sync clean exe gmail hook loc fields resolution runs particularly album ids duration ninja clone
physical nearly operators sale warm stopped dark europe minister district seeing india piece
wanna growth contributions row draw largest combine grow bottom organization mat throughout
sorted releases solution reset updates raises successful requires remain eval receive furnished
beyond machine column obtain workers potential agreed substitute moving recently peace fans boys
speak river pain officer tonight married rock culture signal allows kwargs structure interesting
quickly costs finished res wrapper queue established intended attempt diagnostics chinese ahead
anti accelerator student watching tomorrow century eight sales funny spent failure extensions
ext fit primary welcome doctor comments writer warnings asking procurement digital cos
derivative restriction setup protection utils strings gas population beat brown western
conference radio treatment station russian island tls promises logs greater overall custom
forces significant shell programs commercial sed developed touch generic containing curve seed
minute earlier slow band clearly chain decoder tasks clause yield ice loved despite miles
husband credit travel certainly female conduct runner tmp auth meant typename ordered computer
dtype timestamp raised dependencies elf fail ray designed reasons listener prevent san utf
located connected cpu leaving category kid fair feet tour registered unicode ability monitoring
select aes iterable advertising download interested builder operate happens prototype stat
safety movement construction reverse winning nature studies quick absolutely guard listed rsa
goals follows rich retry repr pro plus german leader validation diffuse thus heavy institute
prints income sounds photo posted episode justice canada spend instruction anymore advised
responsible redistribution ends closing detail independent supports axis approval metadata
thrust typed reach processes solve mit twitter symbols destroyed protect learning facebook shown
busy mass opts specify skin definitely continued train friday wow coach announced defense
administration contribution regard starts tcp dealings volume ended enter broken dispose worst
easily activity explain exec remaining families growing references pos spread fork dot older
awesome destroy ratio lady sister secretary dad fear centre opportunity judge hotel stories
nobody gotta supporting holder appears samples classic produced readable pipeline walking
incident coverage attachment opened streams square meaning benefits entries increased speaking
scheduled secrets mentioned pairs annual sports opinion france majority hurt stupid battle
insurance brain seriously validator notification caught degrees assign sum secure dynamic
varying twice perform timer produce fully carry inline colors knight markdown brand compiled
communication impact compared controls automatically sit audit gtk cancer dance ship civil stock
wonder biggest weekend encode sublicense summary flat insert alias stars suite showing
discussion therefore checking implements compare matched chunk tokens winter highly parties mix
rational resolved completed cmd plane external bench credentials customer changing beach spring
sunday pictures cash lack telling imagine africa fighting wear senior strength introduced
configure individuals holding spot bus highest creative diff val argv isinstance advice
challenge christian passing serve protected links advanced marked cell songs luck christmas
patients sweet yesterday anyway dream grand activities competition indian supposed marriage
bought literally commission roles scan parser kit deps contained notices contain finding
threshold duty technical segment trial transport reader effective keyword surface critical
separate forced score exceptions lane endorse provision ring trip driving doubt feels drink glad
planning disease germany fish professor congress constant batch mobile hostname demand unix
advance immediate saved minimum odd syntax aware pure charset rates equipment holy eventually
images driver understanding refer dom loading weak repo comprehend requirements saving
interruption male plant effects captain worse reality laws japan crime cars texas compatibility
fresh mostly reporting implemented division flow units animation pdb bound benchmark numpy
discovered operating steps reached abs sat returning usb ran lists applied purposes grant lived
nation teacher award lots helped shop sick prices represent exchange placed exists apt aaa
typeof quiet delta ideas traditional predicate artist correct dependency previously combination
positions standing van extend moves determine addr larger capture channels prime disabled
sections decode drug mission truly hall foot executive nine coast officers economy weather
agency politics bag documents knots leaves attached covered query governing detect unlike reduce
arena generation separated typically identified configuring fat species eating fixes logic tgt
assembly smaller whatsoever contributing becomes maintained deleting comp magic evening murder
freedom queen putting heat showed flight interview sitting offered coffee temp joe iter seat
maximum expand getattr pages weird repository probe contents keeping lie happening hosts
dictionary licensed encryption handling lift fixed prepare benefit fashion efforts broke
powerful northern losing learned royal speech wonderful ride fell glass wearing religious
regional mail dirname verbose macro bold greatest decide folder smart fourth totally views
possibly classes exc visitor checks helps thrown components execution applies radius directed
partner wind cities airport famous worry plays everybody southern animals sad investment healthy
guidelines background equivalent represents fill farm sam promotion devices limitations strike
reply loaded firm improve continues chicago realize photos appeared mouth cent missed mental
wedding powers collected req props pixel signing arr whenever ben quota slice reserve idle dont
offers gain supply limits arrived href selection sig retrieve recorded zoom yellow concept
bridge helping marketing legacy depends cells exercise louis estate acting rose seemed hill fund
mid hearing budget sexual faith village paris metal african jack arms providing generator
spanish maintenance terminal wild nations edition inspect consortium buffers checked storage
interpreter relevant blocks ajax manage recipient apple labor onto rare sky wine layer border
blog faster animal becoming rise dude japanese waste silver selling leaders employees soul
served availability exposure upload defaults signals clock confirmed birth thousands beauty
corner consumer inputs cleanup owned assumptions entirely breaking articles artistic recommended
seq disable stone obviously engineering remains monday apparently winner somebody grade mike
chairman senate prison adult aliases tier issuer statistics libc priority curl tells impossible
apart detailed signer knowing alive wake compressed compatible concerned mexico develop frank
suggest sdk temporary exported vulnerability transition adds specifically movies extremely
trouble spirit indeed television till videos christ camp dangerous bet editor vault appearance
journal meth traits vocabulary honor fault extended rec martin models stated intensity
controlled ranges desired contribute blur stereo statements achieve listening constants shooting
dinner dollars eastern los advantage customers proud gift thinks influence mary herself wood
shut ecc topic easier turns relationships facts proper billing forever ltd mul communities
detector excellent lee sqrt quad deploy keyof requirement installation compliance occurred
sending heads optionally recommend replaced organizations performed garden dear carried lucky
patient tough prove housing dogs leadership drugs skills proto treated anywhere roll surprise
variety parsing closer stores mixed matters willing binding rgb svg sep stub jan explicit tone
arrow fake entity asm unable bounds mono altered nested correctly plot connector relatively
discuss studio noise selected defines passes applicable intrinsic birthday dress stick vehicle
fellow cards balance liked boss horse bitch florida jump chars dry bigger clicks bear submitted
execute applications determined recycle confidence decrypt identify alloc bone ping catalog
punctuation span trees bind combined resolver commons joint presented criminal treat slightly
believed violence yours conversation buying youth responsibility investigation paying billion
cultural fly weapons aid thoughts ocean suit issued bay likes audience relative encrypt priv
addresses integrated exclusive exact phase factors spaces restrict climbing unset submit
configured occur timers linked mod golden descriptor gcc beer agents planned historical
decisions kick excited mad sites lovely parliament iron evil funds injury somewhere appreciate
religion prepared magazine teachers indent motion reasonable hidden pred counter phrase holds
salt unittest hypothesis regex excuse comm ignored wise streaming graphics explicitly concern
improved plain keeps roots corresponding attacks replay principal faces managers sock manual
democratic sides stress victory joined taste solid lies mention orders figures honest medicine
dropped sport tea presence nuclear mountain reaction shoot button practices helpful col escape
sees flush highlight stdout providers norm posts maintain counted incremental absolute
facilities candidate hardware languages grouped obtained outputs linear worldwide exp referred
essential pid lawyer pulled regarding measures formed soft increasing fonts mirror variant
understood installing causes outer functionality prince pieces afternoon electric houses picked
ill watched festival fuel entered massive quarter assistant emergency toward teaching valley
plenty clothes citizens discussed sym tap removing captured impl conflict leads replacement
respond motor facility edu letters accepted feed payload specifies dirs packaging advisory
factory bodies originally noted asian expensive publicity vice climate signs steel cheap
drinking tired proposed accident awards boat purchase fantastic terrible hundred feelings flying
governor museum turning plants spending industrial bringing rain minimal packs endian properly
friendly setuptools trio performing tagging explore database frozen password seek literal
vertices suffix restore
""".split()
)

# Runs of three and more signs that are one token: code and JSON are full of them.
COMMON_RUNS: Final = frozenset(
    r"""
:// /** :** (); "), "/> (): ":" "," (__ __( }); "${ )); //# )</ !== '); =$( ()) "); (), `]( .__
--> <!-- (). ]]) [], ="$ .</ .", ().__ "", ":{" ":[" )), '), \":\" ]), .") ()` )** \": ]);
([[ >): "]) )). ()); (() ("./ '): "], ))); >:: "%( )]) ])) '). ([' \",\" }", '], "). ="${ =""
..." }") )", "): ][] ]). ')) ([( ]], .') "}, "}} ',' ')); ({" ('\ "></ )): []) __) ++; {},
\":{\" ,\" ..., []. ()[ ']) ']; ':' ())) ('./ ")), "]. ))), __. "]: ("/ ('/ ']); "]; "},{"
""".split()
)

# What a pair of neighbouring letters adds to a word that is not common: a row for the first letter,
# a column for the second, ``^`` before the word and ``$`` after it. Digits then letters, in tenths of
# a token from -0.6: "6" adds nothing, "g" a whole token.
PAIR_COLUMNS: Final = "abcdefghijklmnopqrstuvwxyz$"
PAIR_ROWS: Final = {
    "^": "232242243232235162124307336",
    "a": "c97aeb8c9b9798e9f897a9bb9a8",
    "b": "8b7c9bcg72b48d93173686cf886",
    "c": "8c7b9bba8a56a97aa7b49abeab7",
    "d": "799b896f75b83987b98c98b8a83",
    "e": "7968a68c9ab887b7866789868a5",
    "f": "9bbea78k8hd8be8af8e9aabba77",
    "g": "afcgbd8cageac8adf7bbbcgfba6",
    "h": "74dc8af98d79957ha997a9cf9f5",
    "i": "9a69a88edbbaa748ca87d7gcd79",
    "j": "97debe5fb96dd8acfacgaf7fea7",
    "k": "adacb067ae9be9cafeb9becfea7",
    "l": "9d9ca9bc8fb7ca989bb9bbdf6e7",
    "m": "89cd896m8ebb8a85fbab9a9fba7",
    "n": "9b58a76c99abba98d765b8c7ba6",
    "o": "ba7ab87dad988777e68868677e7",
    "p": "98ac9ec7aea7dc96f788babfbc8",
    "q": "efffdfffb8faffeffafa4fffffb",
    "r": "8c7b897d8cab8889aa67a99b8c6",
    "s": "ae8dab8baeba9ca8cb779e7f9d5",
    "t": "9f7ba9b98gcabca6f989bfci8d8",
    "u": "897c988g7cb888b9a888adc7dda",
    "v": "a8ge87cf8addee8af9ceebffde7",
    "w": "9bfaabf29fa4988cfc4cad9fec7",
    "x": "a75ba8f383fb4f53f8a75ff84f6",
    "y": "9b9hdhegbbfdabdafgacbcdf9c4",
    "z": "ae7da8ii9gcchbbhfdfbaf8f999",
}

# What an accented Latin letter adds; one that is not listed adds ACCENTED_RARE.
ACCENTED: Final = {
    0.5: "ãçîñđżưẩỉợủ",
    1.0: "àáäåèéêìíóôöùúüþăąćčęğıłńśşţźơșạầậếểọỏổớờ",
    1.5: "âæëïðòõøýďěőřšťůűžțảấềệịốộởụứừửữựỷ",
    2.0: "āēėĩīįļľňũūųəẫắằặẽồ",
}
ACCENTED_RARE: Final = 1.6

# What the character before a word adds. A space adds nothing.
LEAD: Final = {
    0.0: ".",
    0.2: "\t()*\\_",
    0.4: "#'-/<>[",
    0.6: ",;=",
}
LEAD_RARE: Final = 0.9

# One character of another script, or a symbol.
CHARACTERS: Final = {
    0.2: "\u0e48",
    0.25: "п",
    0.3: "оть\u0e37",
    0.35: "е",
    0.4: "лн─█",
    0.45: "зс",
    0.5: "авдыال\u0e49",
    0.55: "икмрч",
    0.6: "υяאبةى\u0947━═",
    0.65: "бж",
    0.7: "йуфבחישتثدسه\u093fกค\u0e34",
    0.75: "Фгц",
    0.8: "πσГДПדהולמإخرفمویपर\u094dจนล",
    0.85: "ВКхщю",
    0.9: (
        "ΒΗαικμτωИМУЭנجصضغقيپ\u0902इकमह\u0940ขชทบระ\u0e31\u0e35\u0e39あいうえおかがきくけ"
        "こごさざしじすせそただちっつてでとどなにのはばまみめもやよらりるれろわをんアィイ"
        "ウェエオカキクグコサシジスズセタダチッテデトドナニバパビピフブプペポマムメャュョ"
        "ラリルレロン・ー"
    ),
    0.95: "ІЗНРТш",
    1.0: (
        "¡¢£¤¥¦§¨©«¬®¯°±²³´¶·¹»¼½¾¿\u0300\u0301ΣεοφБЕОן،أحذشعكن\u0651کओळस\u093e\u094bถยแ"
        "\u0e4c\u200b\u200c\u200e‐‑–—―‘’‚“”„†•…‰′″›※₀₁₂€™←↑→↓−│║╗╝░■►●★☆☴♀♥♪✔⟩\u2800、。"
        "《》「」『』【】〜\ufe0f！（），－．／０１２３４５６７８９：；＞？＾～･￥\ufffd"
    ),
    1.05: "Сљ",
    1.1: "ΈΓΔΚΜΟήίγλνρАэךףתءظघ\u0941ตหา\u0e38เ",
    1.2: "άβδςψЮЯѓםעצרز\u064e\u064f\u0650\u0652گऔझथनयอไ",
    1.25: "ЦЩ",
    1.3: "έηχόёҚז\u0901ईऐछणतल\u094cดปผพมวส\u0e47",
    1.4: "ΠθЙШץطڈटठषงใ",
    1.45: "Ьќ",
    1.5: "ΕЛЧЫәӣגטآؤڑअ\u0949",
    1.55: "ъ",
    1.6: "ΝΤξכסئआउखजबभ\u0948",
    1.65: "Х",
    1.7: "Αζפקएगचदवश",
    1.75: "і",
    1.8: "Жध\u093c\u0943",
    1.85: "ҷ",
    1.9: "ύ۔डफ",
    2.0: "ўұ\u064c\u064dے",
    2.1: "ώ\u0942",
    2.15: "њ",
    2.3: "چں।",
    2.35: "є",
    2.4: "їғң\u064bژ",
    2.5: "јٹھہ",
    2.6: "ҳ",
    2.65: "қ",
    2.85: "үө",
}

# Ideographs that are one token; others are two, or three where the bit of their block of 64 is set.
HAN_COMMON: Final = (
    "一万三上下不与专业东两个中串为主么义之也书了事二于五些交产享京人亿今介从他付代以们件价任份企"
    "优会传但位体何余作你使例供価保信修倍值停像元先入全公共关其具内円册再写出击分列则初利别到制前"
    "力功加务动動包化北区十午华单南即历原去县参及友反发取变口只可台右号司合同名后向否含听启告员周"
    "命和品哈商問器四回因国图土在地场址型城基報場填增声处备复外多大天失头女好如始子字存学安宋完定"
    "实审客家容密对导将小少尔就局展山岁州工左已市布常平年并广序库应店度建开异式引张当录形影径待後"
    "得微心必志态思性总息您情意感成我或户所手打找技投报拉持指按换据排接推提播支收改放政效数整文料"
    "断新方族无日时明易星是時景更最月有服期木未本机权束条来板构析果查标样核格案检模次款止正此步歳"
    "段每比民気水求江汽没治法注活流海消清游源火点無然片版物特率环现球理生用由电男画界番登的监目直"
    "相省看県真知码确示社票私种科秒称移程稍税稿空立站章端笑符第等签简算管箱米类系素索约级线组经结"
    "给络统编网置美老考者而联能自至色节英藏行表装西要見见规视角解言計記話読计认议记论设证评试话询"
    "该详语误说请读调象责败账货购费资起超路身车转软载辑输达过运近还这进连述退送选通速造連道邮部都"
    "配释里重量金钟钮链销错键长開間関门闭问间队阳陆限院除雅集雷需非面音页项预频题额首验高黑"
)

HAN_THREE: Final = 0xB7FFFDB0C003EF701F001831FDFE407083C90009C1CE3CEDE0000FD4000900E400781F404784001400

# The same for syllables of Hangul.
HANGUL_COMMON: Final = (
    "가간값개거게결경고공과구그글기나내는능니다당대도동되된드든들디라래러력로록료류른를름리만메면"
    "명목문미버번보복부분비사산상색생서성세션소수스습시식신아야어에여열오와요용우운원위으은을음의"
    "이인일임입자작장재적전정제져조주지진째체출치크태터턴트튼하한할함해호화환회"
)

HANGUL_THREE: Final = 0x7CDFEBE5FDBAFF2E801FF383FEB279143FE653CBFC50

# The rest by block: its last code point, the cost of a character, and of a space before one.
BLOCKS: Final = (
    (0x00FF, 1.0, 0.5),  # Latin-1 signs
    (0x036F, 2.0, 0.5),  # modifiers, combining marks
    (0x03FF, 1.6, 0.1),  # Greek
    (0x052F, 2.0, 0.6),  # Cyrillic
    (0x058F, 2.05, 1.0),  # Armenian
    (0x05FF, 2.0, 1.0),  # Hebrew
    (0x077F, 2.0, 0.4),  # Arabic
    (0x08FF, 2.5, 0.7),
    (0x097F, 1.9, 0.6),  # Devanagari
    (0x09FF, 1.4, 0.8),  # Bengali
    (0x0AFF, 2.0, 0.7),  # Gurmukhi, Gujarati
    (0x0B7F, 3.0, 0.7),  # Oriya
    (0x0BFF, 1.5, 0.8),  # Tamil
    (0x0DFF, 2.0, 0.7),  # Telugu, Kannada, Malayalam, Sinhala
    (0x0E7F, 1.5, 0.6),  # Thai
    (0x0FFF, 2.5, 0.7),  # Lao, Tibetan
    (0x109F, 2.2, 0.7),  # Myanmar
    (0x10FF, 2.05, 1.0),  # Georgian
    (0x177F, 3.0, 1.0),  # Ethiopic and others
    (0x17FF, 1.85, 0.7),  # Khmer
    (0x1FFF, 3.0, 0.5),
    (0x206F, 2.0, 0.5),  # punctuation
    (0x2BFF, 2.3, 0.3),  # arrows, mathematics, boxes, dingbats
    (0x2FFF, 3.0, 0.5),
    (0x303F, 1.6, 0.4),  # punctuation of East Asia
    (0x30FF, 2.0, 0.5),  # Kana
    (0xFDFF, 3.0, 0.7),
    (0xFE0F, 1.0, 0.5),  # variation selectors
    (0xFFFF, 2.0, 0.5),  # full width
    (0x1FAFF, 3.0, 0.0),  # emoji
    (0x10FFFF, 4.0, 0.5),
)
