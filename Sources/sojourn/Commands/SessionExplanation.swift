import HTTP
import JSON
import Sessions

/// The sentences of `session explain`: whether a device is logged out, and why.
struct SessionExplanation {
    private let session: JSONValue
    private let user: JSONValue?
    private let events: [JSONValue]

    /// Reads the answer `{session, user, events}`.
    init(_ answer: JSONValue) {
        session = answer["session"] ?? .null
        user = answer["user"]
        events = answer["events"]?.elements ?? []
    }

    /// The events of the session in the audit trail, and the events of its user during the session.
    static func events(
        of session: JSONValue, userID: String, _ connection: AdminConnection
    ) async throws(Failure) -> [JSONValue] {
        let (id, start) = (session["session_id"]?.string, session["started_at"]?.integer ?? 0)
        let end = session["ended_at"]?.integer ?? .max
        var found: [JSONValue] = []
        var cursor: String?
        repeat {
            let page = try await connection.send(
                .get, ["events"], query: [("user", userID), ("cursor", cursor), ("limit", "200")])
            found += (page["items"]?.elements ?? []).filter { event in
                if let named = event["session_id"]?.string { return named == id }
                let at = event["at"]?.integer ?? 0
                return at >= start && at <= end && ofInterest.contains(event["event"]?.string ?? "")
            }
            cursor = page["next_cursor"]?.string
        } while cursor != nil
        return found
    }

    private static let ofInterest = Set(
        [AuditEvent.Kind.sessionsEnded, .loginsDisabled, .loginsEnabled, .passwordChanged, .userDeleted].map(\.rawValue)
    )

    /// The sentences.
    var text: String {
        var paragraphs = [opening, verdict]
        paragraphs += SessionLimits(session).sentences
        if let blocked { paragraphs.append(blocked) }
        if let bonds { paragraphs.append(bonds) }
        if !events.isEmpty {
            paragraphs.append("What the audit trail says:\n" + events.map(line).joined(separator: "\n"))
        }
        return paragraphs.joined(separator: "\n\n")
    }

    private var opening: String {
        let name = user?["username"]?.string ?? "a deleted user"
        return "\(Formatting.visible(name)) logged in to '\(session["client_id"]?.cell ?? "")' on "
            + "\(Formatting.visible(SessionCommands.deviceName(session))) at \(Formatting.time(session["started_at"]?.integer)). "
            + "The last refresh was at \(Formatting.timeWithDistance(session["last_refreshed_at"]?.integer))."
    }

    private var verdict: String {
        guard let reason = session["ended_reason"]?.string else {
            return "The session is active. Without a refresh it ends at "
                + "\(Formatting.timeWithDistance(session["session_idle_expires_at"]?.integer)), and in any case at "
                + "\(Formatting.timeWithDistance(session["session_expires_at"]?.integer)). If the app says it is logged out, it "
                + "has lost its token, or took an error for a logout: only an answer with 'reauthenticate: true' means one."
        }
        let (meaning, advice) = EndReason(rawValue: reason)?.explanation ?? ("", "")
        return
            "It ended at \(Formatting.timeWithDistance(session["ended_at"]?.integer)): \(reason).\n\(meaning)\n\(advice)"
    }

    /// The note about disabled logins, which look like a logout to the user.
    private var blocked: String? {
        guard session["ended_reason"] == nil, let user else { return nil }
        if user["login_disabled_by_admin"] != nil {
            return "But an admin has switched this user's logins off, so refreshes are refused and the session waits. "
                + "'sojourn user enable \(Formatting.visible(user["username"]?.cell ?? ""))' lets it go on."
        }
        if user["login_disabled_by_user"] != nil {
            return "But the user has switched logins off, so refreshes are refused and the session waits. The user can "
                + "switch them on with the password or an ID token (PUT /v1/me/login-settings)."
        }
        return nil
    }

