internal import HTTP
internal import OAuth
internal import Pages
internal import QRCode
internal import Sessions

/// The page of authenticator apps and recovery codes.
extension Endpoints {
    /// `GET /account/factors`: what the user has.
    func showAccountFactors(_ call: Call) async throws -> Response {
        try await account(call, .accountFactors) { request in
            let message: FactorsPage.Message? =
                switch request.flash(on: .accountFactors)?.word {
                case .again: .pressAgain
                case .factorAdded: .added
                case .factorRemoved: .removed
                case .gone: .gone
                default: nil
                }
            return try await factorsPage(request, message)
        }
    }

    /// `POST /account/factors`: adds, confirms or removes an authenticator app, or makes recovery codes.
    func changeAccountFactors(_ call: Call) async throws -> Response {
        try await account(call, .accountFactors, act: .factors) { request in
            let form = try call.form()
            guard request.sent(form, to: .accountFactors), !request.visit.isPaused, form[.act] != nil else {
                return try await factorsPage(request, .pressAgain)
            }
            return try await perform(.factors, form, request)
        }
    }

    /// Does what the form of the page says.
    func changeFactors(_ form: FormParameters, _ request: AccountPageRequest) async throws -> Response {
        do throws(ServiceError) {
            switch form[.act] {
            case "add": return try await addFactor(request)
            case "confirm": return try await confirmFactor(form, request)
            case "remove":
                try await services.secondFactors.remove(
                    try Self.factorID(form[.factor] ?? ""), of: request.user, in: request.visit.session,
                    from: request.call.origin)
                return redirect(request, to: .accountFactors, saying: AccountFlash(.factorRemoved))
            case "codes":
                let codes = try await services.secondFactors.makeRecoveryCodes(
                    of: request.user, in: request.visit.session, from: request.call.origin)
                return try await factorsPage(request, nil, codes: codes)
            default: return try await factorsPage(request, .pressAgain)
            }
        } catch {
            let message: FactorsPage.Message
            switch error {
            case .conflict(code: "email_not_verified", _): message = .unverified
            case .conflict(code: "too_many_factors", _): message = .full
            case .conflict(code: "last_second_factor", _): message = .last
            case .notFound, .conflict:
                return redirect(request, to: .accountFactors, saying: AccountFlash(.gone))
            default: throw error
            }
            log(error, .conflict, request.call)
            return try await factorsPage(request, message)
        }
    }

    private func addFactor(_ request: AccountPageRequest) async throws(ServiceError) -> Response {
        let made = try await services.secondFactors.add(name: nil, to: request.user, in: request.visit.session)
        let enrolment = FactorPage.Enrolment(
            secret: made.secret, code: QRMatrix(made.uri).map { QRPicture(side: $0.side, path: $0.path) })
        return try await factorsPage(
            request, nil, pending: FactorsPage.Pending(id: made.factor.id.description, enrolment: enrolment))
    }

    private func confirmFactor(
        _ form: FormParameters, _ request: AccountPageRequest
    ) async throws(ServiceError) -> Response {
        let id = try Self.factorID(form[.factor] ?? "")
        do throws(ServiceError) {
            let confirmation = try await services.secondFactors.confirm(
                id, code: form[.code] ?? "", of: request.user.id, in: request.visit.session, from: request.call.origin)
            guard let codes = confirmation.recoveryCodes else {
                return redirect(request, to: .accountFactors, saying: AccountFlash(.factorAdded))
            }
            return try await factorsPage(request, .added, codes: codes)
        } catch {
            let message: FactorsPage.Message
            switch error {
            case .secondFactor(.wrongCode(let clockDiffers)): message = clockDiffers ? .clockDiffers : .wrongCode
            case .secondFactor(.blocked): message = .blocked
            case .tooManyRequests(let wait): message = .tooManyAttempts(seconds: Self.seconds(of: wait))
            default: throw error
            }
            log(error, message.status, request.call)
            let pending = FactorsPage.Pending(id: id.description, enrolment: nil)
            return page(try await factorsPage(request, message, pending: pending), after: error)
        }
    }

    private func factorsPage(
        _ request: AccountPageRequest, _ message: FactorsPage.Message?, pending: FactorsPage.Pending? = nil,
        codes: [String] = []
    ) async throws(ServiceError) -> Response {
        let overview = try await services.secondFactors.overview(of: request.user.id)
        let page = FactorsPage(
            header: request.header,
            factors: overview.factors.map {
                FactorsPage.Factor(id: $0.id.description, name: $0.name, addedAt: $0.createdAt.secondsSinceEpoch)
            }, codesLeft: overview.codesLeft, pending: pending, codes: codes, message: message)
        return page.response(message?.status ?? .ok, in: request.language)
    }
}

extension FactorsPage.Message {
    /// The status of the page with this message.
    fileprivate var status: Status {
        switch self {
        case .pressAgain, .added, .removed, .gone: .ok
        case .wrongCode, .clockDiffers: .unprocessable
        case .tooManyAttempts: .tooManyRequests
        case .blocked: .forbidden
        case .unverified, .full, .last: .conflict
        }
    }
}

extension Route {
    static let showAccountFactors = Route(
        .get, "/account/factors", errorFormat: .page, .open { try await $0.showAccountFactors($1) },
        Operation(
            "showAccountFactors", .accountPages, "Authenticator apps and recovery codes",
            "What the user has as second factor.",
            parameters: ["done", "t"], answers: [.page, .toLogin]))

    static let changeAccountFactors = Route(
        .post, "/account/factors", errorFormat: .page, .open { try await $0.changeAccountFactors($1) },
        Operation(
            "changeAccountFactors", .accountPages, "Add, confirm or remove an authenticator app",
            """
            Needs a login of the last five minutes, with the second factor if there is one, for which it asks. Recovery \
            codes and seeds are shown this once. The form needs the page's token and the browser's cookies, and comes from \
            this origin; a stale one is shown again.
            """,
            takes: .form,
            answers: [
                .page, .redirect("To `/account/factors`, or to the login page."),
                .page(409, "The user cannot have another one, or not lose the last one."),
                .page(422, "The code is wrong."), .tooManyAttempts,
            ]))
}
