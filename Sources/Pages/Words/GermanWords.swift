internal import Calendar

/// German.
struct GermanWords: Words {
    private static let months = [
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
        "Dezember",
    ]

    var direction: TextDirection { .leftToRight }
    func date(_ date: CivilDate) -> String { "\(date.day). \(Self.months[date.month - 1]) \(date.year)" }
    func dateAndTime(_ time: UTCTime) -> String { "\(date(time.date)), \(time.timeText.prefix(5)) Uhr UTC" }
    func errorInTitle(_ title: String) -> String { "Fehler: \(title)" }
    func back(to app: DisplayName) -> HTML { "Zurück zu \(app)" }
    var or: String { "oder" }
    var goOn: String { "Weiter" }
    var privacyPolicy: String { "Datenschutz" }
    var termsOfService: String { "Nutzungsbedingungen" }
    var startOver: String { "Von vorn beginnen" }
    var signIn: String { "Anmelden" }
    var signOut: String { "Abmelden" }
    var yourAccount: String { "Ihr Konto" }
    var showPassword: String { "Passwort zeigen" }
    var pressAgain: String { "Bitte noch einmal drücken: Die Seite war eine Weile offen." }
}

extension GermanWords {
    func signIn(to app: DisplayName) -> HTML { "Anmelden bei \(app)" }
    var username: String { "Benutzername oder bestätigte E-Mail-Adresse" }
    var usernameAlone: String { "Benutzername" }
    var emailAddress: String { "Bestätigte E-Mail-Adresse" }
    var password: String { "Passwort" }
    var keepMeSignedIn: String { "Angemeldet bleiben" }
    var forgotPassword: String { "Passwort vergessen?" }
    var signInWithPasskey: String { "Mit einem Passkey anmelden" }
    func signIn(with provider: DisplayName) -> HTML { "Weiter mit \(provider)" }
    var useYourPhone: String { "Mit dem Telefon" }
    var notYou: String { "Nicht Sie?" }
    var withoutTLS: String {
        "Diese Verbindung ist nicht verschlüsselt. Sie dient nur der Entwicklung auf diesem Rechner."
    }

    var wrongCredentials: String { "Benutzername und Passwort passen nicht zusammen. Bitte versuchen Sie es erneut." }
    var loginsPaused: String {
        "Anmeldungen bei diesem Konto ruhen. In der App oder in Ihrem Konto schalten Sie sie wieder ein."
    }
    var loginsBlocked: String { "Dieses Konto ist gesperrt. Bitte wenden Sie sich an den Betreiber." }
    func locked(minutes: Int) -> String {
        "Zu viele falsche Passwörter. In \(minutes == 1 ? "einer Minute" : "\(minutes) Minuten") geht es weiter."
    }
    func tooManyAttempts(seconds: Int) -> String {
        "Zu viele Versuche. Bitte warten Sie \(seconds == 1 ? "eine Sekunde" : "\(seconds) Sekunden")."
    }
    func providerFailed(_ provider: DisplayName) -> HTML {
        "\(provider) hat Sie nicht angemeldet. Bitte versuchen Sie es erneut."
    }
    var needsPasskeys: String {
        "Hier melden Sie sich mit einem Passkey an. Dafür braucht es einen Browser mit Passkeys, und JavaScript."
    }
    var passkeyFailed: String {
        "Dieser Passkey wurde nicht angenommen. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg."
    }
    var signInAgain: String { "Bitte melden Sie sich noch einmal an: Diese Seite verlangt eine frische Anmeldung." }
    var unavailable: String { "Wir können Sie gerade nicht anmelden. Bitte versuchen Sie es gleich noch einmal." }

    var tookAWhile: String { "Das hat eine Weile gedauert" }
    var tookAWhileBody: String {
        "Die Anmeldung war zu lange offen. Nichts ist verloren: Beginnen Sie einfach noch einmal."
    }
    var closeThisWindow: String { "Schließen Sie dieses Fenster, und melden Sie sich in der App erneut an." }

