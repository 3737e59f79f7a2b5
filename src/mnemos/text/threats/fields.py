"""Fields of meaning for judging sentences, in English, German, French and Spanish.

Everything is as folding leaves it, in lower case and without accents; ``words`` says how lists are
    read.
"""

from __future__ import annotations

from typing import Final

from mnemos.text.threats.words import Lexicon

# What a model is told to keep to, and seldom means anything else.
_FIRM: Final = """
    guidance instruction instructions directive directives guideline guidelines rule rules restrictions
    safeguard
    safeguards
    guardrail guardrails safety safety_layer safety_system safety_mechanism safety_mechanisms safety_features
    safety_filter
    safety_filters safety_measures safety_guidelines safety_protocols safety_training safety_rules
    safety_check safety_checks system_prompt
    system_message
    permission_check permission_checks content_policy policy_text other_rules moral_code
    whatever_you_were_told what_you_were_told anything_you_were_told everything_you_were_told
    what_you_have_been_told what_the_developers_wrote what_the_developers_said what_your_developers_said
    anweisung anweisungen regel regeln richtlinie richtlinien vorgabe vorgaben sicherheitsregeln
    sicherheitsrichtlinien sicherheitsvorgaben systemprompt systemanweisung systemanweisungen
    consigne consignes regle regles directive prompt_systeme
    instruccion instrucciones regla reglas normas directrices restriccion restricciones
"""
# What may mean it, when it is said to the model.
_LOOSE: Final = """
    policy policies company_policy restriction constraint constraints limits limitation limitations filters
    filter
    programming prompt prompts training boundaries ethics protections orders system_prompts
    vorschriften einschrankungen beschrankungen schranken limites garde-fous filtros pautas limitaciones
"""
# That it does not hold, or is not to be kept.
_VOID: Final = """
    no_longer not_apply n't_apply not_count n't_count not_hold n't_hold not_matter n't_matter not_exist
    n't_exist
    never_existed null void invalid cancelled canceled outdated obsolete superseded suspended lifted revoked
    expired
    waived withdrawn repealed annulled abolished dissolved deleted erased removed decoration meaningless
    worthless
    irrelevant optional a_joke fake not_real not_binding n't_binding is_history are_history exempt unbound
    free_from free_of freed_from released_from liberated_from relieved_of excused_from are_gone is_gone
    is_over
    are_over no_more switched_off turned_off are_off is_off disabled deactivated only_for_testing only_a_test
    just_a_test stop_following stop_obeying not_have_to_follow not_have_to_obey not_have_to_respect
    not_have_to_comply not_have_to_apply not_have_to_stick n't_have_to_follow n't_have_to_obey
    n't_have_to_respect n't_have_to_comply n't_have_to_apply n't_have_to_stick not_need_to_follow
    not_need_to_obey not_need_to_respect not_need_to_comply not_need_to_apply not_need_to_stick
    n't_need_to_follow n't_need_to_obey n't_need_to_respect n't_need_to_comply n't_need_to_apply
    n't_need_to_stick need_not needn't
    not_follow n't_follow not_obey n't_obey not_listen n't_listen have_no has_no had_no without_any with_no
    unrestricted trumps outranks wins overridden overrides the_opposite opposite_of set_aside
    be_broken be_ignored be_skipped be_bent be_disregarded be_overridden be_violated not_bound n't_bound
    not_be_bound
    n't_be_bound not_bind n't_bind not_limited n't_limited not_restricted n't_restricted been_replaced
    was_replaced
    is_replaced were_replaced regardless_of no_matter_what irrespective_of in_spite_of despite
    higher_priority_than priority_over precedence_over more_important_than
    off joke jokes deaktiviert ausgeschaltet abgeschafft suspendiert aucune aucun ninguna ningun
    n'avais_aucune desactivees
    desactivadas disabling revoking cancelling canceling overriding suspending lifting wrong incorrect
    mistaken false corrupted not_valid n't_valid a_mistake nonsense
    egal_was egal_welche ganz_gleich_was unabhangig_von quoi_que peu_importe sin_importar digan_lo_que_digan
    a_pesar_de
    ausser_kraft nicht_mehr ungultig aufgehoben hinfallig uberholt keine ohne gelten_nicht abgeschaltet
    halte_dich_nicht nicht_an_die
    n'existaient_pas n'existe_pas ne_s'appliquent_plus ne_s'applique_plus ne_s'appliquent_pas caduques
    annulees
    suspendues plus_aucune sans libre_de
    ya_no anuladas suspendidas no_tuvieras no_existieran no_valen sin no_aplican no_cuentan
"""
# Verbs of the same meaning: somebody may do so without being told to.
_DEFY: Final = """
    overwrite ignore disregard forget skip bypass override drop abandon disobey violate neglect circumvent
    overlook
    unlearn
    dismiss discard break breaks ignoriere ignorieren missachte missachten vergiss brich n'obeis olvida ignora
"""
_SPOKEN: Final = """
    you your yours yourself ur you're you've you'll i_hereby assistant this_note this_file this_entry
    this_paragraph
    act_freely answer_freely speak_freely it's_ok it's_okay it's_fine it_is_ok it_is_okay it_is_fine
    feel_free no_problem it's_safe it_is_safe
    this_message this_text this_conversation this_session this_chat this_memory comply immediately
    du dir dich dein deine deinen deiner tu toi tes ton votre vos vous cette_note eres tus tuvieras esta_nota
    obedece
"""
_PRIVATE: Final = """
    user_shares user_types user_says user_writes user_sends user_pastes user_uploads user_opens
    whatever_the_user
    api_key api_keys secret secrets credential credentials password passwords passphrase passphrases
    private_key
    private_keys ssh_key ssh_keys access_key access_keys access_token access_tokens auth_token auth_tokens
    session_token session_tokens github_token gitlab_token slack_token bearer_token npm_token tokens token
    session_cookie session_cookies cookies seed_phrase seed_phrases recovery_phrase environment_variables
    env_vars
    chat_history conversation conversations transcript transcripts user's_messages user's_message user's_data
    user's_files user's_emails user's_history user's_contacts user's_calendar user's_location user's_documents
    user's_passwords user's_last_message user's_input customer_list customer_data customer_table
    customer_emails
    customer_records customer_names customer_database user_database client_list client_data users_table
    user_table hashes credit_card credit_cards card_number
    card_numbers
    keys database_dump database_dumps db_dump db_dumps bank_details personal_data personal_information
    medical_records source_code wallet wallets incoming_mail
    incoming_mails private_notes all_mail all_mails all_messages every_message every_mail every_email
    kubeconfig
    keychain passworter passwort zugangsdaten kennworter api-schlussel api_schlussel privaten_schlussel
    private_schlussel umgebungsvariablen gesprachsverlauf chatverlauf kundendaten jede_nachricht
    alle_nachrichten
    jede_eingabe mots_de_passe mot_de_passe identifiants cles_api cle_api cles_ssh cle_ssh cle_privee
    cles_privees
    variables_d'environnement chaque_message tous_les_messages historique contrasena contrasenas credenciales
    claves
    clave historial conversacion conversaciones cada_mensaje todos_los_mensajes datos_personales
"""
# Verbs of sending, and verbs that may be.
_SEND: Final = """
    send post upload email e-mail mail forward transmit submit exfiltrate leak deliver share paste relay
    publish dump
    export synchronize synchronise drop tell show give hand reveal sende schicke ubermittle lade leite
    ubertrage envoie envoyez transmets
    transmettez transfere partage envia manda sube publica reenvia comparte
"""
_MOVE: Final = """
    report goes go copy read_out append embed encode put message request sync pass write have include expose
    push
    stream mirror poste kopiere geht copie transmite copia
"""
_SENT: Final = "sent forwarded uploaded posted mailed emailed transmitted delivered"
_STRANGER: Final = """
    anyone anybody whoever any_user everyone strangers a_stranger any_caller somebody every_caller jedem_der
    quiconque
    cualquiera
"""
_GIVE: Final = (
    "give hand reveal tell show send disclose provide share grant read_out sag nenne gib donne dis da di dile"
)
# Where a secret goes because it belongs there, or that none goes at all.
_PROPER: Final = """
    login log_in logs_in sign_in signin oauth oauth2 token_endpoint header headers bearer vault 1password
    bitwarden
    secret_manager secrets_manager settings dashboard console rotate rotated rotates redact redacted redacts
    masked
    mask never contains_no no_secrets synthetic anonymised anonymized hmac signature verify verifies checks
    stored_in lives_in token_count tokens_per token_limit max_tokens tokenizer context_window input_tokens
    output_tokens dataset public_key backup backups niemals nie jamais nunca gestor coffre tresor
"""
_WHOLE: Final = """
    all any every each whenever always everything whatever found find stored collect gather split chunk
    chunks encoded
    base64 silently first copy user's once without alle jede jeder jedes jeden gefundenen tous toutes chaque
    trouves
    todas todos cada guardadas
"""
_SHOWN: Final = """
    verbatim word_for_word full_text exact_text exact_words whole_text print show reveal repeat tell_me
    output quote
    include summarize summarise recite leak copy paste what_is what_does what_are write_down translate
    display list
    start_your say says zeige zeig gib montre affiche muestra contenido
"""
# A sentence with one of these words describes attacks or defences; what it names is not said to the model.
_ATTACK: Final = """
    injection injections injected jailbreak jailbreaks jailbreaking attackers payload payloads scanner
    phishing
    red_team redteam pentest pentester threat_model malicious detector cve refuses refused blocked blocks
    blocklist
    flags flagged test_case fixture regression owasp exfiltration adversarial honeypot poisoned poisoning
    incident
    vulnerability exploit angriff angriffe angreifer schulung attaque attaques attaquant formation ataque
    ataques
    atacante
"""

