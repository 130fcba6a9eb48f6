extension GermanWords {
    var linkTitle: String { "Dieser Code ist für die App" }
    var linkBody: String {
        "Öffnen Sie die App auf Ihrem Telefon, und lesen Sie den Code damit ein. Diese Seite hat niemanden angemeldet."
    }
    var linkWarning: String {
        "Hat Ihnen jemand diesen Code oder Link geschickt? Dann schließen Sie diese Seite: Er soll jenem Ihr Konto öffnen."
    }
    var invitationTitle: String { "Diese Einladung ist für die App" }
    var invitationBody: String {
        "Öffnen Sie die App auf Ihrem Telefon, und lesen Sie den Code damit ein. Auf dieser Seite entsteht kein Konto."
    }
    var invitationWarning: String {
        "Eine Einladung gilt einmal und für ein Telefon. Geben Sie den Code oder Link nicht weiter."
    }
    var appLoginTitle: String { "In diesem Browser weiter" }
    var appLoginBody: String { "Ihre App hat diese Seite geöffnet, um Sie hier anzumelden." }
    var appLoginCode: String { "Code aus der App" }
    var appLoginCodeHint: String { "Was in dem Link, den die App geöffnet hat, hinter dem # steht." }
    var appLoginContinue: String { "Weiter" }
    var appLoginTooLate: String {
        "Der Link ist zu alt oder schon verbraucht. Gehen Sie in die App zurück, und öffnen Sie die Seite noch einmal."
    }
    func appLoginQuestion(_ account: DisplayName) -> HTML { "Die App meldet diesen Browser als \(account) an." }
    var appLoginWarning: String {
        "Hat Ihnen jemand diesen Link geschickt? Dann schließen Sie die Seite, sonst benutzen Sie ein fremdes Konto."
    }
    func appLoginOther(_ account: DisplayName) -> HTML {
        """
        Dieser Browser ist als \(account) angemeldet, und die App mit einem anderen Konto. Melden Sie sich hier zuerst \
        ab, und öffnen Sie die Seite noch einmal aus der App.
        """
    }

    var otherBrowserTitle: String { "Zurück zum Anfang" }
    var otherBrowserBody: String {
        "Diese Anmeldung begann in einem anderen Browser oder ist vorbei. Beginnen Sie in diesem Browser noch einmal."
    }

    var notMeTitle: String { "Waren Sie das?" }
    func notMeBody(_ app: DisplayName) -> HTML { "Ihr Telefon hat dieses Gerät bei \(app) angemeldet." }
    var notMeElse: String { "Wenn Sie das waren, ist nichts zu tun. Schließen Sie einfach diese Seite." }
    var notMeEverywhere: String { "Auch alle anderen Sitzungen beenden, die meiner Telefone eingeschlossen" }
    var notMeEnd: String { "Das war ich nicht: Sitzung beenden" }
    var notMeDone: String { "Das Gerät ist abgemeldet" }
    var notMeDoneBody: String {
        "Es hat keinen Zugang mehr zu Ihrem Konto. Wenn Sie nicht wissen, wie es dazu kam, ändern Sie auch Ihr Passwort."
    }
    var notMeWasOver: String { "Diese Sitzung war schon beendet." }
    var notMeEnded: String { "Diese Sitzungen wurden beendet:" }
    var notMeEndedAll: String { "Auch alle Ihre anderen Sitzungen wurden beendet." }
    var notMeBrowser: HTML { "Die Anmeldung des Browsers selbst" }
}
