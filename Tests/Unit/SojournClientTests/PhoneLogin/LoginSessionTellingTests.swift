import Foundation
import SojournClient
import SojournTestKit
import Testing

/// What the app is told of an attempt at a second factor, when a poll overtakes the answer to it: the result and the call agree.
struct LoginSessionTellingTests {
    private static let factorRequired: TestLoginRequest = {
        var request = TestLoginRequest()
        request.secondFactor = "required"
        return request
    }()

    /// A call of the app, and its error once it has ended.
    private final class Call: Sendable {
        private let end = Guarded<(isOver: Bool, error: SojournError?)>((false, nil))

        init(_ body: @escaping @Sendable () async throws -> Void) {
            Task { [end] in
                let error = await failure(body)
                end.withLock { $0 = (true, error) }
            }
        }

        var isOver: Bool { end.withLock { $0.isOver } }
        var error: SojournError? { end.withLock { $0.error } }
    }

    /// Treats the requests to a path of that ending by `rule`, until it is taken back.
    private func treat(_ phone: Phone, _ ending: String, _ rule: @escaping Wire.Rule) {
        phone.wire.always { request, server, limit throws(TransportFailure) in
            guard request.method == "POST", request.url.path.hasSuffix(ending) else {
                return try await server.send(request, within: limit)
            }
            return try await rule(request, server, limit)
        }
    }

    private func awaitingFactor(_ phone: Phone) async throws -> (LoginSession, TestLogin, SessionRecorder) {
        let (session, login) = try await phone.scanned(Self.factorRequired)
        let recorder = SessionRecorder(session)
        try await session.confirm(number: 42)
        return (session, login, recorder)
    }

    /// A right factor that a poll has told of, while its answer waits at the gate and is lost beyond.
    private func lostFactor(_ phone: Phone, _ session: LoginSession) async -> (Call, Gate) {
        let gate = Gate()
        treat(phone, "/second-factor") { request, server, limit throws(TransportFailure) in
            _ = try await server.send(request, within: limit)
            await gate.pass()
            throw .unreachable("lost")
        }
        let call = Call { try await session.enterSecondFactor(password: "pw") }
        await phone.pass("it is told") { session.status == LoginStatus(.active) }
        return (call, gate)
    }

    @Test("a poll tells that the factor is right, and its answer never comes: the call succeeds as well")
    func lostForEver() async throws {
        let phone = try await Phone.signedIn()
        let (session, _, recorder) = try await awaitingFactor(phone)
        let (call, gate) = await lostFactor(phone, session)
        await gate.open()
        await phone.pass("it is over") { call.isOver }
        #expect(call.error == nil && session.status == LoginStatus(.active))
        await until("told") { recorder.words.last == "ACTIVE FAIL" }
        #expect(recorder.results == ["factor SUCCESS, VERIFY, expects input: false"])
    }

    @Test("a poll tells that the factor is right, and then that the login is over: the call succeeds all the same")
    func endedMeanwhile() async throws {
        let phone = try await Phone.signedIn()
        let (session, login, recorder) = try await awaitingFactor(phone)
        let (call, gate) = await lostFactor(phone, session)
        try await phone.server.cancel(login)
        await phone.pass("the end is told") { session.status.isFinal }
        await gate.open()
        await phone.pass("it is over") { call.isOver }
        #expect(call.error == nil)
        #expect(recorder.results == ["factor SUCCESS, VERIFY, expects input: false"])
    }

    /// Loses the proofs of an attempt, and keeps one of them to be delivered late.
    private func loseFirstAttempt(_ phone: Phone, _ session: LoginSession) async throws -> HTTPMessage {
        let kept = Guarded<HTTPMessage?>(nil)
        treat(phone, "/second-factor") { request, _, _ throws(TransportFailure) in
            kept.withLock { $0 = request }
            throw .unreachable("lost")
        }
        let call = Call { try await session.enterSecondFactor(password: "pw") }
        await phone.pass("it is given up") { call.isOver }
        guard case .unreachable? = call.error else {
            Issue.record("\(String(describing: call.error))")
            throw CancellationError()
        }
        phone.wire.always(nil)
        return try #require(kept.withLock { $0 })
    }

