import FoundationEssentials
import HTTP
import Sessions
import Synchronization
import Telemetry

@testable import Endpoints

/// Endpoints with limits of their own in front of a server's domain, and a stopwatch that the test moves.
struct RateLimitFixture: Sendable {
    private final class Stopwatch: Sendable {
        let nanoseconds = Atomic<Int64>(0)
    }

    let server: EndpointsFixture
    let endpoints: Endpoints
    let registry = MetricsRegistry()
    private let stopwatch = Stopwatch()

    init(_ server: EndpointsFixture, _ limits: RateLimits) {
        self.server = server
        endpoints = Endpoints(
            context: server.context, metrics: registry,
            logger: Logger(level: .error, sink: LogSink { _ in }, clock: { 0 }),
            rateLimits: limits, identityVerifier: server.endpoints.identityVerifier,
            stopwatch: { [stopwatch] in stopwatch.nanoseconds.load(ordering: .relaxed) })
    }

    /// Lets time pass for the limits; the domain's clock stands.
    func wait(seconds: Int64) { stopwatch.nanoseconds.add(seconds * 1_000_000_000, ordering: .relaxed) }

    func send(_ request: Request, from address: String?) async -> Answer {
        let caller = Caller(remoteAddress: address, listener: .public)
        return Answer(await endpoints.reply(to: request, from: caller).response())
    }

    func json(
        _ method: Method, _ target: String, _ json: String, authorization: String? = nil,
        from address: String? = "192.0.2.1"
    ) async -> Answer {
        var fields: Fields = ["Content-Type": "application/json"]
        if let authorization { fields.append("Authorization", authorization) }
        return await send(Request(method, target, fields: fields, body: Array(json.utf8)), from: address)
    }

    /// A call of an admin.
    func admin(_ method: Method, _ target: String) async -> Answer {
        let request = Request(method, target, fields: ["Authorization": "Bearer \(server.adminKey)"])
        let caller = Caller(remoteAddress: "192.0.2.9", listener: .admin)
        return Answer(await endpoints.reply(to: request, from: caller).response())
    }

    /// An OAuth call; `basic` is `id:secret`.
    func form(
        _ target: String, _ form: String, basic: String? = nil, from address: String? = "192.0.2.1"
    ) async -> Answer {
        var fields: Fields = ["Content-Type": "application/x-www-form-urlencoded"]
        if let basic { fields.append("Authorization", "Basic " + Data(basic.utf8).base64EncodedString()) }
        return await send(Request(.post, target, fields: fields, body: Array(form.utf8)), from: address)
    }

    func logIn(
        _ password: String = EndpointsFixture.password, as username: String = "anna", device: String = "phone-1",
        from address: String? = "192.0.2.1"
    ) async -> Answer {
        await json(
            .post, "/v1/login",
            #"{"username":"\#(username)","password":"\#(password)","device":{"id":"\#(device)"}}"#, from: address)
    }

    func refresh(_ token: String, from address: String? = "192.0.2.1") async -> Answer {
        await form("/oauth/token", "grant_type=refresh_token&refresh_token=\(token)", from: address)
    }

    /// A reset of a password.
    func reset(_ token: String, to password: String, from address: String? = "192.0.2.1") async -> Answer {
        await json(
            .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"\#(password)"}"#, from: address)
    }

    /// Whether a limit was met, by the metrics.
    func refusals(_ limit: RateLimits.Name) -> Bool {
        let counter = "sojourn_too_many_requests_total{limit=\"\(limit.rawValue)\"} "
        let text = registry.render()
        return text.contains(counter) && !text.contains(counter + "0\n")
    }
}
