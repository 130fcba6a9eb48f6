internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The page of the profile.
extension Endpoints {
    /// `GET /account/profile`: what the account says of its user. No token is on it.
    func showAccountProfile(_ call: Call) async throws -> Response {
        try await account(call, .accountProfile) { request in
            let message: ProfilePage.Message? =
                switch request.flash(on: .accountProfile)?.word {
                case .again: .pressAgain
                case .profileSaved: .saved
                case .mailboxChanged: .mailboxChanged
                default: nil
                }
            return profilePage(request, message)
        }
    }

    /// `POST /account/profile`: stores the members that users may change.
    func changeAccountProfile(_ call: Call) async throws -> Response {
        try await account(call, .accountProfile, act: .profile) { request in
            let form = try call.form()
            guard request.sent(form, to: .accountProfile), !request.visit.isPaused else {
                return profilePage(request, .pressAgain, form)
            }
            return try await perform(.profile, form, request)
        }
    }

    /// Stores the profile as the form of the page says. A name or a way to reach the user needs a newer login.
    func changeProfile(_ form: FormParameters, _ request: AccountPageRequest) async throws -> Response {
        let edited = editedMembers
        let values = edited.reduce(into: [ProfilePage.Member: String]()) { $0[$1] = form[$1.field] }
        do throws(ServiceError) {
            _ = try await services.accounts.changeProfile(
                of: request.visit, username: edited.contains(.username) ? values[.username] ?? "" : nil,
                from: request.call.origin
            ) { profile in
                for member in edited { profile.set(member, to: values[member]) }
                return nil
            }
        } catch {
            let message: ProfilePage.Message
            switch error {
            case .invalid(let member, _):
                guard let member = ProfilePage.Member(rawValue: member) else { throw error }
                message = .refused(member)
            case .conflict(code: "username_taken", _): message = .usernameTaken
            // The operator has changed what users may change, since the page was shown.
            case .conflict: message = .pressAgain
            default: throw error
            }
            log(error, message.status, request.call)
            return page(profilePage(request, message, form), after: error)
        }
        return redirect(request, to: .accountProfile, saying: AccountFlash(.profileSaved))
    }

    /// The members that the form of the profile has.
    private var editedMembers: Set<ProfilePage.Member> {
        let editable = Set(context.editable.compactMap { ProfilePage.Member(rawValue: $0.rawValue) })
        return context.mails == nil ? editable : editable.subtracting([.email])
    }

    /// How users change their mailbox.
    var mailboxChange: ProfilePage.MailboxChange {
        guard context.editable.contains(.email) else { return .none }
        return context.mails == nil ? .inForm : .byCode
    }

    private func profilePage(
        _ request: AccountPageRequest, _ message: ProfilePage.Message?, _ form: FormParameters? = nil
    ) -> Response {
        let (user, edited) = (request.user, editedMembers)
        var values = user.profile.members
        values[.username] = user.shownUsername
        if let form { for member in edited { values[member] = form[member.field] } }
        let page = ProfilePage(
            header: request.header, userID: user.id.description, values: values,
            isEmailVerified: user.profile.isEmailVerified, editable: edited, mailboxChange: mailboxChange,
            message: message)
        return page.response(message?.status ?? .ok, in: request.language)
    }
}

extension User.Profile {
    /// The members that are there, as the page names them.
    fileprivate var members: [ProfilePage.Member: String] {
        let all: [(ProfilePage.Member, String?)] = [
            (.displayName, displayName), (.givenName, givenName), (.familyName, familyName), (.email, email),
            (.phoneNumber, phoneNumber), (.country, country),
        ]
        return all.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }

    fileprivate mutating func set(_ member: ProfilePage.Member, to value: String?) {
        switch member {
        case .username: break
        case .displayName: displayName = value
        case .givenName: givenName = value
        case .familyName: familyName = value
        case .email: email = value
        case .phoneNumber: phoneNumber = value
        case .country: country = value
        }
    }
}

extension ProfilePage.Message {
    /// The status of the page with this message.
    fileprivate var status: Status {
        switch self {
        case .pressAgain, .saved, .mailboxChanged: .ok
        case .refused: .unprocessable
        case .usernameTaken: .conflict
        }
    }
}

extension Route {
    static let showAccountProfile = Route(
        .get, "/account/profile", errorFormat: .page, .open { try await $0.showAccountProfile($1) },
        Operation(
            "showAccountProfile", .accountPages, "The profile of the user",
            "Names, mailbox, telephone number, country, and the user id to read. It has no token.",
            parameters: ["done", "t"], answers: [.page, .toLogin]))

    static let changeAccountProfile = Route(
        .post, "/account/profile", errorFormat: .page, .open { try await $0.changeAccountProfile($1) },
        Operation(
            "changeAccountProfile", .accountPages, "Change the profile",
            """
            Takes the members that `accounts.editable` of the configuration names. A username, an e-mail address or \
            a telephone number needs a login of the last five minutes, for which it asks. The form needs the \
            page's token and the browser's cookies, and comes from this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/profile`, or to the login page."),
                .page(409, "The username belongs to another user."), .page(422, "A value is not allowed."),
            ]))
}
