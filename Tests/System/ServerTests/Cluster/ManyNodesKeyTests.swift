import HTTP
import JSON
import PostgresFixture
import Testing

@testable import sojourn

/// Signing keys on three processes.
@Suite("Many nodes: signing keys", .timeLimit(.minutes(5)))
struct ManyNodesKeyTests {
    private func published(at node: CrashServer) -> [String] {
        node.call(.get, "/oauth/jwks")?.json["keys"]?.elements.compactMap { $0["kid"]?.string } ?? []
    }

    private func rotate(at node: CrashServer) throws -> String {
        let answer = node.admin(.post, "/keys/rotate", .object(["immediately": .bool(true)]))
        return try #require(answer?.json["kid"]?.string, "\(answer?.status ?? 0)")
    }

    @Test("a new key of one node is known to all at once: for verifiers, for its tokens, for new tokens")
    func rotation() async throws {
        let nodes = try await ManyNodes(on: PostgresServer.shared.newDatabase())
        // Three first starts at once have agreed on one key of each kind.
        #expect(Set(nodes.nodes.map { published(at: $0) }).count == 1)
        #expect(published(at: nodes.nodes[0]).count == 2)
        var stay = try nodes.createUser("ada", devices: 1, at: nodes.nodes[0])[0]
        for round in 0..<6 {
            let maker = nodes.nodes[round % 3]
            let others = [nodes.nodes[(round + 1) % 3], nodes.nodes[(round + 2) % 3]]
            let key = try rotate(at: maker)
            // In turn: the set is read before a token of the key was seen; a token comes first; a node signs first.
            switch round / 2 {
            case 0: for node in others { #expect(published(at: node).contains(key), "round \(round)") }
            case 1:
                stay = try ManyNodes.Stay(maker.refresh(stay.refresh))
                #expect(ManyNodes.keyID(of: stay.access) == key)
                for node in others { #expect(node.call(.get, "/v1/me", bearer: stay.access)?.status == 200) }
            default: break
            }
            for node in others {
                stay = try ManyNodes.Stay(node.refresh(stay.refresh))
                #expect(ManyNodes.keyID(of: stay.access) == key, "round \(round)")
                let listed = node.admin(.get, "/keys")?.json["items"]?.elements.compactMap { $0["kid"]?.string }
                #expect(listed?.contains(key) == true)
            }
            for node in nodes.nodes { #expect(node.call(.get, "/v1/verify", bearer: stay.access)?.status == 200) }
        }
    }

    @Test("a token of a withdrawn key is refused by every node, and no node signs with that key")
    func withdrawal() async throws {
        let nodes = try await ManyNodes(on: PostgresServer.shared.newDatabase())
        for round in 0..<8 {
            let maker = nodes.nodes[round % 3]
            let others = [nodes.nodes[(round + 1) % 3], nodes.nodes[(round + 2) % 3]]
            let key = try rotate(at: maker)
            let stays = try nodes.createUser("user-\(round)", devices: 6, at: maker)
            #expect(stays.allSatisfy { ManyNodes.keyID(of: $0.access) == key })
            let racers = stays.enumerated().map { index, stay in
                let question = ManyNodesRacer.Question.allCases[index / 2]
                return ManyNodesRacer(question, of: stay, at: others[index % 2]) { answer in
                    if question == .refresh {
                        return answer.status == 200
                            ? ManyNodes.keyID(of: answer.json["access_token"]?.string) == key : nil
                    }
                    if answer.status == 200 { return true }
                    return answer.status == 401 && answer.json["code"]?.string == "invalid_token" ? false : nil
                }
            }
            for racer in racers { await racer.awaitAnswers() }
            #expect(maker.admin(.delete, "/keys/\(key)")?.status == 204)
            for racer in racers { racer.acknowledge() }
            for node in nodes.nodes { #expect(!published(at: node).contains(key)) }
            for racer in racers {
                let sight = await racer.end()
                #expect(sight.unchanged.before > 0)
                #expect(sight.unchanged.after == 0, "round \(round)")
                #expect(sight.strange == [], "round \(round)")
            }
            // Every session gets a good one at the next refresh, wherever.
            let stay = try ManyNodes.Stay(others[0].refresh(stays[0].refresh))
            for node in nodes.nodes { #expect(node.call(.get, "/v1/me", bearer: stay.access)?.status == 200) }
        }
    }
}
