internal import AdminActs
internal import Console
internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

// The forms of the console run the calls of the admin API, so that both have one check of what is sent, and the printed `curl` is
// what has run.

extension AdminCall {
    fileprivate var request: Request {
        var request = Request(method, target)
        if let json {
            request.fields.append("Content-Type", "application/json")
            request.body = Array(json.utf8)
        }
        if let picture { request.body = picture }
        return request
    }
}

/// Makes a page again, with a sentence above.
typealias ConsolePageMaking = (_ stay: ConsoleRequest, _ notice: ConsoleNotice?) async throws
    -> ConsolePage

extension Endpoints {
    /// Answers the form of an act on a page: makes its call, or shows its commands. A refused form is shown again with what was
    /// typed.
    ///
    /// - Parameters:
    ///   - path: the page.
    ///   - scope: the least that some act of the page needs.
    ///   - check: throws for an id in the path that names nothing, once the admin is known.
    func consoleForm(
        _ call: Call, on page: ActPage, of path: PagePath, needing scope: AdminKey.Scope,
        checking check: (Call) throws -> Void = { _ in }, _ show: ConsolePageMaking
    ) async throws -> Response {
        try await consoleForm(call, of: path, needing: scope) { stay, form in
            try check(call)
            guard let type = page.act(named: form["act"]) else {
                return Self.redirect(to: stay.path(path, saying: ConsoleFlash(.pressAgain)))
            }
            func refused(_ refusal: CallRefusal) async throws -> Response {
                try await show(stay, (.bad, "\(sentence: refusal.sentence)")).response(.unprocessable)
            }
            let act: any FormAct
            do throws(CallRefusal) {
                act = try type.init(form.values, on: ActSubject(call.parameter))
            } catch {
                return try await refused(error)
            }
            guard stay.may(type.scope) else { return refuse(type.scope, stay) }
            if act.call.body?.isEmpty == true {
                return Self.redirect(to: stay.path(path, saying: ConsoleFlash(.unchanged)))
            }
            // The form is drawn again with its commands by `ConsoleView.form`, from `stay.sent`.
            if ConsoleView.showsCommands(form.values) { return try await show(stay, nil).response() }
            switch try await attempt(act.call, for: stay) {
            case .failure(let refusal): return try await refused(refusal)
            case .success(let answer):
                if let notice = act.notice(answer) {
                    return try await show(stay.withoutForm, notice).response()
                }
                return Self.redirect(to: stay.path(act.landing(answer) ?? path, saying: act.flash(answer)))
            }
        }
    }

    /// Runs a call for the admin in the browser. Throws what the call throws.
    func run(_ made: AdminCall, for stay: ConsoleRequest) async throws -> [String: JSONValue] {
        let request = made.request
        guard case .route(let route, let parameter) = adminTable.find(request),
            case .admin(let scope, _, let handle) = route.handler
        else { throw ServiceError.notFound("call") }
        guard stay.may(scope) else { throw RequestProblem.insufficientScope([scope], actor: stay.key.actor) }
        let call = Call(
            request: request, caller: stay.call.caller, requestID: stay.call.requestID, route: route,
            parameter: parameter, languages: languages)
        let response = try await handle(self, call.by(stay.call.actor, stay.key.scope))
        return (try? StrictJSON.object(response.body)) ?? [:]
    }

    /// Runs a call; what the admin has to correct is returned as a sentence.
    func attempt(
        _ made: AdminCall, for stay: ConsoleRequest
    ) async throws -> Result<[String: JSONValue], CallRefusal> {
        do { return .success(try await run(made, for: stay)) } catch {
            let problem: Problem
            switch error {
            case let error as ServiceError: problem = Self.problem(error)
            case let error as RequestProblem: problem = Self.problem(error)
            default: throw error
            }
            guard [400, 404, 409, 422].contains(problem.httpStatus.code) else { throw error }
            log(error, problem.httpStatus, stay.call)
            return .failure(CallRefusal(problem.detail))
        }
    }

    /// A measure of time for one request: true once that much has passed.
    func budget(_ duration: Duration) -> () -> Bool {
        let end = stopwatch() + duration.components.seconds * 1_000_000_000
        return { [stopwatch] in stopwatch() >= end }
    }
}
