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
