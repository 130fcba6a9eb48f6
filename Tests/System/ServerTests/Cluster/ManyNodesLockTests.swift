import HTTP
import JSON
import PostgresFixture
import Testing

@testable import sojourn

/// Wrong passwords on three processes: each has delays of its own, all have one count that leads to the lock.
@Suite("Many nodes: wrong passwords", .timeLimit(.minutes(5)))
struct ManyNodesLockTests {
    private static let right = "a long enough password"

    private func logIn(
        _ password: String, device: String = "strange", at node: CrashServer
    ) -> CrashServer.Answer? {
        node.call(
            .post, "/v1/login",
            .object([
                "username": .string("ada"), "password": .string(password), "device": .object(["id": .string(device)]),
            ]))
    }

    @Test("twenty wrong passwords over all nodes lock a user, and leave all sessions and other users alone")
    func lock() async throws {
        let nodes = try await ManyNodes(on: PostgresServer.shared.newDatabase()).nodes
        let made = nodes[0].admin(
            .post, "/users", .object(["username": .string("ada"), "password": .string(Self.right)]))
        #expect(made?.status == 201)
        var stay = try ManyNodes.Stay(logIn(Self.right, device: "known", at: nodes[2]))
        // Ten at one node before it delays, ten at the next: for an attacker no node is worth another ten but one.
        for guess in 1...20 {
            let locked = nodes[2].admin(.get, "/users/username:ada")?.json["locked_until"]
            #expect(locked == nil || locked == .null, "before guess \(guess)")
            #expect(logIn("wrong \(guess)", at: nodes[guess > 10 ? 1 : 0])?.status == 401, "\(guess)")
        }
        #expect(nodes[2].admin(.get, "/users/username:ada")?.json["locked_until"]?.integer != nil)
        // The third has seen none of them, and takes the right one no more.
        #expect(logIn(Self.right, at: nodes[2])?.status == 401)
        for node in nodes {
            stay = try ManyNodes.Stay(node.refresh(stay.refresh))
            #expect(node.call(.get, "/v1/me", bearer: stay.access)?.status == 200)
        }
        stay = try ManyNodes.Stay(logIn(Self.right, device: "known", at: nodes[0]))
        #expect(nodes[1].admin(.post, "/users/username:ada/unlock")?.status == 200)
        for node in nodes { #expect(logIn(Self.right, at: node)?.status == 200) }
    }

    @Test("a session has as many wrong passwords on three nodes as on one, and they end nothing")
    func session() async throws {
        let limits = [
            "SOJOURN_LIMITS_WRONG_PASSWORDS_BEFORE_DELAY": "3", "SOJOURN_LIMITS_WRONG_PASSWORDS_BEFORE_LOCK": "3",
        ]
        let nodes = try await ManyNodes(on: PostgresServer.shared.newDatabase(), environment: limits).nodes
        let made = nodes[0].admin(
            .post, "/users", .object(["username": .string("ada"), "password": .string(Self.right)]))
        #expect(made?.status == 201)
        let stay = try ManyNodes.Stay(logIn(Self.right, device: "known", at: nodes[0]))
        func show(_ password: String, at node: CrashServer) -> Int? {
            node.call(.post, "/v1/me/presence", bearer: stay.access, .object(["password": .string(password)]))?.status
        }
        for node in nodes { #expect(show("wrong", at: node) == 401) }
        for node in nodes { #expect(show(Self.right, at: node) == 429) }
        for node in nodes { #expect(node.call(.get, "/v1/me", bearer: stay.access)?.status == 200) }
        // Logins from the device have a count of their own.
        for node in nodes { #expect(logIn("wrong", device: "known", at: node)?.status == 401) }
        for node in nodes { #expect(logIn(Self.right, device: "known", at: node)?.status == 429) }
        #expect(logIn(Self.right, at: nodes[2])?.status == 200)
        #expect(nodes[1].admin(.post, "/users/username:ada/unlock")?.status == 200)
        for node in nodes { #expect(show(Self.right, at: node) == 200) }
        #expect(logIn(Self.right, device: "known", at: nodes[2])?.status == 200)
    }
}
