internal import AdminActs
internal import HTTP
internal import JSON
public import Pages
public import Sessions

extension ConsoleView {
    /// The signing keys and the admin keys.
    public func keys(
        _ signing: [StoredSigningKey], _ admin: [AdminKey], _ notice: ConsoleNotice?
    ) -> ConsolePage {
        page(
            .keys, "Keys", notice: notice,
            [
                .section(
                    "Admin keys",
                    [
                        .text("Each opens the admin API and this console, as far as its scope reaches."),
                        .acts([creation].compactMap(\.self)),
                        .items(admin.map(item), empty: "There is none."),
                    ]),
                .section(
                    "Signing keys",
                    [
                        .text("They sign tokens. A new key is published a day before it signs, and rotated by itself."),
                        .acts([rotation].compactMap(\.self)),
                        .items(signing.map(item), empty: "There is none."),
                    ]),
            ])
    }

    private func item(_ key: StoredSigningKey) -> ConsoleItem {
        let state: ConsoleText =
            key.retiredAt != nil
            ? "\(badge: "verifies old tokens", .plain)"
            : now < key.activeFrom ? "\(badge: "published, signs next", .plain)" : "\(badge: "signs", .good)"
        let end: ConsoleText = key.retiredAt.map { " · published until \(time($0))" } ?? ""
        return ConsoleItem(
            "\(code: key.id) \(state)",
            lines: ["\(key.algorithm) · made \(time(key.createdAt)) · signs from \(time(key.activeFrom))\(end)"],
            acts: [withdrawal(key)].compactMap(\.self))
    }

    private func item(_ key: AdminKey) -> ConsoleItem {
        let yours: ConsoleText = key.id == admin.key.id ? " \(badge: "yours", .good)" : ""
        let end: ConsoleText =
            key.expiresAt.map { now < $0 ? "ends \(time($0))" : "\(badge: "ended", .bad) \(time($0))" } ?? "never ends"
        let use: ConsoleText = key.lastUsedAt.map { "last used \(time($0))" } ?? "never used"
        return ConsoleItem(
            "\(key.name) \(badge: key.scope.rawValue, .plain)\(yours)",
            lines: ["\(code: key.id) · made \(time(key.createdAt)) · \(end) · \(use)"],
            acts: [deletion(key)].compactMap(\.self))
    }

    private func form<Act: FormAct>(
        _ act: Act.Type, label: String, question: ConsoleText, fields: [ConsoleField], button: String,
        isDestructive: Bool = false
    ) -> ActForm? {
        form(
            act, on: ActSubject(""), .consoleKeys, label: label, question: question, fields: fields, button: button,
            isDestructive: isDestructive)
    }

    private var rotation: ActForm? {
        form(
            RotateSigningKey.self, label: "New signing key",
            question: "Make a new signing key? It signs a day later, when every verifier has it.",
            fields: [
                .check("immediately", label: "Sign with it at once: verifiers that have not read the key set refuse it")
            ],
            button: "Make the signing key")
    }

    private func withdrawal(_ key: StoredSigningKey) -> ActForm? {
        form(
            WithdrawSigningKey.self, label: "Withdraw \(key.id.prefix(8))",
            question: """
                Withdraw the signing key \(name: key.id)? Every access token that it has signed is refused from then on; apps get \
                new ones by a refresh.
                """,
            fields: [.hidden("key", key.id)], button: "Withdraw \(key.id.prefix(8))", isDestructive: true)
    }

    private var creation: ActForm? {
        form(
            CreateAdminKey.self, label: "New admin key", question: "Make an admin key? It is shown once.",
            fields: [
                .text("name", label: "Name: who will use it, and for what"),
                .choice(
                    "scope", label: "Scope",
                    AdminKey.Scope.allCases.map { (value: $0.rawValue, label: Self.label(of: $0)) }, chosen: "read"),
                .duration("expires_in", label: "Ends after", value: "90d", hint: "Empty: never."),
            ], button: "Make the admin key")
    }

    private static func label(of scope: AdminKey.Scope) -> String {
        switch scope {
        case .feed: "feed: the feed of revocations"
        case .mail: "mail: report refused mailboxes; for a relay"
        case .read: "read: look at all"
        case .users: "users: make users, invite, give reset links; for a sign-up backend"
        case .support: "support: also end sessions, disable and unlock users"
        case .owner: "owner: all"
        }
    }

    private func deletion(_ key: AdminKey) -> ActForm? {
        let isOwn: ConsoleText = key.id == admin.key.id ? " It is yours: you leave the console." : ""
        return form(
            DeleteAdminKey.self, label: "Delete \(DisplayedName.cut(key.name)) (\(key.id))",
            question: """
                Delete the admin key \(name: key.name) (\(code: key.id))? It allows nothing from then on.\(isOwn)
                """,
            fields: [.hidden("key", key.id)], button: "Delete \(DisplayedName.cut(key.name)) (\(key.id))",
            isDestructive: true)
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
