internal import Cryptography
internal import HTTP
internal import OAuth
internal import Pages
internal import Sessions

/// The pages on which a user lets in a device without a browser (RFC 8628 section 3.3).
extension Endpoints {
    /// `GET /device?user_code=`: asks for the code that the device shows. A code in the URL is only written into the field: the
    /// user has to send it, and then sees what the device asks for.
    func showDevice(_ call: Call) async throws -> Response {
        let query = call.query
        let code = query["user_code"].flatMap { UserCode.typed($0) }
        return try await account(call, Self.devicePath(code)) { stay in
            let isAgain = stay.flash(on: Self.devicePath(code))?.word == .again
            return deviceCodePage(stay, code.map(UserCode.shown) ?? "", isAgain ? .pressAgain : nil)
        }
    }

    /// `POST /device`: shows what the device asks for.
    func reviewDevice(_ call: Call) async throws -> Response {
        let form = try call.form()
        let typed = form[.userCode] ?? ""
        // The login after an ended session leads back to the code.
        return try await account(call, Self.devicePath(UserCode.typed(typed))) { stay in
            guard stay.sent(form, to: .device) else { return deviceCodePage(stay, typed, .pressAgain) }
            switch try await device(typed, stay) {
            case .failure(let error): return deviceCodePage(stay, typed, after: error)
            case .success(let (login, client)): return reviewPage(stay, login, client)
            }
        }
    }

    /// `POST /device/decision`: lets the device in, or refuses it.
    func decideOnDevice(_ call: Call) async throws -> Response {
        let form = try call.form()
        return try await account(call, Self.devicePath(form), act: .decision) { stay in
            let isStale = !stay.sent(form, to: .deviceDecision)
            return try await isStale ? decide(form, stay, isStale: true) : perform(.decision, form, stay)
        }
    }

    /// Takes the decision of the form, or shows the form again if its token was stale.
    func decide(_ form: FormParameters, _ stay: AccountPageRequest, isStale: Bool = false) async throws -> Response {
        let code = form[.userCode].flatMap { UserCode.typed($0) }
        let (login, client): (PhoneLogin, Client)
        switch try await device(code ?? "", stay) {
        case .failure(let error): return deviceCodePage(stay, code.map(UserCode.shown) ?? "", after: error)
        case .success(let found): (login, client) = found
        }
        if isStale { return reviewPage(stay, login, client, isStale: true) }
        let isAbroad = remoteLogins.isAbroad(login, from: stay.call.caller.remoteAddress)
        if form[.decision] == DeviceReviewPage.approving, isAbroad { return abroadPage(stay, login, client) }
        let isApproved = [DeviceReviewPage.approving, DeviceAbroadPage.approving].contains(form[.decision])
        if let problem = try await decide(isApproved, on: login, stay) {
            return deviceCodePage(stay, code.map(UserCode.shown) ?? "", problem)
        }
        return DeviceDonePage(app: app(client), isApproved: isApproved).response(.ok, in: stay.language)
    }

    /// Takes the decision. Returns why it counts for nothing: the device is too far away, or it comes too late; nil: it counts.
    private func decide(
        _ isApproved: Bool, on login: PhoneLogin, _ stay: AccountPageRequest
    ) async throws(ServiceError) -> DeviceCodePage.Message? {
        let (browser, origin) = (stay.visit.session, stay.call.origin)
        do throws(ServiceError) {
            if isApproved {
                _ = try await services.phoneLogins.approve(
                    login, inBrowser: browser, from: origin,
                    isNear: remoteLogins.allows(login, .typed, from: origin.remoteAddress))
            } else {
                try await services.phoneLogins.refuse(login.id, inBrowser: browser.id, from: origin)
            }
            return nil
        } catch {
            switch error {
            case .login(.elsewhere): return .elsewhere
            case .login, .loginOver, .notFound: return .unknownCode
            default: throw error
            }
        }
    }

    /// The page of the code in a form.
    static func devicePath(_ form: FormParameters) -> PagePath {
        devicePath(form[.userCode].flatMap { UserCode.typed($0) })
    }

    private static func devicePath(_ code: String?) -> PagePath {
        code.map { PagePath("/device", ["user_code": $0]) } ?? .device
    }

