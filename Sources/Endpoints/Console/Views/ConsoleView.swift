internal import HTTP
internal import Pages
internal import Sessions

/// Says what the pages of the console show. All words of the console are in this type, which the files beside this one extend.
struct ConsoleView: Sendable {
    let stay: ConsoleRequest
    let endpoints: Endpoints

    init(_ stay: ConsoleRequest, _ endpoints: Endpoints) {
        self.stay = stay
        self.endpoints = endpoints
    }

    var now: Instant { stay.now }
    var policy: RefreshPolicy { endpoints.context.policy }

    /// A page. The sentence for the word in the URL stands at its top.
    func page(
        _ tab: ConsolePage.Tab?, _ title: String, heading: ConsoleText? = nil, lead: ConsoleText? = nil,
        notice: (look: ConsoleLook, text: ConsoleText)? = nil, _ blocks: [ConsoleBlock]
    ) -> ConsolePage {
        ConsolePage(
            header: ConsolePage.Header(stay.key), form: stay.form,
            tab: tab,
            title: title, heading: heading, lead: lead, notice: notice ?? stay.word.flatMap(Self.sentence),
            blocks: blocks)
    }

    /// What was done, by the word in the URL.
    private static func sentence(_ word: String) -> (look: ConsoleLook, text: ConsoleText)? {
        let parts = word.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1] : ""
        return switch parts.first {
        case "again": (.plain, "The page was too old, so nothing has happened: press once more.")
        case "disabled": (.good, "Logins are disabled. \(counted(rest, "session")) ended.")
        case "enabled": (.good, "Logins are enabled again.")
        case "unlocked": (.good, "The lock by wrong passwords is removed.")
        case "revoked": (.good, "\(counted(rest, "session")) ended.")
        case "ended": (.good, "The session is over.")
        case "login-over": (.good, "The login is over.")
        case "stream": (.good, "The status of the stream is set.")
        case "verified": (.good, "The stream carries a verification event: see below whether the receiver takes it.")
        case "removed": (.good, "The passkey is removed.")
        case "pin-removed": (.good, "The session has no PIN.")
        case "edited": (.good, "The profile is changed.")
        case "same": (.plain, "Nothing was changed.")
        case "stream-ended": (.good, "The stream is deleted, with what waited in it.")
        case "changed": (.good, "The change is made, and acts from now on.")
        case "created": (.good, "It is made.")
        case "user-created": (.good, "The user is made, without a password: make a link for one.")
        case "deleted": (.good, "It is deleted.")
        case "rotated": (.good, "There is a new key.")
        case "retried": (.good, "Deliveries that wait are tried again now.")
        default: nil
        }
    }

    /// The page for a key that may not do that, with what was typed.
    func refusal(_ scope: AdminKey.Scope, _ typed: TypedForm? = nil) -> ConsolePage {
        // A key that may not look at all is none for the console.
        let needed = AdminKey.Scope.allCases.first { $0.includes(scope) && $0.includes(.read) } ?? scope
        return page(
            nil, "Not with this key",
            notice: (
                .bad,
                """
                This needs an admin key with the scope \(code: needed.rawValue); yours has \
                \(code: stay.key.scope.rawValue). Nothing has happened.
                """
            ), [typed?.shown, .text("\(link: .console, "Back to the console")")].compactMap(\.self))
    }

    /// The page of an error, with the form that has met it.
    static func errorPage(
        _ problem: Problem, requestID: String, typed: TypedForm? = nil, _ form: FormState? = nil
    ) -> ConsolePage {
        let title: String =
            switch problem.httpStatus.code {
            case 404: "Not here"
            case 421: "Not by this address"
            case 403: "Not from there"
            case 400..<500: "Not understood"
            default: "Not now"
            }
        return ConsolePage(
            header: nil, form: form, tab: nil, title: title, notice: (.bad, "\(sentence: problem.detail)"),
            blocks: (typed?.blocks ?? []) + [
                .text("The request is \(code: requestID) in the log of the server."),
                .text("\(link: .console, "To the console")"),
            ])
    }

    /// The page that asks for a key.
    static func entry(_ entry: ConsoleEntry, _ message: ConsoleEntry.Message?, _ form: FormState) -> ConsolePage {
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
    static func path(ofUser id: some CustomStringConvertible) -> PagePath {
        PagePath.consoleUsers.appending("\(id)")
    }

    static func path(ofSession id: some CustomStringConvertible) -> PagePath {
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
        return stay.keyNames[id].map { "admin key \(name: $0) (\(code: id))" } ?? "admin key \(code: id)"
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
        return .joined(["\(address: address)"] + (endpoints.placeName(address).map { ["\($0)"] } ?? []))
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
