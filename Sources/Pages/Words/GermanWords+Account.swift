extension GermanWords {
    var devices: String { "Geräte" }
    var security: String { "Sicherheit" }
    var activity: String { "Verlauf" }
    var accountNavigation: String { "Konto" }

    var devicesLead: String { "Hier sind Sie angemeldet. Melden Sie jedes Gerät ab, das Sie nicht kennen." }
    var thisDevice: String { "Dieses Gerät" }
    var activeNow: String { "Gerade aktiv" }
    var lastSeen: String { "Zuletzt aktiv" }
    var moreOfDevice: String { "Details" }
    var signedInSince: String { "Angemeldet seit" }
    var endsUnused: String { "Abmeldung bei Nichtnutzung" }
    var endsAnyway: String { "Abmeldung spätestens" }
    var unknownPlace: String { "Ort unbekannt" }
    var unnamedDevice: String { "Gerät ohne Namen" }
    func letInBy(_ device: DisplayName) -> HTML { "Über \(device) angemeldet und zusammen damit abgemeldet" }
    var endOne: String { "Abmelden" }
    func endOne(_ device: DisplayName) -> String { "\(device.text) abmelden" }
    var endOthers: String { "Alle anderen Geräte abmelden" }
    var endOthersBody: String { "Auf allen Geräten außer diesem müssen Sie sich neu anmelden." }
    var endAll: String { "Überall abmelden" }
    var endAllBody: String { "Auf jedem Gerät müssen Sie sich neu anmelden, auch auf diesem." }
    func ended(_ count: Int) -> String {
        count == 1 ? "Ein Gerät wurde abgemeldet." : "\(count) Geräte wurden abgemeldet."
    }
    func moreDevices(_ count: Int) -> String { count == 1 ? "Ein weiteres Gerät" : "\(count) weitere Geräte" }
    var latestDevices: String { "Zuletzt aktive Geräte" }
    var nothingToEnd: String { "Dieses Gerät war bereits abgemeldet." }

    var changePassword: String { "Passwort" }
    var changePasswordBody: String { "Mit einem neuen Passwort werden alle anderen Geräte abgemeldet." }
    var currentPassword: String { "Aktuelles Passwort" }
    var wrongCurrentPassword: String { "Das aktuelle Passwort ist falsch." }
    var noPassword: String { "Dieses Konto hat kein Passwort: Sie melden sich mit einem anderen Dienst an." }
    var pauseTitle: String { "Alle Anmeldungen pausieren" }
    var pauseBody: String {
        "Zum Beispiel, wenn Sie ein Gerät verloren haben oder länger weg sind. Bis Sie die Pause beenden, "
            + "kann sich niemand anmelden."
    }
    var pauseAtOnce: String { "Sofort: Apps funktionieren ab jetzt nicht mehr" }
    var pauseOnExpiry: String {
        "Nach und nach: Geöffnete Apps laufen weiter, bis ihr Zugriff abläuft. Das kann Tage dauern"
    }
    var pauseEndSessions: String { "Zusätzlich alle Geräte abmelden" }
    var pause: String { "Anmeldungen pausieren" }
    var paused: String { "Erledigt: Jetzt kann sich niemand anmelden." }
    var pausedAtOnce: String { "Anmeldungen sind pausiert. Bis Sie die Pause beenden, funktioniert keine App." }
    var pausedOnExpiry: String { "Anmeldungen sind pausiert. Geöffnete Apps laufen weiter, bis ihr Zugriff abläuft." }
    var pausedByAdmin: String { "Der Betreiber hat dieses Konto gesperrt. Bitte wenden Sie sich an ihn." }
    var resume: String { "Pause beenden" }
    var resumed: String { "Anmeldungen sind wieder möglich." }
    var pauseNeedsPassword: String {
        "Ohne Passwort oder Passkey könnten Sie die Pause nicht beenden. Richten Sie zuerst eins von beiden ein."
    }

    var passkeys: String { "Passkeys" }
    var passkeysBody: String { "Schlüssel auf Ihren Geräten, mit denen Sie sich ohne Passwort anmelden." }
    var noPasskeys: String { "Dieses Konto hat keine Passkeys." }
    var passkeyName: String { "Name" }
    func passkeyName(_ passkey: DisplayName) -> String { "Name von \(passkey.text)" }
    var passkeySince: String { "Hinzugefügt" }
    var passkeyUsed: String { "Zuletzt verwendet" }
    var passkeyRenameTitle: String { "Umbenennen" }
    var passkeyRename: String { "Name speichern" }
    func passkeyRename(_ passkey: DisplayName) -> String { "Name von \(passkey.text) speichern" }
    var passkeyRemove: String { "Entfernen" }
    func passkeyRemove(_ passkey: DisplayName) -> String { "\(passkey.text) entfernen" }
    var passkeyRemoveBody: String {
        "Damit kann sich dann niemand mehr anmelden. Angemeldete Geräte bleiben angemeldet."
    }
    var passkeyRemoveLast: String {
        "Dieses Konto hat kein Passwort und keinen anderen Passkey. Möglicherweise können Sie sich danach "
            + "nicht mehr anmelden."
    }
    var passkeyRenamed: String { "Der Passkey wurde umbenannt." }
    var factors: String { "Zweiter Schritt" }
    var factorLink: String { "Ein Code aus einer Authenticator-App, zusätzlich zu Ihrem Passwort." }
    var factorManage: String { "Authenticator-Apps und Wiederherstellungscodes" }
    var factorNone: String {
        "Sie haben noch keine Authenticator-App. Mit einer öffnet Ihr Passwort allein nichts mehr."
    }
    var factorBody: String { "Die Anmeldung mit Ihrem Passwort verlangt einen Code aus einer dieser Apps." }
    var factorAdd: String { "Authenticator-App hinzufügen" }
    var factorScan: String {
        "Scannen Sie das Bild mit einer Authenticator-App auf Ihrem Telefon, und geben Sie den Code ein, den sie zeigt."
    }
    var factorRemove: String { "Entfernen" }
    var factorRemoveBody: String {
        "Ihre Codes zählen dann nicht mehr. Ohne eine andere öffnet Ihr Passwort allein das Konto."
    }
    var factorAdded: String { "Die Authenticator-App ist hinzugefügt. Die Anmeldung verlangt ab jetzt ihren Code." }
    var factorRemoved: String { "Die Authenticator-App ist entfernt." }
    var factorGone: String { "Diese Authenticator-App gibt es nicht mehr, oder sie wurde nicht rechtzeitig bestätigt." }
    var factorUnverified: String { "Bestätigen Sie zuerst Ihre E-Mail-Adresse: Sonst könnten Sie ausgesperrt werden." }
    var factorFull: String { "Mehr Authenticator-Apps sind nicht möglich. Entfernen Sie zuerst eine." }
    var factorLast: String { "Dieser Dienst verlangt einen zweiten Schritt, und das ist Ihr letzter." }
    var recoveryCodes: String { "Wiederherstellungscodes" }
    var recoveryCodesShown: String {
        "Bewahren Sie diese Codes sicher auf: Sie werden nur jetzt gezeigt. Jeder öffnet das Konto einmal, wenn die App verloren ist."
    }
    var recoveryCodesMake: String { "Neue Wiederherstellungscodes erstellen" }
    func recoveryCodesLeft(_ count: Int) -> String {
        count == 1 ? "Ein Wiederherstellungscode ist übrig." : "\(count) Wiederherstellungscodes sind übrig."
    }
    var passkeyRemoved: String {
        "Der Passkey wurde entfernt. Löschen Sie ihn auch auf Ihrem Gerät oder im Passwort-Manager."
    }
    var passkeyGone: String { "Der Passkey war bereits entfernt." }
    var passkeyNameRefused: String { "Der Name muss 1 bis 128 Zeichen lang sein und in eine Zeile passen." }
    var passkeyAdd: String { "Passkey hinzufügen" }
    var passkeyAddNow: String { "Danke. Jetzt können Sie den Passkey hinzufügen." }
    var passkeyAdded: String { "Der Passkey wurde hinzugefügt. Sie können sich ab jetzt damit anmelden." }
    var passkeyNotAdded: String { "Der Passkey konnte nicht hinzugefügt werden. Bitte versuchen Sie es noch einmal." }
    var passkeyTaken: String { "Dieser Passkey gehört bereits zu einem Konto." }
    var passkeyHere: String {
        "Auf diesem Gerät oder in diesem Passwort-Manager gibt es bereits einen Passkey für dieses Konto."
    }
    var offerTitle: String { "Nächstes Mal schneller anmelden" }
    var offerBody: String {
        """
        Mit einem Passkey melden Sie sich so an, wie Sie dieses Gerät entsperren: mit Fingerabdruck, Gesicht oder PIN. \
        Gefälschte Seiten können ihn nicht stehlen.
        """
    }
    var notNow: String { "Jetzt nicht" }

    var activityLead: String { "Was in Ihrem Konto passiert ist, das Neueste zuerst." }
    var older: String { "Ältere" }
    var newest: String { "Neueste" }
    var noActivity: String { "Bisher ist nichts passiert." }
}

