/// The German texts of mails.
enum GermanMails {
    static let texts = codes.merging(notices) { first, _ in first }.merging(changes) { first, _ in first }

    /// When and where something was asked for, or happened.
    private static let place =
        "{{#at}} am {{at}}{{/at}}{{#place}}, aus {{place}}{{/place}}{{#browser}}, mit {{browser}}{{/browser}}"
        + "{{#device}}, auf {{device}}{{/device}}"
    private static let valid = "Er gilt {{minutes}} min."
    private static let ignore = "Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ohne den Code geschieht nichts."
    private static let never =
        "Geben Sie weder Code noch Link weiter. Wir rufen nie an und schreiben nie, um danach zu fragen."
    private static let notMe = "{{#link}}\n\nDas war ich nicht:\n{{link}}{{/link}}"
    private static let help = "{{#support}}\n\nFragen: {{support}}{{/support}}"

    private static let codes = [
        "sign_up.subject": "Ihr Code für ein neues Konto bei {{app}}{{#code}}: {{code}}{{/code}}",
        "sign_up.text": """
        {{code}}

        Das ist Ihr Code für ein neues Konto bei {{app}}. Geben Sie ihn dort ein, wo Sie sich registrieren. \(valid)

        Oder im selben Browser fortfahren:
        {{link}}

        Der Code wurde angefordert\(place). \(ignore) \(never)
        """,
        "sign_in.subject": "Ihr Code für die Anmeldung bei {{app}}{{#code}}: {{code}}{{/code}}",
        "sign_in.text": """
        {{code}}

        Das ist Ihr Code für die Anmeldung bei {{app}}. Geben Sie ihn dort ein, wo Sie sich anmelden. \(valid)

        Oder im selben Browser fortfahren:
        {{link}}

        Der Code wurde angefordert\(place). \(ignore) \(never)
        """,
        "reset.subject": "Ein neues Passwort für {{app}} wählen{{#code}}: {{code}}{{/code}}",
        "reset.text": """
        {{#code}}{{code}}

        Mit diesem Code wählen Sie ein neues Passwort für {{app}}. Geben Sie ihn dort ein, wo Sie ihn angefordert haben. \
        \(valid)

        {{/code}}Das neue Passwort für {{app}} hier wählen:
        {{link}}

        Das wurde angefordert\(place). Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Nichts hat sich geändert. \
        \(never)\(help)
        """,
        "email_new.subject": "Ihre E-Mail-Adresse für {{app}} bestätigen{{#code}}: {{code}}{{/code}}",
        "email_new.text": """
        {{code}}

        Mit diesem Code wird dies die Adresse Ihres Kontos bei {{app}}. Geben Sie ihn dort ein, wo Sie die Adresse \
        geändert haben. \(valid)

        Oder im selben Browser fortfahren:
        {{link}}

        Die Änderung wurde angefordert\(place). \(ignore) \(never)
        """,
    ]

    private static let changes = [
        "have_account.subject": "Sie haben ein Konto bei {{app}}",
        "have_account.text": """
        Ein neues Konto bei {{app}} wurde mit dieser E-Mail-Adresse angefordert, die bereits eines hat\(place).

        Melden Sie sich an, oder wählen Sie dort ein neues Passwort{{#link}}:
        {{link}}{{/link}}

        Wenn Sie das nicht waren, müssen Sie nichts tun.\(help)
        """,
        "reset_by_support.subject": "Ihr Passwort für {{app}}",
        "reset_by_support.text": """
        Ein neues Passwort für {{app}} wurde mit dieser E-Mail-Adresse angefordert\(place).

        Die Adresse ist für kein Konto bestätigt, dessen Passwort sich per E-Mail ändern lässt. Der Support kann Ihnen \
        helfen.\(help)

        Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Nichts hat sich geändert.
        """,
        "email_old.subject": "Eine neue E-Mail-Adresse für Ihr Konto bei {{app}}",
        "email_old.text": """
        Für Ihr Konto bei {{app}} wurde eine neue E-Mail-Adresse angefordert\(place).{{#new}} Sie lautet {{new}}.{{/new}}

        Bis zur Bestätigung bleibt diese Adresse. Wenn Sie das nicht waren, halten Sie die Änderung auf:

        Die Änderung aufhalten:
        {{link}}\(help)
        """,
        "email_changed_new.subject": "Dies ist jetzt die E-Mail-Adresse Ihres Kontos bei {{app}}",
        "email_changed_new.text": """
        Dies ist jetzt die E-Mail-Adresse Ihres Kontos bei {{app}}. Sie wurde bestätigt\(place).\(help)
        """,
        "email_changed_old.subject": "Die E-Mail-Adresse Ihres Kontos bei {{app}} hat sich geändert",
        "email_changed_old.text": """
        Die E-Mail-Adresse Ihres Kontos bei {{app}} hat sich geändert\(place).{{#new}} Sie lautet jetzt {{new}}.{{/new}}

        Wenn Sie das nicht waren, nehmen Sie die Änderung zurück{{#until}}, spätestens am {{until}}{{/until}}. Alle \
        Sitzungen enden, und Sie wählen ein neues Passwort.

        Die Änderung zurücknehmen:
        {{link}}\(help)
        """,
        "deletion.subject": "Ihr Konto bei {{app}} wird gelöscht",
        "deletion.text": """
        Ihr Konto bei {{app}} wird gelöscht{{#until}}, am {{until}}{{/until}}. Das wurde angefordert\(place).

        Bis dahin können Sie es behalten:

        Das Konto behalten:
        {{link}}\(help)
        """,
    ]

