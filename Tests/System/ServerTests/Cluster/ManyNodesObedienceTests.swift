import HTTP
import JSON
import PostgresFixture
import Testing

@testable import sojourn

/// Promise 2 on three processes: what one has acknowledged is obeyed by all from then on, while requests race on the others.
@Suite("Many nodes: what one has acknowledged", .timeLimit(.minutes(5)))
struct ManyNodesObedienceTests {
    enum Change: CaseIterable {
        case revoke, endSessions, disable, setPassword, deleteUser, revokeAll, shortenSetting, shortenMaximum

        /// Code of the refusal; nil when answers only change.
        var code: String? {
            switch self {
            case .revoke, .endSessions, .revokeAll: "revoked_by_admin"
            case .disable: "login_disabled_by_admin"
            case .setPassword: "password_changed"
            case .deleteUser: "user_deleted"
            case .shortenSetting: nil
            case .shortenMaximum: "max_lifetime_reached"
            }
        }
    }

    /// Together they take about ten seconds.
    private static let rounds = 2

    @Test("an acknowledged ending is obeyed by all nodes, by refreshes and by rolling tokens", arguments: [0, 120])
    func obedience(rotationInterval: Int64) async throws {
        // Six clients that do not rest are refused more often than the limits allow on some machines.
        let limits = ["ADDRESS", "USER", "SESSION"].map { ("SOJOURN_LIMITS_REFUSED_TOKENS_PER_\($0)_PER_MINUTE", "0") }
        let nodes = try await ManyNodes(
            on: PostgresServer.shared.newDatabase(), environment: Dictionary(uniqueKeysWithValues: limits))
        try nodes.set(["rotation_interval": .integer(rotationInterval)], at: nodes.nodes[0])
        for round in 0..<Self.rounds {
            for change in Change.allCases where change != .shortenMaximum || round == 0 {
                try await race(change, nodes, round)
            }
        }
    }

    private func race(_ change: Change, _ nodes: ManyNodes, _ round: Int) async throws {
        let changing = nodes.nodes[round % nodes.nodes.count]
        let others = nodes.nodes.indices.filter { $0 != round % nodes.nodes.count }.map { nodes.nodes[$0] }
        // A refresh shows what settings have become; an access token does not.
        let questions = change == .shortenSetting ? [.refresh] : ManyNodesRacer.Question.allCases
        let username = "\(change)-\(round)"
        let stays = try nodes.createUser(username, devices: 2 * questions.count, at: changing)
        let begin = ContinuousClock.now
        let refreshAfter = Int64(round + 1)
        let racers = stays.enumerated().map { index, stay in
            ManyNodesRacer(questions[index / 2], of: stay, at: others[index % 2]) { answer in
                if answer.status == 401, let code = change.code, answer.json["code"]?.string == code { return false }
                guard answer.status == 200 else { return nil }
                guard change == .shortenSetting else { return true }
                guard let issued = answer.json["issued_at"]?.integer, let due = answer.json["refresh_after"]?.integer
                else {
                    return nil
                }
                return due - issued != refreshAfter
            }
        }
        for racer in racers { await racer.awaitAnswers() }
        if change == .shortenMaximum {
            // Only time can bring a session to its end.
            while ContinuousClock.now - begin < .seconds(2) { try await Task.sleep(for: .milliseconds(10)) }
        }
        let answer = make(change, username, stays, refreshAfter: refreshAfter, at: changing)
        for racer in racers { racer.acknowledge() }
        #expect((200..<300).contains(answer?.status ?? 0), "\(change) \(answer?.status ?? 0) \(answer?.json ?? .null)")
        for racer in racers {
            let sight = await racer.end()
            #expect(sight.unchanged.before > 0)
            #expect(sight.unchanged.after == 0, "\(change), round \(round)")
            #expect(sight.strange == [], "\(change), round \(round)")
        }
        if change == .shortenMaximum { try nodes.set(["offline_session_max": .integer(15_552_000)], at: changing) }
    }

    private func make(
        _ change: Change, _ username: String, _ stays: [ManyNodes.Stay], refreshAfter: Int64, at node: CrashServer
    ) -> CrashServer.Answer? {
        let user = "/users/username:\(username)"
        let nothing = JSONValue.object([:])
        switch change {
        case .revoke: return node.admin(.post, user + "/revoke", nothing)
        case .endSessions:
            let answers = stays.map { node.admin(.delete, "/sessions/\($0.sessionID)") }
            return answers.first { $0?.status != 204 } ?? answers.last ?? nil
        case .disable: return node.admin(.post, user + "/disable", nothing)
        case .setPassword:
            return node.admin(.put, user + "/password", .object(["new_password": .string("a long enough password")]))
        case .deleteUser: return node.admin(.delete, user)
        case .revokeAll: return node.admin(.post, "/revoke-all", nothing)
        case .shortenSetting:
            return node.admin(.put, "/settings/sessions", .object(["refresh_after": .integer(refreshAfter)]))
        case .shortenMaximum:
            return node.admin(.put, "/settings/sessions", .object(["offline_session_max": .integer(1)]))
        }
    }
}
