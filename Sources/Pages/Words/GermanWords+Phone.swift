extension GermanWords {
    var linkTitle: String { "Dieser Code ist für die App" }
    var linkBody: String {
        "Öffnen Sie die App auf Ihrem Smartphone und scannen Sie damit den Code. Diese Seite hat niemanden angemeldet."
    }
    var linkWarning: String {
        "Wurde Ihnen dieser Code oder Link geschickt? Dann schließen Sie diese Seite: Der Absender will sich "
            + "damit Zugang zu Ihrem Konto verschaffen."
    }
    var invitationTitle: String { "Diese Einladung ist für die App" }
    var invitationBody: String {
        "Öffnen Sie die App auf Ihrem Smartphone und scannen Sie damit den Code. Diese Seite selbst legt kein Konto an."
    }
    var invitationWarning: String {
        "Eine Einladung gilt nur einmal und nur für ein Smartphone. Geben Sie den Code oder Link nicht weiter."
    }
    var appLoginTitle: String { "In diesem Browser fortfahren" }
    var appLoginBody: String { "Ihre App hat diese Seite geöffnet, um Sie hier anzumelden." }
    var appLoginCode: String { "Code aus der App" }
    var appLoginCodeHint: String { "Der Teil hinter dem # in dem Link, den die App geöffnet hat." }
    var appLoginContinue: String { "Weiter" }
    var appLoginTooLate: String {
        "Der Link ist abgelaufen oder wurde schon benutzt. Gehen Sie zurück in die App und öffnen Sie die "
            + "Seite noch einmal."
    }
    func appLoginQuestion(_ account: DisplayName) -> HTML { "Die App meldet diesen Browser als \(account) an." }
    var appLoginWarning: String {
        "Wurde Ihnen dieser Link geschickt? Dann schließen Sie die Seite, sonst benutzen Sie das Konto des Absenders."
    }
    func appLoginOther(_ account: DisplayName) -> HTML {
        """
        In diesem Browser sind Sie als \(account) angemeldet, in der App mit einem anderen Konto. Melden Sie sich hier \
        zuerst ab und öffnen Sie die Seite dann noch einmal aus der App.
        """
    }

    var otherBrowserTitle: String { "Bitte beginnen Sie neu" }
    var otherBrowserBody: String {
        "Diese Anmeldung begann in einem anderen Browser oder ist beendet, deshalb sind Sie hier nicht angemeldet."
    }

    var notMeTitle: String { "Waren Sie das?" }
    func notMeBody(_ app: DisplayName) -> HTML { "Mit Ihrem Smartphone wurde dieses Gerät bei \(app) angemeldet." }
    func notMeLogin(_ app: DisplayName) -> HTML { "Mit Ihrem Konto wurde dieses Gerät bei \(app) angemeldet." }
    var notMeElse: String { "Wenn Sie das waren, müssen Sie nichts tun. Schließen Sie einfach diese Seite." }
    var notMeEverywhere: String { "Auch überall sonst abmelden, auf meinen Smartphones ebenfalls" }
    var notMeEnd: String { "Das war ich nicht: Gerät abmelden" }
    var notMeDone: String { "Das Gerät ist abgemeldet" }
    var notMeDoneBody: String {
        "Es hat keinen Zugriff mehr auf Ihr Konto. Wenn Sie nicht wissen, wie es dazu kam, ändern Sie auch "
            + "Ihr Passwort."
    }
    var notMeWasOver: String { "Es war bereits abgemeldet." }
    var notMeEnded: String { "Das wurde abgemeldet:" }
    var notMeEndedAll: String { "Auch überall sonst wurden Sie abgemeldet." }
    var notMeBrowser: HTML { "Die Anmeldung des Browsers selbst" }
}
