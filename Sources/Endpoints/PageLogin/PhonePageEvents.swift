internal import HTTP
internal import OAuth
internal import Pages
internal import QRCode
internal import Sessions

/// What the page of a login with the phone loads: the picture of its code, and the events that change it.
extension Endpoints {
    /// `GET /login/phone/{id}/code.svg`: the picture of the code that is valid now, for the browser in which the login began.
    func phoneCode(_ call: Call) async throws -> Response {
        guard let login = try await ownPhoneLogin(call) else { throw ServiceError.notFound("file") }
        // The scan may come between the page and its picture, which is no error that a browser should report.
        guard login.state == .requested, let matrix = QRMatrix(phoneLink(login, .picture)) else {
            return Response(status: .noContent, fields: ["Cache-Control": "no-store"])
        }
        return Response(
            status: .ok,
            fields: [
                "Content-Type": "image/svg+xml", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                "Cross-Origin-Resource-Policy": "same-origin",
            ], body: Array(matrix.svg.utf8))
    }

    /// `GET /login/phone/{id}/events`: what happens to the login, as server-sent events, or one event as JSON, which waits until
    /// it is another one than `seen`.
    func followPhoneLogin(_ call: Call) async throws -> StreamingAnswer {
        guard let login = try await ownPhoneLogin(call), let proof = login.browser.map({ DeviceProof.browser($0) })
        else { throw ServiceError.notFound("login") }
        if Self.acceptsEvents(call.request) {
            return .stream(events(of: login, proof, try waitingCalls.pagePlace(for: call.caller)))
        }
        let query = call.query
        var (event, current) = (PhonePageEvent(login, pictureUntil: services.phoneLogins.pictureUntil), login)
        if let wait = query["wait"].flatMap({ Int($0) }), wait > 0,
            let place = try? waitingCalls.pagePlace(for: call.caller)
        {
            defer { place.giveBack() }
            let end = ContinuousClock.now + min(.seconds(wait), Self.pageWait)
            while event.text == query["seen"], ContinuousClock.now < end, !Task.isCancelled {
                current = try await next(current, proof, atMost: end - ContinuousClock.now)
                event = PhonePageEvent(current, pictureUntil: services.phoneLogins.pictureUntil)
            }
        }
        return .whole(try .json(event))
    }

    private typealias DeviceProof = PhoneLoginService.DeviceProof

    /// The longest wait of a page that asks again and again.
    private static let pageWait = Duration.seconds(25)

    private func ownPhoneLogin(_ call: Call) async throws -> PhoneLogin? {
        guard let transport = call.transport else { throw RequestProblem.needsTLS }
        guard let id = Identifier<Session>(call.parameter) else { return nil }
        return try await phoneLogin(id, call, transport)?.login
    }

    /// The login after its next change, or when its picture changes.
    private func next(
        _ login: PhoneLogin, _ proof: DeviceProof, atMost patience: Duration
    ) async throws(ServiceError) -> PhoneLogin {
        var patience = patience
        if login.state == .requested {
            patience = min(patience, max(services.phoneLogins.pictureUntil - context.clock.now, .milliseconds(100)))
        }
        return try await services.phoneLogins.wait(
            for: login.id, as: proof, unlike: login.deviceVersion, patience: patience)
    }

    private func events(of login: PhoneLogin, _ proof: DeviceProof, _ place: WaitingCalls.Place) -> StreamedResponse {
        StreamedResponse(head: Self.eventStreamHead(), heartbeat: Array(":\n\n".utf8), longest: .seconds(300)) {
            [self] reader in
            defer { place.giveBack() }
            var (current, sent) = (login, "")
            while !Task.isCancelled {
                let event = PhonePageEvent(current, pictureUntil: services.phoneLogins.pictureUntil)
                if event.text != sent {
                    sent = event.text
                    if await !reader.send(Array("event: \(event.event)\ndata: \(event.data)\n\n".utf8)) { return }
                }
                if current.state.isFinal { return }
                do { current = try await next(current, proof, atMost: .seconds(15)) } catch { return }
            }
        }
    }
}

/// What the page of a login shows now.
private struct PhonePageEvent: Encodable {
    /// The state of the page.
    let event: String
    /// The number of the picture, or the two digits.
    let data: String

    init(_ login: PhoneLogin, pictureUntil: Instant) {
        let state = PhonePage.State(of: login)
        event = state.rawValue
        switch state {
        case .waiting: data = "\(pictureUntil.secondsSinceEpoch)"
        case .number: data = login.number.map { String($0) } ?? ""
        default: data = ""
        }
    }

    /// How the page names what it has seen.
    var text: String { "\(event).\(data)" }
}

extension Route {
    static let phoneCode = Route(
        .get, "/login/phone/{id}/code.svg", errorFormat: .page, .open { try await $0.phoneCode($1) },
        Operation(
            "phoneCode", .loginPage, "The picture of the code",
            """
            The QR code that is valid now: another one every ten seconds, good for twenty at most.
            """,
            parameters: ["id.phone"],
            answers: [
                .text("image/svg+xml", "The picture."), .empty("The login shows no code any more."),
                .page(404, "The login began in another browser."),
            ]))

    static let followPhoneLogin = Route(
        .get, "/login/phone/{id}/events", errorFormat: .page, .openStreaming { try await $0.followPhoneLogin($1) },
        Operation(
            "followPhoneLogin", .loginPage, "What happens to the login",
            """
            Server-sent events for `Accept: text/event-stream`, each with the name of a state and its data. \
            Otherwise the state as JSON, for which the answer waits until it is another one than `seen`.
            """,
            parameters: ["id.phone", "wait.phone", "seen"],
            answers: [.inline(200, "PhoneLoginEvents"), .page(404, "The login began in another browser, or is gone.")]))
}
