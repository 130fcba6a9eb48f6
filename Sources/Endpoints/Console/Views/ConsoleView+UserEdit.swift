internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

extension ConsoleView {
    /// The members of a user that an admin edits as text, with their labels.
    private static let userTexts: [(member: String, label: String, value: @Sendable (User) -> String?)] = [
        ("username", "Username", { $0.username }), ("display_name", "Name", { $0.profile.displayName }),
        ("given_name", "Given name", { $0.profile.givenName }),
        ("family_name", "Family name", { $0.profile.familyName }),
        ("email", "E-mail", { $0.profile.email }), ("phone_number", "Telephone", { $0.profile.phoneNumber }),
        ("country", "Country", { $0.profile.country }),
    ]

    /// The form that edits a user.
    func edit(_ user: User, _ path: PagePath, _ reference: String) -> ConsoleAct {
        var fields: [ConsoleField] = []
        for text in Self.userTexts {
            let value = text.value(user) ?? ""
            fields += [.hidden("was_\(text.member)", value), .text(text.member, label: text.label, value: value)]
        }
        let claims = user.claims.flatMap { JSONValue.object($0.values).compactText } ?? ""
        fields += [
            .hidden("was_claims", claims),
            .lines(
                "claims", label: "Claims of access tokens, and of ID tokens by scope (a JSON object)", value: claims),
        ]
        let isVerified = user.profile.isEmailVerified
        fields += [
            .hidden("was_email_verified", isVerified ? "1" : ""),
            .check("email_verified", label: "The e-mail address is verified", isOn: isVerified),
        ]
        return ConsoleAct(
            path, "edit", label: "Edit",
            question: "Change the profile of \(Self.named(user))? Sessions go on. An empty field is removed.",
            fields: fields, button: "Save the profile of \(user.username)",
            curl: curl(.patch, "/users/\(user.id)", #"{"display_name":"…"}"#),
            command: "sojourn user update \(reference) --name '…'")
    }

    /// The call that a sent form makes: with the members that differ from what the form was filled with, so that it undoes no
    /// change that another admin has made meanwhile. Nil: none differs.
    static func edit(_ id: Identifier<User>, _ form: FormParameters) -> ConsoleCall? {
        var body: [String: JSONValue] = [:]
        for (member, _, _) in userTexts {
            let (text, before) = (form[member] ?? "", form["was_\(member)"] ?? "")
            if text != before { body[member] = text.isEmpty ? .null : .string(text) }
        }
        let claims = form["claims"] ?? ""
        if claims != form["was_claims"] ?? "" {
            // The call refuses what is no object, and says so.
            body["claims"] = claims.isEmpty ? .null : JSONValue(text: Array(claims.utf8)) ?? .string(claims)
        }
        let isVerified = form["email_verified"] == "1"
        if isVerified != (form["was_email_verified"] == "1") { body["email_verified"] = .bool(isVerified) }
        return body.isEmpty ? nil : ConsoleCall(method: .patch, path: "/users/\(id)", body: body)
    }
}