    @Test("the wrong factor of a second attempt does not fail, once a poll has told that the first one is right")
    func wrongSecondAttempt() async throws {
        let phone = try await Phone.signedIn()
        let (session, _, recorder) = try await awaitingFactor(phone)
        let first = try await loseFirstAttempt(phone, session)
        let gate = Gate()
        treat(phone, "/second-factor", Wire.holdAnswer(gate))
        let call = Call { try await session.enterSecondFactor(password: "no") }
        await until("it is decided") { await gate.waiting == 1 }
        phone.wire.always(nil)
        _ = try await phone.wire.send(first, within: .seconds(9))
        await phone.pass("it is told") { session.status == LoginStatus(.active) }
        await gate.open()
        await phone.pass("it is over") { call.isOver }
        #expect(call.error == nil)
        await until("told") { recorder.results.count == 2 }
        #expect(
            recorder.results == [
                "factor unanswered, VERIFY, expects input: true", "factor SUCCESS, VERIFY, expects input: false",
            ])
    }

    @Test("an attempt with its prompt still shown does not succeed, because nothing was sent") func unsent()
        async throws
    {
        let phone = try await Phone.signedIn(mode: .biometric)
        let (session, _, recorder) = try await awaitingFactor(phone)
        let first = try await loseFirstAttempt(phone, session)
        let gate = Gate()
        phone.gate.holdPrompts { await gate.pass() }
        let call = Call { try await session.enterSecondFactor() }
        await until("the prompt is shown") { await gate.waiting == 1 }
        _ = try await phone.wire.send(first, within: .seconds(9))
        await phone.pass("it is told") { session.status == LoginStatus(.active) }
        let sent = phone.wire.requests().count { $0.url.path.hasSuffix("/second-factor") }
        await gate.open()
        await phone.pass("it is over") { call.isOver }
        #expect(word(call.error) == "not_awaited")
        #expect(phone.wire.requests().count { $0.url.path.hasSuffix("/second-factor") } == sent)
        await until("told") { recorder.results.count == 2 }
        #expect(recorder.results.last == "factor refused not_awaited, VERIFY, expects input: false")
    }

    @Test("a wrong number comes before the end of the login, also when a poll tells it first") func wrongNumber()
        async throws
    {
        let phone = try await Phone.signedIn()
        var options = LoginSessionOptions()
        options.selectsSingleAccount = true
        let (session, _) = try await phone.scanned(Self.factorRequired, options)
        let recorder = SessionRecorder(session)
        #expect(session.status.input == .secondFactor)
        let gate = Gate()
        treat(phone, "/second-factor", Wire.holdAnswer(gate))
        let call = Call { try await session.enterSecondFactor(password: "pw", number: 24) }
        await phone.pass("it is told") { session.status.isFinal }
        await gate.open()
        await phone.pass("it is over") { call.isOver }
        #expect(word(call.error) == "wrong_number")
        await until("all is told") { recorder.isFinished }
        #expect(
            recorder.words.suffix(2) == [
                "factor refused wrong_number, VERIFY, expects input: false", "ERROR ERROR wrong_number",
            ])
    }

    // MARK: AppLogin

    @Test("an AppLogin is not told before its backend access is there") func appLogin() async throws {
        let phone = try await Phone.signedIn()
        let session = try await phone.sojourn.appLogin(client: "mobile")
        let recorder = SessionRecorder(session)
        await until("asked") { session.status.input == .secondFactor }
        let gate = Gate()
        treat(phone, "/app-login", Wire.holdAnswer(gate))
        let call = Call { try await session.enterSecondFactor(password: "pw") }
        await until("it is decided") { await gate.waiting == 1 }
        let polls = phone.wire.requests().count
        await phone.pass("it is polled") { phone.wire.requests().count > polls + 3 }
        #expect(session.status.input == .secondFactor && recorder.results.isEmpty)
        #expect(await session.backendAccess == nil)
        await gate.open()
        await phone.pass("it is over") { call.isOver }
        #expect(await session.backendAccess != nil)
        #expect(call.error == nil && session.status == LoginStatus(.active))
    }

    @Test("an AppLogin that lost its answer gets its backend access later, and is told then") func lostAppLogin()
        async throws
    {
        let phone = try await Phone.signedIn()
        let session = try await phone.sojourn.appLogin(client: "mobile")
        let recorder = SessionRecorder(session)
        await until("asked") { session.status.input == .secondFactor }
        treat(phone, "/app-login", Wire.loseAnswer)
        let call = Call { try await session.enterSecondFactor(password: "pw") }
        await phone.pass("it is given up") { call.isOver }
        guard case .unreachable? = call.error else {
            Issue.record("\(String(describing: call.error))")
            return
        }
        let polls = phone.wire.requests().count
        await phone.pass("it is polled") { phone.wire.requests().count > polls + 3 }
        #expect(session.status.input == .secondFactor)
        phone.wire.always(nil)
        await phone.pass("it is told") { session.status == LoginStatus(.active) }
        let access = try #require(await session.backendAccess)
        #expect(try await phone.server.exchange(webNonce: access.webNonce) != nil)
        #expect(recorder.results == ["factor unanswered, VERIFY, expects input: true"])
    }

    @Test("an answer to the proof of an AppLogin without web_nonce is none") func withoutNonce() async throws {
        let phone = try await Phone.signedIn()
        let session = try await phone.sojourn.appLogin(client: "mobile")
        await until("asked") { session.status.input == .secondFactor }
        treat(phone, "/app-login") { request, server, limit throws(TransportFailure) in
            var answer = try await server.send(request, within: limit)
            var members = JSONValue(parsing: answer.body)?.members ?? [:]
            members["web_nonce"] = nil
            answer.body = JSONValue.object(members).bytes
            return answer
        }
        let call = Call { try await session.enterSecondFactor(password: "pw") }
        await phone.pass("it is given up") { call.isOver }
        #expect(call.error != nil && session.status.input == .secondFactor)
        phone.wire.always(nil)
        await phone.pass("it is told") { session.status == LoginStatus(.active) }
        #expect(await session.backendAccess != nil)
    }
}
