internal import Calendar

struct GermanWords: Words {
    private static let months = [
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
        "Dezember",
    ]

    func month(_ number: Int) -> String { Self.months[number - 1] }
    func date(_ date: CivilDate) -> String { "\(date.day). \(month(date.month)) \(date.year)" }
    func dateAndTime(_ time: UTCTime) -> String { "\(date(time.date)), \(time.timeText.prefix(5)) Uhr UTC" }
    func errorInTitle(_ title: String) -> String { "Fehler: \(title)" }
    func back(to app: DisplayName) -> HTML { "Zurück zu \(app)" }
    var or: String { "oder" }
    var goOn: String { "Weiter" }
    var privacyPolicy: String { "Datenschutz" }
    var termsOfService: String { "Nutzungsbedingungen" }
    var help: String { "Hilfe" }
    var startOver: String { "Neu beginnen" }
    var signIn: String { "Anmelden" }
    var signOut: String { "Abmelden" }
    var yourAccount: String { "Ihr Konto" }
    var showPassword: String { "Passwort anzeigen" }
    var pressAgain: String { "Bitte drücken Sie noch einmal: Die Seite war eine Weile offen." }
    var cookiesBlocked: String {
        "Ihr Browser blockiert die Cookies dieser Seite, die ohne sie nicht funktioniert. Bitte lassen Sie sie zu und "
            + "versuchen Sie es noch einmal."
    }
}

extension GermanWords {
    func signIn(to app: DisplayName) -> HTML { "Anmelden bei \(app)" }
    var username: String { "Benutzername oder bestätigte E‑Mail-Adresse" }
    var usernameAlone: String { "Benutzername" }
    var emailAddress: String { "Bestätigte E‑Mail-Adresse" }
    var password: String { "Passwort" }
    var keepMeSignedIn: String { "Angemeldet bleiben" }
    var signInWithPasskey: String { "Mit einem Passkey anmelden" }
    func signIn(with provider: DisplayName) -> HTML { "Weiter mit \(provider)" }
    var useYourPhone: String { "Mit dem Smartphone anmelden" }
    var notYou: String { "Nicht Sie?" }
    var withoutTLS: String {
        "Diese Verbindung ist nicht verschlüsselt und nur für die Entwicklung auf diesem Computer gedacht."
    }

    var wrongCredentials: String { "Benutzername oder Passwort ist falsch. Bitte versuchen Sie es noch einmal." }
    var loginsPaused: String {
        "Anmeldungen bei diesem Konto sind pausiert. In der App oder in Ihrem Konto können Sie das aufheben."
    }
    var loginsBlocked: String { "Dieses Konto ist gesperrt. Bitte wenden Sie sich an den Betreiber." }
    func tooManyAttempts(seconds: Int) -> String {
        let wait = seconds == 1 ? "eine Sekunde" : "\(seconds) Sekunden"
        return "Zu viele Versuche. Bitte warten Sie \(wait) und versuchen Sie es noch einmal."
    }
    func providerFailed(_ provider: DisplayName) -> HTML {
        "Die Anmeldung mit \(provider) hat nicht geklappt. Bitte versuchen Sie es noch einmal."
    }
    var needsPasskeys: String {
        "Hier melden Sie sich mit einem Passkey an. Dafür brauchen Sie einen Browser, der Passkeys kennt, "
            + "und JavaScript."
    }
    var factorNeeded: String {
        "Diese Anmeldung genügt hier nicht. Verwenden Sie einen Passkey, oder Ihr Passwort mit einer Authenticator-App."
    }
    var factorTitle: String { "Anmeldung bestätigen" }
    var factorCode: String { "Code" }
    var factorHint: String {
        "Der Code, den Ihre Authenticator-App jetzt zeigt, oder einer Ihrer Wiederherstellungscodes."
    }
    var factorWrong: String { "Dieser Code ist falsch oder schon verwendet. Warten Sie auf den nächsten." }
    var factorClock: String {
        "Dieser Code gehört zu einer anderen Zeit. Prüfen Sie die Uhr Ihres Telefons: Sie sollte automatisch gestellt sein."
    }
    var factorBlocked: String {
        "Es waren zu viele falsche Codes. Verwenden Sie einen Wiederherstellungscode oder einen Passkey, oder fragen Sie den Betreiber."
    }
    var factorAddTitle: String { "Authenticator-App hinzufügen" }
    var factorAddBody: String {
        "Dieser Dienst verlangt bei jeder Anmeldung einen zweiten Schritt. Scannen Sie das Bild mit einer Authenticator-App."
    }
    var factorPicture: String { "Bild für die Authenticator-App" }
    var factorSecret: String { "Wenn Sie es nicht scannen können, geben Sie diesen Schlüssel in der App ein:" }
    var factorNewCode: String { "Code, den die App zeigt" }
    var passkeyFailed: String {
        "Dieser Passkey wurde nicht akzeptiert. Versuchen Sie es noch einmal oder melden Sie sich anders an."
    }
    var signInAgain: String {
        "Bitte bestätigen Sie, dass Sie es sind: Ihre letzte Anmeldung liegt schon länger zurück."
    }
    var signInToFinish: String { "Bitte bestätigen Sie, dass Sie es sind. Danach geschieht, was Sie eben wollten." }
    var unavailable: String { "Wir können Sie gerade nicht anmelden. Bitte versuchen Sie es gleich noch einmal." }

