internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

extension ConsoleView {
    /// The keys.
    func keys(
        _ signing: [StoredSigningKey], _ admin: [AdminKey], _ notice: (look: ConsoleLook, text: ConsoleText)?
    ) -> ConsolePage {
        let mayChange = stay.may(.owner)
        return page(
            .keys, "Keys", notice: notice,
            [
                .section(
                    "Signing keys",
                    [
                        .text("They sign tokens. A new key is published a day before it signs, and rotated by itself."),
                        .table(
                            ConsoleTable(
                                "Signing keys",
                                columns: ["Key", "Algorithm", "Made", "Signs from", "Published until", "State"],
                                rows: signing.map(row), empty: "There is none.")),
                        .acts(mayChange ? [rotation] + signing.map(withdrawal) : []),
                    ]),
                .section(
                    "Admin keys",
                    [
                        .table(
                            ConsoleTable(
                                "Admin keys", columns: ["Name", "Id", "Scope", "Made", "Ends", "Last used"],
                                rows: admin.map(row), empty: "There is none.")),
                        .acts(mayChange ? [creation] + admin.map(deletion) : []),
                    ]),
            ])
    }

    /// The sentence that shows a new admin key.
    static func newKey(_ secret: String) -> (look: ConsoleLook, text: ConsoleText) {
        (.good, "This is the new admin key. It is shown this once: \(code: secret)")
    }

    /// The call that a form of the page makes, and the word for what was done.
    static func keyCall(_ form: FormParameters) -> (call: ConsoleCall, word: String)? {
        let key = PercentEncoding.encode(form.value("key") ?? "")
        switch form["act"] {
        case "rotate":
            let body: [String: JSONValue] = ["immediately": .bool(form["immediately"] == "1")]
            return (ConsoleCall(method: .post, path: "/keys/rotate", body: body), "rotated")
        case "withdraw": return (ConsoleCall(method: .delete, path: "/keys/\(key)"), "deleted")
        case "delete": return (ConsoleCall(method: .delete, path: "/admin-keys/\(key)"), "deleted")
        case "create":
            var body: [String: JSONValue] = ["name": .string(form["name"] ?? "")]
            if let scope = form.value("scope") { body["scope"] = .string(scope) }
            if let text = form.value("expires_in") {
                guard let seconds = seconds(text) else { return nil }
                body["expires_in"] = .integer(seconds)
            }
            return (ConsoleCall(method: .post, path: "/admin-keys", body: body), "created")
        default: return nil
        }
    }

    private func row(_ key: StoredSigningKey) -> [ConsoleText] {
        let state: ConsoleText =
            key.retiredAt != nil
            ? "\(badge: "verifies old tokens", .plain)"
            : now < key.activeFrom ? "\(badge: "published", .plain)" : "\(badge: "signs", .good)"
        return [
            "\(code: key.id)", "\(key.algorithm)", time(key.createdAt), time(key.activeFrom),
            key.retiredAt.map { time($0) } ?? "", state,
        ]
    }

    private func row(_ key: AdminKey) -> [ConsoleText] {
        let name: ConsoleText = key.id == stay.key.id ? "\(key.name) \(badge: "yours", .plain)" : "\(key.name)"
        return [
            name, "\(code: key.id)", "\(key.scope.rawValue)", time(key.createdAt),
            key.expiresAt.map { now < $0 ? time($0) : "\(time($0)) \(badge: "ended", .bad)" } ?? "never",
            key.lastUsedAt.map { time($0) } ?? "never",
        ]
    }

    private var rotation: ConsoleAct {
        let call = ConsoleCall(method: .post, path: "/keys/rotate", body: ["immediately": .bool(false)])
        return ConsoleAct(
            .consoleKeys, "rotate", label: "New signing key",
            question: "Make a new signing key? It signs a day later, when every verifier has it.",
            fields: [
                .check("immediately", label: "Sign with it at once: verifiers that have not read the key set refuse it")
            ],
            button: "Make the key", curl: curl(call), command: "sojourn key rotate")
    }

    private func withdrawal(_ key: StoredSigningKey) -> ConsoleAct {
        ConsoleAct(
            .consoleKeys, "withdraw", label: "Withdraw \(key.id.prefix(8))",
            question: """
                Withdraw the signing key \(name: key.id)? Every access token that it has signed is refused from then on; apps get \
                new ones by a refresh.
                """,
            fields: [.hidden("key", key.id)], button: "Withdraw \(key.id.prefix(8))…", isDestructive: true,
            curl: curl(.delete, "/keys/\(key.id)"), command: "sojourn key withdraw \(Self.operands(key.id))")
    }

    private var creation: ConsoleAct {
        let body: [String: JSONValue] = [
            "name": .string("…"), "scope": .string("read"), "expires_in": .integer(7_776_000),
        ]
        return ConsoleAct(
            .consoleKeys, "create", label: "New admin key", question: "Make an admin key? It is shown once.",
            fields: [
                .text("name", label: "Name: who will use it, and for what"),
                .choice(
                    "scope", label: "Scope",
                    [
                        (value: "feed", label: "feed: the feed of revocations"),
                        (value: "read", label: "read: look at all"),
                        (value: "users", label: "users: make users, invite, give reset links; for a sign-up backend"),
                        (value: "support", label: "support: also end sessions, disable and unlock users"),
                        (value: "owner", label: "owner: all"),
                    ], chosen: "read"),
                .text("expires_in", label: "Ends after", value: "90d", hint: "14d, 12h or seconds; empty: never."),
            ], button: "Make the key", curl: curl(ConsoleCall(method: .post, path: "/admin-keys", body: body)),
            command: "sojourn admin-key create '…' --scope read --expires-in 90d")
    }

    private func deletion(_ key: AdminKey) -> ConsoleAct {
        ConsoleAct(
            .consoleKeys, "delete", label: "Delete \(DisplayedName.cut(key.name))",
            question: """
                Delete the admin key \(name: key.name) (\(code: key.id))? It allows nothing from then on.\
                \(key.id == stay.key.id ? " It is yours: you leave the console." : "")
                """,
            fields: [.hidden("key", key.id)], button: "Delete \(DisplayedName.cut(key.name))", isDestructive: true,
            curl: curl(.delete, "/admin-keys/\(key.id)"), command: "sojourn admin-key delete \(key.id)")
    }
}

/// Names from outside in labels of buttons.
enum DisplayedName {
    /// At most 40 characters.
    static func cut(_ name: String) -> String {
        let characters = name.unicodeScalars.prefix(80)
        let text = String(String.UnicodeScalarView(characters))
        return text.count <= 40 ? text : text.prefix(39) + "…"
    }
}
