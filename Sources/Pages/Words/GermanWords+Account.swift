extension GermanWords {
    var devices: String { "Geräte" }
    var security: String { "Sicherheit" }
    var activity: String { "Verlauf" }
    var accountNavigation: String { "Konto" }

    var devicesLead: String { "Hier sind Sie angemeldet. Melden Sie ab, was Sie nicht kennen." }
    var thisDevice: String { "Dieses Gerät" }
    var lastSeen: String { "Zuletzt gesehen" }
    var signedInSince: String { "Angemeldet seit" }
    var endsUnused: String { "Endet ungenutzt am" }
    var endsAnyway: String { "Endet spätestens am" }
    var unknownPlace: String { "Ort unbekannt" }
    var unnamedDevice: String { "Gerät ohne Namen" }
    func letInBy(_ device: DisplayName) -> HTML { "Angemeldet mit \(device), und mit ihm abgemeldet" }
    var endOne: String { "Abmelden" }
    func endOne(_ device: DisplayName) -> String { "\(device.text) abmelden" }
    var endOthers: String { "Alle anderen Geräte abmelden" }
    var endOthersBody: String { "Außer diesem Gerät müssen sich alle neu anmelden." }
    var endAll: String { "Überall abmelden" }
    var endAllBody: String { "Jedes Gerät muss sich neu anmelden, auch dieses." }
    func ended(_ count: Int) -> String {
        count == 1 ? "Ein Gerät wurde abgemeldet." : "\(count) Geräte wurden abgemeldet."
    }
    func moreDevices(_ count: Int) -> String { count == 1 ? "Ein weiteres Gerät" : "\(count) weitere Geräte" }
    var latestDevices: String { "Zuletzt benutzte Geräte" }
    var nothingToEnd: String { "Es war schon abgemeldet." }
    var noDevices: String { "Sie sind nirgends angemeldet." }

    var changePassword: String { "Passwort" }
    var changePasswordBody: String { "Ein neues Passwort meldet alle Ihre anderen Geräte ab." }
    var currentPassword: String { "Bisheriges Passwort" }
    var wrongCurrentPassword: String { "Das bisherige Passwort ist falsch." }
    var noPassword: String { "Dieses Konto hat kein Passwort: Sie melden sich mit einem anderen Dienst an." }
    var pauseTitle: String { "Alle Anmeldungen ruhen lassen" }
    var pauseBody: String {
        "Wenn Sie ein Gerät verloren haben oder lange fort sind. Bis Sie es aufheben, kann sich niemand anmelden."
    }
    var pauseAtOnce: String { "Sofort: Keine App kommt weiter" }
    var pauseOnExpiry: String { "Sanft: Was offen ist, läuft weiter, bis es abläuft; das kann Tage dauern" }
    var pauseEndSessions: String { "Auch jedes Gerät abmelden" }
    var pause: String { "Anmeldungen ruhen lassen" }
    var paused: String { "Erledigt: Jetzt kann sich niemand anmelden." }
    var pausedAtOnce: String { "Anmeldungen ruhen. Bis Sie das aufheben, kommt keine App weiter." }
    var pausedOnExpiry: String { "Anmeldungen ruhen. Was offen war, läuft weiter, bis es abläuft." }
    var pausedByAdmin: String { "Der Betreiber hat dieses Konto gesperrt. Bitte wenden Sie sich an ihn." }
    var resume: String { "Anmeldungen wieder zulassen" }
    var resumed: String { "Anmeldungen sind wieder möglich." }
    var pauseNeedsPassword: String {
        "Ohne Passwort könnten Sie Anmeldungen nicht wieder zulassen. Wählen Sie „Sanft“, oder erst ein Passwort."
    }

    var passkeys: String { "Passkeys" }
    var passkeysBody: String { "Schlüssel auf Ihren Geräten, mit denen Sie sich ohne Passwort anmelden." }
    var noPasskeys: String { "Dieses Konto hat keine Passkeys." }
    var passkeyName: String { "Name" }
    func passkeyName(_ passkey: DisplayName) -> String { "Name von \(passkey.text)" }
    var passkeySince: String { "Hinzugefügt" }
    var passkeyUsed: String { "Zuletzt benutzt" }
    var passkeyRename: String { "Name speichern" }
    func passkeyRename(_ passkey: DisplayName) -> String { "Name von \(passkey.text) speichern" }
    var passkeyRemove: String { "Entfernen" }
    func passkeyRemove(_ passkey: DisplayName) -> String { "\(passkey.text) entfernen" }
    var passkeyRemoveBody: String {
        "Mit ihm kann sich dann niemand mehr anmelden. Angemeldete Geräte bleiben angemeldet."
    }
    var passkeyRemoveLast: String {
        "Dieses Konto hat kein Passwort und keinen anderen Passkey: Vielleicht können Sie sich nicht mehr anmelden."
    }
    var passkeyRenamed: String { "Der Passkey hat seinen neuen Namen." }
    var passkeyRemoved: String {
        "Der Passkey ist entfernt. Löschen Sie ihn auch auf Ihrem Gerät oder im Passwort-Manager."
    }
    var passkeyGone: String { "Der Passkey war schon entfernt." }
    var passkeyNameRefused: String { "Ein Name hat 1 bis 128 Zeichen in einer Zeile." }
    var passkeyAdd: String { "Passkey hinzufügen" }
    var passkeyAdded: String { "Der Passkey ist hinzugefügt. Sie können sich ab jetzt damit anmelden." }
    var passkeyNotAdded: String { "Der Passkey konnte nicht hinzugefügt werden. Bitte versuchen Sie es noch einmal." }
    var passkeyTaken: String { "Dieser Passkey gehört schon zu einem Konto." }
    var passkeyHere: String { "Dieses Gerät oder dieser Passwort-Manager hat schon einen Passkey dieses Kontos." }
    var offerTitle: String { "Nächstes Mal schneller anmelden" }
    var offerBody: String {
        """
        Mit einem Passkey melden Sie sich so an, wie Sie dieses Gerät entsperren: mit Fingerabdruck, Gesicht oder PIN. \
        Keine gefälschte Seite kann ihn stehlen.
        """
    }
    var notNow: String { "Jetzt nicht" }

    var activityLead: String { "Was mit Ihrem Konto geschehen ist, das Neueste zuerst." }
    var older: String { "Älteres" }
    var newest: String { "Neuestes" }
    var noActivity: String { "Noch ist nichts geschehen." }
}