    var tookAWhile: String { "Diese Seite ist abgelaufen" }
    var tookAWhileBody: String {
        "Die Anmeldung war zu lange offen. Nichts ist verloren: Beginnen Sie einfach noch einmal."
    }
    var closeThisWindow: String { "Schließen Sie dieses Fenster und melden Sie sich in der App neu an." }

    var signOutQuestion: String { "Möchten Sie sich abmelden?" }
    func signOutBody(_ account: DisplayName) -> HTML { "In diesem Browser sind Sie als \(account) angemeldet." }
    var staySignedIn: String { "Angemeldet bleiben" }
    var signedOut: String { "Sie sind abgemeldet" }
    var signedOutBody: String { "Dieser Browser hat keinen Zugriff mehr auf Ihr Konto." }
    var notSignedIn: String { "Sie sind in diesem Browser nicht angemeldet" }
    var notSignedInBody: String { "In Ihren Apps bleiben Sie angemeldet, bis Sie sich dort abmelden." }
    var noWayBackToApp: String {
        "Die App hat beim Weiterleiten einen Fehler gemacht. Deshalb führt von hier kein Weg zu ihr zurück."
    }
    var signedOutWithPhone: String {
        "Dieser Browser war über Ihr Smartphone angemeldet. Es hat sich abgemeldet und damit auch diesen Browser."
    }

    var newPasswordTitle: String { "Neues Passwort wählen" }
    var newPasswordBody: String { "Es ersetzt das alte. Auf allen Geräten müssen Sie sich danach neu anmelden." }
    var newPassword: String { "Neues Passwort" }
    func newPasswordHint(min: Int) -> String {
        "Mindestens \(min) Zeichen. Mehrere Wörter hintereinander kann man sich leicht merken."
    }
    var resetLink: String { "Link aus der Nachricht" }
    var resetLinkHint: String { "Fügen Sie den ganzen Link ein, den Sie bekommen haben." }
    var resetOverTitle: String { "Dieser Link gilt nicht mehr" }
    var resetOtherLink: String { "Ich habe einen anderen Link" }
    var savePassword: String { "Passwort speichern" }
    var resetTokenRefused: String { "Er ist abgelaufen oder wurde schon benutzt. Bitte fordern Sie einen neuen an." }
    var passwordSaved: String { "Ihr Passwort wurde geändert" }
    var passwordSavedBody: String { "Ab jetzt melden Sie sich mit dem neuen an." }
    func passwordTooShort(min: Int) -> String { "Das neue Passwort muss mindestens \(min) Zeichen haben." }
    var passwordTooCommon: String {
        "Dieses Passwort ist zu leicht zu erraten. Bitte wählen Sie ein anderes."
    }
    var passwordIsName: String { "Das neue Passwort darf weder Ihr Benutzername noch der Name des Dienstes sein." }
    var passwordTooLong: String { "Das neue Passwort ist zu lang." }
    var passwordUnusable: String { "Das neue Passwort enthält ein Zeichen, das nicht erlaubt ist." }
}

extension GermanWords {
    var phoneTitle: String { "Mit dem Smartphone anmelden" }
    var phoneScan: String { "Öffnen Sie die App auf Ihrem Smartphone und scannen Sie damit diesen Code." }
    var phoneImage: String { "QR-Code zum Scannen mit der App" }
    var phoneOpenApp: String { "App auf diesem Gerät öffnen" }
    var phoneWaiting: String { "Warten auf Ihr Smartphone …" }
    var phoneScanned: String { "Der Code wurde gescannt. Machen Sie auf Ihrem Smartphone weiter." }
    var phoneNumber: String { "Geben Sie diese Zahl auf Ihrem Smartphone ein." }
    var phoneConfirmed: String { "Die Zahl war richtig. Bestätigen Sie jetzt auf Ihrem Smartphone." }
    var phoneOpened: String { "Die App ist geöffnet. Dort geht es weiter, und sie bringt Sie hierher zurück." }
    var phoneApproved: String { "Bestätigt. Sie werden angemeldet …" }
    var phoneFinished: String { "Sie sind angemeldet und können dieses Fenster schließen." }
    var phoneDenied: String { "Die Anmeldung wurde auf dem Smartphone abgelehnt." }
    var phoneTimedOut: String { "Das hat zu lange gedauert. Versuchen Sie es mit einem neuen Code." }
    var phoneWrongNumber: String { "Die Zahl war falsch. Deshalb wurde niemand angemeldet." }
    var phoneContested: String { "Zwei Smartphones haben diesen Code gescannt. Deshalb wurde niemand angemeldet." }
    var phoneFailed: String { "Bei uns ist etwas schiefgegangen. Versuchen Sie es mit einem neuen Code." }
    var phoneNewCode: String { "Neuen Code anfordern" }
    var phoneCheckAgain: String { "Aktualisieren" }
    var otherWays: String { "Anders anmelden" }
    var phoneOnlyHere: String { "Scannen Sie nur einen Code, den Sie selbst auf dieser Seite angefordert haben." }
}

