import Foundation
import SojournClient
import SojournTestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client without users that stay logged in: a login gives one access token, and nothing renews its session.
struct SingleTokenTests {
    static let ways: [SojournConfiguration.Renewal] = [.refreshToken, .boundRefreshToken, .deviceKey]

    private static func signedIn(
        _ renewal: SojournConfiguration.Renewal, mode: AuthenticationMode = .no,
        _ edit: (inout SojournConfiguration) -> Void = { _ in }
    ) async throws -> Phone {
        let phone = try await Phone.new(renewal: renewal, edit)
        try await phone.server.change(ClientSettings(staysLoggedIn: false))
        try await phone.sojourn.signIn(username: "anna", password: "pw", mode: mode)
        return phone
    }

    @Test("its end is the longest life of the session, and the login follows", arguments: ways)
    func itsEndLeadsToTheLogin(_ renewal: SojournConfiguration.Renewal) async throws {
        let phone = try await Self.signedIn(renewal)
        #expect(phone.record?.session?.refreshToken == nil && phone.record?.session?.renewal == [])
        let token = try await phone.sojourn.accessToken()
        phone.clock.advance(by: .seconds(3599))
        #expect(try await phone.sojourn.accessToken() == token)
        #expect(try await phone.sojourn.accessToken(.fresh) == token)
        #expect(phone.wire.requests("/v1/me").isEmpty)
        phone.clock.advance(by: .seconds(1))
        await #expect(throws: SojournError.ended(.maxLifetimeReached)) { try await phone.sojourn.accessToken() }
        guard case .ended(.maxLifetimeReached, let account, .no) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
        #expect(account.username == "anna")
        // Nothing that the server does not know is presented.
        #expect(phone.wire.renewals.isEmpty)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(try await phone.sojourn.accessToken() != token)
    }

    @Test("a start asks whether the session goes on", arguments: ways)
    func aStartAsks(_ renewal: SojournConfiguration.Renewal) async throws {
        let phone = try await Self.signedIn(renewal)
        let first = phone.other(renewal: renewal)
        await first.sojourn.start()
        #expect(await first.sojourn.settle(within: .seconds(5)))
        guard case .signedIn(_, .current) = first.sojourn.state else {
            Issue.record("\(first.sojourn.state)")
            return
        }
        try await phone.server.revokeAll("anna")
        let next = phone.other(renewal: renewal)
        await next.sojourn.start()
        #expect(await next.sojourn.settle(within: .seconds(5)))
        guard case .ended(.revokedByAdmin, _, _) = next.sojourn.state else {
            Issue.record("\(next.sojourn.state)")
            return
        }
        #expect(phone.wire.renewals.isEmpty && phone.wire.requests("/v1/me").count == 2)
    }

    @Test("without the server the session is neither renewed nor ended", arguments: ways)
    func anOutageEndsNothing(_ renewal: SojournConfiguration.Renewal) async throws {
        let phone = try await Self.signedIn(renewal)
        phone.wire.always(Wire.loseRequest)
        phone.clock.advance(by: .seconds(3700))
        let restarted = phone.other(renewal: renewal)
        // By a clock that the server has not confirmed, the token may still be good.
        #expect(try await restarted.sojourn.accessToken().value == phone.record?.session?.accessToken)
        #expect(phone.record?.session?.ending == nil)
        // A captive portal is no server.
        let asked = phone.wire.requests("/v1/me").count
        phone.wire.always(Wire.answer(200, "<html>log in to the network</html>"))
        phone.clock.advance(by: .seconds(60))
        _ = try await restarted.sojourn.accessToken()
        #expect(phone.wire.requests("/v1/me").count > asked && phone.record?.session?.ending == nil)
        phone.wire.always(nil)
        phone.clock.advance(by: .seconds(60))
        await #expect(throws: SojournError.ended(.maxLifetimeReached)) { try await restarted.sojourn.accessToken() }
    }

    @Test("a token that an API refuses is followed by no other one") func aRefusedTokenIsTheLast() async throws {
        let refused = HTTPURLResponse(
            url: URL(fileURLWithPath: "/"), statusCode: 401, httpVersion: "HTTP/1.1", headerFields: nil)
        let answer = try #require(refused)
        let phone = try await Self.signedIn(.boundRefreshToken) { $0.perform = { _ in (Data(), answer) } }
        let token = try await phone.sojourn.accessToken()
        await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.renewed(after: token)) }
        let request = URLRequest(url: try #require(URL(string: "https://api.example/")))
        #expect(try await phone.sojourn.data(for: request).1.statusCode == 401)
        // If the session is over, the renewal tells.
        phone.clock.advance(by: .seconds(11))
        try await phone.server.revokeAll("anna")
        await #expect(throws: SojournError.ended(.revokedByAdmin)) { try await phone.sojourn.data(for: request) }
    }

    @Test("a key that is gone ends the session, as lost before its end and as over after it")
    func aKeyThatIsGone() async throws {
        for (wait, reason) in [(60, EndReason.keyLost), (3600, .maxLifetimeReached)] {
            let phone = try await Self.signedIn(.boundRefreshToken)
            try await phone.keys.deleteKey(.device)
            phone.clock.advance(by: .seconds(wait))
            await phone.sojourn.start()
            #expect(await phone.sojourn.settle(within: .seconds(5)))
            guard case .ended(reason, _, _) = phone.sojourn.state else {
                Issue.record("\(phone.sojourn.state)")
                continue
            }
        }
    }

    @Test("an unlock shows the user's presence") func anUnlockShowsTheUser() async throws {
        let phone = try await Self.signedIn(.boundRefreshToken, mode: .biometric)
        try await phone.server.askForUser(every: 600)
        phone.clock.advance(by: .seconds(700))
        let restarted = phone.other(renewal: .boundRefreshToken)
        await restarted.sojourn.start()
        try await restarted.sojourn.unlock()
        #expect(try await restarted.sojourn.refreshProfile().username == "anna")
    }
}
