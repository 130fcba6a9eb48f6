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
        let (meaning, advice) = EndReason(rawValue: reason).map(Self.meaning) ?? ("", "")
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

    private func line(_ event: JSONValue) -> String {
        let parts = [
            event["reason"]?.string, event["actor"]?.string.map { "by \($0)" },
            event["remote_address"]?.string.map { "from \($0)" }, event["request_id"]?.string.map { "request \($0)" },
        ]
        return "  \(Formatting.time(event["at"]?.integer))  \((event["event"]?.cell ?? "").padded(to: 18))  "
            + Formatting.visible(parts.compactMap { $0 }.joined(separator: ", "))
    }

    private static func meaning(_ reason: EndReason) -> (meaning: String, advice: String) {
        switch reason {
        case .loggedOut: ("The app logged out.", "Nothing to do: the user logs in again when they want to.")
        case .replaced:
            (
                "The same user logged in again on the same device: the newer session took its place.",
                "If that is not so, two installations use one device id: each needs its own."
            )
        case .revokedByUser:
            ("The user ended this device from another one.", "If it was not them, they should change the password.")
        case .revokedByAdmin:
            (
                "An admin ended it: this session, all of the user's, all of every user, or the app was deleted.",
                "The audit trail below names the admin key, where one session or user was meant."
            )
        case .passwordChanged:
            (
                "The password was changed or reset, which logs out the other devices.",
                "The user logs in with the new one."
            )
        case .idleExpired:
            (
                "The device did not refresh for longer than offline_session_idle allows.",
                "If users are away for longer, raise it: sojourn settings set --offline-session-idle 30d."
            )
        case .maxLifetimeReached:
            (
                "The session reached its longest lifetime, which refreshes do not extend.",
                "Meant to be. See 'sojourn settings show', the client's and the user's own maximum."
            )
        case .codeReused:
            (
                "The authorization code that started the session was presented again with its verifier.",
                "An app that sends a request again has to repeat its Idempotency-Key; otherwise the code was copied."
            )
        case .refreshTokenReused:
            (
                "A refresh token came that had long been replaced: two copies of it are in use. One of them was stolen, "
                    + "or the app was restored from a backup, or two processes of it do not share their store.",
                "If it happens to many users after a release, look at how the app stores the token; if to one, take it "
                    + "for a theft: sojourn user revoke, and a new password."
            )
        case .userDeleted: ("The user was deleted.", "Nothing to do.")
        case .revokedByProvider:
            (
                "The identity provider by which the user logged in was asked again and refused: the user is deleted or blocked "
                    + "there, or has to log in there again.",
                "The user logs in again, if the provider lets them."
            )
        case .recheckLost:
            (
                "An answer of the identity provider was lost, with the only token by which it could be asked again, and its "
                    + "last word became too old.",
                "The user logs in again. If it happens often, look at the network to the provider."
            )
        }
    }
}
