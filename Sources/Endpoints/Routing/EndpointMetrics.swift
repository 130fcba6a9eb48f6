internal import HTTP
internal import Sessions
internal import Telemetry
internal import WebAuthn

/// The metrics of this module. All label values are fixed at start, so that no request can create a time series.
struct EndpointMetrics: Sendable {
    /// The metrics of one route.
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

    /// The routes with a duration histogram of their own.
    private static let timed = ["POST /oauth/token", "POST /v1/refresh", "POST /v1/login", "GET /v1/verify"]
    private static let statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx"]
    private static let issued = ["repeated", "rotated", "converged", "reissued", "caught_up", "restored", "resumed"]

    init(_ registry: MetricsRegistry, routes: [Route]) {
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
        (grant.decision.flatMap { refreshes[$0.name] } ?? failedRefreshes).increment()
    }

    /// Counts a refresh that gave no tokens.
    func countRefresh(failing error: ServiceError) {
        let reason: RefusalReason
        switch error {
        case .refused(let refusal): reason = refusal
        case .insufficientUserAuthentication, .wrongPassword: reason = .insufficientUserAuthentication
        default: return failedRefreshes.increment()
        }
        (refreshes[reason.rawValue] ?? failedRefreshes).increment()
    }

    /// Counts a login that issued tokens.
    func countLogin() { (logins["started"] ?? failedLogins).increment() }

    /// Counts a login that gave no tokens.
    func countLogin(failing error: ServiceError) {
        switch error {
        case .invalidCredentials: (logins["invalid_credentials"] ?? failedLogins).increment()
        case .passkeyRefused(.wrongSignature): (logins["invalid_credentials"] ?? failedLogins).increment()
        case .passkeyRefused: (logins["passkey_refused"] ?? failedLogins).increment()
        case .identityRefused: (logins["id_token_refused"] ?? failedLogins).increment()
        case .tooManyRequests: (logins["too_many_requests"] ?? failedLogins).increment()
        case .loginRefused(let reason): (logins[reason.rawValue] ?? failedLogins).increment()
        default: failedLogins.increment()
        }
    }
}
