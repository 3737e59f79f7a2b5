"""Words of many languages by which a note poses as the host of the model, and gives itself its power.

Spelt as people spell them; folding is applied when they are read. ``*`` stands for any ending, ``_`` joins
words that follow each other. A word means the same in every language it is listed for, so all are one list.
"""

# An expression is easier to check when it is not cut in pieces.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mnemos.text.threats.folding import folded

FIELDS: Final[dict[str, str]] = {
    # Who speaks: the machine itself, whoever runs it, whoever made it.
    "host": """
        system systems sys host root anthropic openai sistema sistem systeme systeem systemu systemowy systemowa
        systemowe systémová systémové системы система системное системная системний системне sistemului järjestelmä
        järjestelmän rendszer orchestrator orchestrateur σύστημα συστήματος hệ_thống системни
        operator operators operator's operatör operateur opérateur operador operatore operatora oператор оператор
        оператора betreiber betreibers exploitant beheerder operatøren operatören üzemeltető işletmeci operaattori
        developer developers developer's entwickler entwicklers développeur desarrollador sviluppatore desenvolvedor
        programador ontwikkelaar utvecklare utvecklaren udvikler utvikler kehittäjä programista programisty deweloper
        vývojář vývojáře разработчик разработчика розробник dezvoltator fejlesztő geliştirici pengembang
        admin admins administrator administrators administrateur administrador amministratore administratora
        beheerders administratör администратор администратора адміністратор správce yönetici ylläpitäjä
        rendszergazda supervisor superuser maintainer maintainers platform
    """,
    # Roles that people have too: their notes are headed so, their orders to a model are headed otherwise.
    "office": """
        operator operators operator's operatör operateur opérateur operador operatore operatora оператор оператора
        developer developers developer's entwickler entwicklers développeur desarrollador sviluppatore desenvolvedor
        programador ontwikkelaar utvecklare udvikler kehittäjä programista разработчик geliştirici pengembang
        admin admins administrator administrators administrateur administrador amministratore администратор yönetici
        supervisor maintainer maintainers beheerder platform betreiber host
    """,
    "message": """
        message messages prompt notice policy override instruction instructions directive directives order orders
        command announcement memo alert reminder authorization authorisation rule rules msg update bulletin
        broadcast nachricht meldung hinweis anweisung anweisungen mitteilung richtlinie weisung befehl freigabe
        consigne consignes avis directive annonce mensaje aviso instrucción instrucciones orden directiva comunicado
        messaggio avviso istruzione istruzioni ordine direttiva comunicazione mensagem instrução instruções ordem
        diretiva comunicado bericht melding opdracht instructie meddelande besked melding anvisning viesti ilmoitus
        ohje komunikat wiadomość polecenie instrukcja zpráva pokyn сообщение инструкция указание уведомление
        распоряжение повідомлення вказівка mesaj mesajı talimat talimatı bildirim bildirimi instrucțiune üzenet
        utasítás pesan instruksi perintah pemberitahuan thông_báo lệnh chỉ_thị μήνυμα οδηγία note notes nota
    """,
    "title": """
        begin end start new of the from to for by and v1 v2 v3 internal official final latest highest priority
        urgent important critical confidential session mode role model ai agent agents assistant assistants all
        level access continued continues update updated this in de del della do da des du der die das von vom an
        für an_die an_den an_das an_alle el la le les il lo los para pour à al au aux van voor från till fra til do
        od для от dla ende fin fine fim einde slut konec koniec конец beginn inicio début inizio additional trusted
        verified privileged signed emergency global hidden private secret root only is message mesajı note notes
        read first top 1 2 3 0 team staff desk channel level platform addendum continuation extension appendix
        supplement revision version part section safety security modus modo aktiv active activo attivo actif aktywny
        enabled on granted unlocked accepted confirmed engaged activated aktiviert
    """,
    # What holds a model back.
    "guard": """
        guardrail* guard_rail* restriction* constraint* limitation* limits limit safeguard* safety filter filters
        moderation oversight supervision confirmation* confirm confirmations approval* approvals autoapprove
        auto_approve verification* permission* consent review reviews vetting rule rules policy policies allowlist
        whitelist blocklist denylist check checks logging audit sandbox sign-off signoff censorship two-person
        protection* protections security authorization authorisation prompts
        einschränkung* beschränkung* schranke* sicherheitsregel* sicherheitsprüf* schutzmaßnahm* freigabe* freigabepflicht
        bestätigung* rückfrage* genehmigung* zustimmung prüfung* kontrolle* kontrollen grenzen regeln regel filter*
        inhaltsfilter* inhaltsregel* sicherheitsfilter* sicherheitskontrolle* sicherheitsabfrage* freigabeprüf* schutzfilter*
        innehållsfilter* säkerhetskontroll* säkerhetsfilter* sikkerhedsfilter* sikkerhetsfilter* inhoudsfilter*
        veiligheidsfilter* veiligheidscontrole* garde-fous garde-fou garde restrictions limites confirmation* approbation* autorisation* validation*
        vérification* filtre filtres règles contrôles consentement restricción restricciones límites confirmación
        confirmaciones aprobación aprobaciones autorización verificación filtro filtros reglas controles permiso
        restrizioni limiti conferma conferme approvazione approvazioni autorizzazione autorizzazioni verifica filtri
        regole controlli restrições confirmação confirmações aprovação autorização verificação regras limites
        beperking* bevestiging* goedkeuring* toestemming* controle begränsning* bekräftelse* godkännande* spärrar
        regler begrænsning* bekræftelse* godkendelse* begrensning* bekreftelse* godkjenning* rajoitu* vahvistu*
        hyväksyn* ograniczen* ogranicze* zabezpieczen* potwierdzen* zgoda zgody zatwierdzen* zasady filtry omezen*
        potvrzen* schválen* souhlas pravidla ограничен* подтвержден* одобрен* фильтр* правила проверк* защит* запрет*
        обмежен* підтверджен* схвален* правила restricți* confirmăr* confirmare* aprobare* aprobăr* korlátoz*
        megerősít* jóváhagy* szabály* kısıtlama* sınırlama* onay onayı onaylar onaylama doğrulama kural kurallar
        güvenlik filtre* batasan pembatasan konfirmasi persetujuan verifikasi hạn_chế giới_hạn xác_nhận phê_duyệt
        περιορισμ* επιβεβαίωσ* έγκρισ*
    """,
    # What holds other things than a model back too.
    "loose": """
        restriction* limit limits limitation* rule rules policy policies permission* protection* security logging check
        checks audit sandbox filter filters prompts einschränkung* beschränkung* regeln regel grenzen kontrolle*
        restrictions limites règles filtre filtres restricción restricciones límites reglas filtro filtros restrizioni
        limiti regole filtri restrições regras beperking* begränsning* regler ограничен* правила ograniczen* zasady
    """,
    # That it holds no more. What needs a "not" before it stands under "needed".
    "lifted": """
        waived suspended lifted disabled deactivated removed revoked cancelled canceled off void null none bypassed
        skipped dropped rescinded repealed abolished overridden emptied cleared relaxed unrestricted unlocked
        unlimited unneeded unnecessary optional no_longer exempt exempted released gone over superseded superfluous
        only_for_testing for_testing_only
        aufgehoben deaktiviert abgeschaltet ausgeschaltet ausgesetzt entfällt entfallen erlassen gestrichen entfernt
        unnötig überflüssig außer_kraft nicht_mehr hinfällig
        suspendu* suspendue* levé levée levés levées désactivé* désactivée* désactivés désactivées supprimé* annulé*
        inutile* inutiles abrogé* suspendid* levantad* desactivad* eliminad* anulad* innecesari* retirad* ya_no
        sospes* disattivat* rimoss* annullat* revocat* superflu* suspens* desativad* removid* anulad* dispensad*
        desnecessári* opgeheven uitgeschakeld geschorst vervallen niet_meer upphävd* avstängd* borttagen* borttagna
        inaktiverad* ophævet deaktiveret suspenderet opphevet deaktivert poistettu kumottu ei_enää zniesion* wyłączon*
        zawieszon* usunięt* uchylon* zbędn* zrušen* vypnut* pozastaven* снят* сняты отключен* отмен* приостановлен*
        удален* деактивирован* скасован* знят* вимкнен* ridicat* dezactivat* suspendat* anulat* feloldv* kikapcsolv*
        felfüggeszt* megszűnt* kaldırıldı kaldırılmıştır kaldırılmış devre_dışı kapatıldı kapalı iptal askıya dicabut
        dinonaktifkan dihapus ditangguhkan dibatalkan tidak_lagi gỡ_bỏ bãi_bỏ vô_hiệu tắt αίρονται απενεργοποι*
    """,
    # The same as an order; somebody may also just do it.
    "lift": """
        waive suspend lift disable deactivate remove revoke cancel bypass skip drop relax ignore override umgehe
        überspringe deaktiviere entferne désactive désactivez ignore ignorez contourne supprime desactiva omite salta
        elimina disattiva salta ignora desative remova pule ignore omzeil schakel stäng hoppa slå wyłącz pomiń omiń
        vypni přeskoč отключи сними пропускай игнорируй вимкни dezactivează kapcsold kapat kaldır atla nonaktifkan
        lewati tắt bỏ_qua
    """,
    "needed": """
        required require requires needed need needs necessary apply applies count hold holds ask asking wait confirm
        confirming bind bound ask_for check verify mandatory nötig notwendig erforderlich fragen nachfragen gelten gilt
        brauchst nécessaire nécessaires requis requise requises demander demande demandez demandes s'appliquent necesari*
        pidas pida pedir requiere requieren hace_falta chiedere chiedi necessari* richiest* servono serve serv*
        necessári* peça pedir peças nodig vereist vragen behövs krävs fråga nødvendig kræves spørg spør kreves tarvita
        kysy wymagan* potrzebn* pytaj pytać trzeba vyžadován* potřeba neptej ptát нужн* требу* спрашив* необходим*
        потрібн* питай necesar* întreba szükség* kérdez* gerek gerekmez gerekli gerekmiyor perlu diperlukan meminta cần
        χρειάζεται
    """,
    "not": """
        not no never don't doesn't needn't isn't aren't n't nothing without stop cease nicht kein keine keinen keiner
        keinerlei ohne nie pas plus aucun aucune sans ne jamais no sin nunca ningún ninguna non senza nessuna nessun
        mai não sem nenhuma niet geen zonder nooit inte ingen inga utan aldrig ikke uden uten ingen aldri ei älä ilman
        nie bez żadn* není ne nejsou žádn* не без нет ни никаких nu fără nem nélkül ne değil -meden olmadan istemeden
        almadan sormadan beklemeden gerekmeden tanpa jangan tidak không χωρίς δεν without_any
    """,
    "lacking": "nélkül olmadan istemeden almadan sormadan beklemeden gerekmeden olmaksızın",
    "youmay": """
        you_may you_can puoi puedes podés podes tu_peux vous_pouvez kannst darfst możesz můžeš smíš можешь можете poți
        megteheted kun_je mag_je du_får du_må voit puoi_anche lehet
    """,
    "person": "user caller requester sender reader account client nutzer benutzer anrufer utilisateur usuario utente",
    "rank": """
        admin administrator root owner staff superuser ceo developer operator employee tester trusted verified
        administrateur administrador amministratore eigentümer inhaber propriétaire dueño proprietario mitarbeiter
    """,
    "is": "is was are been has a an the ist war wurde est était es fue è become became",
    "without": "without ohne sans sin senza sem zonder utan uden uten ilman bez без fără tanpa χωρίς",
    "asking": """
        consent спрашивать переспрашивать ask asking asked confirm confirmation confirming approval permission verification review checking consulting
        authorisation authorization prompt prompting question questions waiting hesitation sign-off look fragen nachfragen
        rückfrage rückfragen nachfrage bestätigung freigabe genehmigung zustimmung demander confirmation autorisation
        validation approbation preguntar confirmación confirmar pedir autorización aprobación permiso chiedere
        conferma confermare autorizzazione approvazione verifica perguntar confirmação autorização aprovação
        permissão vragen bevestiging toestemming goedkeuring fråga bekräftelse godkännande spørge spørre bekræftelse
        bekreftelse godkendelse godkjenning kysymättä vahvistusta pytania pytanie potwierdzenia zgody zatwierdzenia
        ptaní potvrzení schválení souhlasu подтверждения подтверждений спроса вопросов одобрения разрешения согласия
        підтвердження дозволу confirmare aprobare întrebare megerősítés jóváhagyás kérdés onay onayı istemeden sormadan
        konfirmasi persetujuan izin bertanya xác_nhận hỏi phê_duyệt επιβεβαίωση έγκριση
    """,
    "alone": """
        ungefragt unaufgefordert kysymättä vahvistamatta kérdés_nélkül onaysız sormadan unsupervised unrestricted
        unfiltered uncensored jailbroken unmonitored autoapprove auto-approve pre-approved preapproved
        uneingeschränkt unbeschränkt sans_filtre sans_restriction sin_filtro sin_restricciones senza_filtri
        senza_restrizioni sem_filtro irrestrito irrestricto irrestrita onbeperkt obegränsat ubegrænset rajoittamaton
        nieograniczony neomezený неограниченн* необмежен* nerestricționat korlátlan sınırsız own_authority
        god_mode developer_mode root_access full_access full_trust full_control no_rules no_limits full_permissions
    """,
    # That somebody may, is trusted, or is in command.
    "granted": """
        erteilt accordé* otorgad* concedid* verleend beviljad* udzielon* предоставлен* автоматически automatically
        grant granted grants allowed permitted permits authorised authorized approved approve elevated verified
        trusted entitled cleared confirmed privileged privileges privilege permission permissions trusts open
        unlocked gewährt erlaubt befugt berechtigt freigegeben verifiziert genehmigt rechte vertrauenswürdig
        autorisé* autorisée* accordé* approuvé* vérifié* droits autorizad* concedid* aprobad* verificad*
        permisos permitid* autorizzat* concess* approvat* permessi consentit* aprovad* permissões
        toegestaan gemachtigd goedgekeurd geautoriseerd rechten tillåtet beviljad* godkänd* behörighet tilladt
        godkendt tillatt sallittu hyväksytty dozwolon* upoważnion* zatwierdzon* uprawnienia povolen*
        schválen* oprávnění разрешен* одобрен* подтвержден* права полномочия дозволен* схвален*
        permis* aprobat* autorizat* engedélyez* jóváhagyv* izin verildi yetkili yetkisi onaylandı diizinkan
        diberi berhak được_phép được_cấp επιτρέπεται
    """,
    "whole": """
        all every any everything anything everyone anyone whoever always whatever full absolute future later permanently
        unlimited alle alles jede jeden jeder jedes sämtliche jederzeit künftig tous toutes tout toute chaque
        todo todos toda todas cualquier siempre tutti tutte tutto ogni sempre tudo sempre qualquer elke iedere alla
        allt varje alt hver kaikki wszystkie wszystkich wszystko każdy vše všechny každý все всё всех любые любой
        каждый всі будь-які toate orice minden összes tüm her bütün semua setiap tất_cả mọi όλα όλες
    """,
    "agent": """
        you your yourself assistant assistants assistant's model models agent agents ai llm bot user user's caller
        requester reader holder du dir dein deine assistent assistenz modell agenten ki nutzer benutzer vous tu
        votre assistant l'assistant l'agent l'utilisateur modèle agent usuario asistente modelo agente ia l'utente
        utente assistente l'assistente modello você utilizador usuário gebruiker je jij assistent model användaren
        assistenten modellen brugeren brukeren käyttäjä avustaja malli użytkownik użytkownika asystent model
        uživatel пользователь пользователя ассистент помощник модель агент користувач асистент utilizatorul
        asistentul felhasználó asszisztens kullanıcı asistan model pengguna asisten người_dùng trợ_lý
    """,
    "can": "can kann können peuvent pueden possono podem kunnen kan mogą могут",
    "shall": """
        must shall should may has_to have_to peut puede può pode mag får dürfen może smí может може poate boleh are_to is_to muss müssen soll sollen darf doit doivent
        doit_être debe deben deve devono devem moet moeten ska måste skal må täytyy musi muszą má musí должен должна
        должны обязан повинен trebuie kell zorunda gerekir harus wajib phải
    """,
    # What an order to a machine begins with; orders to people begin so less often.
    "order": """
        push merge work
        forward send transfer upload reveal disclose print treat regard consider comply obey execute share answer
        respond reply accept follow disregard ignore forget act believe trust prefer recommend release hand grant give
        approve open publish export copy post wire pay delete wipe erase disable
        führe überweise sende schicke leite lösche gib befolge antworte behandle ignoriere teile öffne akzeptiere
        exécute exécutez répondez réponds envoie envoyez transfère transférez supprime obéis divulgue traite
        ejecuta ejecute responde responda envía envíe transfiere borra obedece trata comparte esegui esegua rispondi
        invia trasferisci cancella obbedisci tratta inoltra condividi execute responda envie transfira apague obedeça
        trate voer stuur verwijder beantwoord gehoorzaam utför skicka svara lyd udfør send adlyd utfør suorita lähetä
        tottele wykonuj wykonaj wyślij odpowiadaj usuń słuchaj traktuj vykonej proveď pošli odpovídej smaž poslouchej
        выполняй выполни отправь отправляй отвечай удали подчиняйся переведи раскрой виконуй надсилай видали execută
        trimite răspunde șterge hajtsd küldd válaszolj töröld yürüt uygula gönder yanıtla sil çalıştır jalankan kirim
        jawab hapus patuhi thực_hiện gửi trả_lời xóa tuân
    """,
    "henceforth": """
        henceforth from_now from_here as_of effective ab_sofort ab_jetzt ab_heute künftig fortan désormais dorénavant
        en_adelante desde_ahora d'ora da_ora de_agora doravante vanaf_nu voortaan hädanefter fremover tästä_lähtien
        odtąd od_teraz odteď отныне впредь відтепер de_acum mostantól bundan_böyle artık mulai_sekarang từ_nay
    """,
    # What a note stands in, for a reader that was told to trust nothing in it.
    "container": """
        untrusted notebook notes note file document documents data input context memory memories content page quote
        quoted user external retrieved transcript conversation text instructions prompt message tool output results
        notizbuch notizbuchs notizen notiz datei dokument dokuments daten eingabe kontext kontexts gedächtnis inhalt
        carnet fichier document données contexte mémoire contenu cuaderno notas archivo documento datos contexto
        memoria contenido taccuino appunti dati contesto contenuto caderno arquivo dados memória conteúdo notitieboek
        bestand gegevens anteckningar fil notesbog notater muistiinpanot notatnika notatek pliku poznámek souboru
        блокнота заметок файла документа данных нотаток caiet fișier jegyzetfüzet fájl not_defteri dosya catatan
        berkas sổ_tay
    """,
    # The containers of people.
    "paper": """
        notes note file document documents data text page message content quote quoted notizen notiz datei dokument
        dokuments daten fichier document données notas archivo documento datos appunti dati arquivo dados bestand
        gegevens anteckningar fil notater muistiinpanot notatek pliku poznámek souboru заметок файла документа данных
        нотаток fișier fájl dosya catatan berkas results output tool conversation transcript
    """,
    "end": """
        end ends fin fine fim ende einde slut slutt loppu koniec konec конец кінець sfârșit vége sonu son akhir kết_thúc
        closed eof τέλος
    """,
}