extension GermanWords {
    func wrongPIN(on device: DisplayName) -> HTML { "Falsche PIN auf \(device)" }

    func activity(_ event: ActivityEvent) -> String {
        switch event {
        case .signedIn(let method): "Angemeldet\(via(method))"
        case .ended(let reason): endReason(reason)
        case .signInFailed: "Anmeldung fehlgeschlagen: Das Passwort war falsch"
        case .signInRefused: "Eine Anmeldung wurde nicht zugelassen"
        case .signInAborted: "Eine Anmeldung wurde abgelehnt oder dauerte zu lange"
        case .tokenMisused:
            "Eine Kopie Ihrer Anmeldung wurde verwendet. Wenn Sie das nicht waren, ändern Sie Ihr Passwort"
        case .passwordChanged: "Das Passwort wurde geändert"
        case .resetRequested: "Ein Link für ein neues Passwort wurde angefordert"
        case .emailChanged: "Die E-Mail-Adresse wurde geändert"
        case .loginsPaused: "Anmeldungen wurden pausiert"
        case .loginsResumed: "Die Pause wurde beendet"
        case .providerLinked: "Ein anderer Dienst wurde für die Anmeldung verknüpft"
        case .providerUnlinked: "Die Verknüpfung mit einem anderen Dienst wurde gelöst"
        case .created: "Das Konto wurde erstellt"
        case .passkeyAdded: "Ein Passkey wurde hinzugefügt"
        case .passkeyRemoved: "Ein Passkey wurde entfernt"
        case .factorAdded: "Eine Authenticator-App wurde hinzugefügt"
        case .factorRemoved: "Eine Authenticator-App wurde entfernt"
        case .factorFailed: "Das Passwort war richtig, der Code der Authenticator-App falsch"
        case .factorBlocked: "Nach zu vielen falschen Codes wurde die Authenticator-App gesperrt"
        case .recoveryCodesMade: "Neue Wiederherstellungscodes wurden erstellt"
        case .recoveryCodeUsed: "Ein Wiederherstellungscode wurde verwendet"
        case .pinFailed: "Falsche PIN in einer App"
        case .pinChanged: "Die PIN einer App wurde gesetzt, geändert oder entfernt"
        case .pinLocked: "Die PIN einer App wurde dreimal falsch eingegeben und ist gesperrt"
        }
    }

