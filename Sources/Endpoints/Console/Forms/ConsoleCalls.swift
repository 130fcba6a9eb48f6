internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

// The forms of the console that change clients, settings and keys run the calls of the admin API, so that both have one check of
// what is sent, and the printed `curl` is what has run.

/// A call of the admin API that a form makes.
struct ConsoleCall: Hashable, Sendable {
    let method: HTTP.Method
    /// The path after `/admin/v1`.
    let path: String
    var body: [String: JSONValue]?

    /// The body as JSON.
    var json: String? {
        body.map { String(decoding: JSONAnswer.encodeOrEmpty($0), as: UTF8.self) }
    }

    fileprivate var target: String { "/admin/v1" + path }

    fileprivate var request: Request {
        var request = Request(method, target)
        if let json {
            request.fields.append("Content-Type", "application/json")
            request.body = Array(json.utf8)
        }
        return request
    }
}

extension Endpoints {
    /// Runs a call for the admin in the browser. Throws what the call throws.
    func run(_ made: ConsoleCall, for stay: ConsoleRequest) async throws -> [String: JSONValue] {
        let request = made.request
        guard case .route(let route, let parameter) = adminTable.find(request),
            case .admin(let scope, _, let handle) = route.handler
        else { throw ServiceError.notFound("call") }
        guard stay.may(scope) else { throw RequestProblem.insufficientScope([scope], actor: stay.key.actor) }
        let call = Call(
            request: request, caller: stay.call.caller, requestID: stay.call.requestID, route: route,
            parameter: parameter)
        let response = try await handle(self, call.by(stay.call.actor, stay.key.scope))
        return (try? StrictJSON.object(response.body)) ?? [:]
    }

    /// The scope that a call needs; nil if there is no such call.
    func scope(of made: ConsoleCall) -> AdminKey.Scope? {
        guard case .route(let route, _) = adminTable.find(Request(made.method, made.target)),
            case .admin(let scope, _, _) = route.handler
        else { return nil }
        return scope
    }

    /// Runs a call; what the admin has to correct is returned as a sentence.
    func attempt(
        _ made: ConsoleCall, for stay: ConsoleRequest
    ) async throws -> Result<[String: JSONValue], ConsoleRefusal> {
        do { return .success(try await run(made, for: stay)) } catch {
            let problem: Problem
            switch error {
            case let error as ServiceError: problem = Self.problem(error)
            case let error as RequestProblem: problem = Self.problem(error)
            default: throw error
            }
            guard [400, 404, 409, 422].contains(problem.httpStatus.code) else { throw error }
            log(error, problem.httpStatus, stay.call)
            return .failure(ConsoleRefusal(sentence: problem.detail))
        }
    }

    /// A measure of time for one request: true once that much has passed.
    func budget(_ duration: Duration) -> () -> Bool {
        let end = stopwatch() + duration.components.seconds * 1_000_000_000
        return { [stopwatch] in stopwatch() >= end }
    }
}

/// Why a call of a form was refused.
struct ConsoleRefusal: Error, Sendable {
    let sentence: String
}

extension ConsoleView {
    func curl(_ call: ConsoleCall) -> String { curl(call.method, call.path, call.json) }

    /// `14d`, `90m`, `45s`.
    static func short(_ duration: Duration) -> String { DurationText.text(duration.wholeSeconds) }
}