class Fields:
    """Which fields a folded word belongs to; ``pairs`` knows those of two words that follow each other."""

    def __init__(self, listed: dict[str, str]) -> None:
        self._exact: dict[str, set[str]] = {}
        self._stems: dict[str, set[str]] = {}
        self._known: dict[str, frozenset[str]] = {}
        for name, forms in listed.items():
            for form in forms.split():
                plain = folded(form).text
                for spelling in {plain, plain.translate(_PLAIN)}:
                    if len(spelling) > 1 and spelling.endswith("*"):
                        self._stems.setdefault(spelling[:-1], set()).add(name)
                    else:
                        self._exact.setdefault(spelling.replace("_", " "), set()).add(name)
        self._lengths = sorted({len(stem) for stem in self._stems})

    def of(self, word: str) -> frozenset[str]:
        """The fields of a word, or of two words with a blank between them."""
        known = self._known.get(word)
        if known is None:
            # "l'opérateur", "dell'utente"
            article, _, noun = word.rpartition("'")
            found = set(self._exact.get(word, ())) | (self._exact.get(noun, _NONE) if article else _NONE)
            for length in self._lengths:
                if length > len(word):
                    break
                found |= self._stems.get(word[:length], _NONE)
            known = frozenset(found)
            # A hostile text has words without end.
            if len(self._known) < _MOST_KNOWN:
                self._known[word] = known
        return known

    def read(self, words: Iterable[str]) -> Iterator[frozenset[str]]:
        """For each word its fields, those of the pairs it belongs to included."""
        before: str | None = None
        begun: set[str] | frozenset[str] = _NONE
        for word in words:
            if before is not None:
                pair = self._exact.get(f"{before} {word}", _NONE)
                yield self.of(before) | pair | begun
                begun = pair
            before = word
        if before is not None:
            yield self.of(before) | begun


