import Foundation
import SojournClient
import SojournTestKit
import Testing

/// The life of a login session, from its start to every end.
struct ClientLoginSessionTests {
    private static func options(_ edit: (inout LoginSessionOptions) -> Void) -> LoginSessionOptions {
        var options = LoginSessionOptions()
        edit(&options)
        return options
    }

    private static func request(_ edit: (inout TestLoginRequest) -> Void) -> TestLoginRequest {
        var request = TestLoginRequest()
        edit(&request)
        return request
    }

    // MARK: Starting

    @Test("a picture, its bytes, its base64, a link and a message start the same kind of session")
    func sources() async throws {
        let phone = try await Phone.signedIn()
        let server = phone.server
        for source in ["text", "bytes", "base64", "text as data", "link", "scheme", "push"] {
            let login = try await server.requestLogin()
            let code = String(login.link.split(separator: "/").last ?? "")
            let session: LoginSession? =
                switch source {
                case "text": try await phone.sojourn.startSession(scanned: login.picture)
                case "bytes": try await phone.sojourn.startSession(scanned: login.pictureBytes)
                case "base64": try await phone.sojourn.startSession(scanned: login.pictureBytes.base64EncodedString())
                case "text as data": try await phone.sojourn.startSession(scanned: Data(login.picture.utf8))
                case "link": try await phone.sojourn.startSession(link: #require(URL(string: login.link)))
                case "scheme": try await phone.sojourn.startSession(link: #require(URL(string: "shop:\(code)")))
                default: try await phone.sojourn.startSession(push: login.push)
                }
            let started = try #require(session)
            await until("\(source)") { started.status.input == .confirmation }
            #expect(started.details?.id == login.id, "\(source)")
            #expect(started.details?.needsNumber == (source != "link" && source != "scheme"), "\(source)")
        }
    }

    @Test("a login by a link names the URL that finishes it, from the approval to the login")
    func link() async throws {
        let phone = try await Phone.signedIn()
        let login = try await phone.server.requestLogin()
        let session = try await phone.sojourn.startSession(link: #require(URL(string: login.link)))
        await until("the details are there") { session.status.input == .confirmation }
        try await session.confirm()
        #expect(session.details?.returnURL == nil)
        try await session.enterSecondFactor(password: "pw")
        let url = try #require(session.details?.returnURL)
        #expect(url.absoluteString == "com.example.shop:/back?login_id=\(login.id)&return_token=token-\(login.id)")
        #expect(try await phone.server.collect(login) == nil)
        #expect(try await phone.server.collect(login, returnURL: URL(string: "com.example.shop:/back")) == nil)
        #expect(try await phone.server.collect(login, returnURL: url) != nil)
        await phone.pass("the phone hears of it") { session.status.history == .loggedIn }
        #expect(session.details?.returnURL == nil)
    }

    @Test("a link of a device that has no place to return to is refused")
    func linkWithoutReturn() async throws {
        let phone = try await Phone.signedIn()
        let login = try await phone.server.requestLogin(Self.request { $0.returnURI = nil })
        let session = try await phone.sojourn.startSession(link: #require(URL(string: login.link)))
        await until("it is over") { session.status.isFinal }
        #expect(session.status.cause == "not_found")
    }

    @Test("a code in base64 is that of its bytes, whatever letters it has and wherever it stands")
    func base64() async throws {
        let phone = try await Phone.signedIn()
        func sent(_ session: LoginSession) async throws -> String? {
            await until("it is over") { session.status.isFinal }
            let body = phone.wire.requests().last { $0.url.path == "/v1/me/logins" }?.body ?? []
            return JSONValue(parsing: body)?.members?.text("code")
        }
        // Slashes at the beginning, in the middle, at the end, several in a row, and none.
        let codes: [[UInt8]] = [
            [UInt8](repeating: 0xFF, count: 16), [UInt8](repeating: 0xFB, count: 16), [UInt8](repeating: 0, count: 16),
            [0xFF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 13),
            [UInt8](repeating: 7, count: 13) + [0xFF, 0xFF, 0xFF],
            [3, 0xF0, 0x3F, 0xF3, 0xFF, 0, 0x0F, 0xC0] + [UInt8](repeating: 0x3F, count: 8),
        ]
        for bytes in codes {
            let expected = try await sent(phone.sojourn.startSession(scanned: Data(bytes)))
            #expect(expected?.utf8.count == 26)
            let base64 = Data(bytes).base64EncodedString()
            let url = base64.replacing("+", with: "-").replacing("/", with: "_")
            let escaped = base64.replacing("/", with: "%2F").replacing("+", with: "%2B").replacing("=", with: "%3D")
            for text in [base64, url, base64.replacing("=", with: ""), url.replacing("=", with: "")] {
                for start in ["", "shop:", "shop://open/", "https://sojourn.test/L/", "HTTPS://SOJOURN.TEST/L/"] {
                    let session = try await phone.sojourn.startSession(scanned: start + text)
                    #expect(try await sent(session) == expected, "\(start)\(text)")
                }
            }
            let linked = try #require(URL(string: "https://sojourn.test/L/\(escaped)?x=1"))
            #expect(try await sent(phone.sojourn.startSession(link: linked)) == expected, "\(linked)")
        }
    }

    @Test("a text that is no code of this server starts nothing, and sends nothing")
    func garbage() async throws {
        let phone = try await Phone.signedIn()
        let login = try await phone.server.requestLogin()
        let before = phone.wire.requests().count
        for text in ["", "hello", "HTTPS://SOJOURN.TEST/L/SHORT", String(repeating: "A", count: 100_000), "🙂", "///"] {
            #expect(word(await failure { _ = try await phone.sojourn.startSession(scanned: text) }) == "invalid_code")
        }
        let other = login.picture.replacing("SOJOURN.TEST", with: "SOJOURN.TEST.EVIL")
        #expect(word(await failure { _ = try await phone.sojourn.startSession(scanned: other) }) == "other_server")
        let bytes = Data(repeating: 255, count: 17)
        #expect(word(await failure { _ = try await phone.sojourn.startSession(scanned: bytes) }) == "invalid_code")
        #expect(word(await failure { _ = try await phone.sojourn.startSession(push: bytes) }) == "invalid_code")
        #expect(try await phone.sojourn.startSession(push: Data(#"{"news":"sale"}"#.utf8)) == nil)
        #expect(phone.wire.requests().count == before)
    }

    @Test("a session begins in STARTING and goes on by itself to the confirmation")
    func starting() async throws {
        let phone = try await Phone.signedIn()
        let gate = Gate()
        phone.wire.next(Wire.holdAnswer(gate))
        let login = try await phone.server.requestLogin()
        let session = try await phone.sojourn.startSession(scanned: login.picture)
        let recorder = SessionRecorder(session)
        #expect(session.status == LoginStatus(.starting) && session.details == nil)
        await gate.open()
        await until("it goes on") { recorder.words.count == 3 }
        #expect(
            recorder.words == ["STARTING FAIL", "WAITING_FOR_USER_INPUT WAIT_FOR_CONFIRMATION FAIL", "confirmLogin"])
    }

    @Test("an error of the server, a code that is over and a silent network end STARTING in ERROR", arguments: 0..<4)
    func startingFails(way: Int) async throws {
        let phone = try await Phone.signedIn()
        let login = try await phone.server.requestLogin()
        let cause: String
        switch way {
        case 0:
            phone.wire.always(Wire.answer(500, "{}"))
            cause = "fault"
        case 1:
            phone.clock.advance(by: .seconds(181))
            cause = "session_terminated"
        case 2:
            phone.wire.always(Wire.loseRequest)
            cause = "unreachable"
        default:
            phone.wire.always(Wire.answer(404, #"{"code":"not_found"}"#))
            cause = "not_found"
        }
        let session = try await phone.sojourn.startSession(scanned: login.picture)
        let recorder = SessionRecorder(session)
        await phone.pass("it fails") { recorder.isFinished }
        #expect(recorder.words == ["STARTING FAIL", "ERROR ERROR \(cause)"])
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test("a session on hold waits for the app, and shows the number only then")
    func onHold() async throws {
        let phone = try await Phone.signedIn()
        let hold = Self.options { $0.skipsReadyForUserInteraction = false }
        let (session, login) = try await phone.scanned(TestLoginRequest(), hold)
        let recorder = SessionRecorder(session)
        #expect(session.status == LoginStatus(.readyForUserInteraction))
        #expect(word(await failure { try await session.confirm(number: 42) }) == "not_awaited")
        for _ in 0..<60 { phone.clock.advance(by: .seconds(1)); await Task.yield() }
        #expect(session.status == LoginStatus(.readyForUserInteraction))
        #expect(try await phone.server.number(of: login) == nil)
        try await session.startUserInteraction()
        #expect(try await phone.server.number(of: login) == 42)
        #expect(session.status.input == .confirmation)
        try await session.confirm(number: 42)
        #expect(session.status == LoginStatus(.active))
        await until("all is told") { recorder.words.count == 5 }
        #expect(
            recorder.words == [
                "STARTING FAIL", "READY_FOR_USER_INTERACTION FAIL",
                "WAITING_FOR_USER_INPUT WAIT_FOR_CONFIRMATION FAIL", "confirmLogin", "ACTIVE FAIL",
            ])
    }

    // MARK: The outcomes

    @Test("ACTIVE does not mean that the login is finished: the device has to come for it")
    func activeThenLoggedIn() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.scanned(
            Self.request {
                ($0.announceInfo, $0.sessionInfo) = (#"{"shop":"Berlin"}"#, #""welcome""#)
                ($0.announceQuote, $0.sessionQuote) = ("Kitchen", "hello")
            })
        #expect(session.details?.announceQuote == "Kitchen" && session.details?.sessionQuote == nil)
        #expect(session.details?.announceInfo == #"{"shop":"Berlin"}"# && session.details?.sessionInfo == nil)
        try await session.confirm(number: 42)
        #expect(session.status == LoginStatus(.active) && session.details?.sessionInfo == nil)
        for _ in 0..<20 { phone.clock.advance(by: .seconds(1)); await Task.yield() }
        #expect(session.status == LoginStatus(.active))
        #expect(try await phone.server.collect(login) != nil)
        await phone.pass("it is told") { session.status.history == .loggedIn }
        #expect(session.status.state == .active && session.details?.sessionInfo == "welcome")
        #expect(session.details?.sessionQuote == "hello")
        for call in ["confirm", "start", "factor", "cancel"] {
            #expect(word(await Self.call(call, session)) == "not_awaited", "\(call)")
        }
        try await session.stopSession()
        #expect(session.status == LoginStatus(.done, history: .loggedOut, cause: "revoked_by_user"))
        #expect(phone.server.status(of: login)?.history == .loggedOut)
    }

    @Test("a login of one act ends in DONE") func oneShot() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.scanned(Self.request { $0.bond = .none })
        let recorder = SessionRecorder(session)
        try await session.confirm(number: 42)
        #expect(try await phone.server.collect(login) != nil)
        await phone.pass("it is over") { recorder.isFinished }
        #expect(session.status == LoginStatus(.done, history: .loggedInOneShot))
        try await phone.sojourn.endDevice("desktop")
        #expect(try await phone.sojourn.loginHistory().map(\.status.history) == [.loggedInOneShot])
    }

    @Test("no call does anything in a final state", arguments: ["denied", "error"])
    func finalStates(way: String) async throws {
        let phone = try await Phone.signedIn()
        let (session, _) = try await phone.scanned()
        if way == "denied" {
            try await session.stopSession()
            #expect(session.status == LoginStatus(.done, history: .aborted, cause: "denied"))
        } else {
            #expect(word(await failure { try await session.confirm(number: 43) }) == "wrong_number")
            #expect(session.status == LoginStatus(.error, history: .error, cause: "wrong_number"))
        }
        let status = session.status
        for call in ["confirm", "start", "factor", "cancel", "stop"] {
            #expect(word(await Self.call(call, session)) == "session_terminated", "\(call)")
        }
        #expect(session.status == status)
    }

    private static func call(_ name: String, _ session: LoginSession) async -> SojournError? {
        await failure {
            switch name {
            case "confirm": try await session.confirm(number: 42)
            case "start": try await session.startUserInteraction()
            case "factor": try await session.enterSecondFactor(password: "pw")
            case "cancel": try await session.inputCancel()
            default: try await session.stopSession()
            }
        }
    }

    @Test("the session can be stopped in every state", arguments: ["starting", "ready", "confirm", "factor", "active"])
    func stop(state: String) async throws {
        let phone = try await Phone.signedIn()
        let login = try await phone.server.requestLogin(
            try await phone.known(Self.request { $0.secondFactor = state == "factor" ? "required" : nil }))
        let gate = Gate()
        if state == "starting" { phone.wire.next(Wire.holdAnswer(gate)) }
        let options = Self.options { $0.skipsReadyForUserInteraction = state != "ready" }
        let session = try await phone.sojourn.startSession(scanned: login.picture, options: options)
        if state != "starting" { await until("claimed") { session.status.state != .starting } }
        if state == "factor" || state == "active" { try await session.confirm(number: 42) }
        try await session.stopSession()
        #expect(session.status == LoginStatus(.done, history: .aborted, cause: "denied"))
        await gate.open()
        await until("the server is told") { phone.server.status(of: login)?.isFinal == true }
        #expect(phone.server.status(of: login)?.cause == "denied")
        #expect(try await phone.server.collect(login) == nil)
    }

    @Test("an input that waits for the user ends in time, and an ACTIVE session does not")
    func timeOut() async throws {
        let phone = try await Phone.signedIn()
        let options = Self.options { ($0.inputLimit, $0.skipsReadyForUserInteraction) = (.seconds(2), false) }
        let (waiting, login) = try await phone.scanned(TestLoginRequest(), options)
        let (active, _) = try await phone.scanned(TestLoginRequest(), Self.options { $0.inputLimit = .seconds(2) })
        try await active.confirm(number: 42)
        await phone.pass("it is over", atMost: 4) { waiting.status.isFinal }
        #expect(waiting.status == LoginStatus(.done, history: .aborted, cause: "timed_out"))
        #expect(active.status == LoginStatus(.active))
        await until("the server is told") { phone.server.status(of: login)?.isFinal == true }
        let (slow, _) = try await phone.scanned()
        await phone.pass("the server's own limit") { slow.status.isFinal }
        #expect(slow.status == LoginStatus(.done, history: .aborted, cause: "timed_out"))
    }

    @Test("the phone hears how the device goes on", arguments: ["canceled", "not_collected", "revoked_by_user"])
    func device(way: String) async throws {
        let phone = try await Phone.signedIn()
        let session: LoginSession
        if way == "revoked_by_user" {
            let login: TestLogin
            (session, login) = try await phone.loggedIn()
            try await phone.sojourn.endDevice(login.id)
        } else {
            let login: TestLogin
            (session, login) = try await phone.scanned()
            if way == "canceled" { try await phone.server.cancel(login) } else { try await session.confirm(number: 42) }
        }
        await phone.pass("it is told") { session.status.isFinal }
        let history: LoginStatus.History = way == "revoked_by_user" ? .loggedOut : .aborted
        #expect(session.status == LoginStatus(.done, history: history, cause: way))
    }

    @Test("two sessions of one phone do not touch each other")
    func independent() async throws {
        let phone = try await Phone.signedIn()
        let (first, _) = try await phone.scanned()
        let (second, login) = try await phone.scanned()
        try await first.stopSession()
        #expect(second.status.input == .confirmation)
        try await second.confirm(number: 42)
        #expect(try await phone.server.collect(login) != nil)
        #expect(first.status.history == .aborted)
        #expect(first.details?.id != second.details?.id)
    }

    @Test("a second phone with the same picture ends it for both")
    func contested() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.scanned()
        let other = try await phone.account("berta", deviceID: "other phone")
        let late = try await other.startSession(scanned: login.picture)
        await until("refused") { late.status.isFinal }
        #expect(late.status == LoginStatus(.error, history: .error, cause: "contested"))
        await phone.pass("it is told") { session.status.isFinal }
        #expect(session.status == LoginStatus(.error, history: .error, cause: "contested"))
    }

    // MARK: Lists

    @Test("the list has waiting logins, and with the history those that are over; a ping keeps a login alive")
    func lists() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.loggedIn(Self.request { $0.bond = .ping(120) })
        let (denied, _) = try await phone.scanned()
        try await denied.stopSession()
        await until("the server is told") { (try? await phone.sojourn.logins().map(\.id)) == [login.id] }
        #expect(try await phone.sojourn.loginHistory().map(\.status.history) == [.aborted, .loggedIn])
        phone.clock.advance(by: .seconds(70))
        try await phone.sojourn.pingLogins()
        phone.clock.advance(by: .seconds(70))
        #expect(try await phone.sojourn.logins().count == 1)
        await phone.pass("the phone was silent") { session.status.isFinal }
        #expect(session.status == LoginStatus(.done, history: .loggedOut, cause: "presence_lost"))
        guard case .signedIn = phone.sojourn.state else {
            Issue.record("\(phone.sojourn.state)")
            return
        }
    }

    @Test("the deletion of the account is told") func deleted() async throws {
        let phone = try await Phone.signedIn()
        let (session, login) = try await phone.loggedIn()
        let other = try await phone.account("berta", deviceID: "b")
        let (kept, keptLogin) = (
            try await other.startSession(scanned: try await phone.server.requestLogin().picture), login
        )
        await until("claimed") { kept.status.input == .confirmation }
        try await phone.server.deleteUser("anna")
        await phone.pass("it is told") { session.status.isFinal }
        #expect(session.status.history == .deleted && session.status.state == .done)
        #expect(kept.status.input == .confirmation && keptLogin == login)
    }

    @Test("a login can be stopped, adopted by a new phone, and gone on with after a restart")
    func later() async throws {
        let phone = try await Phone.signedIn(mode: .biometric)
        let (_, login) = try await phone.loggedIn()
        let again = phone.other()
        try await again.sojourn.unlock()
        let resumed = try await again.sojourn.resumeSession(login.id)
        #expect(resumed.status == LoginStatus(.active, history: .loggedIn))
        let recorder = SessionRecorder(resumed)
        try await phone.sojourn.stopLogin(login.id)
        await phone.pass("it is told") { recorder.isFinished }
        #expect(recorder.words == ["STARTING FAIL", "ACTIVE LOGGED_IN", "DONE LOGGED_OUT revoked_by_user"])
        let (_, second) = try await phone.loggedIn()
        let adopted = try await phone.sojourn.adoptLogin(second.id, reason: "Take over.")
        #expect(adopted.status.history == .loggedIn && phone.gate.calls.last == .prompt("Take over."))
    }
}
