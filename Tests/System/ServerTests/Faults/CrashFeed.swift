import HTTP
import JSON

@testable import sojourn

/// The whole feed, as a newcomer reads it from a server that was started again.
struct CrashFeed: Sendable {
    /// The reasons for which each session is over, one for each time that it is told.
    private(set) var endings: [String: [String]] = [:]
    /// All sessions that are over, in the order in which it is told.
    private(set) var sessions: [String] = []
    /// The users with tokens that are good for nothing at the end.
    private(set) var blocked: Set<String> = []

    init(_ server: CrashServer) throws {
        var cursor = ""
        while true {
            let page = server.admin(.get, "/revocations?limit=200&cursor=\(cursor)")
            guard let page, page.status == 200, let next = page.json["next_cursor"]?.string else {
                throw ManyNodes.Refused(answer: "\(page?.status ?? 0) \(page?.json ?? .null)")
            }
            for item in page.json["items"]?.elements ?? [] { note(item) }
            if page.json["has_more"] != .bool(true) { return }
            cursor = next
        }
    }

    private mutating func note(_ item: JSONValue) {
        switch item["type"]?.string {
        case "session_ended":
            let id = item["sid"]?.string ?? ""
            sessions.append(id)
            endings[id, default: []].append(item["reason"]?.string ?? "")
        case "user_blocked": blocked.insert(item["sub"]?.string ?? "")
        case "user_unblocked": blocked.remove(item["sub"]?.string ?? "")
        default: break
        }
    }
}
