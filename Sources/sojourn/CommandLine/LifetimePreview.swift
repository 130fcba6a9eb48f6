import HTTP
import JSON

/// The question before a change of lifetimes that ends sessions.
enum LifetimePreview {
    static let option = Command.Option("--yes", nil, "confirm that active sessions end by it at once")

    private static let members = [
        "offline_session_idle", "offline_session_max", "offline_session_max_limited", "access_token_lifetime",
        "refresh_after", "rotation_interval", "stay_logged_in",
    ]

    /// Whether a change of these members can end sessions.
    static func isAsked(_ body: [String: JSONValue]) -> Bool { body.keys.contains { members.contains($0) } }

    /// Throws, with the number of the sessions, if a change of what stands at `path` ends some and `--yes` is missing.
    static func confirm(
        _ connection: AdminConnection, _ arguments: Arguments, _ path: [String], _ body: [String: JSONValue]
    ) async throws(Failure) {
        guard isAsked(body), !arguments.has(option.name) else { return }
        let lifetimes = body.filter { members.contains($0.key) }
        let preview = try await connection.send(.post, path + ["preview"], .object(lifetimes))
        guard let question = question(preview) else { return }
        throw arguments.usage("\(question); add --yes if you mean it")
    }

    /// Throws if active sessions end with the client, and `--yes` is missing.
    static func confirmDeletion(
        ofClient id: String, _ connection: AdminConnection, _ arguments: Arguments
    ) async throws(Failure) {
        if arguments.has(option.name) { return }
        let preview = try await connection.send(.post, ["clients", id, "preview"], .object([:]))
        let count = preview["sessions"]?.integer ?? 0
        if count == 0, preview["is_sample"]?.bool != true { return }
        let isSample = preview["is_sample"]?.bool == true
        if isSample, count == 0 {
            throw arguments.usage("\(unknown) the client \(id); add --yes if you mean it")
        }
        throw arguments.usage(
            "\(isSample ? "at least " : "")\(Formatting.count(count, "active session")) would end with the client \(id); add --yes if you mean it"
        )
    }

    /// The beginning of a question for which a sample held no session.
    private static let unknown = "there are too many sessions to look at all of them, and some may end with"

    /// The sentence about what a change ends; nil if it ends nothing.
    static func question(_ preview: JSONValue) -> String? {
        let (looked, ending) = (preview["sessions"]?.integer ?? 0, preview["ending_now"]?.integer ?? 0)
        let sessions = Formatting.count(looked, "active session")
        let result = "would end at once, and their users would have to log in again"
        if preview["is_sample"]?.bool != true { return ending > 0 ? "\(ending) of \(sessions) \(result)" : nil }
        if looked == 0 { return "\(unknown) it" }
        guard ending > 0 || preview["ending_earlier"]?.integer ?? 0 > 0 else { return nil }
        return "of a sample of \(sessions), \(ending) \(result)"
    }
}
