internal import HTTP
internal import JSON
internal import Pages
internal import Sessions

/// What an admin does with a user: the `act` of a form, and the call of the admin API that it makes.
enum UserAct: String, Sendable {
    case disable, enable, unlock, revoke, edit, reset, delete
    case removePasskey = "remove-passkey"

    func call(on id: Identifier<User>, _ values: FormValues) throws(ConsoleRefusal) -> ConsoleCall {
        let path = "/users/\(id)"
        switch self {
        case .disable:
            var body: [String: JSONValue] = [
                "effective": .string(values["effective"] ?? User.LoginDisabling.Effective.immediate.rawValue),
                "revoke_sessions": .bool(values.isOn("revoke_sessions")),
            ]
            if let note = values["reason"] { body["reason"] = .string(note) }
            return ConsoleCall(method: .post, path: path + "/disable", body: body)
        case .enable:
            let body: [String: JSONValue] = ["include_own_switch": .bool(values.isOn("include_own_switch"))]
            return ConsoleCall(method: .post, path: path + "/enable", body: body)
        case .unlock: return ConsoleCall(method: .post, path: path + "/unlock")
        case .revoke: return ConsoleCall(method: .post, path: path + "/revoke")
        case .edit: return ConsoleCall(method: .patch, path: path, body: try ProfileForm.changes(values))
        case .reset: return ConsoleCall(method: .post, path: path + "/password-reset")
        case .delete: return ConsoleCall(method: .delete, path: path)
        case .removePasskey:
            let passkey = PercentEncoding.encode(values["passkey"] ?? "")
            return ConsoleCall(method: .delete, path: path + "/passkeys?id=\(passkey)")
        }
    }

    /// The word that the page says when it is done.
    func word(_ answer: [String: JSONValue]) -> String {
        let ended = answer["revoked"]?.integer ?? 0
        return switch self {
        case .disable: "disabled \(ended)"
        case .enable: "enabled"
        case .unlock: "unlocked"
        case .revoke: "revoked \(ended)"
        case .edit: "edited"
        case .reset, .delete: "deleted"
        case .removePasskey: "removed"
        }
    }
}

/// The fields of a user's profile, and of what an admin decides about the user beside.
enum ProfileForm {
    /// The members that are texts: the option of `sojourn user`, and the label.
    private static let texts: [(member: String, option: String, label: String, value: @Sendable (User) -> String?)] = [
        ("username", "--username", "Username", { $0.username }),
        ("display_name", "--name", "Name", { $0.profile.displayName }),
        ("given_name", "--given-name", "Given name", { $0.profile.givenName }),
        ("family_name", "--family-name", "Family name", { $0.profile.familyName }),
        ("email", "--email", "E-mail", { $0.profile.email }),
        ("phone_number", "--phone", "Telephone", { $0.profile.phoneNumber }),
        ("country", "--country", "Country (two letters)", { $0.profile.country }),
    ]
    static let maximum = (member: "offline_session_max", label: "Own longest session")

    /// The fields: of a user, or empty ones for a new user. Each has beside it what it was filled with, so that a form undoes no
    /// change that another admin has made meanwhile.
    static func fields(_ user: User?) -> [ConsoleField] {
        var fields: [ConsoleField] = []
        for text in texts { add(.text(text.member, label: text.label, value: user.flatMap(text.value) ?? "")) }
        add(
            .check(
                "email_verified", label: "The e-mail address is verified", isOn: user?.profile.isEmailVerified == true))
        add(
            .duration(
                maximum.member, label: maximum.label, value: user?.offlineSessionMax.map(ConsoleView.short) ?? "",
                hint: "Empty: as the settings and the client say."))
        add(
            .lines(
                "claims", label: "Claims of access tokens, and of ID tokens by scope (a JSON object)",
                value: user?.claims.flatMap { JSONValue.object($0.values).compactText } ?? ""))
        return fields

        func add(_ field: ConsoleField) {
            if user != nil { fields += field.values.map { .hidden(before($0.name), $0.value) } }
            fields.append(field)
        }
    }

    /// The name of the hidden field with what a field was filled with.
    private static func before(_ member: String) -> String { "\(FormMark.name)_\(member)" }

    /// The members that differ from what the form was filled with.
    static func changes(_ values: FormValues) throws(ConsoleRefusal) -> [String: JSONValue] {
        var body: [String: JSONValue] = [:]
        func differs(_ member: String) -> Bool { values[member] != values[before(member)] }
        for text in texts where differs(text.member) {
            body[text.member] = values[text.member].map { .string($0) } ?? .null
        }
        if differs("email_verified") { body["email_verified"] = .bool(values.isOn("email_verified")) }
        if differs(maximum.member) {
            let seconds = try values.seconds(maximum.member, label: maximum.label) ?? .null
            body[maximum.member] = seconds == .integer(0) ? .null : seconds
        }
        if differs("claims") {
            let text = Array((values["claims"] ?? "").utf8)
            guard StrictJSON.keepsNumbers(text) else {
                throw ConsoleRefusal(sentence: "claims \(UserClaims.inexactNumbers).")
            }
            // The call refuses what is no object, and says so.
            body["claims"] = text.isEmpty ? .null : JSONValue(text: text) ?? .string(values["claims"] ?? "")
        }
        return body
    }

    /// The options of `sojourn user` for members of a call.
    static func options(_ body: [String: JSONValue], except names: Set<String> = []) -> String {
        var words: [String] = []
        for text in texts where !names.contains(text.member) {
            if let value = body[text.member] { words += [text.option, value.string ?? ""] }
        }
        if let isVerified = body["email_verified"]?.bool { words += ["--email-verified", "\(isVerified)"] }
        if let value = body[maximum.member] {
            words += ["--offline-session-max", value.integer.map { ConsoleView.short(.seconds($0)) } ?? "inherit"]
        }
        if let claims = body["claims"] { words += ["--claims", claims == .null ? "" : claims.compactText ?? ""] }
        return words.map { " " + ConsoleView.quoted($0) }.joined()
    }
}