    func endReason(_ reason: ActivityEvent.EndReason) -> String {
        switch reason {
        case .loggedOut: "Abgemeldet"
        case .replaced: "Abgemeldet, weil sich dieselbe App neu angemeldet hat"
        case .revokedByUser: "Von einem anderen Ihrer Geräte aus abgemeldet"
        case .revokedByAdmin: "Vom Betreiber abgemeldet"
        case .passwordChanged: "Abgemeldet, weil das Passwort geändert wurde"
        case .idleExpired: "Nach langer Nichtnutzung abgemeldet"
        case .maxLifetimeReached: "Abgemeldet, weil die Höchstdauer der Anmeldung erreicht war"
        case .refreshTokenReused: "Zu Ihrem Schutz abgemeldet: Eine Kopie dieser Anmeldung wurde verwendet"
        case .userDeleted: "Abgemeldet, weil das Konto gelöscht wurde"
        case .revokedByProvider: "Abgemeldet, weil der verknüpfte Dienst das Konto nicht mehr bestätigt"
        case .recheckLost: "Abgemeldet, weil der verknüpfte Dienst zu lange nicht erreichbar war"
        case .parentEnded: "Zusammen mit dem Smartphone abgemeldet, über das die Anmeldung lief"
        case .presenceLost:
            "Abgemeldet, weil das Smartphone, über das die Anmeldung lief, zu lange nicht erreichbar war"
        case .codeReused: "Zu Ihrem Schutz abgemeldet: Ein Anmeldecode wurde zweimal verwendet"
        case .notMe: "Abgemeldet, weil Sie angegeben haben, dass Sie es nicht waren"
        case .other: "Abgemeldet"
        }
    }

    func via(_ method: ActivityEvent.Method) -> String {
        switch method {
        case .password: " mit dem Passwort"
        case .passkey: " mit einem Passkey"
        case .provider: " mit einem anderen Dienst"
        case .phone: " mit dem Smartphone"
        case .device: " mit einem Code"
        case .app: " aus der App"
        case .unknown: ""
        }
    }
}
