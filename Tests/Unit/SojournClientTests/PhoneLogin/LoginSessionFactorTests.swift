import Foundation
import Repository
import SojournClient
import SojournTestKit
import Testing

/// Confirmation, accounts and second factors of login sessions.
struct LoginSessionFactorTests {
    private static let factorRequired: TestLoginRequest = {
        var request = TestLoginRequest()
        request.secondFactor = "required"
        return request
    }()

    private static func options(_ edit: (inout LoginSessionOptions) -> Void) -> LoginSessionOptions {
        var options = LoginSessionOptions()
        edit(&options)
        return options
    }

    // MARK: The number

    @Test("a number that cannot be right, or is missing, is not sent; a wrong one ends the session")
    func number() async throws {
        let phone = try await Phone.signedIn()
        let (session, _) = try await phone.scanned()
        for number in [0, 9, 100, -42, Int.max] {
            #expect(word(await failure { try await session.confirm(number: number) }) == "invalid_number")
        }
        #expect(word(await failure { try await session.confirm() }) == "number_required")
        // The session asks how the login stands meanwhile.
        #expect(!phone.wire.requests().contains { $0.url.path.hasSuffix("/confirm") })
        #expect(word(await failure { try await session.confirm(number: 24) }) == "wrong_number")
        #expect(session.status.state == .error)
    }

    // MARK: Second factors