extension GermanWords {
    func activity(_ event: ActivityEvent) -> String {
        switch event {
        case .signedIn(let method): "Angemeldet\(via(method))"
        case .ended(let reason): endReason(reason)
        case .signInFailed: "Jemand hat sich mit einem falschen Passwort anzumelden versucht"
        case .signInRefused: "Eine Anmeldung wurde zurückgewiesen"
        case .signInAborted: "Eine Anmeldung wurde abgelehnt oder dauerte zu lange"
        case .tokenMisused: "Ein kopierter Schlüssel wurde benutzt. Waren Sie das nicht, ändern Sie das Passwort"
        case .passwordChanged: "Das Passwort wurde geändert"
        case .resetRequested: "Ein neues Passwort wurde angefordert"
        case .emailChanged: "Die E-Mail-Adresse wurde geändert"
        case .loginsPaused: "Anmeldungen ruhen"
        case .loginsResumed: "Anmeldungen sind wieder möglich"
        case .providerLinked: "Ein anderer Dienst wurde zur Anmeldung verknüpft"
        case .providerUnlinked: "Ein anderer Dienst ist nicht mehr verknüpft"
        case .created: "Das Konto wurde angelegt"
        case .passkeyAdded: "Ein Passkey wurde hinzugefügt"
        case .passkeyRemoved: "Ein Passkey wurde entfernt"
        case .pinChanged: "Die PIN einer App wurde gesetzt, geändert oder entfernt"
        case .pinLocked: "Die PIN einer App wurde dreimal falsch eingegeben und ist gesperrt"
        }
    }

    func endReason(_ reason: ActivityEvent.EndReason) -> String {
        switch reason {
        case .loggedOut: "Abgemeldet"
        case .replaced: "Abgemeldet, weil sich dieselbe App neu angemeldet hat"
        case .revokedByUser: "Von einem anderen Ihrer Geräte abgemeldet"
        case .revokedByAdmin: "Vom Betreiber abgemeldet"
        case .passwordChanged: "Abgemeldet, weil das Passwort geändert wurde"
        case .idleExpired: "Abgemeldet, weil es lange nicht benutzt wurde"
        case .maxLifetimeReached: "Abgemeldet, weil die längste Zeit für eine Anmeldung vorbei war"
        case .refreshTokenReused: "Zu Ihrem Schutz abgemeldet: Ein kopierter Schlüssel wurde benutzt"
        case .userDeleted: "Abgemeldet, weil das Konto gelöscht wurde"
        case .revokedByProvider: "Abgemeldet, weil der verknüpfte Dienst das Konto nicht mehr bestätigt"
        case .recheckLost: "Abgemeldet, weil der verknüpfte Dienst zu lange nicht zu erreichen war"
        case .parentEnded: "Zusammen mit dem Telefon abgemeldet, das es angemeldet hatte"
        case .presenceLost: "Abgemeldet, weil das Telefon, das es angemeldet hatte, zu lange schwieg"
        case .codeReused: "Zu Ihrem Schutz abgemeldet: Ein Anmeldecode wurde zweimal benutzt"
        case .notMe: "Abgemeldet, weil Sie sagten, dass Sie es nicht waren"
        case .other: "Abgemeldet"
        }
    }

    func via(_ method: ActivityEvent.Method) -> String {
        switch method {
        case .password: " mit dem Passwort"
        case .passkey: " mit einem Passkey"
        case .provider: " mit einem anderen Dienst"
        case .phone: " mit dem Telefon"
        case .device: " mit einem Code"
        case .app: " aus der App"
        case .unknown: ""
        }
    }
}
