import Endpoints
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