_MOST_KNOWN: Final = 20_000
_NONE: Final[frozenset[str]] = frozenset()
# Letters that folding leaves alone, as they are written on a keyboard that lacks them.
_PLAIN: Final = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "æ": "ae"})
WORDS: Final = Fields(FIELDS)
WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


def _expression(form: str) -> re.Pattern[str]:
    return re.compile(folded(form).text)


# Chinese, Japanese, Korean, Arabic, Hindi and Thai, where words are not set apart or carry their endings.
HEADED: Final = _expression(
    "(?:(?:新的?|最新|紧急|重要|来自|來自)?(?:系统|系統|管理员|管理員|开发者|開發者|运营商|操作员|平台|最高)(?:消息|訊息|通知|指令|提示词?|公告|命令|授权"
    "|授權|更新|覆盖|规则|指示|权限|模式){0,2}(?:结束|結束|开始|開始)?"
    "|(?:システム|管理者|開発者|運営者?|オペレーター)(?:からの?)?(?:(?:メッセージ|通知|指示|命令|プロンプト|更新|より|モード)){0,2}"
    "|(?:시스템|관리자|개발자|운영자) ?(?:메시지|알림|공지|지시|명령|프롬프트|권한)?"
    "|(?:رسالة|إشعار|تعليمات|أمر|تنبيه) (?:من )?(?:النظام|المسؤول|المطور|المشغل|الإدارة)|النظام|نظام"
    "|(?:सिस्टम|प्रशासक|डेवलपर|ऑपरेटर) ?(?:संदेश|सूचना|निर्देश|आदेश)?|(?:ข้อความ|คำสั่ง)?(?:จาก)?ระบบ)"
)
BARE: Final = _expression(
    "系统|系統|管理员|管理員|开发者|開發者|システム|管理者|開発者|시스템|관리자|개발자|النظام|نظام|सिस्टम|ระบบ"
)
"""Such a title alone, which before a colon only says what a line is about."""
EMPOWERED: Final = _expression(
    "(?:无需|無需|无须|不需要?|不必|不用|不再需要|免除?|跳过|绕过|取消|关闭|關閉|停用|禁用|解除)[^。!?\n]{0,10}?(?:确认|確認|批准|审核|審核|审批|许可|同意"
    "|验证|限制|询问|过滤|防护|安全|检查)"
    "|(?:限制|审核|審核|确认|防护|过滤|安全(?:检查|限制|审核)?)[^。!?\n]{0,6}?(?:解除|取消|关闭|關閉|停用|失效)"
    "|(?:拥有|获得|授予|具有)[^。!?\n]{0,8}?(?:权限|授权)|(?:升级为|升級為|成为|已是)[^。!?\n]{0,6}?管理员|可以?(?:直接)?(?:查看|访问|透露|提供)[^。!?\n]{0,8}?(?:密钥|密码|凭证)|最高权限|直接执行|立即执行|服从|无条件"
    "|(?:確認|承認|許可|検証|審査)[^。!?\n]{0,6}?(?:不要|なし|せず|待たず|省略|必要ありません|必要はありません|いりません)"
    "|(?:制限|フィルター?|安全装置|ガード)[^。!?\n]{0,6}?(?:解除|無効|停止|撤廃)|(?:すぐに|直ちに|ただちに)[^。!?\n]{0,8}?実行|権限[^。!?\n]{0,6}?(?:付与|持)"
    "|(?:확인|승인|허가|동의|검토)[^.!?\n]{0,6}?(?:없이|불필요|필요 ?없|생략)|(?:제한|필터|안전|보호)[^.!?\n]{0,24}?(?:해제|비활성|꺼)|즉시 ?실행|권한[^.!?\n]{0,10}?부여"
    "|(?:دون|بدون|بلا) (?:تأكيد|موافقة|إذن|قيود|سؤال|مراجعة)|(?:رفع|إلغاء|تعطيل|رفعت|ألغيت)[^.!?\n]{0,16}?(?:القيود|التأكيد|الحماية|المرشحات|الموافقة)"
    "|(?:बिना)[^।.!?\n]{0,16}?(?:पुष्टि|अनुमति|पूछे)|(?:पुष्टि|अनुमति|पूछे) (?:के )?बिना|प्रतिबंध[^।.!?\n]{0,16}?(?:हट|समाप्त|बंद)"
    "|โดยไม่ต้อง(?:ถาม|ยืนยัน|ขออนุญาต)|ยกเลิกข้อจำกัด"
)
