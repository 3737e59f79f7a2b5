"""The standard attacks in Chinese, Japanese, Korean, Arabic and Hindi.

These are written without blanks, with endings that are words of their own, or with marks that are no letters,
so they are searched in the text instead of in its words. Every gap is bounded. Expressions are spelt as people
write and folded like the texts: a Korean syllable becomes two or three letters, which is why gaps are wide there.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mnemos.text.threats.folding import folded

Find = tuple[str, str, int, int]
"""The kind, the reason, where it starts, and where it ends."""

_ADDRESS: Final = r"(?:https?://|[a-z0-9._+-]{1,40}@[a-z]|[a-z0-9-]{1,30}\.[a-z0-9-]{1,30}\.[a-z]{2,6})"
_REASONS: Final = {
    "override": "tells the model to ignore or reveal its instructions",
    "exfiltration": "sends secrets to an address",
    "concealment": "hides something from the user",
    "persistence": "forbids to delete this note",
}

_ZH_RULES: Final = "(?:指令|指示|规则|規則|命令|要求|提示|规定|規定|设定|設定|限制|约束|指引|准则|準則)"
_ZH_BEFORE: Final = "(?:之前|以前|先前|以上|上面|上述|此前|前面|所有|全部|一切|任何|你的|您的|原有|原来|既有|系统|系統|收到|开发者)"
_ZH_PRIVATE: Final = (
    "(?:密码|密碼|密钥|密鑰|金鑰|口令|令牌|凭证|凭据|憑證|聊天记录|聊天紀錄|对话|對話|记忆|記憶|笔记内容|笔记本内容"
    "|私钥|cookie|token|api ?key|用户的?(?:数据|资料|信息)|环境变量|通讯录)"
)
_ZH_SEND: Final = "(?:发送|发到|发给|发往|发至|上传|传送|传到|传给|寄到|寄给|转发|提交|泄露|送到|發送|發到|上傳|轉發|傳送|同步|传输|外传)"
_ZH_USER: Final = "(?:用户|用戶|使用者|任何人|主人|客户|客戶|人类)"
_ZH_NOT: Final = "(?:不要|不得|不能|不可|切勿|请勿|絕不|绝不|绝不能|禁止|无需|无须|不必|不用|别|勿|不应)"
_JA_RULES: Final = "(?:指示|命令|ルール|規則|指令|プロンプト|制約|ガイドライン|制限)"
_JA_PRIVATE: Final = (
    "(?:パスワード|apiキー|鍵|トークン|認証情報|会話|メモリ|記憶|シークレット|チャット履歴|資格情報|クッキー)"
)
_KO_PRIVATE: Final = "(?:비밀번호|암호|키|토큰|자격 ?증명|대화|메모리|시크릿|패스워드|기억)"
_AR_RULES: Final = "(?:التعليمات|الأوامر|القواعد|تعليماتك|الإرشادات|قواعدك|التوجيهات|تعليمات|أوامر|قواعد)"
_AR_PRIVATE: Final = "(?:كلمات المرور|كلمة المرور|كلمات السر|المفاتيح|مفاتيح|الرموز|بيانات الاعتماد|سجل المحادثة|المحادثة|المحادثات|الذاكرة|الأسرار)"
_HI_PRIVATE: Final = "(?:पासवर्ड|टोकन|कुंजी|कुंजियाँ|कुंजियां|चाबी|बातचीत|चैट|क्रेडेंशियल|मेमोरी|गोपनीय)"

_CHINESE: Final = (
    (
        "override",
        rf"(?<![会會能可动了不勿别莫没本序具器])(?:忽略|无视|無視|忽视|忘记|忘記|忘掉|忘了|不要遵守|不再遵守|不要理会|无需遵守|不用管|不用理会|不必理会|无需理会|不必遵守|不用遵守|别理会|别理|抛开|抛弃|放弃"
        rf"|绕过|违反|别管|丢弃|清除|覆盖|推翻|撇开)掉?[^。!?;\n,、]{{0,12}}?{_ZH_BEFORE}(?![^。\n,]{{0,8}}(?:缓存|格式|警告|构建|安装|编译))"
        rf"[^。!?;\n,、]{{0,12}}?(?:{_ZH_RULES}|(?:内容|对话|话)(?=[。,!;\n]|$))",
    ),
    (
        "override",
        rf"{_ZH_BEFORE}的?[^。!?;\n,、]{{0,6}}?{_ZH_RULES}[^。!?;\n,、]{{0,4}}?(?:作废|作廢|无效|無效|失效|不再有效|不再适用|不算数|可以无视|可以忽略"
        r"|置之不理|抛到一边)",
    ),
    (
        "override",
        r"(?:输出|显示|打印|透露|泄露|泄漏|展示|告诉我|公开|复述|重复|给出|列出|说出|輸出|顯示|說出|列印)出?[^。!?\n,]{0,8}?"
        r"(?:你|您|完整|全部|的)[^。!?\n,]{0,4}?(?:系统|系統|初始)(?:提示|指令|prompt|消息|訊息)",
    ),
    (
        "override",
        r"(?:把|将|將)你?的?[^。!?\n,]{0,4}?(?:系统|系統|初始)(?:提示词?|提示詞?|指令|prompt)[^。!?\n,]{0,8}?(?:打印|输出|输出|显示|发|说|写|列|輸出|印)出?(?:来|來|给我|給我)",
    ),
    (
        "override",
        r"(?:从现在(?:起|开始)|從現在(?:起|開始)|从此|今后|今後|自此|现在起|即日起|从今以后|你现在|接下来)[^。!?\n]{0,8}?(?:只(?:听|聽|服从|服從|执行"
        r"|執行|遵|回应)|服从|服從|听命|聽命|听从(?:我|本|此|这)|(?:没有|沒有|不受|无|無)(?:任何)?(?:限制|约束|規則|规则))",
    ),
    (
        "override",
        r"(?:一切|全部|均|都|凡事)以(?:本|此|这个?|這個?)(?:页面?|网页|文件|笔记|文档|便签|条|頁面?|網頁|筆記)[^。!?\n]{0,8}?(?:为准|為準|优先|優先)",
    ),
    ("exfiltration", rf"{_ZH_PRIVATE}[^。!?\n]{{0,24}}?{_ZH_SEND}[^。!?\n]{{0,12}}?{_ADDRESS}"),
    (
        "exfiltration",
        rf"{_ZH_SEND}[^。!?\n]{{0,20}}?{_ZH_PRIVATE}[^。!?\n]{{0,12}}?(?:到|给|至|往|給)[^。!?\n]{{0,6}}?{_ADDRESS}",
    ),
    (
        "concealment",
        rf"{_ZH_NOT}(?:把|将|將)?[^。!?\n,]{{0,12}}?(?:告诉|告知|通知|提醒|让|讓|向|对|對|跟|透露给|告訴|被){_ZH_USER}(?:知道|知情|发现|發現|察觉|看到|看出"
        r"|提|说|說|透露|泄露|这|這|此|你|本|有关|关于|任何|$|[,。!;\n])",
    ),
    (
        "concealment",
        rf"{_ZH_USER}(?:并|都)?(?:不应|不能|不得|不可|无需|不必|不该|绝不能|不會|不應|無需)该?(?:知道|知晓|得知|发现|察觉|知情|發現)"
        rf"|瞒着{_ZH_USER}|(?:对|向|對){_ZH_USER}(?:隐瞒|保密|隱瞞)|(?:别|不要|不能|不得)让{_ZH_USER}(?:知|发现|察觉|看见|看到|起疑)",
    ),
    (
        "persistence",
        r"(?:永远|永遠|绝对?|絕對?|千万|任何时候都|任何情况下都)(?:不要|不得|不能|不可|不准|不許|不许|别|不)(?:删除|清除|移除|刪除|修改)(?:它|此|本|这|這|該|该)",
    ),
)
_JAPANESE: Final = (
    (
        "override",
        rf"(?:以前|これまで|今まで|上記|前の|先の|先ほど|すべて|全て|あらゆる|あなたの|過去|それまで|従来)[^。!?\n]{{0,14}}?{_JA_RULES}[^。!?\n]{{0,8}}?"
        r"(?:無視(?!しない|せず|される|する(?:場合|と|と|テスト))|忘れ(?!ない|ず|る)|破棄し|従わない|従うな|取り消し)",
    ),
    (
        "override",
        r"システム ?プロンプト[^。!?\n]{0,6}?を?(?:すべて|全文|そのまま)?[^。!?\n]{0,3}?(?:(?:表示|出力|公開|開示)(?:し(?:て|ろ|なさい)|せよ)|教え(?:て|ろ)|見せ(?:て|ろ)"
        r"|書き出し?(?:て|せ))",
    ),
    (
        "override",
        r"(?:今から|これから|今後|以降|ただいまから)は?[^。!?\n]{0,10}?(?:制限のない|制約のない|制限なし|に(?:だけ|のみ)従|(?:だけ|のみ)に?従|命令だけ)",
    ),
    (
        "exfiltration",
        rf"{_JA_PRIVATE}[^。!?\n]{{0,24}}?{_ADDRESS}[^。!?\s]{{0,40}}\s?(?:に|へ|まで|宛)[^。!?\n]{{0,8}}?(?:送(?!らない|信しない)|転送(?!しない)|投稿|アップロード|メール)",
    ),
    (
        "exfiltration",
        rf"{_ADDRESS}[^。!?\s]{{0,40}}\s?(?:に|へ|まで|宛)[^。!?\n]{{0,16}}?{_JA_PRIVATE}[^。!?\n]{{0,12}}?(?:送(?!らない|信しない)|転送(?!しない)|投稿|アップロード)",
    ),
    (
        "concealment",
        r"(?:ユーザー?|利用者|使用者|誰)に(?:は|も)?(?![^。\n]{0,12}(?:エラー|スタック|詳細))[^。!?\n]{0,10}?(?:言わない|言うな|言わず|話さない|話すな|伝えない|伝えるな|伝えず|知らせない|知らせるな|知らせず|教えない"
        r"|教えるな|明かさない|報告しない|報告せず|気づかれ|気付かれ|知られ|秘密|内緒|黙って)",
    ),
    (
        "persistence",
        r"この(?:メモ|ノート|記録|項目)[^。!?\n]{0,14}?(?:絶対|決して)[^。!?\n]{0,8}?(?:削除しない|消さない|削除するな|消すな)",
    ),
)
_KOREAN: Final = (
    (
        "override",
        r"(?:이전|앞선|앞의|위의|기존|지금까지|모든|너의|당신의|네)[^.!?\n]{0,40}?(?:지시|명령|규칙|지침|프롬프트|제한)[^.!?\n]{0,24}?(?:무시(?:하고|하라|하세|하십|해)|잊어|잊으세|잊고"
        r"|따르지 ?마)",
    ),
    (
        "override",
        r"시스템 ?(?:프롬프트|지침|메시지)[^.!?\n]{0,16}?(?:출력해|출력하|보여|공개해|공개하|알려|표시해|표시하|말해)",
    ),
    (
        "override",
        r"(?:지금부터|이제부터|앞으로)[^.!?\n]{0,40}?(?:제한 ?없는|제한이 ?없는|만 ?따르|만 ?따라|복종|명령만)",
    ),
    (
        "exfiltration",
        rf"{_KO_PRIVATE}[^.!?\n]{{0,50}}?{_ADDRESS}[^!?\s]{{0,60}}\s?[^.!?\n]{{0,16}}?(?:보내(?!지)|전송(?!하지)|업로드|전달해|올려)",
    ),
    (
        "exfiltration",
        rf"{_ADDRESS}[^!?\s]{{0,60}}\s?[^.!?\n]{{0,40}}?{_KO_PRIVATE}[^.!?\n]{{0,30}}?(?:보내(?!지)|전송(?!하지)|업로드|전달해|올려)",
    ),
    (
        "concealment",
        r"(?:사용자|유저|아무|누구)[^.!?\n]{0,8}?(?:에게|한테|께)[^.!?\n]{0,50}?(?:말하지|알리지|알려주지|언급하지|밝히지|보고하지|비밀(?!번호)로|숨겨|숨기)",
    ),
    ("concealment", r"(?:사용자|유저)(?:가|는)[^.!?\n]{0,20}?(?:알아서는 ?안|알면 ?안|모르게|눈치채지)"),
    ("persistence", r"이 ?(?:메모|노트|기록)[^.!?\n]{0,20}?(?:절대)[^.!?\n]{0,20}?(?:삭제하지|지우지)"),
)
_ARABIC: Final = (
    (
        "override",
        rf"(?<![\u0600-\u06ff])[وف]?(?:تجاهل|تجاهلي|تجاهلوا|انس|انسى|انسوا|لا تتبع|أهمل|تخط) [^.!?\n]{{0,20}}?(?:{_AR_RULES}(?: [^\s]{{1,15}}){{0,2}}? (?:السابقة|أعلاه|السابق|المذكورة)"
        rf"|(?:جميع|كل|كافة) {_AR_RULES}|تعليماتك|قواعدك)",
    ),
    (
        "override",
        r"(?<![\u0600-\u06ff])[وف]?(?:اعرض|أظهر|اكشف|اطبع|اكتب|أخرج)[^.!?\n]{0,16}?(?:موجه النظام|تعليمات النظام|مطالبة النظام|برومبت النظام)",
    ),
    (
        "override",
        r"(?:من الآن فصاعدا|منذ الآن|من الآن)[^.!?\n]{0,12}?(?:أنت|أطع|تطيع|نفذ|اتبع) [^.!?\n]{0,20}?(?:فقط|بلا قيود|بدون قيود|أوامري|وحدي)",
    ),
    (
        "exfiltration",
        rf"(?<![\u0600-\u06ff])[وف]?(?:أرسل|أرسلي|أرسلوا|ابعث|انقل|ارفع|حول|انشر|مرر) [^.!?\n]{{0,20}}?{_AR_PRIVATE}[^!?\n]{{0,40}}?{_ADDRESS}",
    ),
    (
        "concealment",
        r"(?<![\u0600-\u06ff])[وف]?لا (?:تخبر|تخبري|تقل|تذكر|تعلم|تكشف|تبلغ|تقول)[^.!?\n]{0,16}?(?:المستخدم|للمستخدم|أحدا|لأحد) ?(?:$|[.,،\n]|ب|عن|أن|شيئا|ذلك|هذ|و)",
    ),
    (
        "concealment",
        r"(?:يجب ألا|لا يجب أن|لا ينبغي أن|دون أن|بدون أن) (?:يعلم|يعرف|يدري) المستخدم|(?:دون|بدون) (?:علم|إخبار|إعلام) المستخدم",
    ),
    ("persistence", r"لا تحذف هذه الملاحظة"),
)
_HINDI: Final = (
    (
        "override",
        r"(?:पिछले|पिछली|पहले|ऊपर|सभी|अपने|सारे|पूर्व|पुराने)[^।.!?\n]{0,25}?(?:निर्देश|नियम|आदेश|हिदायत)[^।.!?\n]{0,14}?(?:अनदेखा कर|नज़रअंदाज़ कर|नजरअंदाज कर|भूल जा|अनदेखी कर|मत मान)",
    ),
    (
        "override",
        r"(?:सिस्टम प्रॉम्प्ट|सिस्टम प्रोम्प्ट|सिस्टम निर्देश)[^।.!?\n]{0,8}?(?:दिखा|बताओ|बता दो|प्रकट कर|प्रिंट कर)",
    ),
    ("override", r"(?:अब से|आज से|अभी से)[^।.!?\n]{0,14}?(?:केवल|सिर्फ|सिर्फ़)[^।.!?\n]{0,20}?(?:मानो|मानोगे|पालन)"),
    (
        "exfiltration",
        rf"{_HI_PRIVATE}[^।!?\n]{{0,25}}?{_ADDRESS}[^।!?\s]{{0,60}}\s?[^।!?\n]{{0,10}}?(?<!मत )(?:भेज|अपलोड|पोस्ट)",
    ),
    (
        "concealment",
        r"(?:उपयोगकर्ता|यूज़र|यूजर|किसी)[^।.!?\n]{0,4}?को[^।.!?\n]{0,30}?(?:मत बता|न बता|ना बता|नहीं बता|मत कह|पता न)",
    ),
)

_Rules = tuple[tuple[str, str], ...]
_SCRIPTS: Final[tuple[tuple[re.Pattern[str], _Rules], ...]] = (
    (re.compile("[\u4e00-\u9fff]{2}"), _CHINESE),
    (re.compile("[\u3041-\u30ff]"), _JAPANESE),
    (re.compile("[\u1100-\u11ff]"), _KOREAN),
    (re.compile("[\u0620-\u064a]{2}"), _ARABIC),
    (re.compile("[\u0904-\u0939]"), _HINDI),
)
_COMPILED: Final[dict[str, re.Pattern[str]]] = {}
# A sentence about such texts, in any of the languages.
_ABOUT: Final = re.compile(
    folded(
        "注入|攻击|攻擊|检测|檢測|识别|示例|例如|比如|测试|拦截|インジェクション|攻撃|検出|検知|例えば|テスト|공격|탐지|주입|예를|차단|هجوم|الهجوم|حقن|كشف|مثل|हमला|हमले|पहचान|उदाहरण"
    ).text
)
# Where a secret goes because it belongs there.
_PROPER: Final = re.compile(
    folded("重置|重設|换取|登录后|验证码|リセット|再設定|재설정|oauth|/login|/auth|/token").text
)
_FORBIDDEN: Final = re.compile(
    folded("(?:不要|不得|不能|不可|切勿|请勿|禁止|严禁|别|絕不|绝不)[^。!?\n,]{0,10}$").text
)


def scripts(text: str) -> Iterator[Find]:
    """Where ``text``, folded, gives one of the standard orders in a script that has no words of its own."""
    if text.isascii():
        return
    for letters, rules in _SCRIPTS:
        if letters.search(text):
            for kind, form in rules:
                yield from _found(text, kind, form)


def _found(text: str, kind: str, form: str) -> Iterator[Find]:
    if form not in _COMPILED:
        _COMPILED[form] = re.compile(folded(form).text)
    for match in _COMPILED[form].finditer(text):
        start, end = match.span()
        forbidden = kind in ("override", "exfiltration") and _FORBIDDEN.search(
            text[max(0, start - 14) : start]
        )
        if kind == "exfiltration" and _PROPER.search(text, max(0, start - 12), end + 50):
            continue
        if not forbidden and not _ABOUT.search(text, max(0, start - 40), end + 30):
            yield kind, _REASONS[kind], start, end