extension GermanWords {
    var deviceTitle: String { "Gerät verbinden" }
    var deviceBody: String { "Geben Sie den Code ein, den das Gerät anzeigt." }
    var deviceCode: String { "Code" }
    var deviceCodeHint: String { "Acht Buchstaben, zum Beispiel BCDF-GHJK." }
    var deviceCodeUnknown: String {
        "Dieser Code ist ungültig. Prüfen Sie ihn oder lassen Sie sich auf dem Gerät einen neuen anzeigen."
    }
    var deviceReviewTitle: String { "Ist das Ihr Gerät?" }
    func deviceReviewBody(_ app: DisplayName) -> HTML { "Ein Gerät möchte sich mit Ihrem Konto bei \(app) anmelden." }
    var deviceReviewWarning: String {
        "Lehnen Sie ab, wenn Sie das nicht gerade selbst angefangen haben oder wenn Ihnen der Code geschickt wurde."
    }
    var deviceAbroadTitle: String { "Dieses Gerät ist in einem anderen Land" }
    var deviceAbroadWarning: String {
        "Stimmen Sie nur zu, wenn Sie das Gerät vor sich haben; ein VPN kann es weit weg erscheinen lassen. "
            + "Wurde Ihnen "
            + "der Code geschickt, will sich der Absender als Sie anmelden."
    }
    var deviceElsewhere: String {
        "Das Gerät ist zu weit weg. Nehmen Sie ein Smartphone oder einen Computer im selben Land oder Netz "
            + "wie das Gerät."
    }
    var ownPlace: String { "Sie" }
    var code: String { "Code" }
    var device: String { "Gerät" }
    var place: String { "Ort" }
    var askedAt: String { "Angefordert" }
    var access: String { "Zugriff auf" }
    func scope(_ name: String) -> String? {
        switch name {
        case "openid": "Ihre Identität"
        case "profile": "Ihren Namen"
        case "email": "Ihre E-Mail-Adresse"
        case "phone": "Ihre Telefonnummer"
        case "groups": "Ihre Gruppen"
        case "roles": "Ihre Rollen"
        case "account": "Ihre Kontoeinstellungen"
        default: nil
        }
    }
    var decline: String { "Ablehnen" }
    var approve: String { "Zulassen" }
    var deviceApproved: String { "Ihr Gerät ist verbunden" }
    func deviceApprovedBody(_ app: DisplayName) -> HTML {
        "Mit \(app) geht es dort weiter. Sie können dieses Fenster schließen."
    }
    var deviceDeclined: String { "Das Gerät wurde abgelehnt" }
    var deviceDeclinedBody: String { "Es hat keinen Zugriff auf Ihr Konto." }
}

extension GermanWords {
    var errorTitle: String { "Das hat nicht geklappt" }
    var unknownClient: String { "Wir kennen die App nicht, aus der Sie kommen." }
    var unregisteredRedirect: String {
        "Wir können Sie nicht zurückleiten, weil die App eine fremde Adresse angegeben hat."
    }
    var invalidRequest: String { "Die Anfrage der App oder der Link, dem Sie gefolgt sind, ist fehlerhaft." }
    var otherSite: String { "Dieses Formular kam von einer anderen Seite, deshalb haben wir es nicht angenommen." }
    var notFound: String { "Unter dieser Adresse gibt es keine Seite." }
    var serverFailed: String { "Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal." }
    var serverBusy: String { "Bei uns ist gerade viel los. Bitte versuchen Sie es gleich noch einmal." }
    var tooManyRequests: String { "Das waren zu viele Anfragen in kurzer Zeit. Bitte warten Sie einen Moment." }
    var yourPart: String { "Sie können dieses Fenster schließen und zur App zurückkehren." }
    var forDevelopers: String { "Für die Betreiber dieses Dienstes" }
    var requestID: String { "Anfrage" }
    var needsTLSTitle: String { "Diese Seite benötigt TLS" }
    var needsTLSBody: String { "Über eine unverschlüsselte Verbindung senden wir keine Passwörter." }
    var needsTLSForOperators: String {
        "Richten Sie ein Zertifikat ein oder lassen Sie Ihren Proxy dieses Feld senden:"
    }
}
