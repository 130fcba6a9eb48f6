internal import Console
internal import HTTP
internal import Sessions
internal import Telemetry
internal import WebAuthn

/// The metrics of this module. All label values are fixed at start, so that no request can create a time series.
struct EndpointMetrics: Sendable {
    private final class RouteMetrics: Sendable {
        /// The counters, by class of status.
        let requests: [Counter]
        let duration: Histogram

        init(_ requests: [Counter], _ duration: Histogram) {
            self.requests = requests
            self.duration = duration
        }
    }

    private let routes: [ObjectIdentifier: RouteMetrics]
    /// The metrics of requests without a route.
    private let unrouted: RouteMetrics
    private let refreshes: [String: Counter]
    private let failedRefreshes: Counter
    private let logins: [String: Counter]
    private let failedLogins: Counter
    private let refusedProofs: [DPoPError: Counter]
    /// The outcomes of the last hours, minute by minute.
    let history: OutcomeHistory

    /// The routes with a duration histogram of their own.
    private static let timed = ["POST /oauth/token", "POST /v1/refresh", "POST /v1/login", "GET /v1/verify"]
    private static let statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx"]
    private static let issued = ["repeated", "rotated", "converged", "reissued", "caught_up", "restored", "resumed"]

    init(_ registry: MetricsRegistry, routes: [Route], history: OutcomeHistory) {
        self.history = history
        let names = routes.map(\.name)
        let requests = registry.counters(
            "sojourn_http_requests_total", help: "Requests, by route and class of status.",
            labels: [MetricLabel("route", values: names), MetricLabel("status", values: Self.statusClasses)])

        let durations = registry.histograms(
            "sojourn_http_request_duration_seconds",
            help: "Time from a request's arrival to its answer, if that had to be awaited.",
            labels: [MetricLabel("route", values: Self.timed + ["other"])])
        let metrics = { (name: String) in
            RouteMetrics(
                Self.statusClasses.map { requests[name, $0] },
                durations[Self.timed.contains(name) ? name : "other"])
        }
        self.routes = Dictionary(uniqueKeysWithValues: routes.map { (ObjectIdentifier($0), metrics($0.name)) })
        unrouted = metrics("other")

        let outcomes = Self.issued + RefusalReason.allCases.map(\.rawValue)
        let refreshes = registry.counters(
            "sojourn_refreshes_total", help: "Refreshes, by the decision or the reason of the refusal.",
            labels: [MetricLabel("outcome", values: outcomes + ["failed"])])
        self.refreshes = Dictionary(outcomes.map { ($0, refreshes[$0]) }, uniquingKeysWith: { first, _ in first })
        failedRefreshes = refreshes["failed"]

        let endings = [
            "started", "invalid_credentials", "login_disabled_by_user", "login_disabled_by_admin",
            "too_many_requests", "id_token_refused", "passkey_refused",
        ]
        let logins = registry.counters(
            "sojourn_logins_total", help: "Logins, by outcome.",
            labels: [MetricLabel("outcome", values: endings + ["failed"])])
        self.logins = Dictionary(endings.map { ($0, logins[$0]) }, uniquingKeysWith: { first, _ in first })
        failedLogins = logins["failed"]

        let proofs = registry.counters(
            "sojourn_proofs_refused_total", help: "Refused DPoP proofs, by the reason.",
            labels: [MetricLabel("reason", values: DPoPError.allCases.map(\.rawValue))])
        refusedProofs = Dictionary(uniqueKeysWithValues: DPoPError.allCases.map { ($0, proofs[$0.rawValue]) })
    }

    /// Counts a refused proof.
    func count(_ problem: DPoPError) { refusedProofs[problem]?.increment() }

    /// Counts an answer, and its duration if one was measured.
    func count(_ route: Route?, status: Status, nanoseconds: Int64?) {
        let metrics = route.flatMap { routes[ObjectIdentifier($0)] } ?? unrouted
        metrics.requests[status.code / 100 - 1].increment()
        if let nanoseconds { metrics.duration.observe(Double(nanoseconds) * 1e-9) }
    }

    /// Counts a refresh that gave tokens.
    func countRefresh(granting grant: TokenGrant) {
        let name = grant.decision?.name ?? "failed"
        (refreshes[name] ?? failedRefreshes).increment()
        history.count(.refresh, name)
    }

    /// Counts a refresh that gave no tokens.
    func countRefresh(failing error: ServiceError) {
        let reason: RefusalReason
        switch error {
        case .refused(let refusal): reason = refusal
        case .insufficientUserAuthentication, .wrongPassword: reason = .insufficientUserAuthentication
        default:
            history.count(.refresh, "failed")
            return failedRefreshes.increment()
        }
        (refreshes[reason.rawValue] ?? failedRefreshes).increment()
        history.count(.refresh, reason.rawValue)
    }

    /// Counts a login that issued tokens.
    func countLogin() { countLogin("started") }

    /// Counts a login that gave no tokens.
    func countLogin(failing error: ServiceError) {
        switch error {
        case .invalidCredentials, .passkeyRefused(.wrongSignature): countLogin("invalid_credentials")
        case .passkeyRefused: countLogin("passkey_refused")
        case .identityRefused: countLogin("id_token_refused")
        case .tooManyRequests: countLogin("too_many_requests")
        case .loginRefused(let reason): countLogin(reason.rawValue)
        default: countLogin("failed")
        }
    }

    private func countLogin(_ outcome: String) {
        (logins[outcome] ?? failedLogins).increment()
        history.count(.login, outcome)
    }
}