    @Test("a wrong factor, and then the right one: each attempt has one result")
    func rounds() async throws {
        let phone = try await Phone.signedIn()
        let (session, _) = try await phone.scanned(Self.factorRequired)
        let recorder = SessionRecorder(session)
        try await session.confirm(number: 42)
        #expect(session.status.input == .secondFactor)
        #expect(word(await failure { try await session.enterSecondFactor(password: "no") }) == "wrong_second_factor")
        try await session.enterSecondFactor(password: "pw")
        #expect(session.status == LoginStatus(.active))
        await until("all is told") { recorder.words.last == "ACTIVE FAIL" }
        #expect(
            recorder.words.dropFirst(3) == [
                "WAITING_FOR_USER_INPUT WAIT_FOR_SECOND_FACTOR FAIL", "factor requested, VERIFY, expects input: true",
                "factor FAILED 2, VERIFY, expects input: true", "factor SUCCESS, VERIFY, expects input: false",
                "ACTIVE FAIL",
            ])
    }

    @Test("after the last wrong factor no input is expected") func blocked() async throws {
        let phone = try await Phone.signedIn()
        let (session, _) = try await phone.scanned(Self.factorRequired)
        let recorder = SessionRecorder(session)
        try await session.confirm(number: 42)
        for _ in 0..<3 {
            #expect(
                word(await failure { try await session.enterSecondFactor(password: "no") }) == "wrong_second_factor")
        }
        #expect(session.status == LoginStatus(.error, history: .error, cause: "second_factor_failed"))
        await until("all is told") { recorder.isFinished }
        #expect(
            recorder.results == [
                "factor FAILED 2, VERIFY, expects input: true", "factor FAILED 1, VERIFY, expects input: true",
                "factor FAILED 0, VERIFY, expects input: false",
            ])
    }

    @Test("biometry signs the login and the number, after one prompt for each login")
    func biometry() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        for round in 1...2 {
            let (session, login) = try await phone.scanned(Self.factorRequired)
            try await session.confirm(number: 42)
            try await session.enterSecondFactor(reason: "Log in?")
            #expect(session.status == LoginStatus(.active))
            // One prompt was that of the login.
            #expect(phone.gate.promptCount == 1 + round && phone.gate.calls.last == .prompt("Log in?"))
            let request = try #require(phone.wire.requests("/v1/me/logins/\(login.id)/second-factor").last)
            let body = try #require(JSONValue(parsing: request.body)?.members)
            let parts = try #require(body.text("user_assertion")).split(separator: ".")
            let claims = try #require(Base64URL.decode(String(parts[1])).flatMap { JSONValue(parsing: $0)?.members })
            #expect(claims.text("login") == login.id && claims.integer("number") == 42)
            // What the prompt of a login has opened is closed again.
            #expect(phone.gate.openCount == 1)
        }
    }

    @Test("a prompt that is cancelled sends nothing, and the session waits for the next")
    func cancelledPrompt() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        let (session, _) = try await phone.scanned(Self.factorRequired)
        let recorder = SessionRecorder(session)
        try await session.confirm(number: 42)
        let before = phone.wire.requests().count
        phone.gate.next(.code(2), .deny)
        for _ in 0..<2 {
            let error = await failure { try await session.enterSecondFactor() }
            guard case .presence? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(!phone.wire.requests().contains { $0.url.path.hasSuffix("second-factor") })
        #expect(phone.wire.requests().count == before && session.status.input == .secondFactor)
        await until("all is told") { recorder.results.count == 2 }
        #expect(recorder.results == Array(repeating: "factor not given, VERIFY, expects input: true", count: 2))
        try await session.enterSecondFactor()
        #expect(session.status == LoginStatus(.active))
    }

    @Test("inputCancel aborts while a factor is asked for, and at no other time") func inputCancel() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.scanned(Self.factorRequired)
        #expect(word(await failure { try await session.inputCancel() }) == "not_awaited")
        try await session.confirm(number: 42)
        try await session.inputCancel()
        #expect(session.status == LoginStatus(.done, history: .aborted, cause: "denied"))
        await until("the server is told") { phone.server.status(of: login)?.cause == "denied" }
    }

    @Test("a session that is stopped while its prompt is shown lets no device in") func stoppedDuringPrompt()
        async throws
    {
        let phone = try await Phone.signedIn(mode: .biometric)
        let (session, login) = try await phone.scanned(Self.factorRequired)
        try await session.confirm(number: 42)
        let gate = Gate()
        phone.gate.holdPrompts { await gate.pass() }
        let attempt = Task { await failure { try await session.enterSecondFactor() } }
        await until("the prompt is shown") { await gate.waiting == 1 }
        #expect(word(await failure { try await session.enterSecondFactor(password: "pw") }) == "act_pending")
        try await session.stopSession()
        await gate.open()
        #expect(word(await attempt.value) == "session_terminated")
        await until("the server is told") { phone.server.status(of: login)?.isFinal == true }
        #expect(phone.server.status(of: login)?.history == .aborted)
        #expect(!phone.wire.requests().contains { $0.url.path.hasSuffix("second-factor") })
    }

    // MARK: When it is asked for

    @Test("the fake server asks for a second factor as the manual's table says, row by row")
    func table() async throws {
        let table = try SecondFactorTable()
        for row in SecondFactorTable.Case.all {
            let phone = try await Phone.signedIn()
            try await phone.server.askForUser(every: 600)
            try await phone.server.letIn("desktop", by: "anna")
            try await phone.server.letIn("berta's desktop", by: "berta")
            if row.isDue { phone.clock.advance(by: .seconds(600)) }
            var request = TestLoginRequest()
            (request.device, request.secondFactor) = (row.isKnown ? "desktop" : "berta's desktop", row.request)
            let login = try await phone.server.requestLogin(request)
            let options = Self.options { $0.alwaysRequiresSecondFactor = row.appDemands }
            let session =
                row.isLink
                ? try await phone.sojourn.startSession(link: #require(URL(string: login.link)), options: options)
                : try await phone.sojourn.startSession(scanned: login.picture, options: options)
            await until("the details are there") { session.status.state != .starting }
            #expect(session.details?.requester.isKnown == row.isKnown)
            try await session.confirm(number: row.isLink ? nil : 42)
            #expect(try (session.status.input == .secondFactor) == table.asks(row), "\(row)")
            try await session.stopSession()
        }
    }

    @Test("the second factor of one login counts for the next ones, and a device is known once it was let in")
    func lastFactor() async throws {
        let phone = try await Phone.signedIn()
        try await phone.server.askForUser(every: 600)
        var request = TestLoginRequest()
        request.device = "tv"
        func isAsked() async throws -> Bool {
            let (session, login) = try await phone.scanned(request)
            try await session.confirm(number: 42)
            let isAsked = session.status.input == .secondFactor
            if isAsked { try await session.enterSecondFactor(password: "pw") }
            #expect(try await phone.server.collect(login, device: "tv") != nil)
            return isAsked
        }
        #expect(try await isAsked())
        phone.clock.advance(by: .seconds(599))
        #expect(try await !isAsked())
        phone.clock.advance(by: .seconds(1))
        #expect(try await isAsked())
        #expect(try await !isAsked())
        // An end that says that it may be another person's device.
        try await phone.server.revokeAll("anna")
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(try await isAsked())
    }

    // MARK: Configuration

    /// Every combination of what the app can be configured to skip, and of what the server demands.
    static let combinations: [(skipsReady: Bool, selects: Bool, always: Bool, server: String?, isKnown: Bool)] =
        [false, true].flatMap { ready in
            [false, true].flatMap { selects in
                [false, true].flatMap { always in
                    ["required", "not_required", nil].flatMap { server in
                        [false, true].map { (ready, selects, always, server, $0) }
                    }
                }
            }
        }

    @Test(
        "no configuration lets a device in without an act of the user, and each only strengthens",
        arguments: combinations.indices)
    func configuration(index: Int) async throws {
        let (skipsReady, selects, always, rule, isKnown) = Self.combinations[index]
        let phone = try await Phone.signedIn()
        var request = TestLoginRequest()
        (request.secondFactor, request.device) = (rule, isKnown ? nil : "stranger")
        let options = Self.options {
            $0.skipsReadyForUserInteraction = skipsReady
            $0.selectsSingleAccount = selects
            $0.alwaysRequiresSecondFactor = always
        }
        let (session, login) = try await phone.scanned(request, options)
        if !skipsReady {
            #expect(session.status == LoginStatus(.readyForUserInteraction))
            try await session.startUserInteraction()
        }
        let needsFactor = always || rule == "required" || !isKnown
        #expect(session.status.input == (selects && needsFactor ? .secondFactor : .confirmation))
        for _ in 0..<30 {
            phone.clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(session.status.awaitsInput)
        #expect(try await phone.server.collect(login) == nil)
        if session.status.input == .confirmation { try await session.confirm(number: 42) }
        #expect(session.status.input == (needsFactor ? .secondFactor : nil))
        if needsFactor { try await session.enterSecondFactor(password: "pw", number: 42) }
        #expect(session.status == LoginStatus(.active))
    }

    // MARK: Accounts

    @Test("one of two accounts of the phone is chosen, and the login is that one's")
    func accounts() async throws {
        let phone = try await Phone.new { $0.deviceID = "phone" }
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        let berta = try await phone.account("berta", deviceID: "phone")
        let options = Self.options { ($0.otherAccounts, $0.selectsSingleAccount) = ([berta], true) }
        let (session, login) = try await phone.scanned(Self.factorRequired, options)
        // With two accounts the choice is never skipped.
        #expect(session.status.input == .confirmation)
        #expect(await session.candidates().map(\.username) == ["anna", "berta"])
        let stranger = try await phone.account("anna", deviceID: "elsewhere")
        #expect(
            word(await failure { try await session.setAccount(stranger, number: 42) }) == "unknown_account")
        #expect(session.status.input == .confirmation)
        try await session.setAccount(berta, number: 42)
        #expect(session.status.input == .secondFactor)
        try await session.enterSecondFactor(password: "pw")
        #expect(try await phone.server.collect(login) != nil)
        #expect(try await berta.logins().map(\.id) == [login.id])
        #expect(try await phone.sojourn.logins().isEmpty)
        for account in [phone.sojourn, berta] {
            guard case .signedIn = account.state else {
                Issue.record("\(account.state)")
                return
            }
        }
    }

    @Test("accounts with two device IDs are two phones, which the app is told before anything is sent")
    func deviceIDs() async throws {
        let phone = try await Phone.signedIn()
        let berta = try await phone.account("berta", deviceID: "another")
        let (session, _) = try await phone.scanned(TestLoginRequest(), Self.options { $0.otherAccounts = [berta] })
        guard case .misconfigured? = await failure({ try await session.setAccount(berta, number: 42) }) else {
            Issue.record("it was sent")
            return
        }
        #expect(session.status.input == .confirmation)
        try await session.confirm(number: 42)
    }

    // MARK: Enrolment

    @Test("the first enrolment sets the factor, and every later one and each login verifies it")
    func enrolment() async throws {
        let phone = try await Phone.signedIn()
        var request = Self.factorRequired
        for context in ["SET", "VERIFY", "VERIFY"] {
            request.isEnrolment = context == "SET" || phone.gate.promptCount == 1
            let isEnrolment = request.isEnrolment
            let (session, _) = try await phone.scanned(request)
            let recorder = SessionRecorder(session)
            #expect(session.isRegistration == isEnrolment)
            try await session.confirm(number: 42)
            try await session.enterSecondFactor(reason: "Set it.")
            await until("all is told") { recorder.words.last == "ACTIVE FAIL" }
            #expect(recorder.words[2] == (isEnrolment ? "confirmEnrol" : "confirmLogin"))
            #expect(recorder.words[4] == "factor requested, \(context), expects input: true")
            #expect(recorder.results.count == 1)
        }
        #expect(phone.gate.promptCount == 3 && phone.gate.enrollmentCount == 1)
        #expect(phone.record?.session?.mode == .biometric && !phone.store.text.contains("sja_"))
    }

    // MARK: AppLogin

    @Test("an AppLogin goes straight to the second factor, each time, and brings what opens the backend")
    func appLogin() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        var nonces: Set<String> = []
        for _ in 0..<2 {
            let session = try await phone.sojourn.appLogin(client: "mobile")
            let recorder = SessionRecorder(session)
            #expect(session.isAppLogin && !session.isRegistration)
            await until("asked") { session.status.input == .secondFactor }
            #expect(await session.backendAccess == nil)
            try await session.enterSecondFactor()
            #expect(session.status == LoginStatus(.active))
            let access = try #require(await session.backendAccess)
            #expect(nonces.insert(access.webNonce).inserted)
            #expect(try await phone.server.exchange(webNonce: access.webNonce) != nil)
            #expect(try await phone.server.exchange(webNonce: access.webNonce) == nil)
            await phone.pass("finished") { session.status.history == .loggedIn }
            #expect(!recorder.words.contains { $0.contains("READY") || $0.contains("CONFIRM") })
            #expect(recorder.words.first == "STARTING FAIL")
        }
        let (other, _) = try await phone.loggedIn()
        #expect(await other.backendAccess == nil && !other.isAppLogin)
    }

    @Test("without a user that is signed in no session starts") func notSignedIn() async throws {
        let phone = try await Phone.new()
        let login = try await phone.server.requestLogin()
        let errors = [
            await failure { _ = try await phone.sojourn.startSession(scanned: login.picture) },
            await failure { _ = try await phone.sojourn.appLogin(client: "mobile") },
            await failure { _ = try await phone.sojourn.logins() },
        ]
        #expect(errors == Array(repeating: SojournError.notSignedIn, count: 3))
    }
}
