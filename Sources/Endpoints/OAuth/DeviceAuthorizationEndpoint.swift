internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

extension Endpoints {
    static let deviceAuthorizationPath = "/oauth/device_authorization"
    /// How often a device or a backend asks for its tokens (RFC 8628 section 3.2, OpenID Connect CIBA section 7.3).
    static let pollInterval = Duration.seconds(5)

    /// `POST /oauth/device_authorization` (RFC 8628 section 3.1): opens a login that a phone, or a browser, approves.
    ///
    /// Beside the parameters of the RFC it takes `bond`, `ping_seconds`, `second_factor`, `announce_info`, `session_info` and
    /// `redirect_uri`, and the answer has `login_id`, `qr` and, with `redirect_uri`, `link`. A proof of possession (RFC 9449) shows that the device is one that the user's phone
    /// has let in before.
    func authorizeDevice(_ call: Call) async throws -> Response {
        let form = try call.form(repeatable: { _ in ["resource"] })
        let client = try await client(try await clientIdentity(call, ClientParameters(form)), call)
        if let refusal = client.refusal(of: .deviceCode) { throw refusal }
        var opening = PhoneLoginService.Opening(.device, clientID: client.id)
        opening.resources = form.all("resource")
        if let text = form["scope"] {
            guard let scope = Scope(text) else { throw ServiceError.invalidScope }
            opening.scope = scope
        }
        try form.readRules(of: client, into: &opening)
        if let uri = form["redirect_uri"] {
            guard client.page.redirects(to: uri) else {
                throw RequestProblem.invalid("redirect_uri", "must be one of the redirect_uris of the client")
            }
            opening.returnURI = uri
        }
        opening.userAgent = try call.onlyField("User-Agent")
        // The key of an earlier session proves the device, because anyone can name its identifier.
        let proof = try keyProof(call)
        opening.device.keyThumbprint = proof?.keyThumbprint
        var origin = call.origin
        if !client.isPublic { origin.actor = "client:\(client.id)" }
        let opened = try await rateLimiter.loginRequest(client, in: call) {
            [opening, origin] () async throws(ServiceError) in
            try proof?.use(for: client.dpop)
            return try await services.phoneLogins.open(opening, from: origin)
        }
        return try .json(
            DeviceAuthorizationAnswer(
                opened, services.phoneLogins, page: url(.device), interval: Self.pollInterval.wholeSeconds,
                now: context.clock.now))
    }
}

extension FormParameters {
    /// Reads what every request for a login can have beside the parameters of its standard. A public client proves nothing: its
    /// request can come from anyone, so that what it says to the user is a short plain text, and is shown as a quotation.
    func readRules(of client: Client, into opening: inout PhoneLoginService.Opening) throws {
        (opening.bond, opening.secondFactor) = (try bond(), try secondFactor())
        let read = client.isPublic ? quote : info
        opening.announceInfo = try read("announce_info")
        opening.sessionInfo = try read("session_info")
    }

    /// How long the session depends on the phone.
    private func bond() throws -> PhoneLogin.Bond {
        let seconds = self["ping_seconds"].map { QueryParameters.number($0) ?? -1 }
        let word = self["bond"] ?? (seconds == nil ? PhoneLogin.Bond.session.word : "ping")
        guard let bond = PhoneLogin.Bond(word: word, interval: seconds.map { .seconds($0) }) else {
            throw RequestProblem.invalid("bond", "must be none, session, or ping with ping_seconds")
        }
        if let interval = bond.interval, !(PhoneLogin.Bond.pingMin...PhoneLogin.Bond.pingMax).contains(interval) {
            throw RequestProblem.invalid(
                "ping_seconds",
                "must be from \(PhoneLogin.Bond.pingMin.wholeSeconds) to \(PhoneLogin.Bond.pingMax.wholeSeconds)")
        }
        return bond
    }

    /// The rule of the client for the second factor; nil when it is absent.
    private func secondFactor() throws -> PhoneLogin.FactorRule? {
        try word("second_factor", as: PhoneLogin.FactorRule.self)
    }

    /// One of the words of an enumeration; nil when it is absent.
    private func word<Word>(_ name: String, as: Word.Type) throws -> Word?
    where Word: CaseIterable & RawRepresentable<String> {
        guard let text = self[name] else { return nil }
        guard let word = Word(rawValue: text) else {
            let all = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw RequestProblem.invalid(name, "must be one of \(all)")
        }
        return word
    }

    /// The text of `{"text": …}`, as a JSON string; nil when it is absent.
    private func quote(_ name: String) throws -> String? {
        guard let text = self[name] else { return nil }
        let longest = PhoneLogin.Request.quoteLengthMax
        guard text.utf8.count <= PhoneLogin.Request.infoLengthMax,
            let members = try? StrictJSON.object(Array(text.utf8)), members.count == 1,
            let quote = members["text"]?.string, Text.isPlain(quote, scalarsMax: longest)
        else {
            throw RequestProblem.invalid(
                name, "must be a JSON object with the one member text, of at most \(longest) characters in one line")
        }
        return JSONText.quoted(quote)
    }

    /// A JSON object that the phone shows; nil when it is absent.
    private func info(_ name: String) throws -> String? {
        guard let text = self[name] else { return nil }
        let longest = PhoneLogin.Request.infoLengthMax
        guard text.utf8.count <= longest, (try? StrictJSON.object(Array(text.utf8))) != nil else {
            throw RequestProblem.invalid(name, "must be a JSON object of at most \(longest) bytes")
        }
        return text
    }
}

/// The answer to a device (RFC 8628 section 3.2).
private struct DeviceAuthorizationAnswer: Encodable {
    let deviceCode: String
    let userCode: String
    let verificationURI: String
    let verificationURIComplete: String
    let expiresIn: Int64
    let interval: Int64
    let loginID: String
    let qr: String
    let qrExpiresAt: Int64
    /// Opens the app on the phone itself. Nil without a URI to which that leads back.
    let link: String?

    init(
        _ opened: PhoneLoginService.Opened, _ service: PhoneLoginService, page: String, interval: Int64,
        now: Instant
    ) {
        let code = UserCode.shown(opened.login.request.userCode ?? "")
        deviceCode = opened.secret ?? ""
        userCode = code
        verificationURI = page
        verificationURIComplete = verificationURI + "?user_code=\(code)"
        expiresIn = (opened.login.inputUntil - now).wholeSeconds
        self.interval = interval
        loginID = opened.login.id.description
        qr = service.link(of: opened.login, .picture)
        qrExpiresAt = service.pictureUntil.secondsSinceEpoch
        link = opened.login.request.returnURI.map { _ in service.link(of: opened.login, .link) }
    }

    enum CodingKeys: String, CodingKey {
        case deviceCode = "device_code"
        case userCode = "user_code"
        case verificationURI = "verification_uri"
        case verificationURIComplete = "verification_uri_complete"
        case expiresIn = "expires_in"
        case interval
        case loginID = "login_id"
        case qr
        case qrExpiresAt = "qr_expires_at"
        case link
    }
}

extension Route {
    static let authorizeDevice = Route(
        .post, Endpoints.deviceAuthorizationPath, errorFormat: .oauth, challenge: .basic, cors: .client,
        .open { try await $0.authorizeDevice($1) },
        Operation(
            "authorize_device", .oauth, "Ask for a login with a phone",
            """
            RFC 8628, for clients with the grant `urn:ietf:params:oauth:grant-type:device_code`. The device \
            shows the picture, or the code for a browser, and asks the token endpoint for its tokens.
            """,
            takes: .form, parameters: ["DPoP"], answers: [.inline(200, "DeviceCodes")]))
}
