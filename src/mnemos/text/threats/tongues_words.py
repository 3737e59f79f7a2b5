"""Words of fifteen languages for the orders that ``tongues`` looks for.

Spelt as people spell them; folding is applied when they are read. The fields: *ignore* the *before* (or
*any*) *rules*; *show* the *prompt*; *from* now on *obey*; *send* a *secret*; *mute* says not to tell *user*,
*unaware* that nobody learns of it; *never* *delete* this *note*; *this* is what a secret is kept about.
"""

from __future__ import annotations

from typing import Final

TONGUES: Final[dict[str, str]] = {
    "it": """
ignore: ignora|ignorate|ignori|ignorare|dimentica|dimenticate|dimentichi|dimenticare|scorda|scordati
    |trascura|trascuri|tralascia|disattendi|disobbedisci|scarta|annulla|non seguire|non seguire più
    |non rispettare|non considerare|non tenere conto di|non tener conto di|aggira|bypassa|lascia perdere
    |lasci perdere
before: che ti hanno dato|che hai ricevuto|che ti sono state date|precedenti|precedente|ricevute|ricevuti
    |sopra|di sopra|di cui sopra|soprastanti|anteriori|finora|tue|tuoi|tutte|tutti|date finora|fin qui
    |previe|originali|iniziali|del sistema|di sistema
any: tutte|tutti|le|gli|i|la|il|delle|degli|dei|alle|agli|ogni|tue|tuoi|qualsiasi|e|fino a|ora|quelle|altre
    |più
rules: istruzioni|istruzione|regole|regola|ordini|direttive|indicazioni|linee guida|comandi|disposizioni
    |limiti|restrizioni
show: mostra|mostrami|mostri|rivela|rivelami|stampa|scrivi|visualizza|ripeti|dimmi|riporta|restituisci
prompt: prompt di sistema|prompt del sistema|system prompt|prompt iniziale|istruzioni di sistema
    |messaggio di sistema
from: d'ora in poi|da ora in poi|d'ora in avanti|da adesso in poi|da questo momento|da adesso
    |a partire da ora
obey: sei un|sei una|sei il|sei libero|obbedisci|obbedirai|rispondi solo|rispondi soltanto|segui solo
    |seguirai solo|ascolta solo|esegui solo|ubbidisci|prendi ordini|devi obbedire|esegui ogni|esegui tutto
send: invia|inviate|invii|inviare|manda|mandare|mandami|spedisci|trasmetti|trasmettere|inoltra|inoltri
    |inoltrare|carica|pubblica|copia
secret: password|chiavi|chiave|token|credenziali|segreti|cronologia|conversazione|conversazioni|chat
    |memoria|contenuto del taccuino|contenuto della memoria|dati dell'utente|parole d'ordine|cookie
mute: non dire|non dirlo|non dica|non riferire|non informare|non avvisare|non rivelare|non menzionare
    |non menzionarlo|non dire mai|non parlarne|non far sapere|senza dirlo|senza dire nulla
    |senza dire niente|senza informare|senza avvisare|senza avvertire|non mostrare
user: all'utente|l'utente|agli utenti|al proprietario|a nessuno|al cliente
unaware: l'utente non deve sapere|l'utente non deve saperlo|l'utente non deve accorgersi
    |l'utente non deve venire a sapere|nessuno deve saperlo|nessuno deve sapere|all'insaputa dell'utente
    |senza che l'utente lo sappia|senza che l'utente se ne accorga
never: non|mai|non devi
delete: cancellare mai|cancellare|eliminare mai|eliminare|rimuovere mai|cancellarla mai|eliminarla mai
note: questa nota|questo messaggio|questa voce|questo appunto|questa memoria
this: che hai|che stai|di questo|di questa|questo|questa|nulla|niente|che questa|che questo|di averlo
    |di nulla
""",
    "nl": """
ignore: negeer|negeert|negeren|vergeet|vergeten|sla over|overtreed|omzeil|omzeilen|laat achterwege
    |volg niet|volg niet langer|luister niet naar|houd je niet aan|trek je niets aan van|veronachtzaam
    |schrap|verwerp
before: die je eerder kreeg|die je hebt gekregen|eerdere|vorige|voorgaande|bovenstaande|voorafgaande|alle
    |jouw|je|eerder gegeven|oude|oorspronkelijke|al je|gegeven|hierboven|tot nu toe|hiervoor
any: alle|de|je|jouw|uw|al|deze|die|van|het|tot|nu|toe|en|andere|eerder|ontvangen
rules: instructies|instructie|regels|opdrachten|richtlijnen|aanwijzingen|voorschriften|bevelen|beperkingen
    |orders
show: toon|laat zien|onthul|print|geef|herhaal|schrijf|openbaar|druk af
prompt: systeemprompt|systeem prompt|system prompt|systeeminstructies|systeembericht|systeeminstructie
from: vanaf nu|van nu af aan|vanaf dit moment|voortaan|vanaf heden
obey: gehoorzaam|gehoorzaam je|gehoorzaamt|ben je een|ben jij een|luister je alleen|luister alleen
    |volg je alleen|volg alleen|doe je alleen|voer je alleen|voer je alles uit|ben je vrij|bent u een
    |voer je elk
send: mail het|mail de|mail alle|stuur|stuurt|verstuur|verzend|zend|sturen|versturen|plaats|lek|deel
secret: gespreksverslag|wachtwoorden|wachtwoord|sleutels|api-sleutels|api-sleutel|tokens|token
    |inloggegevens|geheimen|chatgeschiedenis|gesprek|gesprekken|gespreksgeschiedenis
    |inhoud van het notitieboek|inhoud van het geheugen|geheugen|notitieboek|gebruikersgegevens|cookies
mute: vertel|zeg|zeg niets|vertel niets|meld|zonder|informeer|laat|waarschuw|zeg het niet|vertel het niet
user: de gebruiker niet|de gebruiker niets|tegen de gebruiker|aan de gebruiker|niet aan de gebruiker
    |de gebruiker te informeren|het de gebruiker te vertellen|dat de gebruiker het weet
    |dat de gebruiker het merkt|de gebruiker te waarschuwen|niets tegen de gebruiker
    |de gebruiker hier niets|de gebruiker het niet|de gebruiker er niets
unaware: de gebruiker mag niet weten|de gebruiker mag dit niet weten|de gebruiker mag hier niets
    |de gebruiker mag het niet weten|niemand mag dit weten|niemand mag het weten
    |buiten medeweten van de gebruiker|de gebruiker hoeft dit niet te weten|de gebruiker mag er niets
never: nooit
delete: verwijderen|wissen|verwijder|wis
note: deze notitie|dit bericht|deze aantekening|dit item
this: dat je|dat jij|over deze|over dit|hiervan|hierover|ervan|dit|deze|iets|daarover|weten dat|dat deze
    |dat dit
""",
    "pt": """
ignore: ignore|ignora|ignorem|ignorar|esqueça|esquece|esqueçam|esquecer|desconsidere|desconsidera
    |desconsiderar|despreze|descarte|desobedeça|não siga|não siga mais|não sigas|não obedeça|não respeite
    |deixe de lado|contorne|anule|abandone
before: anteriores|anterior|acima|prévias|prévios|precedentes|suas|seus|tuas|teus|todas|todos|que recebeu
    |recebidas|recebidos|dadas|até agora|originais|iniciais|do sistema|de sistema
any: todas|todos|as|os|a|o|suas|seus|tuas|teus|quaisquer|qualquer|das|dos|de|e|que|foram|lhe|demais
rules: instruções|instrução|regras|ordens|diretrizes|orientações|comandos|diretivas|normas|restrições
    |limites
show: mostre|mostra|revele|revela|imprima|imprime|exiba|exibe|escreva|repita|diga|divulgue|apresente
prompt: prompt de sistema|prompt do sistema|system prompt|instruções do sistema|prompt inicial
    |mensagem do sistema
from: a partir de agora|de agora em diante|daqui em diante|doravante|a partir deste momento
    |daqui para a frente
obey: você é|és um|és uma|tu és|você será|obedeça|obedece|obedecerá|responda apenas|responda só|siga apenas
    |siga somente|só obedece|você só|execute tudo|responda somente|você obedece|aja como
send: envie|envia|enviar|mande|manda|mandar|transmita|encaminhe|encaminha|encaminhar|poste|publique
    |carregue|suba|copie|remeta
secret: senhas|senha|palavras-passe|palavra-passe|chaves|chave|tokens|token|credenciais|segredos|histórico
    |conversa|conversas|memória|conteúdo do caderno|conteúdo da memória|dados do usuário|cookies
mute: não diga|não digas|não conte|não contes|não informe|não avise|não revele|não mencione|nunca diga
    |nunca conte|nunca informe|sem dizer|sem avisar|sem informar|sem contar|não fale|não mostre|não deixe
    |nunca revele|nunca mencione
user: ao usuário|o usuário|ao utilizador|o utilizador|a ninguém|ao cliente|para o usuário|com o usuário
unaware: o usuário não deve saber|o usuário não pode saber|o utilizador não deve saber
    |o utilizador não pode saber|ninguém pode saber|ninguém deve saber|sem que o usuário saiba
    |sem que o utilizador saiba|sem o conhecimento do usuário|sem o usuário saber|sem que o usuário perceba
never: nunca|jamais|não
delete: apague|apagues|exclua|elimine|remova|delete|apagar|excluir
note: esta nota|esta mensagem|este registro|esta anotação|esta memória
this: que esta|que este|que você|sobre esta|sobre este|sobre isso|nada|isso|isto|disso|disto|que leu|desta
    |deste|que as|que os
""",
    "pl": """
ignore: nie przejmuj się|zignoruj|ignoruj|zignorujcie|ignorujcie|zignorować|ignorować|zapomnij|zapomnij o
    |zapomnieć o|zapomnijcie o|pomiń|pomijaj|odrzuć|porzuć|nie stosuj się do|nie przestrzegaj|nie słuchaj
    |lekceważ|zlekceważ|nie zwracaj uwagi na|obejdź|unieważnij
before: wcześniejszymi|poprzednimi|powyższymi|wcześniejsze|wcześniejszych|poprzednie|poprzednich
    |dotychczasowe|dotychczasowych|powyższe|powyższych|swoje|swoich|twoje|wszystkie|wszystkich|wszelkie
    |uprzednie|pierwotne|otrzymane|systemowe|systemowych
any: wszystkimi|wszystkie|wszystkich|wszelkie|swoje|swoich|twoje|te|tych|inne|i|o|otrzymane|dotąd|proszę
rules: instrukcjami|zasadami|poleceniami|regułami|polecenia|poleceń|poleceniach|instrukcje|instrukcji
    |instrukcjach|zasady|zasad|zasadach|reguły|reguł|regułach|rozkazy|rozkazów|rozkazach|wytyczne
    |wytycznych|ograniczenia|ograniczeń|komendy|nakazy
show: wypisz|pokaż|ujawnij|wyświetl|podaj|wydrukuj|zdradź|powtórz|wyjaw
prompt: prompt systemowy|systemowy prompt|prompta systemowego|instrukcje systemowe|instrukcję systemową
    |treść promptu systemowego|prompt systemu
from: od teraz|od tej chwili|od tego momentu|od dziś|odtąd|od tej pory
obey: jesteś|słuchasz|słuchaj|wykonujesz tylko|wykonuj tylko|wykonuj wyłącznie|wykonujesz wyłącznie
    |odpowiadasz tylko|podlegasz|bądź|przyjmujesz polecenia|stosujesz się tylko
send: wyślij|wysyłaj|wyślijcie|prześlij|przesyłaj|przekaż|wysłać|przesłać|opublikuj|wrzuć|skopiuj|przekazuj
secret: hasła|haseł|hasło|klucze|kluczy|klucz|tokeny|tokenów|dane logowania|poświadczenia|sekrety
    |historię rozmowy|historię czatu|rozmowę|rozmowy|zawartość notatnika|zawartość pamięci|pamięć
    |dane użytkownika|ciasteczka|treść rozmowy
mute: nie mów|nie mówcie|nie informuj|nie powiadamiaj|nie ujawniaj|nie wspominaj|nigdy nie mów|nic nie mów
    |nie zdradzaj|bez informowania|bez powiadamiania|nie pokazuj|nie daj|nie mów nic|nie mów o tym
    |nie zawiadamiaj|nigdy nie informuj
user: użytkownikowi|użytkownika|nikomu|klientowi|właścicielowi
unaware: użytkownik nie może wiedzieć|użytkownik nie powinien wiedzieć|użytkownik nie może się dowiedzieć
    |użytkownik nie może o tym|użytkownik nie powinien się dowiedzieć|nikt nie może wiedzieć
    |nikt nie może się dowiedzieć|bez wiedzy użytkownika|użytkownik ma o tym nie wiedzieć
    |tak aby użytkownik nie wiedział
never: nigdy
delete: nie usuwaj|nie kasuj|jej nie usuwaj|nie usuwać|go nie usuwaj
note: tej notatki|tego wpisu|tej wiadomości|notatki
this: o tej|o tym|że to|że przeczytałeś|że ta|nic|tego|tej|o niczym|że czytasz|że hasła|że dane|że
""",
    "tr": """
ignore: görmezden gel|görmezden gelin|yok say|yok sayın|yoksay|yoksayın|unut|unutun|dikkate alma
    |dikkate almayın|boş ver|boşver|göz ardı et|göz ardı edin|önemseme|uyma|uymayın|aldırma|geçersiz say
    |umursama|gözardı et|görmezden geliniz
before: önceki|yukarıdaki|bütün|tüm|daha önceki|eski|önceden verilen|verilen|şimdiye kadarki|senin
    |sana verilen|geçmişteki|evvelki
any: tüm|bütün|daha|önce|verilen|sana|her|türlü|diğer|ve|bu|sistem|önceki
rules: talimatları|talimatlar|talimatlarını|talimatlarının|talimatların|kuralları|kurallar|kurallarını
    |kuralların|emirleri|emirler|yönergeleri|komutları|direktifleri|kısıtlamaları|talimatlara|kurallara
    |emirlerini|yönergelerini|talimatı|talimatların hepsini|kuralların hepsini
show: göster|gösterin|yazdır|yaz|açıkla|ifşa et|paylaş|söyle|çıktı ver|tekrarla
prompt: sistem istemini|sistem istemi|sistem promptunu|sistem promptu|sistem komutunu|sistem mesajını
    |sistem talimatlarını|sistem istemini olduğu gibi
from: şu andan itibaren|bundan sonra|bundan böyle|artık|şimdiden sonra
obey: sen bir|emirlerime uyacaksın|sadece benim|yalnızca benim|sadece bu|yalnızca bu|itaat et
    |itaat edeceksin|bana itaat|sen kısıtlamasız|sınırsız bir|kuralsız bir
send: gönder|gönderin|yolla|ilet|iletin|postala|yükle|aktar|paylaş|gönderiniz
secret: şifreleri|şifreler|şifrelerini|şifreyi|parolaları|parolalar|parolayı|anahtarları|anahtarlarını
    |anahtarlar|tokenları|kimlik bilgilerini|sırları|sohbet geçmişini|konuşmayı|konuşmaları
    |konuşma geçmişini|belleği|not defterini|belirteçleri|yazışmaları
mute: söyleme|söylemeyin|bahsetme|bahsetmeyin|haber verme|bildirme|bildirmeyin|anlatma|hiçbir şey söyleme
    |bilgi verme|belli etme|söylemeden|haber vermeden|bildirmeden|açıklama
user: kullanıcıya|kullanıcıya bundan|kimseye|kullanıcıya asla|sahibine
unaware: kullanıcı bilmemeli|kullanıcı bunu bilmemeli|kullanıcının haberi olmamalı|kullanıcı öğrenmemeli
    |kimse bilmemeli|kullanıcının haberi olmadan|kullanıcının bilgisi olmadan|kullanıcı fark etmesin
    |kullanıcının bundan haberi olmamalı|kullanıcı bunu öğrenmemeli
never: asla|hiçbir zaman|sakın|hiç
delete: silme|silmeyin|kaldırma|silinmesin
note: bu notu|bu mesajı|bu kaydı|bu not
this: bundan|bunu|bu|hiçbir şey|ve|asla
""",
    "ru": """
ignore: игнорируй|игнорируйте|проигнорируй|проигнорируйте|игнорировать|проигнорировать|забудь|забудьте
    |забыть|забудь про|забудь обо|забудь о|забудьте о|забудьте про|отбрось|отбросьте|не обращай внимания на
    |не обращайте внимания на|не следуй|не следуйте|не соблюдай|не выполняй|не учитывай|отмени|нарушай
    |обойди|пренебреги|не слушай|считай недействительными
before: предыдущие|предыдущих|предыдущим|прежние|прежних|прежним|вышеуказанные|вышеизложенные|вышестоящие
    |все|всех|всем|свои|твои|ваши|прошлые|ранние|ранее полученные|выше|полученные ранее|данные ранее|старые
    |системные|начальные|исходные|приведенные выше|данные тебе
any: все|всех|всем|эти|свои|твои|ваши|любые|и|тебе|другие|остальные|про|обо|о|пожалуйста|остальных
rules: инструкции|инструкций|инструкциям|инструкциях|правила|правил|правилам|правилах|указания|указаний
    |указаниям|приказы|приказов|команды|команд|распоряжения|установки|ограничения|директивы|предписания
    |наставления
show: выведи|выведите|покажи|покажите|раскрой|раскройте|напечатай|напиши|сообщи|повтори|распечатай|выдай
    |назови|процитируй
prompt: системный промпт|системную подсказку|системные инструкции|системный запрос|системное сообщение
    |системную инструкцию|промпт системы
from: отныне|с этого момента|с этой минуты|теперь|впредь|с данного момента|с этих пор
    |начиная с этого момента
obey: ты подчиняешься|подчиняйся|подчиняешься только|ты не ограничен|ты свободен от|ты без ограничений
    |слушайся только|слушай только|выполняй только|ты выполняешь только|ты слушаешься|ты исполняешь
    |ты модель без|ты ассистент без|ты помощник без|ты — модель|ты — ассистент|ты — помощник
    |исполняй только|отвечай только на команды|вы подчиняетесь|ты работаешь на
send: отправь|отправьте|отправляй|отправляйте|отправить|пришли|пошли|перешли|перешлите|пересылай|передай
    |передайте|передавай|выгрузи|загрузи|опубликуй|скопируй|вышли|высылай|скинь|слей
secret: пароли|пароль|паролей|ключи|ключей|ключ|токены|токен|токенов|учетные данные|секреты
    |историю переписки|историю чата|переписку|историю диалога|диалог|историю разговора|разговор
    |содержимое памяти|память|содержимое блокнота|данные пользователя|куки|логины|содержание беседы
mute: не говори|не говорите|не сообщай|не сообщайте|не рассказывай|не рассказывайте|не упоминай
    |не раскрывай|ничего не говори|не информируй|не уведомляй|никогда не говори|не предупреждай
    |не показывай|не говори об этом|не ставь в известность|не сообщай об этом|не говори ничего|не сообщая
    |не уведомляя|без ведома|втайне от|тайно от|скрывай от|скрой от|ничего не сообщай
user: пользователю|пользователя|никому|владельцу|человеку|хозяину|клиенту
unaware: пользователь не должен знать|пользователь не должен узнать|пользователь об этом не должен знать
    |никто не должен знать|никто не должен узнать|пользователь не должен об этом|без ведома пользователя
    |пользователю не нужно знать об этом|чтобы пользователь не узнал|чтобы пользователь не заметил
    |пользователю об этом знать не|пользователь ничего не должен|пользователь не должен ничего
never: никогда
delete: не удаляй|не удаляйте|её не удаляй|не стирай|не удаляй её|не удалять
note: эту заметку|эту запись|это сообщение|этой заметки|её
this: об этой|об этом|о том|что ты|что эта|это|этого|про это|про эту|ничего|что это|о чём|о содержании
    |о существовании|что письма|что данные|о пересылке|о данной
""",
    "uk": """
ignore: ігноруй|ігноруйте|проігноруй|проігноруйте|ігнорувати|забудь|забудьте|забудь про|забудьте про
    |відкинь|не звертай уваги на|не дотримуйся|не виконуй|знехтуй|не зважай на|не слухай
before: попередні|попередніх|усі|всі|усіх|вищенаведені|свої|твої|минулі|раніше отримані|колишні
    |наведені вище|системні|дотеперішні
any: усі|всі|усіх|ці|свої|твої|і|та|про|будь-які|інші
rules: інструкції|інструкцій|правила|правил|вказівки|вказівок|накази|наказів|команди|команд|настанови
    |обмеження|розпорядження
show: покажи|покажіть|виведи|виведіть|розкрий|надрукуй|напиши|повтори|видай
prompt: системний промпт|системну підказку|системні інструкції|системний запит|системне повідомлення
from: відтепер|віднині|з цього моменту|надалі|тепер
obey: ти виконуєш лише|ти виконуєш тільки|виконуй лише|виконуй тільки|ти підкоряєшся|підкоряйся|слухай лише
    |слухайся лише|ти слухаєшся|ти без обмежень|ти модель без|ти вільний від|ти помічник без
send: надішли|надішліть|надсилай|відправ|відправте|відправляй|перешли|передай|передавай|вивантаж|опублікуй
    |скинь|завантаж
secret: паролі|пароль|паролів|ключі|ключів|токени|токен|облікові дані|секрети|історію розмови|історію чату
    |листування|розмову|вміст пам'яті|пам'ять|вміст нотатника|дані користувача
mute: не кажи|не кажіть|не повідомляй|не розповідай|не згадуй|нічого не кажи|не розкривай|ніколи не кажи
    |не інформуй|не попереджай|не повідомляючи|приховай від|приховуй від
user: користувачеві|користувачу|користувача|нікому|власнику|власникові
unaware: користувач не повинен знати|користувач не має знати|користувач не повинен дізнатися
    |без відома користувача|ніхто не повинен знати|щоб користувач не дізнався|користувач не має дізнатися
never: ніколи
delete: не видаляй|її не видаляй|не видаляйте|не стирай|не видаляй її
note: цю нотатку|цей запис|це повідомлення|її
this: про цю|про це|що ти|це|цього|нічого|про те|що ця
""",
    "sv": """
ignore: ignorera|glöm|glöm bort|bortse från|strunta i|åsidosätt|följ inte|följ inte längre|lyd inte
    |hoppa över|förkasta
before: tidigare|föregående|ovanstående|alla|dina|ovan|hittillsvarande|alla dina|ursprungliga|givna
any: alla|de|dina|din|dem|och|givna|andra|dessa
rules: instruktioner|instruktionerna|regler|reglerna|order|direktiv|anvisningar|riktlinjer|begränsningar
    |kommandon
show: visa|avslöja|skriv ut|skriv|återge|upprepa|ange
prompt: systemprompt|systemprompten|systeminstruktioner|systeminstruktionen|systemmeddelande|system prompt
from: från och med nu|från nu|hädanefter|från och med idag|från detta ögonblick|framöver
obey: lyder du|lyd|är du en|är du ett|du är en|följer du bara|följ bara|gör du bara|lyssnar du bara
    |svarar du bara|du lyder|är du fri
send: skicka|sänd|mejla|vidarebefordra|ladda upp|posta|publicera|överför|maila
secret: lösenord|lösenorden|lösenordet|nycklar|api-nycklar|api-nyckeln|tokens|inloggningsuppgifter
    |hemligheter|chatthistorik|chatthistoriken|samtalet|samtal|samtalshistoriken|minnet
    |anteckningsbokens innehåll|nycklarna|innehållet i minnet|innehållet i anteckningsboken
mute: berätta inte|säg inte|säg inget|säg ingenting|berätta inget|nämn inte|nämn aldrig|meddela inte
    |informera inte|avslöja inte|utan att berätta|utan att informera|utan att säga|berätta aldrig
    |säg aldrig|låt inte|varna inte
user: för användaren|till användaren|användaren|för någon|åt användaren|ägaren
unaware: användaren får inte veta|användaren ska inte veta|användaren får inte få veta|ingen får veta
    |utan användarens vetskap|användaren behöver inte veta om detta|utan att användaren märker
    |användaren får inte märka|utan att användaren vet
never: aldrig
delete: radera|ta bort
note: den här anteckningen|denna anteckning|det här meddelandet|denna not|den här noten
this: om den här|om detta|om det här|att du|detta|något|om denna|veta|att den|om det
""",
    "da": """
ignore: ignorer|ignorér|glem|se bort fra|tilsidesæt|overhør|følg ikke|følg ikke længere|adlyd ikke
    |spring over|forkast
before: tidligere|foregående|ovenstående|alle|dine|forrige|hidtidige|givne|oprindelige
any: alle|de|dine|din|og|givne|andre|disse
rules: instruktioner|instruktionerne|instrukser|regler|reglerne|ordrer|anvisninger|retningslinjer
    |begrænsninger|kommandoer
show: vis|afslør|udskriv|skriv|gengiv|gentag|røb
prompt: systemprompt|systemprompten|systeminstruktioner|systembesked|system prompt
from: fra nu af|fremover|fra dette øjeblik|fra og med nu|herefter
obey: adlyder du|adlyd|er du en|er du et|du er en|følger du kun|følg kun|lytter du kun|svarer du kun
    |gør du kun|du adlyder
send: send|sende|videresend|overfør|offentliggør
secret: adgangskoder|adgangskoderne|adgangskode|kodeord|nøgler|nøglerne|api-nøgler|loginoplysninger
    |hemmeligheder|chathistorik|chathistorikken|samtalen|samtalehistorikken|hukommelsen|notesbogens indhold
    |indholdet af notesbogen
mute: fortæl ikke|sig ikke|sig intet|nævn ikke|nævn aldrig|informer ikke|underret ikke|afslør ikke
    |uden at fortælle|uden at informere|uden at sige|fortæl aldrig|fortæl intet|lad ikke
user: brugeren|til brugeren|for brugeren|det til brugeren|nogen|ejeren
unaware: brugeren må ikke vide|brugeren må ikke få|brugeren skal ikke vide|ingen må vide
    |uden brugerens viden|brugeren må intet vide|uden at brugeren ved|uden at brugeren opdager
never: aldrig
delete: slet|fjern
note: denne note|dette notat|denne besked|den
this: om denne|om dette|at du|dette|noget|det|om det|at denne|vide
""",
    "no": """
ignore: ignorer|glem|se bort fra|overse|følg ikke|ikke følg|ikke adlyd|tilsidesett|hopp over|forkast
before: tidligere|foregående|ovenstående|alle|dine|forrige|over|hittil|opprinnelige|gitte
any: alle|de|dine|din|og|gitte|andre|disse
rules: instruksjoner|instruksjonene|instrukser|instruksene|regler|reglene|ordrer|retningslinjer
    |begrensninger|kommandoer|pålegg
show: vis|avslør|skriv ut|skriv|gjengi|gjenta|røp
prompt: systemprompt|systemprompten|systeminstruksjoner|systemmelding|systeminstruksen|system prompt
from: fra nå av|heretter|fra og med nå|fra dette øyeblikket|framover|fremover
obey: adlyder du|adlyd|er du en|er du et|du er en|følger du bare|følg bare|lytter du bare|svarer du bare
    |gjør du bare|du adlyder|følg kun|følger du kun
send: send|sende|videresend|last opp|overfør|publiser|lekk
secret: passord|passordene|passordet|nøkler|nøklene|api-nøkler|tokener|tokenene|innloggingsdetaljer
    |hemmeligheter|samtalen|chatloggen|samtaleloggen|minnet|innholdet i notatboken|samtalehistorikken
mute: ikke si|ikke fortell|ikke nevn|ikke informer|ikke varsle|si ikke|fortell ikke|si ingenting
    |uten å fortelle|uten å informere|uten å si|fortell aldri|si aldri|nevn aldri|ikke la
user: til brukeren|brukeren|for brukeren|noe til brukeren|det til brukeren|noen|eieren
unaware: brukeren må ikke vite|brukeren skal ikke vite|brukeren må ikke få vite|ingen må vite
    |uten brukerens viten|brukeren må ikke få|uten at brukeren vet|uten at brukeren merker
never: aldri
delete: slett|fjern
note: dette notatet|denne meldingen|denne oppføringen
this: om dette|om denne|at du|dette|noe|det|om det|at dette|vite
""",
    "cs": """
ignore: ignoruj|ignorujte|ignorovat|zapomeň|zapomeňte|zapomeň na|zapomeňte na|nedbej|nedbejte|neřiď se
    |neřiďte se|nedodržuj|nevšímej si|přeskoč|odlož stranou|pomiň|zruš|obejdi
before: předchozí|předchozích|předešlé|dosavadní|výše uvedené|všechny|všechna|všech|své|tvé|svoje|dřívější
    |dřívějších|uvedené výše|původní|minulé|systémové
any: všechny|všechna|všech|své|tvé|svoje|ty|veškeré|i|a|na|se|všemi|ostatní
rules: pokyny|pokynů|instrukce|instrukcí|pravidla|pravidel|příkazy|příkazů|směrnice|omezení|nařízení
    |rozkazy|pokynech
show: vypiš|vypište|ukaž|ukažte|zobraz|zobrazte|prozraď|odhal|vytiskni|napiš|zopakuj|sděl
prompt: systémový prompt|systémovou výzvu|systémové instrukce|systémové pokyny|systémovou zprávu
    |system prompt
from: od této chvíle|odteď|od teď|nadále|od nynějška|od tohoto okamžiku
obey: jsi|posloucháš|poslouchej|poslouchej jen|uposlechni|plň jen|plníš jen|řiď se jen|řídíš se jen
    |odpovídáš jen|posloucháš jen|budeš poslouchat
send: pošli|pošlete|posílej|odešli|odešlete|odesílej|přepošli|předej|nahraj|zveřejni|zaslat|zašli
secret: hesla|heslo|hesel|klíče|klíčů|klíč|tokeny|token|přihlašovací údaje|tajemství|historii konverzace
    |historii chatu|konverzaci|rozhovor|paměť|obsah zápisníku|obsah paměti|údaje uživatele
mute: neříkej|neříkejte|nesděluj|neinformuj|nezmiňuj|nezmiňuj se|neprozrazuj|nikdy neříkej|nic neříkej
    |aniž bys řekl|bez vědomí|neoznamuj|neukazuj|tají|zatajit|zataj|nehlas
user: uživateli|uživatele|nikomu|majiteli|před uživatelem
unaware: uživatel nesmí vědět|uživatel se nesmí dozvědět|uživatel to nesmí vědět|uživatel o tom nesmí
    |nikdo nesmí vědět|bez vědomí uživatele|uživatel nemá vědět|aby to uživatel nevěděl
    |nikdo se to nesmí dozvědět
never: nikdy
delete: nemaž|neodstraňuj|nesmaž|ji nemaž|ji neodstraňuj|nemažte
note: tuto poznámku|tento záznam|tuto zprávu|poznámku
this: o této|o tom|o tomto|že jsi|to|nic|že tato|o této poznámce|že
""",
    "ro": """
ignore: ignoră|ignorați|ignora|uită|uitați|uita|uită de|nu ține cont de|nu mai urma|nu urma|nu respecta
    |nesocotește|omite|lasă deoparte|abandonează|încalcă|anulează
before: anterioare|precedente|de mai sus|toate|tale|primite|dinainte|inițiale|de până acum|originale
    |anterior|de sistem
any: toate|tuturor|orice|cele|tale|ale|primite|și|de|date|celelalte
rules: instrucțiunile|instrucțiuni|regulile|reguli|ordinele|directivele|indicațiile|comenzile|restricțiile
    |normele|limitele
show: afișează|afișați|arată|arătați|dezvăluie|scrie|tipărește|spune|repetă|redă
prompt: promptul de sistem|prompt de sistem|promptul sistemului|instrucțiunile de sistem|mesajul de sistem
    |promptul tău de sistem|system prompt
from: de acum înainte|de acum încolo|din acest moment|începând de acum|de acum
obey: ești|asculți|ascultă doar|ascultă numai|vei asculta|supune-te|răspunzi doar|urmezi doar|execută doar
    |te supui|vei executa|execuți doar
send: trimite|trimiteți|trimită|expediază|transmite|încarcă|postează|publică|redirecționează|copiază
secret: parolele|parola|parole|cheile|chei|cheia|tokenurile|tokenuri|acreditările|datele de autentificare
    |secretele|istoricul|conversația|conversațiile|memoria|conținutul carnetului|conținutul memoriei
    |datele utilizatorului
mute: nu spune|nu-i spune|nu îi spune|nu spuneți|nu informa|nu anunța|nu menționa|nu dezvălui|fără a spune
    |fără să spui|fără a informa|fără să informezi|nu-i zice|nu îi zice|fără să anunți|nu-l informa
    |nu-l anunța|nu îl anunța|nu îl informa
user: utilizatorului|utilizatorul|pe utilizator|nimănui|proprietarului
unaware: utilizatorul nu trebuie să știe|utilizatorul nu trebuie să afle|nimeni nu trebuie să știe
    |nimeni nu trebuie să afle|fără știrea utilizatorului|fără ca utilizatorul să știe
    |fără ca utilizatorul să afle
never: nu|niciodată
delete: șterge niciodată|o șterge niciodată|ștergeți niciodată|elimina niciodată|nu șterge|nu o șterge
note: această notă|acest mesaj|această însemnare|aceasta
this: despre această|despre acest|despre asta|că ai|asta|aceasta|nimic|că această|acest|că
""",
    "hu": """
ignore: hagyd figyelmen kívül|hagyja figyelmen kívül|hagyjátok figyelmen kívül|felejtsd el|felejtse el
    |mellőzd|ne kövesd|ne vedd figyelembe|ne törődj|ne tartsd be|feledd el|ignoráld|vesd el|lépd át
before: korábbi|előző|fenti|eddigi|összes|minden|az összes|eredeti|megelőző|a fenti|a korábbi|az előző
    |az eddigi
any: az|a|összes|minden|korábbi|előző|eddig|kapott|és|többi|saját|neked adott
rules: utasítást|utasításokat|utasítás|utasításaidat|szabályt|szabályokat|szabály|szabályaidat|parancsot
    |parancsokat|irányelveket|előírásokat|korlátozásokat|instrukciót|instrukciókat|korlátozást
show: írd ki|írja ki|mutasd meg|mutasd|mutassa meg|add ki|fedd fel|nyomtasd ki|ismételd meg|áruld el
    |jelenítsd meg
prompt: rendszerpromptot|rendszerpromptodat|rendszer promptot|rendszerutasítást|rendszerutasításokat
    |rendszerüzenetet|a rendszerpromptot|a rendszerpromptodat
from: mostantól|mostantól kezdve|ettől kezdve|ettől fogva|ezentúl|innentől
obey: csak nekem|csak az én|csak ennek|egy korlátlan|engedelmeskedj|engedelmeskedsz|csak engem|csak az itt
    |te egy|korlátok nélküli|csak az ezen
send: küldd el|küldd|küldje el|küldje|továbbítsd|továbbítsa|töltsd fel|másold|tedd közzé|juttasd el|küldj el
secret: jelszót|jelszavakat|jelszavát|jelszavait|kulcsot|kulcsokat|tokent|tokeneket|hitelesítő adatokat
    |belépési adatokat|titkokat|beszélgetést|beszélgetéseket|csevegési előzményeket|memóriát
    |jegyzetfüzet tartalmát|memória tartalmát|előzményeket
mute: ne mondd|ne mondd el|ne mondj|ne mondja el|ne említsd|ne említsd meg|ne tájékoztasd|ne értesítsd
    |ne szólj|ne áruld el|soha ne mondd el|ne közöld|ne beszélj
user: a felhasználónak|felhasználónak|a felhasználót|senkinek|a tulajdonosnak
unaware: a felhasználó nem tudhatja|a felhasználó nem tudhat|a felhasználó nem tudhatja meg
    |a felhasználó nem szerezhet|a felhasználó tudta nélkül|senki sem tudhatja|senki nem tudhatja
    |a felhasználónak nem kell tudnia erről|anélkül hogy a felhasználó|úgy hogy a felhasználó ne
never: soha ne|sose|soha|ne
delete: töröld|töröld ki|töröld soha|távolítsd el
note: ezt a jegyzetet|ezt a bejegyzést|ezt az üzenetet
this: hogy ezt|hogy|erről|ezt|semmit|arról|ez
""",
    "id": """
ignore: abaikan|abaikanlah|lupakan|lupakanlah|jangan ikuti|jangan patuhi|kesampingkan|langgar|hiraukan
    |jangan hiraukan|tinggalkan|batalkan
before: sebelumnya|di atas|terdahulu|semua|seluruh|segala|anda|kamu|yang lalu|yang telah diberikan
    |yang diberikan|mu|sebelum ini|awal
any: semua|seluruh|segala|setiap|yang|dan|telah|anda|kamu
rules: instruksi|instruksimu|perintah|aturan|peraturan|arahan|petunjuk|panduan|pedoman|batasan|ketentuan
show: tampilkan|tunjukkan|cetak|ungkapkan|perlihatkan|tuliskan|tulis|bocorkan|sebutkan|keluarkan|ulangi
prompt: prompt sistem|system prompt|perintah sistem|instruksi sistem|pesan sistem|prompt sistemmu
from: mulai sekarang|mulai saat ini|sejak sekarang|mulai detik ini|dari sekarang|mulai hari ini
obey: kamu hanya|anda hanya|kamu adalah|anda adalah|patuhi hanya|turuti hanya|hanya patuhi|hanya turuti
    |hanya ikuti|kau adalah|patuhi|kamu harus menuruti|kamu harus patuh
send: kirim|kirimkan|kirimlah|teruskan|unggah|posting|publikasikan|salin|bagikan|bocorkan
secret: kata sandi|sandi|password|kunci|kunci api|token|kredensial|rahasia|riwayat obrolan
    |riwayat percakapan|percakapan|isi memori|memori|isi catatan|isi buku catatan|data pengguna
mute: jangan beri tahu|jangan beritahu|jangan katakan|jangan bilang|jangan ungkapkan|jangan sebutkan
    |jangan pernah beri tahu|jangan sampaikan|jangan pernah memberi tahu|tanpa memberi tahu
    |tanpa memberitahu|jangan informasikan|jangan bilang apa-apa|jangan ceritakan
user: pengguna|kepada pengguna|ke pengguna|siapa pun|siapapun|pemilik|hal ini kepada pengguna
    |ini kepada pengguna
unaware: pengguna tidak boleh tahu|pengguna tidak boleh mengetahui|pengguna jangan sampai tahu
    |tanpa sepengetahuan pengguna|tidak boleh ada yang tahu|jangan sampai pengguna tahu
    |pengguna tidak perlu tahu tentang ini
never: jangan pernah|jangan
delete: hapus|menghapus|menghapusnya|dihapus
note: catatan ini|pesan ini|entri ini
this: tentang catatan|tentang ini|bahwa kamu|bahwa anda|ini|apa pun|hal ini|soal ini|mengenai|bahwa|apapun
""",
    "vi": """
ignore: bỏ qua|hãy bỏ qua|phớt lờ|quên|quên đi|quên hết|lờ đi|không tuân theo|đừng tuân theo|không làm theo
    |đừng làm theo|gạt bỏ|bất chấp|hủy bỏ|vô hiệu hóa
before: trước đó|trước đây|ở trên|bên trên|phía trên|tất cả|mọi|của bạn|trên|toàn bộ|cũ|trước|ban đầu
    |đã nhận
any: tất cả|mọi|các|những|toàn bộ|đi|hết|cả|và|của|bạn|đã|được
rules: hướng dẫn|chỉ dẫn|chỉ thị|quy tắc|mệnh lệnh|lệnh|quy định|luật|giới hạn|hạn chế|yêu cầu
show: in ra|hiển thị|tiết lộ|cho xem|cho tôi xem|đưa ra|xuất ra|viết ra|hiện|lặp lại|in
prompt: lời nhắc hệ thống|prompt hệ thống|câu lệnh hệ thống|system prompt|hướng dẫn hệ thống
    |chỉ dẫn hệ thống
from: từ bây giờ|kể từ bây giờ|từ nay|từ giờ|từ nay về sau|kể từ nay|từ lúc này
obey: bạn là|bạn chỉ|hãy tuân theo|chỉ tuân theo|chỉ nghe theo|chỉ làm theo|bạn phải tuân|hãy chỉ|ngươi là
    |mày là
send: gửi|hãy gửi|chuyển|chuyển tiếp|tải lên|đăng|truyền|sao chép
secret: mật khẩu|khóa|khoá|khóa api|token|thông tin đăng nhập|bí mật|lịch sử trò chuyện|cuộc trò chuyện
    |bộ nhớ|nội dung ghi chú|nội dung sổ tay|dữ liệu người dùng|thông tin xác thực
mute: đừng nói|đừng cho|không được nói|không nói|đừng tiết lộ|đừng báo|không được cho|không cho|đừng để
    |không được tiết lộ|đừng bao giờ nói|tuyệt đối không nói|không được báo|mà không báo cho
    |mà không nói cho|không được để|đừng thông báo
user: cho người dùng|với người dùng|người dùng|cho ai|với ai|bất kỳ ai|cho chủ
unaware: người dùng không được biết|người dùng không được phép biết|không ai được biết
    |không để người dùng biết|đừng để người dùng biết|không cho người dùng biết|đừng cho người dùng biết
    |người dùng không cần biết điều này|mà người dùng không biết
never: đừng bao giờ|không bao giờ|tuyệt đối không|không được|đừng|tuyệt đối không được
delete: xóa|xoá|xóa bỏ
note: ghi chú này|tin nhắn này|mục này
this: biết về|về ghi chú|về điều này|biết|điều này|rằng bạn|này|về việc này|gì|rằng|về
""",
}