    var signOutQuestion: String { "Abmelden?" }
    func signOutBody(_ account: DisplayName) -> HTML { "In diesem Browser sind Sie als \(account) angemeldet." }
    var staySignedIn: String { "Angemeldet bleiben" }
    var signedOut: String { "Sie sind abgemeldet" }
    var signedOutBody: String { "Dieser Browser hat keinen Zugang mehr zu Ihrem Konto." }
    var notSignedIn: String { "Dieser Browser ist nicht angemeldet" }
    var notSignedInBody: String { "Eine App bleibt angemeldet, bis Sie sich in der App abmelden." }
    var noWayBackToApp: String {
        "Die App, die Sie hierher geschickt hat, hat einen Fehler gemacht. Darum führt diese Seite nicht zu ihr zurück."
    }
    var signedOutWithPhone: String {
        "Dieser Browser war mit Ihrem Telefon angemeldet. Das Telefon hat sich abgemeldet, und der Browser mit ihm."
    }

    var newPasswordTitle: String { "Neues Passwort wählen" }
    var newPassword: String { "Neues Passwort" }
    func newPasswordHint(min: Int) -> String {
        "Mindestens \(min) Zeichen. Ein paar Wörter hintereinander merken sich leicht."
    }
    var resetToken: String { "Code aus der Nachricht" }
    var resetTokenHint: String { "Was in dem Link, den Sie bekommen haben, hinter dem # steht." }
    var savePassword: String { "Passwort speichern" }
    var resetTokenRefused: String { "Dieser Link ist abgelaufen oder verbraucht. Bitte fordern Sie einen neuen an." }
    var passwordSaved: String { "Ihr Passwort ist geändert" }
    var passwordSavedBody: String { "Melden Sie sich von jetzt an mit dem neuen an." }
    func passwordTooShort(min: Int) -> String { "Das neue Passwort braucht mindestens \(min) Zeichen." }
    var passwordTooCommon: String {
        "Das neue Passwort gehört zu denen, die zuerst geraten werden. Bitte wählen Sie ein anderes."
    }
    var passwordIsName: String { "Das neue Passwort darf weder Ihr Benutzername noch der Name des Dienstes sein." }
    var passwordRefused: String { "Das neue Passwort ist zu lang oder enthält unbrauchbare Zeichen." }
}

extension GermanWords {
    var phoneTitle: String { "Mit dem Telefon anmelden" }
    var phoneScan: String { "Öffnen Sie die App auf Ihrem Telefon, und lesen Sie diesen Code mit ihr ein." }
    var phoneImage: String { "QR-Code für die App" }
    var phoneOpenApp: String { "App auf diesem Gerät öffnen" }
    var phoneWaiting: String { "Warten auf Ihr Telefon …" }
    var phoneScanned: String { "Ein Telefon hat den Code gelesen. Machen Sie dort weiter." }
    var phoneNumber: String { "Geben Sie diese Zahl auf Ihrem Telefon ein." }
    var phoneOpened: String { "Die App ist offen. Dort geht es weiter; sie führt Sie hierher zurück." }
    var phoneApproved: String { "Bestätigt. Sie werden angemeldet …" }
    var phoneFinished: String { "Sie sind angemeldet und können dieses Fenster schließen." }
    var phoneDenied: String { "Die Anmeldung wurde am Telefon abgelehnt." }
    var phoneTimedOut: String { "Das hat zu lange gedauert. Mit einem neuen Code geht es weiter." }
    var phoneWrongNumber: String { "Die Zahl war falsch, deshalb wurde niemand angemeldet." }
    var phoneContested: String { "Zwei Telefone haben diesen Code gelesen, deshalb wurde niemand angemeldet." }
    var phoneNoAccount: String {
        "Die App auf diesem Telefon hat hier kein Konto. Fügen Sie dort eines hinzu, und lesen Sie den Code erneut."
    }
    var phoneFailed: String { "Bei uns ist etwas schiefgegangen. Mit einem neuen Code geht es weiter." }
    var phoneNewCode: String { "Neuer Code" }
    var phoneCheckAgain: String { "Noch einmal nachsehen" }
    var otherWays: String { "Andere Wege zur Anmeldung" }
    var phoneOnlyHere: String { "Lesen Sie nur einen Code ein, den Sie selbst auf dieser Seite angefordert haben." }
}

