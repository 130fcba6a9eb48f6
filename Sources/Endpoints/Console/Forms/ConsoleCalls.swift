internal import Cryptography
internal import HTTP
internal import JSON
internal import OAuth
internal import Pages
internal import Sessions

// The forms of the console that change clients, settings and keys run the calls of the admin API, so that both have one check of
// what is sent, and the printed `curl` is what has run.

/// A call of the admin API that a form makes.
struct ConsoleCall: Sendable {
    let method: HTTP.Method
    /// The path after `/admin/v1`.
    let path: String
    var body: [String: JSONValue]?

    /// The body as JSON.
    var json: String? {
        body.map { String(decoding: JSONAnswer.encodeOrEmpty($0), as: UTF8.self) }
    }

    fileprivate var target: String { "/admin/v1" + path }

    /// The request of the call.
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
    func run(_ made: ConsoleCall, for stay: ConsoleStay) async throws -> [String: JSONValue] {
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
        _ made: ConsoleCall, for stay: ConsoleStay
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

/// What a form was filled with when it was shown, in a few characters. A form that comes back after another admin's change would
/// undo that change.
struct FormMark: Hashable, Sendable {
    /// The name of the hidden field.
    static let name = "was"

    let text: String

    init(_ values: [String: JSONValue]) {
        text = Base64URL.encode(Array(sha256(JSONAnswer.encodeOrEmpty(values)).prefix(9)))
    }

    /// The hidden field.
    var field: ConsoleField { .hidden(Self.name, text) }

    /// Whether a form was filled with something else.
    func isOlder(in form: FormParameters) -> Bool { form.value(Self.name).map { $0 != text } ?? false }

    /// What the page then says.
    static let notice: (look: ConsoleLook, text: ConsoleText) = (
        .bad,
        "Another admin has made a change since this page was shown, so nothing has happened. This is how it is now."
    )
}

/// Why a call of a form was refused.
struct ConsoleRefusal: Error, Sendable {
    let sentence: String
}

extension ConsoleView {
    func curl(_ call: ConsoleCall) -> String { curl(call.method, call.path, call.json) }

    /// Seconds of `90`, `90s`, `15m`, `12h`, `14d`, `2w`; nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        let factor = text.last.flatMap { units[$0] }
        guard let number = QueryParameters.number(factor == nil ? text : String(text.dropLast())), !text.isEmpty else {
            return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor ?? 1)
        return overflow ? nil : product
    }

    /// `14d`, `90m`, `45s`: the shortest text for `seconds(_:)`.
    static func short(_ duration: Duration) -> String {
        let seconds = duration.wholeSeconds
        for (unit, length) in [("d", Int64(86400)), ("h", 3600), ("m", 60)] where seconds > 0 && seconds % length == 0 {
            return "\(seconds / length)\(unit)"
        }
        return seconds == 0 ? "0" : "\(seconds)s"
    }
}
