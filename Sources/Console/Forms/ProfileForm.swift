internal import AdminActs
internal import JSON
internal import Pages
internal import Sessions

/// The fields of a user's profile, and of what an admin decides about the user beside.
enum ProfileForm {
    /// The members that are texts, with their labels.
    private static let texts: [(member: String, label: String, value: @Sendable (User) -> String?)] = [
        ("username", "Username", { $0.username }),
        ("display_name", "Name", { $0.profile.displayName }),
        ("given_name", "Given name", { $0.profile.givenName }),
        ("family_name", "Family name", { $0.profile.familyName }),
        ("email", "E-mail", { $0.profile.email }),
        ("phone_number", "Telephone", { $0.profile.phoneNumber }),
        ("country", "Country (two letters)", { $0.profile.country }),
    ]
    static let maximum = (member: UserOption.maximum, label: "Own longest session")

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
                maximum.member, label: maximum.label, value: user?.offlineSessionMax.map(DurationText.text) ?? "",
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
    static func changes(_ values: FormValues) throws(CallRefusal) -> [String: JSONValue] {
        var body: [String: JSONValue] = [:]
        func differs(_ member: String) -> Bool { values[member] != values[before(member)] }
        for text in texts where differs(text.member) {
            body[text.member] = values[text.member].map { .string($0) } ?? .null
        }
        if differs("email_verified") { body["email_verified"] = .bool(values.isOn("email_verified")) }
        if differs(maximum.member) {
            let seconds = try values.seconds(maximum.member, label: maximum.label) ?? 0
            body[maximum.member] = seconds == 0 ? .null : .integer(seconds)
        }
        if differs("claims") {
            let text = Array((values["claims"] ?? "").utf8)
            guard StrictJSON.keepsNumbers(text) else {
                throw CallRefusal("claims \(UserClaims.inexactNumbers).")
            }
            // The call refuses what is no object, and says so.
            body["claims"] = text.isEmpty ? .null : JSONValue(text: text) ?? .string(values["claims"] ?? "")
        }
        return body
    }
}
