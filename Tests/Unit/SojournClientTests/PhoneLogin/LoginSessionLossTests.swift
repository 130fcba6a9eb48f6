import Foundation
import SojournClient
import SojournTestKit
import Testing

/// Lost, late, foreign and hostile answers to login sessions: each converges, and none logs the app out.
struct LoginSessionLossTests {
    private func expectSignedIn(_ phone: Phone, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)", sourceLocation: sourceLocation)
            return
        }
        #expect(phone.record?.session?.ending == nil, sourceLocation: sourceLocation)
    }

    @Test("every answer can be lost, and the act is decided once", arguments: ["claim", "start", "confirm", "factor"])
    func lostAnswers(act: String) async throws {
        let phone = try await Phone.signedIn()
        var request = TestLoginRequest()
        request.secondFactor = "required"
        let login = try await phone.server.requestLogin(try await phone.known(request))
        var options = LoginSessionOptions()
        options.skipsReadyForUserInteraction = false
        func lose(_ name: String) {
            if name == act { phone.wire.next(Wire.loseAnswer, Wire.loseRequest, Wire.loseAnswer) }
        }
        lose("claim")
        let session = try await phone.sojourn.startSession(scanned: login.picture, options: options)
        let recorder = SessionRecorder(session)
        await phone.pass("claimed") { session.status.state == .readyForUserInteraction }
        lose("start")
        try await passing(phone) { try await session.startUserInteraction() }
        lose("confirm")
        try await passing(phone) { try await session.confirm(number: 42) }
        lose("factor")
        try await passing(phone) { try await session.enterSecondFactor(password: "pw") }
        #expect(session.status == LoginStatus(.active))
        await until("told") { recorder.results.count == 1 }
        #expect(recorder.results == ["factor SUCCESS, VERIFY, expects input: false"])
        expectSignedIn(phone)
    }

    /// Carries out `body` while virtual time passes.
    private func passing(_ phone: Phone, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { await failure(body) }
        let isDone = Guarded(false)
        Task {
            _ = await task.value
            isDone.withLock { $0 = true }
        }
        await phone.pass("it is answered") { isDone.withLock { $0 } }
        if let error = await task.value { throw error }
    }

    @Test("a wrong factor with a lost answer counts once") func lostRefusal() async throws {
        let phone = try await Phone.signedIn()
        var request = TestLoginRequest()
        request.secondFactor = "required"
        let (session, _) = try await phone.scanned(request)
        try await session.confirm(number: 42)
        phone.wire.next(Wire.loseAnswer)
        var error: SojournError?
        do { try await passing(phone) { try await session.enterSecondFactor(password: "no") } } catch {
            #expect(word(error as? SojournError) == "wrong_second_factor")
        }
        error = await failure { try await session.enterSecondFactor(password: "no") }
        #expect(word(error) == "wrong_second_factor")
        try await session.enterSecondFactor(password: "pw")
        #expect(session.status == LoginStatus(.active))
    }

    @Test("without the network a session that let no device in ends at once, and the server hears of it later")
    func offlineStop() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.scanned()
        phone.server.setReachable(false)
        try await session.stopSession()
        #expect(session.status == LoginStatus(.done, history: .aborted, cause: "denied"))
        phone.server.setReachable(true)
        await phone.pass("the server hears of it", atMost: 60) { phone.server.status(of: login)?.isFinal == true }
        #expect(phone.server.status(of: login)?.cause == "denied")
    }

    @Test("without the network a session that may have let a device in does not say that it is over")
    func offlineStopOfActive() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.loggedIn()
        phone.server.setReachable(false)
        let stop = Task { await failure { try await session.stopSession() } }
        let isDone = Guarded(false)
        Task {
            _ = await stop.value; isDone.withLock { $0 = true }
        }
        await phone.pass("it gives up") { isDone.withLock { $0 } }
        let stopped = await stop.value
        guard case .unreachable? = stopped else {
            Issue.record("\(String(describing: stopped))")
            return
        }
        #expect(session.status == LoginStatus(.active, history: .loggedIn))
        phone.server.setReachable(true)
        try await session.stopSession()
        #expect(session.status.history == .loggedOut && phone.server.status(of: login)?.history == .loggedOut)
        expectSignedIn(phone)
    }

    @Test("a retry waits for five seconds at most, even if the server asks for more") func longRetryAfter() async throws
    {
        let phone = try await Phone.signedIn()
        let login = try await phone.server.requestLogin(try await phone.known())
        phone.wire.always(Wire.answer(503, "{}", [HTTPMessageField("Retry-After", "40")]))
        let session = try await phone.sojourn.startSession(scanned: login.picture, options: LoginSessionOptions())
        for _ in 1...3 {
            await until("it waits for a retry") { phone.clock.untilNextWake == .seconds(5) }
            phone.clock.advanceToNextWake()
        }
        await until("it is given up") { session.status.isFinal }
        #expect(session.status == LoginStatus(.error, history: .error, cause: "unreachable"))
    }

    @Test("an answer that was made earlier does not take the session back") func lateAnswer() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.scanned()
        let gate = Gate()
        // A look that was answered before the confirmation comes back after it.
        phone.wire.next(Wire.holdAnswer(gate))
        await phone.pass("it looks", atMost: 40) { await gate.waiting == 1 }
        try await session.confirm(number: 42)
        await gate.open()
        await whileOthersRun()
        #expect(session.status == LoginStatus(.active))
        #expect(try await phone.server.collect(login) != nil)
    }

    /// Answers that are not the server's word, in any of the places where one is awaited.
    static let hostile: [(status: Int, body: String)] = [
        (200, "<html>Please log in to the Wi-Fi</html>"), (200, ""), (200, "[]"), (200, "null"), (200, "{"),
        (200, #"{"login_id":"login1"}"#), (200, #"{"login_id":"login1","state":"DREAMING","history":"FAIL"}"#),
        (200, #"{"login_id":"login1","state":"ACTIVE","history":"MAYBE"}"#),
        (200, #"{"login_id":"login1","state":"ACTIVE","input":"WAIT_FOR_CONFIRMATION","history":"FAIL"}"#),
        (200, #"{"login_id":"login1","state":"WAITING_FOR_USER_INPUT","input":"WAIT_FOR_GODOT","history":"FAIL"}"#),
        (200, #"{"login_id":"login1","state":"DONE","history":"FAIL"}"#),
        (200, #"{"login_id":"login2","state":"ACTIVE","history":"LOGGED_IN"}"#),
        (200, #"{"login_id":7,"state":[],"history":{"a":1}}"#),
        (200, #"{"login_id":"login1","state":"active","history":"fail"}"#),
        (200, String(repeating: "[", count: 30_000)),
        (200, #"{"login_id":"\#(String(repeating: "x", count: 60_000))","state":"ACTIVE","history":"LOGGED_IN"}"#),
        (204, ""), (302, ""), (418, #"{"code":"teapot"}"#), (429, "{}"), (502, "Bad gateway"), (503, "{}"),
        (401, "<html>"), (403, "{}"), (404, "nothing here"), (599, "\0"),
    ]

    @Test("hostile answers crash nothing and end neither a login nor the phone's session", arguments: hostile.indices)
    func hostileAnswers(index: Int) async throws {
        let (status, body) = Self.hostile[index]
        let phone = try await Phone.signedIn()
        var request = TestLoginRequest()
        request.secondFactor = "required"
        let (session, _) = try await phone.scanned(request)
        phone.wire.always(Wire.answer(status, body))
        for _ in 0..<40 {
            phone.clock.advance(by: .seconds(1))
            for _ in 0..<5 { await Task.yield() }
        }
        #expect(session.status.input == .confirmation)
        let confirm = Task { await failure { try await session.confirm(number: 42) } }
        let isDone = Guarded(false)
        Task {
            _ = await confirm.value; isDone.withLock { $0 = true }
        }
        await phone.pass("it is given up", atMost: 60) { isDone.withLock { $0 } }
        #expect(await confirm.value != nil)
        #expect(!session.status.isFinal)
        #expect(await failure { _ = try await phone.sojourn.logins() } != nil || index == -1)
        phone.wire.always(nil)
        try await passing(phone) { try await session.confirm(number: 42) }
        try await passing(phone) { try await session.enterSecondFactor(password: "pw") }
        #expect(session.status == LoginStatus(.active))
        expectSignedIn(phone)
    }

    @Test("members of the wrong type, or too long, are left out") func members() throws {
        let long = String(repeating: "é", count: 5000)
        let text = """
            {"login_id":"l","state":"DONE","history":"LOGGED_IN_ONE_SHOT","cause":"\(long)","kind":"\(long)",
             "announce_info":"\(long)","session_info":{"a":[1,2.5,null,true]},"is_registration":"yes","is_app_login":1,
             "number_required":null,"attempts_left":9223372036854775807,"user_agent":"\(long)","place":7,"client":[],
             "expires_at":"soon","ping_seconds":1.5,"user_id":""}
            """
        let details = try #require(JSONValue(parsing: Array(text.utf8)).flatMap { LoginDetails($0) })
        #expect(details.status.cause?.count == 100 && details.kind.count == 500 && details.clientName == nil)
        #expect(details.announceInfo == nil && details.sessionInfo == #"{"a":[1,2.5,null,true]}"#)
        #expect(!details.isRegistration && !details.isAppLogin && !details.needsNumber)
        #expect(details.attemptsLeft == Int.max && details.inputUntil == nil && details.pingSeconds == nil)
        #expect(details.requester.userAgent?.count == 500 && details.requester.place == nil)
        #expect(details.accountID == nil)
        for text in [
            #"{"login_id":"","state":"DONE","history":"ABORTED"}"#, #"{"state":"DONE","history":"ABORTED"}"#, "7",
        ] {
            #expect(JSONValue(parsing: Array(text.utf8)).flatMap { LoginDetails($0) } == nil)
        }
    }

    @Test(
        "the words of a stranger are one line of plain text, or they are left out",
        arguments: [
            ("TV", true), (String(repeating: "a", count: 200), true), (String(repeating: "a", count: 201), false),
            ("a\nb", false), ("a\u{202E}b", false), ("a\u{2066}b", false), ("a\u{0}b", false), ("", false),
        ])
    func quotes(_ text: String, isShown: Bool) throws {
        let members: [String: JSONValue] = [
            "login_id": .string("l"), "state": .string("ACTIVE"), "history": .string("LOGGED_IN"),
            "announce_quote": .string(text), "session_quote": .string(text),
        ]
        let details = try #require(LoginDetails(.object(members)))
        #expect(details.announceQuote == (isShown ? text : nil) && details.sessionQuote == details.announceQuote)
        #expect(details.announceInfo == nil)
    }

    @Test("the end of the phone's own session ends the login, and only the server's word ends the phone's")
    func sessionEnds() async throws {
        let phone = try await Phone.signedIn()
        let (session, _) = try await phone.loggedIn()
        try await phone.server.revokeAll("anna")
        await phone.pass("it is told") { session.status.isFinal }
        #expect(session.status == LoginStatus(.done, history: .loggedOut, cause: "parent_ended"))
        guard case .ended(.revokedByAdmin, _, _) = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test("a session that is released asks no more, and its readers end") func released() async throws {
        let phone = try await Phone.signedIn()
        var session: LoginSession? = try await phone.scanned().0
        let recorder = try SessionRecorder(#require(session))
        session = nil
        await phone.pass("the readers end", atMost: 10) { recorder.isFinished }
        await whileOthersRun()
        let count = phone.wire.requests().count
        for _ in 0..<20 { phone.clock.advance(by: .seconds(1)); await Task.yield() }
        #expect(phone.wire.requests().count == count)
        #expect(session == nil)
    }
}
