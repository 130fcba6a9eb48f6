/// What the account says of its user: names, mailbox, telephone number, country, and the user id to read.
public struct ProfilePage: HTMLPage {
    /// A member of the profile. The raw values are on the wire.
    public enum Member: String, CaseIterable, Hashable, Sendable {
        case username
        case displayName = "display_name"
        case givenName = "given_name"
        case familyName = "family_name"
        case email
        case phoneNumber = "phone_number"
        case country

        /// The field of its form.
        public var field: FormField {
            switch self {
            case .username: .username
            case .displayName: .displayName
            case .givenName: .givenName
            case .familyName: .familyName
            case .email: .email
            case .phoneNumber: .phoneNumber
            case .country: .country
            }
        }

        var type: String {
            switch self {
            case .email: "email"
            case .phoneNumber: "tel"
            default: "text"
            }
        }

        var autocomplete: String {
            switch self {
            case .username: "username"
            case .displayName: "name"
            case .givenName: "given-name"
            case .familyName: "family-name"
            case .email: "email"
            case .phoneNumber: "tel"
            case .country: "country"
            }
        }
    }

    /// How the mailbox is changed.
    public enum MailboxChange: Hashable, Sendable {
        /// Users cannot change it.
        case none
        /// In the form of the profile, because the server proves no mailbox.
        case inForm
        /// On a page of its own, by a code.
        case byCode
    }

    /// What happened.
    public enum Message: Hashable, Sendable {
        /// The token of the form was stale.
        case pressAgain
        /// The profile is stored.
        case saved
        /// The account has another mailbox.
        case mailboxChanged
        /// The value of a member is not allowed.
        case refused(Member)
        /// The username belongs to another user.
        case usernameTaken

        /// The member that the message is about.
        var member: Member? {
            switch self {
            case .refused(let member): member
            case .usernameTaken: .username
            case .pressAgain, .saved, .mailboxChanged: nil
            }
        }

        var kind: Notice.Kind {
            switch self {
            case .pressAgain: .note
            case .saved, .mailboxChanged: .success
            case .refused, .usernameTaken: .error
            }
        }
    }

    /// Name and navigation.
    public var header: AccountHeader
    /// The id of the user.
    public var userID: String
    /// The values; absent members have none.
    public var values: [Member: String]
    /// Whether the mailbox is verified.
    public var isEmailVerified: Bool
    /// The members that users may change. The mailbox is among them only if it is changed in this form.
    public var editable: Set<Member>
    /// How the mailbox is changed.
    public var mailboxChange: MailboxChange
    /// What happened.
    public var message: Message?

    /// A profile.
    public init(
        header: AccountHeader, userID: String, values: [Member: String], isEmailVerified: Bool = false,
        editable: Set<Member> = [], mailboxChange: MailboxChange = .none, message: Message? = nil
    ) {
        self.header = header
        self.userID = userID
        self.values = values
        self.isEmailVerified = isEmailVerified
        self.editable = editable
        self.mailboxChange = mailboxChange
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let (shown, edited) = (Member.allCases.filter { !isEdited($0) }, Member.allCases.filter(isEdited))
        let fields = HTML(edited.map { field($0, words) })
        let form: HTML? =
            edited.isEmpty
            ? nil
            : """
            <section>\(Controls.form(.accountProfile, header.form, fields + Controls.button(words.saveProfile)))</section>

            """
        let change: HTML? =
            mailboxChange == .byCode
            ? Controls.linkButton(PageURL(.accountEmail), "\(words.mailboxTitle(.email))", .secondary) : nil
        let facts: HTML = """
            <section><dl class="box">\(shown.map { fact($0, words) })\
            <dt>\(words.userID)</dt><dd>\(DisplayName(userID))</dd></dl>
            \(change)</section>

            """
        return header.page(
            .profile, language, isError: message?.kind == .error, notice: notice(words),
            content: "\(form)\(facts)")
    }

    private func isEdited(_ member: Member) -> Bool {
        member == .email ? mailboxChange == .inForm : editable.contains(member)
    }

    private func fact(_ member: Member, _ words: any Words) -> HTML {
        let badge: HTML? =
            member == .email && isEmailVerified ? " <span class=\"badge\">\(words.mailboxConfirmed)</span>" : nil
        let value: HTML = values[member].map { "\(DisplayName($0, max: 120))\(badge)" } ?? "\(words.notSet)"
        return "<dt>\(words.profileMember(member))</dt><dd>\(value)</dd>\n"
    }

    private func field(_ member: Member, _ words: any Words) -> HTML {
        TextField(
            field: member.field, label: words.profileMember(member), type: member.type, value: values[member] ?? "",
            autocomplete: member.autocomplete, hint: member == .country ? words.countryHint : nil,
            isWrong: message?.member == member, isRequired: member == .username
        ).html
    }

    private func notice(_ words: any Words) -> Notice? {
        message.map { message in
            let text =
                switch message {
                case .pressAgain: words.pressAgain
                case .saved: words.profileSaved
                case .mailboxChanged: words.mailboxChanged
                case .refused(let member): words.profileRefused(member)
                case .usernameTaken: words.usernameTaken
                }
            return Notice(kind: message.kind, text: "\(text)")
        }
    }
}
