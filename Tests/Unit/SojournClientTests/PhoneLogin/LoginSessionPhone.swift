import Foundation
import SojournClient
import SojournTestKit
import Testing

/// What a session has told, in words.
final class SessionRecorder: Sendable {
    private let state = Guarded<(words: [String], isFinished: Bool)>(([], false))

    init(_ session: LoginSession) {
        let events = session.events
        Task { [state] in
            for await event in events {
                let word = Self.word(event)
                state.withLock { $0.words.append(word) }
            }
            state.withLock { $0.isFinished = true }
        }
    }

    var words: [String] { state.withLock { $0.words } }
    var isFinished: Bool { state.withLock { $0.isFinished } }
    /// The results of attempts at a second factor.
    var results: [String] { words.filter { $0.hasPrefix("factor") && !$0.hasPrefix("factor requested") } }

    private static func word(_ event: LoginSessionEvent) -> String {
        switch event {
        case .state(let status): return status.description
        case .confirmLogin: return "confirmLogin"
        case .confirmEnrol: return "confirmEnrol"
        case .secondFactor(let event):
            let result =
                switch event.result {
                case .requested: "requested"
                case .succeeded: "SUCCESS"
                case .failed(let left): "FAILED \(left)"
                case .notGiven: "not given"
                case .refused(let word): "refused \(word)"
                case .unanswered: "unanswered"
                }
            return "factor \(result), \(event.context.rawValue), expects input: \(event.expectsInput)"
        }
    }
}

extension Phone {
    /// Lets virtual time pass, second by second, until `condition` holds. Each second leaves the other tasks some milliseconds of
    /// real time, or on a busy machine the time for the user's input would be over before an act has been sent.
    func pass(
        _ what: Comment, atMost seconds: Int = 400, until condition: () async -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for _ in 0..<seconds {
            let next = ContinuousClock.now + .milliseconds(4)
            repeat {
                if await condition() { return }
                await Task.yield()
            } while ContinuousClock.now < next
            clock.advance(by: .seconds(1))
        }
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end {
            if await condition() { return }
            await Task.yield()
        }
        Issue.record("it never was so: \(what)", sourceLocation: sourceLocation)
    }

    /// The request of a device that the phones of both users have let in before, unless it names another one.
    func known(_ request: TestLoginRequest = TestLoginRequest()) async throws -> TestLoginRequest {
        var request = request
        if request.device == nil {
            request.device = "desktop"
            for user in ["anna", "berta"] { try await server.letIn("desktop", by: user) }
        }
        return request
    }

    /// A session for a picture, once it awaits the user, and the login of the other device. The device is known.
    func scanned(
        _ request: TestLoginRequest = TestLoginRequest(), _ options: LoginSessionOptions = LoginSessionOptions()
    ) async throws -> (LoginSession, TestLogin) {
        let login = try await server.requestLogin(try await known(request))
        let session = try await sojourn.startSession(scanned: login.picture, options: options)
        await until("the details are there") { session.status.state != .starting }
        return (session, login)
    }

    /// A session that has let the other device in.
    func loggedIn(_ request: TestLoginRequest = TestLoginRequest()) async throws -> (LoginSession, TestLogin) {
        let (session, login) = try await scanned(request)
        try await session.confirm(number: 42)
        #expect(try await server.collect(login, device: login.id) != nil)
        await pass("the phone hears of it") { session.status.history != .fail }
        return (session, login)
    }

    /// The other account of the phone, in a slot of its own.
    func account(_ name: String, deviceID: String) async throws -> Sojourn {
        var configuration = SojournConfiguration(server: server.url)
        configuration.slot = name
        configuration.deviceID = deviceID
        configuration.renewal = .refreshToken
        let sojourn = Sojourn(
            configuration, store: MemoryStore(), keys: keys, gate: gate, transport: wire, clock: clock)
        try await sojourn.signIn(username: name, password: "pw")
        return sojourn
    }
}

/// The error of a call; nil if it succeeded.
func failure(_ body: () async throws -> Void) async -> SojournError? {
    do {
        try await body()
        return nil
    } catch {
        let known = error as? SojournError
        if known == nil { Issue.record("\(error)") }
        return known
    }
}

/// The server's word in an error.
func word(_ error: SojournError?) -> String? {
    if case .refused(let refusal)? = error { refusal.code } else { nil }
}
