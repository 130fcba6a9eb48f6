extension GermanWords {
    func mailboxTitle(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: "Konto erstellen"
        case .signIn: "Code per E‑Mail erhalten"
        case .reset: "Passwort vergessen?"
        case .email: "E‑Mail-Adresse ändern"
        }
    }
    func mailboxBody(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: "Zuerst senden wir einen Code an Ihre E‑Mail-Adresse, um sicher zu sein, dass sie Ihnen gehört."
        case .signIn: "Wir senden einen Code an die bestätigte E‑Mail-Adresse Ihres Kontos. Er meldet Sie hier an."
        case .reset:
            "Wir senden einen Code und einen Link an die E‑Mail-Adresse Ihres Kontos. Mit einem davon wählen Sie ein neues Passwort."
        case .email: "Wir senden einen Code an die neue Adresse. Bis Sie ihn hier eingeben, ändert sich nichts."
        }
    }
    var sendCode: String { "Code senden" }
    var notAMailbox: String {
        "Bitte geben Sie eine E‑Mail-Adresse wie anna@example.com ein. Umlaute und andere Buchstaben als a bis z sind darin "
            + "nicht möglich."
    }
    var mailboxRefused: String { "Konten brauchen hier die E‑Mail-Adresse einer anderen Organisation." }
    var sameMailbox: String { "Das ist schon die E‑Mail-Adresse Ihres Kontos." }
    var otherMailbox: String { "Andere Adresse verwenden" }

    var codeTitle: String { "Sehen Sie in Ihre E‑Mails" }
    func codeSent(_ purpose: MailboxPurpose, to mailbox: DisplayName) -> HTML {
        switch purpose {
        case .signUp, .email: "Wir haben einen Code an \(mailbox) gesendet."
        case .signIn, .reset: "Wenn \(mailbox) zu einem Konto gehört, ist ein Code dorthin unterwegs."
        }
    }
    var codeHint: String { "Acht Ziffern. Wenn nach einer Minute keine E‑Mail da ist, sehen Sie im Spam-Ordner nach." }
    var wrongCode: String { "Das ist nicht der Code aus der E‑Mail. Bitte prüfen Sie ihn." }
    func wrongCode(triesLeft: Int) -> String {
        triesLeft == 1
            ? "Das ist nicht der Code aus der E‑Mail. Bitte prüfen Sie ihn: Ein Versuch bleibt."
            : "Das ist nicht der Code aus der E‑Mail. Bitte prüfen Sie ihn: \(triesLeft) Versuche bleiben."
    }
    var codeOver: String { "Dieser Code gilt nicht mehr. Bitte lassen Sie sich einen neuen senden." }
    var codeAgain: String { "E‑Mail noch einmal senden" }
    var codeSentAgain: String { "Die E‑Mail ist noch einmal unterwegs. Der Code darin ist derselbe." }
    var newMail: String { "Neue E‑Mail senden" }

    var signUpTitle: String { "Ein letzter Schritt" }
    func signUpBody(_ mailbox: DisplayName) -> HTML {
        "\(mailbox) ist bestätigt. Wählen Sie, wie Sie sich anmelden möchten."
    }
    var signUpWithPasskey: String { "Konto mit einem Passkey erstellen" }
    var usernameHint: String { "Andere können ihn sehen. Er enthält kein @." }
    var usernameTaken: String { "Dieser Benutzername ist vergeben. Bitte wählen Sie einen anderen." }
    var accountExists: String { "Sie haben schon ein Konto" }
    func accountExistsBody(_ mailbox: DisplayName) -> HTML {
        "Es gibt schon ein Konto mit \(mailbox). Melden Sie sich einfach an."
    }

    func mailLinkTitle(_ link: MailLinkPage.Link) -> String {
        switch link {
        case .proof: "E‑Mail-Adresse bestätigen"
        case .cancel: "Waren Sie das nicht?"
        case .undo: "Änderung zurücknehmen"
        }
    }
    func mailLinkBody(_ link: MailLinkPage.Link) -> String {
        switch link {
        case .proof: "Hier geht es weiter mit dem, was Sie in diesem Browser begonnen haben."
        case .cancel, .undo: "Sehen Sie zuerst, worum es geht. Dadurch ändert sich nichts."
        }
    }
    var linkOverBody: String { "Er ist abgelaufen oder wurde schon verwendet." }
    var linkReplaced: String { "Es gibt eine neuere E‑Mail" }
    var linkReplacedBody: String {
        "Dieser Link funktioniert nicht mehr. Verwenden Sie den Code oder den Link der neuesten E‑Mail."
    }
    var linkElsewhere: String { "Zurück dorthin, wo Sie begonnen haben" }
    var linkElsewhereBody: String {
        "Geben Sie den Code dieser E‑Mail in dem Browser oder der App ein, in der Sie begonnen haben. Zu Ihrer Sicherheit "
            + "funktioniert der Link nur dort."
    }
    var notAskedFor: String { "Ich habe diese E‑Mail nicht angefordert" }
    func cancelBody(_ purpose: MailboxPurpose) -> String {
        switch purpose {
        case .signUp: "Mit Ihrer E‑Mail-Adresse soll ein Konto erstellt werden. Sie können das verhindern."
        case .signIn: "Mit Ihrer E‑Mail-Adresse soll eine Anmeldung erfolgen. Sie können das verhindern."
        case .reset: "Das Konto mit Ihrer E‑Mail-Adresse soll ein neues Passwort bekommen. Sie können das verhindern."
        case .email: "Ein Konto soll eine andere E‑Mail-Adresse bekommen. Sie können das verhindern."
        }
    }
    var cancelBox: String { "Das war ich nicht" }
    var cancelIt: String { "Verhindern" }
    var takeBackTitle: String { "E‑Mail-Adresse zurückholen?" }
    var takeBackBody: String { "Die E‑Mail-Adresse Ihres Kontos wurde geändert." }
    var takeBackWarning: String {
        "Die frühere Adresse kommt zurück, alle Geräte werden abgemeldet, und das Passwort gilt nicht mehr. An die frühere "
            + "Adresse geht eine E‑Mail, mit der Sie ein neues Passwort wählen."
    }
    var takeBackBox: String { "Ich wollte diese Änderung nicht" }
    var takeBack: String { "Zurückholen" }
    var mailboxBefore: String { "Vorher" }
    var mailboxNow: String { "Jetzt" }
    var keepAccountTitle: String { "Konto behalten?" }
    var keepAccountBody: String { "Ihr Konto soll gelöscht werden. Bis dahin können Sie es behalten." }
    var keepAccountBox: String { "Ich möchte es behalten" }
    var keepAccount: String { "Konto behalten" }
    func mailLinkDone(_ act: MailLinkDonePage.Act) -> String {
        switch act {
        case .cancelled: "Das ist verhindert"
        case .takenBack: "Die frühere Adresse ist zurück"
        case .accountKept: "Ihr Konto bleibt"
        }
    }
    func mailLinkDoneBody(_ act: MailLinkDonePage.Act) -> String {
        switch act {
        case .cancelled:
            "Code und Link der E‑Mail funktionieren nicht mehr. Sie können dieses Fenster schließen."
        case .takenBack:
            "Alle Geräte sind abgemeldet. Wählen Sie mit der E‑Mail, die Sie jetzt bekommen, ein neues Passwort."
        case .accountKept: "Sie können sich wieder anmelden."
        }
    }
}

