// Shaped for speed: the functions with `@inline(never)` keep the variables of a wait out of the async frames of a refresh. These
// frames take 6000 bytes instead of 34 000 (`Sessions/Refresh/RefreshService.swift` has the command).

internal import HTTP
internal import Locks
internal import Sessions
internal import Telemetry

/// How many calls may wait for an event at the same time, beside the limits of each listener.
public struct WaitingLimits: Hashable, Sendable {
    /// Those with the access token of one session.
    public var perSession = 8
    /// Those with an access token that one client got for itself.
    public var perClient = 64
    /// Those from one address that have no access token.
    public var perAddress = 64
    /// Those of pages that wait for a phone or for the end of a browser's session.
    public var pages = 512
    /// The leading bits of an IPv6 address that count as one address.
    public var ipv6PrefixBits = 64

    /// The default limits.
    public init() {}
}

/// Counts the calls that wait, so that no session, client or address takes the slots of all others.
final class WaitingCalls: Sendable {
    /// What a call is counted for.
    enum Subject: Hashable {
        case session(Identifier<Session>)
        case client(String)
        case network(CallerNetwork)
        case pages

        /// The key of the configuration that limits it, as the metrics name it.
        fileprivate var word: String {
            switch self {
            case .session: "limits.subscribers_per_session"
            case .client: "limits.subscribers_per_client"
            case .network: "limits.subscribers_per_address"
            case .pages: "limits.login_watchers"
            }
        }

        fileprivate static let words =
            ["session", "client", "address"].map { "limits.subscribers_per_\($0)" } + [
                "limits.login_watchers"
            ]
    }

    private let limits: WaitingLimits
    private let counts = Locked<[Subject: Int]>([:])
    private let refusals: [String: Counter]

    init(_ limits: WaitingLimits, _ registry: MetricsRegistry) {
        self.limits = limits
        let counters = registry.counters(
            "sojourn_waiting_calls_refused_total",
            help: "Calls that were to wait and were answered with 503, by the key of the limit.",
            labels: [MetricLabel("limit", values: Subject.words)])
        refusals = Dictionary(uniqueKeysWithValues: Subject.words.map { ($0, counters[$0]) })
    }

    final class Place: Sendable {
        private let calls: WaitingCalls
        private let subjects: Locked<[Subject]>

        fileprivate init(_ calls: WaitingCalls, _ subjects: [Subject]) {
            self.calls = calls
            self.subjects = Locked(subjects)
        }
        deinit { giveBack() }

        /// Makes room for another call. A second call does nothing.
        func giveBack() {
            let taken = subjects.withLock { subjects in
                defer { subjects = [] }
                return subjects
            }
            calls.giveBack(taken)
        }
    }

    /// A place of a call with an access token.
    func place(for subject: Subject) throws(ServiceError) -> Place { try take([subject]) }

    /// A place of a call from that caller that has no access token. One through a Unix socket has no address.
    func place(for caller: Caller) throws(ServiceError) -> Place { try take(networks(of: caller)) }

    func pagePlace(for caller: Caller) throws(ServiceError) -> Place { try take([.pages] + networks(of: caller)) }

    private func networks(of caller: Caller) -> [Subject] {
        caller.remoteAddress.map { [.network(CallerNetwork($0, ipv6PrefixBits: limits.ipv6PrefixBits))] } ?? []
    }

    private func take(_ subjects: [Subject]) throws(ServiceError) -> Place {
        let full = counts.withLock { counts -> Subject? in
            if let full = subjects.first(where: { counts[$0, default: 0] >= limit(of: $0) }) { return full }
            for subject in subjects { counts[subject, default: 0] += 1 }
            return nil
        }
        guard let full else { return Place(self, subjects) }
        refusals[full.word]?.increment()
        throw .overloaded
    }

    private func limit(of subject: Subject) -> Int {
        switch subject {
        case .session: limits.perSession
        case .client: limits.perClient
        case .network: limits.perAddress
        case .pages: limits.pages
        }
    }

    private func giveBack(_ subjects: [Subject]) {
        // Only what has calls has an entry, so that the table is never larger than the number of calls.
        counts.withLock { counts in
            for subject in subjects {
                let left = (counts[subject] ?? 0) - 1
                counts[subject] = left > 0 ? left : nil
            }
        }
    }
}

/// The authentication of a call that waits, which can be repeated.
final class Admission: Sendable {
    private let check: @Sendable () async throws -> Void
    /// How long the credentials are good; nil: as long as they are accepted.
    let lifetime: Duration?

    init(lifetime: Duration? = nil, _ check: @escaping @Sendable () async throws -> Void) {
        self.lifetime = lifetime
        self.check = check
    }

    /// Authenticates the caller again. Throws what a new call would get.
    func renew() async throws { try await check() }

    /// Whether a new call would be admitted.
    func stands() async -> Bool {
        do { try await check() } catch { return false }
        return true
    }
}

extension Call {
    /// The call with that admission.
    func with(_ admission: Admission) -> Call {
        var call = self
        call.admission = admission
        return call
    }

    /// Whether the call may wait for an event.
    var mayWait: Bool { route.isStreaming && Endpoints.waits(request) }

    /// For how long the call waits: as long as it asks, and not beyond its access token, so that it gets an answer and no refusal.
    /// A call without a place does not wait.
    func patience(_ wanted: Duration) -> Duration {
        guard mayWait else { return .zero }
        guard let lifetime = admission?.lifetime else { return wanted }
        return min(wanted, max(lifetime - .seconds(1), .zero))
    }

    /// Whether a new call would be admitted.
    var isStillAdmitted: @Sendable () async -> Bool { { [admission] in await admission?.stands() ?? true } }
}

// What every call that waits has in common: its place, and the authentication after the wait.
extension Endpoints {
    /// Runs `handle` of a call that may wait, in its place. Whatever it has found is answered only if the caller would be admitted
    /// now: the session may have ended, the scope may be gone, and the key may be withdrawn.
    @inline(never)
    func waiting(
        _ call: Call, in place: WaitingCalls.Place, _ handle: (Call) async throws -> Response
    ) async throws -> Response {
        defer { place.giveBack() }
        let result: Result<Response, any Error>
        do { result = .success(try await handle(call)) } catch { result = .failure(error) }
        try await call.admission?.renew()
        return try result.get()
    }

    /// The answer of a route without authentication to a call that may wait. The handler itself looks at what the caller has, at each
    /// look.
    @inline(never)
    func openWaitingAnswer(
        _ call: Call, _ handle: (Endpoints, Call) async throws -> Response
    ) async throws -> Response {
        try await waiting(call, in: waitingCalls.place(for: call.caller)) { try await handle(self, $0) }
    }
}