    /// The login of a code, and its client; or why the page asks for the code again. A wrong code counts against the caller's
    /// address.
    private func device(
        _ typed: String, _ stay: AccountPageRequest
    ) async throws -> Result<(PhoneLogin, Client), ServiceError> {
        do throws(ServiceError) {
            let found = try await rateLimiter.userCode(from: stay.call.caller) {
                () async throws(ServiceError) -> (PhoneLogin, Client)? in
                guard let login = try await services.phoneLogins.login(typed: typed), login.state == .requested,
                    let client = try await services.pageLogin.client(login.clientID)
                else { return nil }
                return (login, client)
            }
            return found.map { .success($0) } ?? .failure(.notFound("login"))
        } catch {
            guard case .tooManyRequests = error else { throw error }
            return .failure(error)
        }
    }

    /// The page of the code again, after a code that `device` has not found.
    private func deviceCodePage(_ stay: AccountPageRequest, _ typed: String, after error: ServiceError) -> Response {
        guard case .tooManyRequests(let wait) = error else { return deviceCodePage(stay, typed, .unknownCode) }
        let message = DeviceCodePage.Message.tooManyAttempts(seconds: Self.seconds(of: wait))
        log(error, message.status, stay.call)
        return page(deviceCodePage(stay, typed, message), after: error)
    }

    private func deviceCodePage(_ stay: AccountPageRequest, _ typed: String, _ message: DeviceCodePage.Message?)
        -> Response
    {
        DeviceCodePage(form: stay.header.form, code: String(typed.prefix(20)), message: message)
            .response(message?.status ?? .ok, in: stay.language)
    }

    private func reviewPage(
        _ stay: AccountPageRequest, _ login: PhoneLogin, _ client: Client, isStale: Bool = false
    ) -> Response {
        DeviceReviewPage(
            app: app(client), form: stay.header.form, code: UserCode.shown(login.request.userCode ?? ""),
            device: login.request.userAgent.map(Self.program(named:)),
            place: login.request.remoteAddress.flatMap { placeName($0, in: stay.language) },
            askedAt: login.startedAt.secondsSinceEpoch,
            scopes: login.request.scope?.tokens ?? [], isStale: isStale
        ).response(.ok, in: stay.language)
    }

    /// A `User-Agent` in plain words: the known browser, or else the product that it names first (RFC 9110 section 10.1.5).
    private static func program(named userAgent: String) -> String {
        PageLoginService.Browser.name(of: userAgent) ?? String(userAgent.prefix { $0 != "/" })
    }

    /// The second screen before a device in another country is let in.
    private func abroadPage(_ stay: AccountPageRequest, _ login: PhoneLogin, _ client: Client) -> Response {
        DeviceAbroadPage(
            app: app(client), form: stay.header.form, code: UserCode.shown(login.request.userCode ?? ""),
            place: login.request.remoteAddress.flatMap { placeName($0, in: stay.language) },
            ownPlace: stay.call.caller.remoteAddress.flatMap { placeName($0, in: stay.language) }
        ).response(.ok, in: stay.language)
    }
}

extension DeviceCodePage.Message {
    /// The status of the page with this message.
    fileprivate var status: Status {
        switch self {
        case .pressAgain: .ok
        case .unknownCode, .elsewhere: .unprocessable
        case .tooManyAttempts: .tooManyRequests
        }
    }
}

extension Route {
    static let showDevice = Route(
        .get, "/device", errorFormat: .page, .open { try await $0.showDevice($1) },
        Operation(
            "showDevice", .accountPages, "Connect a device",
            "Asks for the code that a device without a browser shows (RFC 8628 section 3.3).",
            parameters: ["user_code"], answers: [.page, .toLogin]))

    static let reviewDevice = Route(
        .post, "/device", errorFormat: .page, .open { try await $0.reviewDevice($1) },
        Operation(
            "reviewDevice", .accountPages, "See what the device asks for",
            "Shows app, device, place and time of the request for a decision.",
            takes: .form,
            answers: [
                .page, .toLogin, .page(422, "The code is not valid."),
                .page(429, "Too many wrong codes were sent from this address."),
            ]))

    static let decideOnDevice = Route(
        .post, "/device/decision", errorFormat: .page, .open { try await $0.decideOnDevice($1) },
        Operation(
            "decideOnDevice", .accountPages, "Let the device in, or not",
            """
            Needs a login of the last five minutes for `approve`; an older one leads to the login page and back.
            """,
            takes: .form,
            answers: [
                .page, .toLogin, .page(422, "The code is not valid."),
                .page(429, "Too many wrong codes were sent from this address."),
            ]))
}