extension GermanWords {
    var profile: String { "Profil" }
    var userID: String { "Benutzer-ID" }
    func profileMember(_ member: ProfilePage.Member) -> String {
        switch member {
        case .username: "Benutzername"
        case .displayName: "Anzeigename"
        case .givenName: "Vorname"
        case .familyName: "Nachname"
        case .email: "E‑Mail-Adresse"
        case .phoneNumber: "Telefonnummer"
        case .country: "Land"
        }
    }
    func profileRefused(_ member: ProfilePage.Member) -> String {
        switch member {
        case .username: "Ein Benutzername hat kein @, keine Steuerzeichen und höchstens 128 Bytes."
        case .displayName: "Dieser Anzeigename ist zu lang oder hat ein Zeichen, das nicht möglich ist."
        case .givenName: "Dieser Vorname ist zu lang oder hat ein Zeichen, das nicht möglich ist."
        case .familyName: "Dieser Nachname ist zu lang oder hat ein Zeichen, das nicht möglich ist."
        case .email: "Bitte geben Sie eine E‑Mail-Adresse wie anna@example.com ein."
        case .phoneNumber: "Diese Telefonnummer ist zu lang oder hat ein Zeichen, das nicht möglich ist."
        case .country: "Bitte geben Sie die zwei Großbuchstaben eines Landes ein, zum Beispiel DE."
        }
    }
    var countryHint: String { "Zwei Großbuchstaben, zum Beispiel DE." }
    var saveProfile: String { "Speichern" }
    var profileSaved: String { "Ihr Profil ist gespeichert." }
    var notSet: String { "Nicht angegeben" }

    var newMailbox: String { "Neue E‑Mail-Adresse" }
    var mailboxConfirmed: String { "bestätigt" }
    var mailboxChanged: String { "Ihre E‑Mail-Adresse ist geändert." }
    var mailboxTaken: String { "Diese E‑Mail-Adresse gehört zu einem anderen Konto." }
    func formerMailbox(_ mailbox: DisplayName) -> HTML { "\(mailbox) kann die Änderung zurücknehmen bis:" }
    var mailboxChangeBody: String {
        "Für ein vergessenes Passwort und für Nachrichten zur Sicherheit Ihres Kontos. Eine neue wird mit einem Code bestätigt."
    }

    var deleteAccount: String { "Konto löschen" }
    var deletionLead: String { "Sie werden überall abgemeldet, und was wir über Sie speichern, wird gelöscht." }
    func deletionBody(days: Int) -> String {
        days == 1
            ? "Sie werden überall abgemeldet, und das Konto wird nach einem Tag gelöscht. Bis dahin behalten Sie es mit einem Link in "
                + "einer E‑Mail."
            : "Sie werden überall abgemeldet, und das Konto wird nach \(days) Tagen gelöscht. Bis dahin behalten Sie es mit einem Link "
                + "in einer E‑Mail."
    }
    var deletionAtOnce: String { "Das Konto wird sofort gelöscht, und niemand kann es zurückholen." }
    var deletionBox: String { "Ich möchte mein Konto löschen" }
    var goBack: String { "Zurück" }
    var deletedAt: String { "Wird gelöscht am" }
    var deletionRequested: String { "Ihr Konto wird gelöscht" }
    var deletionRequestedBody: String {
        "Sie sind überall abgemeldet. Wenn Sie es sich anders überlegen, verwenden Sie den Link in der E‑Mail, die wir Ihnen "
            + "gesendet haben."
    }
    var accountDeleted: String { "Ihr Konto ist gelöscht" }
    var accountDeletedBody: String { "Sie sind überall abgemeldet. Sie können dieses Fenster schließen." }
}
