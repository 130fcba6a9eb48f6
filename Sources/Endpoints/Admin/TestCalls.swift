internal import HTTP
internal import Sessions

/// The calls for tests of apps. They exist on a server that was started with `--test-clock`.
extension Endpoints {
    /// `POST /admin/v1/test/clock` `{advance_seconds}`: moves the server's clock forward.
    func moveTestClock(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["advance_seconds"])
        let clock = try existingTestClock()
        guard let step = try members.seconds("advance_seconds"), step <= TestClock.stepMax else {
            throw members.refused(
                "advance_seconds", "must be a whole number from 0 to \(TestClock.stepMax.wholeSeconds)")
        }
        clock.advance(by: step)
        return try .json(
            TestClockAnswer(now: context.clock.now.secondsSinceEpoch, aheadSeconds: clock.ahead.wholeSeconds))
    }

    /// `POST /admin/v1/test/logins` `{state, input?, history?, cause?, phone_session_id?, client_id?}`: makes a login in that state.
    func makeTestLogin(_ call: Call) async throws -> Response {
        let members = try Members(
            call, known: ["state", "input", "history", "cause", "phone_session_id", "client_id"])
        let clock = try existingTestClock()
        let input = try members.word("input", as: PhoneLoginWords.Input.self)
        let state = PhoneLoginWords.State(rawValue: try members.requiredString("state"))
        guard let state, PhoneLoginWords.fits(state, input) else {
            let all = PhoneLoginWords.State.allCases.map(\.rawValue).joined(separator: ", ")
            throw members.refused("state", "must be one of \(all), with its input if it awaits one")
        }
        var cause: PhoneLogin.Cause?
        if let word = try members.string("cause") {
            cause = PhoneLogin.Cause(rawValue: word)
            guard cause != nil else { throw members.refused("cause", "is not a cause that a login can have") }
        }
        let history = try members.word("history", as: PhoneLoginWords.History.self)
        guard let target = PhoneLoginWords.phase(state, input, history).flatMap({ PhoneLoginTarget($0, cause) }) else {
            throw members.refused("state", "never has this history with this cause")
        }
        var phoneID: Identifier<Session>?
        if let text = try members.string("phone_session_id") {
            phoneID = Identifier<Session>(text)
            guard phoneID != nil else { throw members.refused("phone_session_id", "must be the id of a session") }
        }
        let driven = try await PhoneLoginTestService(services, clock).drive(
            to: target, clientID: try members.string("client_id"), phone: phoneID, from: call.origin)
        let login = driven.login
        let codes =
            login.state.isFinal ? nil : PhoneLoginCode.Kind.allCases.map { services.phoneLogins.link(of: login, $0) }
        // A link leads back to a redirect URI of the client.
        let link = login.request.returnURI.flatMap { _ in codes?[1] }
        var message: PushMessage?
        if let phoneID, let phone = try await services.phoneLogins.livingSession(phoneID) {
            message = PushMessages(context).message(about: login, to: phone)
        }
        var response = try Response.json(
            TestLoginAnswer(
                login: try await answer(login, call), number: login.number, qr: codes?[0], link: link,
                push: codes?[2], pushMessage: message?.text, deviceCode: driven.secret), .created)
        response.fields.append("Location", "/admin/v1/logins/\(login.id)")
        return response
    }

    /// The clock; without one, the calls are as unknown as every other path.
    private func existingTestClock() throws -> TestClock {
        guard let testClock else { throw ServiceError.notFound("test clock") }
        return testClock
    }
}

/// The time of the server.
private struct TestClockAnswer: Encodable {
    let now: Int64
    let aheadSeconds: Int64

    enum CodingKeys: String, CodingKey {
        case now
        case aheadSeconds = "ahead_seconds"
    }
}

/// A login, with what the other device shows and has.
private struct TestLoginAnswer: Encodable {
    let login: PhoneLoginAnswer
    let number: Int?
    let qr: String?
    let link: String?
    let push: String?
    let pushMessage: String?
    let deviceCode: String?

    enum CodingKeys: String, CodingKey {
        case login, number, qr, link, push
        case pushMessage = "push_message"
        case deviceCode = "device_code"
    }
}

extension Route {
    static let moveTestClock = Route(
        .post, "/admin/v1/test/clock", on: .admin, .admin(.owner) { try await $0.moveTestClock($1) },
        Operation(
            "move_test_clock", .sessions, "Move the clock of a test server",
            "Only a server that runs with `--test-clock` has this call; others answer 404.",
            takes: .json("TestClockStep"), answers: [.json("TestClockTime", "The time of the server.")],
            errors: [.notFound]))

    static let makeTestLogin = Route(
        .post, "/admin/v1/test/logins", on: .admin, .admin(.owner) { try await $0.makeTestLogin($1) },
        Operation(
            "make_test_login", .sessions, "Make a login with a phone in any state",
            """
            For the screens of an app. What leads to the state is done for real: `timed_out`, `not_collected` \
            and `presence_lost` move the clock, `parent_ended` ends the session of the phone, and `DELETED` \
            deletes the user. Only a server that runs with `--test-clock` has this call; others answer 404.
            """,
            takes: .json("TestLoginRequest"), answers: [.inline(201, "TestLogin")],
            errors: [.notFound, .loginConflict]))
}
