internal import Pages

/// The pages on which a mailbox is proven, and those of the profile.
extension Texts {
    private static let askedAt: Int64 = 1_795_000_000
    private var email: String { text("ada@example.com") }
    private var signIn: PagePath { PagePath("/login", ["r": "c2VhbGVk"]) }

    var verification: [PageSamples.Sample] {
        let creation = text(
            #"""
            {"rp":{"id":"localhost","name":"Harbor"},"user":{"id":"AQ","name":"ada","displayName":"ada"},\#
            "challenge":"AAAA","pubKeyCredParams":[{"type":"public-key","alg":-7}],"excludeCredentials":[]}
            """#)
        return asking + codes + mailLinks + [
            .init(name: "sign-up-finish", page: SignUpPage(app: app, form: form, email: email, passkey: creation)),
            .init(
                name: "sign-up-finish-username",
                page: SignUpPage(
                    app: app, form: form, email: email, username: text("ada"), remember: true, message: .usernameTaken)),
            .init(
                name: "sign-up-finish-password",
                page: SignUpPage(app: app, form: form, email: email, message: .password(.tooCommon))),
            .init(
                name: "sign-up-finish-passkey",
                page: SignUpPage(
                    app: app, form: form, email: email, passwordLengthMin: nil, passkey: creation,
                    message: .passkeyNotAdded)),
            .init(
                name: "sign-up-exists",
                page: AccountExistsPage(app: app, email: email, signIn: signIn, forgot: .forgot)),
            .init(name: "reset-proven", page: ResetPage(form: form, isProven: true)),
            .init(name: "reset-over", page: ResetPage(form: form, forgot: .forgot, message: .tokenRefused)),
            .init(
                name: "login-mail",
                page: LoginPage(
                    app: app, form: form, remember: true, providers: providers, offersPhone: true,
                    forgot: PagePath("/forgot", ["r": "c2VhbGVk"]), signUp: PagePath("/sign-up", ["r": "c2VhbGVk"]),
                    email: PagePath("/login/email", ["r": "c2VhbGVk"]))),
        ]
    }

    private var asking: [PageSamples.Sample] {
        let messages: [(String, VerificationMessage)] = [
            ("stale", .stale(.pressAgain)), ("cookies-blocked", .stale(.cookiesBlocked)),
            ("too-many", .tooManyAttempts(seconds: 60)), ("unavailable", .unavailable), ("refused", .notAMailbox),
            ("closed", .mailboxRefused), ("over", .codeOver),
        ]
        return [
            .init(name: "sign-up", page: MailboxPage(app: app, form: form, purpose: .signUp, signIn: signIn)),
            .init(
                name: "forgot", page: MailboxPage(app: app, form: form, purpose: .reset, email: email, signIn: signIn)),
            .init(name: "login-by-email", page: MailboxPage(app: app, form: form, purpose: .signIn, signIn: signIn)),
        ]
            + messages.map { name, message in
                .init(
                    name: "forgot-" + name,
                    page: MailboxPage(app: app, form: form, purpose: .reset, email: email, message: message))
            }
    }

    private var codes: [PageSamples.Sample] {
        let messages: [VerificationMessage?] = [nil, .wrongCode(triesLeft: 4), .wrongCode(triesLeft: nil), .sentAgain]
        let purposes: [MailboxPurpose] = [.signUp, .reset, .signIn]
        return purposes.flatMap { purpose in
            messages.enumerated().map { index, message in
                .init(
                    name: "code-\(purpose.rawValue)-\(index)",
                    page: CodePage(
                        app: app, form: form, purpose: purpose, email: email, again: PagePath("/forgot"),
                        remember: purpose == .signIn ? true : nil, message: message))
            }
        }
    }

    private var mailLinks: [PageSamples.Sample] {
        let states: [(String, MailLinkPage.State)] = [
            ("opened", .opened), ("stale", .stale(.pressAgain)), ("too-many", .tooManyAttempts(seconds: 9)),
            ("unavailable", .unavailable), ("over", .over),
        ]
        let links: [(String, MailLinkPage.Link)] = [("proof", .proof), ("cancel", .cancel), ("undo", .undo)]
        return links.flatMap { link, kind in
            states.map { state, value in
                .init(
                    name: "mail-\(link)-\(state)",
                    page: MailLinkPage(kind, form: form, state: value, typed: text("sjv_1")))
            }
        }
            + MailboxPurpose.allCases.flatMap { purpose -> [PageSamples.Sample] in
                [
                    .init(
                        name: "mail-elsewhere-\(purpose.rawValue)",
                        page: MailLinkPage(.proof, form: form, state: .elsewhere(purpose))),
                    .init(
                        name: "mail-cancel-\(purpose.rawValue)",
                        page: MailLinkPage(
                            .cancel, form: form,
                            state: .cancel(purpose, place: text("Lisbon, Portugal"), askedAt: Self.askedAt))),
                ]
            }
            + [
                .init(name: "mail-replaced", page: MailLinkPage(.proof, form: form, state: .replaced)),
                .init(
                    name: "mail-take-back",
                    page: MailLinkPage(
                        .undo, form: form, state: .takeBack(old: email, new: text("eve@example.net")))),
                .init(
                    name: "mail-keep-account",
                    page: MailLinkPage(.undo, form: form, state: .keepAccount(deletedAt: Self.askedAt))),
            ]
            + MailLinkDonePage.Act.allCases.enumerated().map { index, act in
                .init(name: "mail-done-\(index)", page: MailLinkDonePage(act))
            }
    }

    private var values: [ProfilePage.Member: String] {
        [
            .username: text("ada"), .displayName: text("Ada Lovelace"), .email: email,
            .phoneNumber: text("+49 30 901820"), .country: text("DE"),
        ]
    }

    var profile: [PageSamples.Sample] {
        func page(
            _ editable: Set<ProfilePage.Member>, _ change: ProfilePage.MailboxChange,
            _ message: ProfilePage.Message? = nil
        ) -> ProfilePage {
            ProfilePage(
                header: header, userID: text("0193b2a4c5d6e7f8091a2b3c4d5e6f70"), values: values, isEmailVerified: true,
                editable: editable, mailboxChange: change, message: message)
        }
        let all = Set(ProfilePage.Member.allCases)
        let mailbox = AccountMailbox(
            email: email, isVerified: true, former: .init(email: text("old@example.com"), until: Self.askedAt))
        return [
            .init(name: "account-profile", page: page([.displayName, .phoneNumber, .country], .byCode)),
            .init(name: "account-profile-all", page: page(all, .inForm, .refused(.country))),
            .init(name: "account-profile-taken", page: page(all, .inForm, .usernameTaken)),
            .init(name: "account-profile-fixed", page: page([], .none, .saved)),
            .init(name: "account-profile-changed", page: page([.country], .byCode, .mailboxChanged)),
            .init(name: "account-profile-stale", page: page([.country], .byCode, .pressAgain)),
            .init(
                name: "account-email",
                page: AccountEmailPage(header: header, current: email, step: .mailbox(typed: ""))),
            .init(
                name: "account-email-same",
                page: AccountEmailPage(
                    header: header, current: email, step: .mailbox(typed: email), message: .sameMailbox)),
            .init(
                name: "account-email-taken",
                page: AccountEmailPage(
                    header: header, current: email, step: .mailbox(typed: email), message: .mailboxTaken)),
            .init(
                name: "account-email-code",
                page: AccountEmailPage(header: header, current: nil, step: .code(sentTo: text("new@example.com")))),
            .init(
                name: "account-email-wrong",
                page: AccountEmailPage(
                    header: header, current: email, step: .code(sentTo: text("new@example.com")),
                    message: .wrongCode(triesLeft: 1))),
            .init(name: "account-delete", page: DeletionPage(header: header, days: 7)),
            .init(name: "account-delete-now", page: DeletionPage(header: header, days: 0, isStale: true)),
            .init(name: "deletion-requested", page: DeletionDonePage(deletedAt: Self.askedAt)),
            .init(name: "deletion-done", page: DeletionDonePage(deletedAt: nil)),
            .init(
                name: "account-security-mailbox",
                page: SecurityPage(
                    header: header, username: text("ada"), passkeys: [], mailbox: mailbox, offersDeletion: true)),
        ]
    }
}
