public import HTTP
public import Pages
public import Sessions

/// Says what the pages of the console show. All words of the console are in this type, which the files beside this one extend.
public struct ConsoleView: Sendable {
    let admin: ConsoleAdmin
    let setting: ConsoleSetting

    /// The view of an admin.
    public init(_ admin: ConsoleAdmin, _ setting: ConsoleSetting) {
        (self.admin, self.setting) = (admin, setting)
    }

    var now: Instant { setting.now }
    var policy: RefreshPolicy { setting.policy }

    /// A page. The sentence of the flash in the URL stands at its top.
    func page(
        _ tab: ConsolePage.Tab?, _ title: String, heading: ConsoleText? = nil, lead: ConsoleText? = nil,
        notice: ConsoleNotice? = nil, _ blocks: [ConsoleBlock]
    ) -> ConsolePage {
        ConsolePage(
            header: ConsolePage.Header(admin.key), form: admin.form,
            tab: tab,
            title: title, heading: heading, lead: lead, notice: notice ?? admin.flash?.notice,
            blocks: blocks)
    }

    /// The page for a key that may not do that, with what was typed.
    public func refusal(_ scope: AdminKey.Scope, _ typed: TypedForm? = nil) -> ConsolePage {
        // A key that may not look at all is none for the console.
        let needed = AdminKey.Scope.allCases.first { $0.includes(scope) && $0.includes(.read) } ?? scope
        return page(
            nil, "Not with this key",
            notice: (
                .bad,
                """
                This needs an admin key with the scope \(code: needed.rawValue); yours has \
                \(code: admin.key.scope.rawValue). Nothing has happened.
                """
            ), [typed?.shown, .text("\(link: .console, "Back to the console")")].compactMap(\.self))
    }

    /// The page of an error, with the form that has met it.
    public static func errorPage(
        _ status: Status, detail: String, requestID: String, typed: TypedForm? = nil, _ form: FormState? = nil
    ) -> ConsolePage {
        let title: String =
            switch status.code {
            case 404: "Not here"
            case 421: "Not by this address"
            case 403: "Not from there"
            case 400..<500: "Not understood"
            default: "Not now"
            }
        return ConsolePage(
            header: nil, form: form, tab: nil, title: title, notice: (.bad, "\(sentence: detail)"),
            blocks: (typed?.blocks ?? []) + [
                .text("The request is \(code: requestID) in the log of the server."),
                .text("\(link: .console, "To the console")"),
            ])
    }

    /// The page that asks for a key.
    public static func entry(_ entry: ConsoleEntry, _ message: ConsoleEntry.Message?, _ form: FormState) -> ConsolePage
    {
        let notice: (ConsoleLook, ConsoleText)? =
            switch message {
            case .pressAgain: (.plain, "The page was too old: press once more.")
            case .typedIsKept:
                (.plain, "You were away for too long, so nothing has happened. What you typed is kept: enter again.")
            case .unknownKey: (.bad, "This is no admin key of this server, or it has expired or was deleted.")
            case .keyWithoutRead:
                (.bad, "This key may not read what the console shows. The console needs the scope read.")
            case .linkExpired:
                (
                    .bad,
                    """
                    The link has expired or was used: it opens the console once, within a minute. Run \
                    \(code: "sojourn console") again on the server's machine for another one, or paste an admin key.
                    """
                )
            case nil: nil
            }
        let destination = [.hidden("to", entry.path.text)] + (entry.typed?.fields ?? [])
        var blocks: [ConsoleBlock]
        if let token = entry.token, let link = entry.link {
            blocks = [
                .text(
                    """
                    This makes the admin key \(name: link.keyName) with the scope \(code: link.scope.rawValue), which ends in \
                    eight hours, or when you leave.
                    """),
                .form(
                    ConsoleForm(
                        .consoleEnter, fields: [.hidden("token", token)] + destination, button: "Open the console")),
            ]
        } else {
            blocks = [
                .form(
                    ConsoleForm(
                        .consoleEnter, fields: [.secret("key", label: "Admin key")] + destination, button: "Enter")),
                .text(
                    """
                    Or run \(code: "sojourn console") on the server's machine: it prints a link that needs no key. The console \
                    may do what the key may do, and ends after 30 minutes without use.
                    """),
            ]
            if entry.path != .console {
                blocks.append(.text("You are inside already? \(link: entry.path, "Go on to the page.")"))
            }
        }
        return ConsolePage(
            header: nil, form: form, tab: nil, title: ConsolePage.ownTitle, notice: notice, blocks: blocks)
    }
}

// Words that many pages share.
extension ConsoleView {
    /// The page of a user.
    public static func path(ofUser id: some CustomStringConvertible) -> PagePath {
        PagePath.consoleUsers.appending("\(id)")
    }

    /// The page of a session.
    public static func path(ofSession id: some CustomStringConvertible) -> PagePath {
        PagePath.consoleSessions.appending("\(id)")
    }

    /// `1 session`, `2 sessions`.
    static func counted(_ number: String, _ noun: String) -> String { "\(number) \(noun)\(number == "1" ? "" : "s")" }

    /// `14 days`, `90 minutes`: the largest unit of which there are two or more, or a whole number.
    static func span(_ duration: Duration) -> String {
        let seconds = duration.wholeSeconds
        for (unit, length) in [("day", Int64(86400)), ("hour", 3600), ("minute", 60)] {
            if seconds >= 2 * length || (seconds >= length && seconds % length == 0) {
                return counted("\(seconds / length)", unit)
            }
        }
        return counted("\(seconds)", "second")
    }

    /// The actor of an event, as the audit trail names it.
    func actor(_ actor: String) -> ConsoleText {
        guard actor.hasPrefix("admin:") else { return "\(actor)" }
        let id = String(actor.dropFirst("admin:".count))
        if id == "local" { return "an admin on the server's machine" }
        return admin.keyNames[id].map { "admin key \(name: $0) (\(code: id))" } ?? "admin key \(code: id)"
    }

    /// A device as its user knows it.
    func device(_ device: Device) -> String { device.shownName ?? device.id }

    func time(_ instant: Instant) -> ConsoleText { "\(time: instant.secondsSinceEpoch)" }

    /// `session started`, for a word of the wire.
    static func plain(_ word: String) -> String { word.replacing("_", with: " ") }

    /// The state of a session, seen at a glance.
    func state(_ record: SessionRecord) -> ConsoleText {
        if let ending = policy.ending(of: record, at: now) {
            return "\(badge: Self.plain(ending.reason.rawValue), ending.reason == .refreshTokenReused ? .bad : .plain)"
        }
        if record.user?.loginRefusal != nil { return "\(badge: "waits: logins disabled", .bad)" }
        return "\(badge: "active", .good)"
    }

    /// A network address with its place.
    func from(_ address: String?) -> ConsoleText {
        guard let address else { return .empty }
        return .joined(["\(address: address)"] + (setting.placeName(address).map { ["\($0)"] } ?? []))
    }

    /// A user in the question of an act: the name with the id, because names of two scripts can look alike.
    static func named(_ id: Identifier<User>, _ username: String?) -> ConsoleText {
        "\(name: username ?? "a deleted user") (\(code: id.description))"
    }

    static func named(_ user: User) -> ConsoleText { named(user.id, user.username) }

    /// A link to a user, with the id beside the name.
    static func link(_ id: Identifier<User>, _ username: String?) -> ConsoleText {
        "\(link: path(ofUser: id), username ?? "a deleted user") (\(code: id.description))"
    }
}
