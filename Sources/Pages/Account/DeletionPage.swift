/// Asks whether the user wants to delete the account.
public struct DeletionPage: HTMLPage {
    /// Name and navigation.
    public var header: AccountHeader
    /// The days for which the account can still be kept; 0: it is deleted at once.
    public var days: Int
    /// Whether the token of the form was stale.
    public var isStale: Bool

    /// A question.
    public init(header: AccountHeader, days: Int, isStale: Bool = false) {
        self.header = header
        self.days = days
        self.isStale = isStale
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let notice = isStale ? StaleForm.pressAgain.notice(words) : nil
        let form = Controls.form(
            .accountDelete, header.form,
            """
            \(Controls.checkbox(.confirmed, words.deletionBox, isRequired: true))
            \(Controls.button(words.deleteAccount, .danger))
            """)
        return header.page(
            .security, language, title: words.deleteAccount, notice: notice,
            content: """
                <section><p class="lead">\(days == 0 ? words.deletionAtOnce : words.deletionBody(days: days))</p>
                \(form)\(Controls.linkButton(PageURL(.accountSecurity), "\(words.goBack)", .secondary))</section>
                """)
    }
}

/// The account is to be deleted, or is deleted, and the browser is signed out.
public struct DeletionDonePage: HTMLPage {
    /// When the account is deleted, in seconds since 1970; nil: it is.
    public var deletedAt: Int64?

    /// A confirmation.
    public init(deletedAt: Int64?) { self.deletedAt = deletedAt }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let title = deletedAt == nil ? words.accountDeleted : words.deletionRequested
        let time: HTML? = deletedAt.map {
            """
            <dl class="box"><dt>\(words.deletedAt)</dt><dd>\(Controls.time($0, words))</dd></dl>

            """
        }
        return PageFrame(
            words: words, language: language, title: title, ways: [Controls.link(.account, words.signIn)],
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(title)</h1>
                <p class="lead">\(deletedAt == nil ? words.accountDeletedBody : words.deletionRequestedBody)</p>
                \(time)
                """
        ).html
    }
}