    private static let notices = [
        "password_changed.subject": "Ihr Passwort für {{app}} wurde geändert",
        "password_changed.text": "Das Passwort Ihres Kontos bei {{app}} wurde geändert\(place).\(notMe)\(help)",
        "factor_added.subject": "Ihr Konto bei {{app}} hat einen zweiten Faktor mehr",
        "factor_added.text": """
        Zu Ihrem Konto bei {{app}} wurde eine Authenticator-App hinzugefügt\(place). Nach ihr wird bei der Anmeldung \
        gefragt.\(notMe)\(help)
        """,
        "factor_removed.subject": "Ihr Konto bei {{app}} hat einen zweiten Faktor weniger",
        "factor_removed.text": """
        Von Ihrem Konto bei {{app}} wurde eine Authenticator-App entfernt\(place).\(notMe)\(help)
        """,
        "factor_blocked.subject": "Zu viele falsche Codes für Ihr Konto bei {{app}}",
        "factor_blocked.text": """
        Nach dem richtigen Passwort wurden zu viele falsche Codes für Ihr Konto bei {{app}} eingegeben\(place). Codes der \
        Authenticator-App werden abgelehnt, bis Sie sich mit einem Wiederherstellungscode oder Passkey anmelden.

        Wenn Sie das nicht waren, ändern Sie Ihr Passwort: Eine andere Person kennt es.\(notMe)\(help)
        """,
        "recovery_codes_made.subject": "Neue Wiederherstellungscodes für Ihr Konto bei {{app}}",
        "recovery_codes_made.text": """
        Für Ihr Konto bei {{app}} gibt es neue Wiederherstellungscodes, erstellt\(place). Frühere gelten nicht mehr.\
        \(notMe)\(help)
        """,
        "recovery_code_used.subject": "Ein Wiederherstellungscode Ihres Kontos bei {{app}} wurde benutzt",
        "recovery_code_used.text": """
        Ein Wiederherstellungscode Ihres Kontos bei {{app}} wurde benutzt\(place).{{#count}} Übrige Codes: \
        {{count}}.{{/count}}\(notMe)\(help)
        """,
        "passkey_added.subject": "Ihr Konto bei {{app}} hat einen Passkey mehr",
        "passkey_added.text": "Zu Ihrem Konto bei {{app}} wurde ein Passkey hinzugefügt\(place).\(notMe)\(help)",
        "new_device.subject": "Eine Anmeldung bei Ihrem Konto bei {{app}} auf einem neuen Gerät",
        "new_device.text": """
        Es gab eine Anmeldung bei Ihrem Konto bei {{app}}\(place). Das Gerät ist neu.\(notMe)\(help)
        """,
        "logins_paused.subject": "Anmeldungen bei Ihrem Konto bei {{app}} sind pausiert",
        "logins_paused.text": """
        Anmeldungen bei Ihrem Konto bei {{app}} sind pausiert\(place), bis Sie ein neues Passwort wählen.{{#link}}

        Ein neues Passwort wählen:
        {{link}}{{/link}}\(help)
        """,
        "test.subject": "Test-E-Mail von {{app}}",
        "test.text":
            "Das ist eine Test-E-Mail von {{app}}. Sie wurde gesendet{{#at}} am {{at}}{{/at}}, und sie ist angekommen.",
    ]
}