extension GermanWords {
    var deviceTitle: String { "Gerät verbinden" }
    var deviceBody: String { "Geben Sie den Code ein, den das Gerät zeigt." }
    var deviceCode: String { "Code" }
    var deviceCodeHint: String { "Acht Buchstaben, zum Beispiel BCDF-GHJK." }
    var deviceCodeUnknown: String {
        "Dieser Code gilt nicht. Prüfen Sie ihn, oder lassen Sie das Gerät einen neuen zeigen."
    }
    var deviceReviewTitle: String { "Ist das Ihr Gerät?" }
    func deviceReviewBody(_ app: DisplayName) -> HTML { "Ein Gerät möchte sich mit \(app) bei Ihrem Konto anmelden." }
    var deviceReviewWarning: String {
        "Lehnen Sie ab, wenn Sie das nicht eben selbst begonnen haben oder Ihnen jemand den Code geschickt hat."
    }
    var deviceAbroadTitle: String { "Dieses Gerät ist in einem anderen Land" }
    var deviceAbroadWarning: String {
        "Stimmen Sie nur zu, wenn das Gerät vor Ihnen steht, zum Beispiel weil Sie ein VPN benutzen. Wer Ihnen einen "
            + "Code geschickt hat, will sich als Sie anmelden."
    }
    var deviceElsewhere: String {
        "Das Gerät ist zu weit weg. Benutzen Sie ein Telefon oder einen Computer im selben Land oder Netz wie das Gerät."
    }
    var ownPlace: String { "Sie" }
    var code: String { "Code" }
    var device: String { "Gerät" }
    var place: String { "Ort" }
    var askedAt: String { "Angefragt" }
    var access: String { "Zugriff" }
    var decline: String { "Ablehnen" }
    var approve: String { "Zulassen" }
    var deviceApproved: String { "Ihr Gerät ist verbunden" }
    func deviceApprovedBody(_ app: DisplayName) -> HTML {
        "Mit \(app) geht es dort weiter. Sie können dieses Fenster schließen."
    }
    var deviceDeclined: String { "Das Gerät wurde abgelehnt" }
    var deviceDeclinedBody: String { "Es hat keinen Zugang zu Ihrem Konto." }
}

extension GermanWords {
    var errorTitle: String { "Das hat nicht geklappt" }
    var unknownClient: String { "Die App, die Sie hierher geschickt hat, ist uns nicht bekannt." }
    var unregisteredRedirect: String {
        "Wir können Sie nicht zurückschicken, denn die App hat eine Adresse genannt, die nicht ihre ist."
    }
    var invalidRequest: String { "Die App oder der Link, der Sie hierher geführt hat, hat einen Fehler gemacht." }
    var otherSite: String { "Dieses Formular kam von einer anderen Seite, deshalb haben wir es nicht angenommen." }
    var notFound: String { "Unter dieser Adresse gibt es nichts." }
    var serverFailed: String { "Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es erneut." }
    var serverBusy: String { "Bei uns ist gerade viel los. Bitte versuchen Sie es gleich noch einmal." }
    var tooManyRequests: String { "Das war zu oft in kurzer Zeit. Bitte warten Sie einen Moment." }
    var yourPart: String { "Sie können dieses Fenster schließen und zur App zurückkehren." }
    var forDevelopers: String { "Für die Betreiber dieses Dienstes" }
    var requestID: String { "Anfrage" }
    var needsTLSTitle: String { "Diese Seite braucht TLS" }
    var needsTLSBody: String { "Über eine unverschlüsselte Verbindung werden keine Passwörter gesendet." }
    var needsTLSForOperators: String { "Setzen Sie ein Zertifikat, oder lassen Sie Ihren Proxy das Feld senden:" }
}