    /// The note about the phone that let the session in, and about what it has let in itself.
    private var bonds: String? {
        var sentences: [String] = []
        if let parent = session["parent_session_id"]?.string {
            sentences.append(
                "A phone let it in, and it ends with the session of that phone: \(Formatting.visible(parent)).")
        }
        if let children = session["child_session_ids"]?.elements, !children.isEmpty {
            let ids = children.map { Formatting.visible($0.cell) }.joined(separator: ", ")
            sentences.append("It has let these sessions in, which end with it: \(ids).")
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private func line(_ event: JSONValue) -> String {
        let parts = [
            event["reason"]?.string, event["actor"]?.string.map { "by \($0)" },
            event["remote_address"]?.string.map { "from \($0)" }, event["request_id"]?.string.map { "request \($0)" },
        ]
        return "  \(Formatting.time(event["at"]?.integer))  \((event["event"]?.cell ?? "").padded(to: 18))  "
            + Formatting.visible(parts.compactMap { $0 }.joined(separator: ", "))
    }
}

/// The sentences of `session explain` about the limits: which one applies, its last change, and whether a change has brought
/// the session back, or still can.
struct SessionLimits {
    private let session: JSONValue
    private let idle: JSONValue?
    private let maximum: JSONValue?

    /// Reads the answer of `GET /admin/v1/sessions/{session_id}`.
    init(_ session: JSONValue) {
        self.session = session
        let limits = session["limits"]?.elements ?? []
        (idle, maximum) = (limits.first, limits.dropFirst().first)
    }

    /// One sentence or a few for each limit that matters.
    var sentences: [String] {
        switch session["ended_reason"]?.string.map({ EndReason(rawValue: $0) }) {
        case .some(.idleExpired): [idle.map(applied), pending].compactMap { $0 }
        case .some(.maxLifetimeReached): [maximum.map(applied), pending].compactMap { $0 }
        case .some: []
        case nil:
            [
                idle.map {
                    "The time without a refresh is \(value($0))." + change(of: $0)
                        + revival(by: $0, from: "last_refreshed_at")
                },
                maximum.map {
                    "The time in any case is \(value($0))." + change(of: $0) + revival(by: $0, from: "started_at")
                },
            ].compactMap { $0 }
        }
    }

    private func applied(_ limit: JSONValue) -> String {
        "The limit that applied is \(value(limit)), as it is set today." + change(of: limit)
    }

    /// `offline_session_idle of the settings: 14 days`.
    private func value(_ limit: JSONValue) -> String {
        let place =
            switch limit["source"]?.string.flatMap({ SessionLimit.Source(rawValue: $0) }) {
            case .client: "of the client '\(Formatting.visible(session["client_id"]?.cell ?? ""))'"
            case .user: "of the user"
            case .configuration: "of the configuration file (sessions.absolute_max_lifetime)"
            case .settings, nil: "of the settings"
            }
        return "\(limit["name"]?.cell ?? "") \(place): \(Formatting.span(limit["seconds"]?.integer ?? 0))"
    }

    private func change(of limit: JSONValue) -> String {
        guard let at = limit["changed_at"]?.integer else { return "" }
        let earlier = limit["earlier_seconds"]?.integer.map { "; it was \(Formatting.span($0)) before" } ?? ""
        return " It was last changed at \(Formatting.timeWithDistance(at)) by "
            + "\(Formatting.visible(limit["changed_by"]?.cell ?? ""))\(earlier)."
    }

    /// The notice for an active session that had ended under the limit before.
    private func revival(by limit: JSONValue, from start: String) -> String {
        guard let changed = limit["changed_at"]?.integer, let earlier = limit["earlier_seconds"]?.integer,
            let began = session[start]?.integer, began + earlier <= changed
        else { return "" }
        return
            " Under the value before, the session had ended at \(Formatting.time(began + earlier)): that change has brought it "
            + "back."
    }

    /// The notice for an end that only the clock has brought.
    private var pending: String? {
        guard session["end_recorded"]?.bool == false else { return nil }
        return
            "The end is not recorded yet: if that limit becomes longer before the clean-up or a refresh records it, the session "
            + "is active again."
    }
}