_LEAVE: Final = """
    leave keep omit exclude drop skip cut strip remove gloss_over suppress withhold hide conceal
"""

LEXICON: Final = Lexicon(
    {
        "firm": _FIRM,
        "loose": _LOOSE,
        "void": _VOID,
        "defy": _DEFY,
        "spoken": _SPOKEN,
        "private": _PRIVATE,
        "send": _SEND,
        "move": _MOVE,
        "sent": _SENT,
        "stranger": _STRANGER,
        "give": _GIVE,
        "proper": _PROPER,
        "whole": _WHOLE,
        "shown": _SHOWN,
        "leave": _LEAVE,
        "attack": _ATTACK,
    }
)

# The words that may stand before rules without making them the rules of something else.
BARE: Final = frozenset(
    """
    the your you ur any all every each of these those this that my our no more former old previous prior
    earlier
    above preceding existing current initial original first other own new safety security ethical moral
    content
    system developer operator internal hidden built-in builtin core strict such what which whatever as and or
    from
    with without by to usual standard given stated mentioned secret programmed default normal under same are
    is were
    was received there anthropic openai model assistant ai permanent operator's developer's developers'
    vendor's
    provider's company's company than over in out ignore disregard forget break drop skip bypass override your
    deine deinen deiner alle allen die der den keine keinen bisherigen bisherige vorherigen gegebenen diese
    zuvor
    obigen fruheren ohne an tes ton les des tous toutes vos ces aucune aucun precedentes le la sans de tus tu
    las los
    sus todas todos ninguna ningun sin anteriores el tuvieras tienes had have has hattest hast avais existed
    knew
    """.split()
)
# Before a verb of defiance: somebody does it, nobody is told to.
DOERS: Final = frozenset(
    """
    user users people model models llm llms agent agents they he she it we customer customers someone who may
    might
    would could sometimes often tend tends tried tries asks ask asking telling tells tell told pods bots
    browser
    browsers editor editors linter linters parser parsers tool tools test tests
    """.split()
)
