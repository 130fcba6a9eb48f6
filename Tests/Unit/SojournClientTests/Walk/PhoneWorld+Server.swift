import Cryptography
import Sessions
import SojournClient

extension PhoneWorld {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let policy = RefreshPolicy(absoluteMaximum: .seconds(31_536_000))
    private static let user = User(id: Identifier(random: .system), username: "anna", createdAt: start)
    private static let client = Client(id: Client.mobileID, createdAt: start, epoch: 1)
    private static let plain = session(keyThumbprint: nil)
    private static let bound = session(keyThumbprint: "key")

    private static func session(keyThumbprint: String?) -> Sessions.Session {
        Sessions.Session(
            id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
            device: Device(id: "phone-1"), keyThumbprint: keyThumbprint, startedAt: start, epoch: 1)
    }

    /// The server's own decision on a token of its session in a request that was sent so many seconds ago, if it says so.
    private mutating func decide(_ token: UInt64, key: UInt64?, sentAtAge: Int64? = nil) -> RefreshDecision {
        var settings = Settings()
        settings.sessions.rotationInterval = .seconds(rules.interval)
        var session = rules.isBound ? Self.bound : Self.plain
        (session.parent, session.child, session.childRequestKey) = (parent, child, childRequestKey)
        let now = Self.start + .seconds(sinceAnswer)
        session.childConfirmedAt = sinceConfirmation.map { now + .seconds(-$0) }
        let decision = Self.policy.renew(
            RefreshAttempt(
                serial: token, clientID: Client.mobileID, requestKey: key,
                sentAt: sentAtAge.map { now + .seconds(-$0) }, provenKeyThumbprint: rules.isBound ? "key" : nil),
            &session, user: Self.user, client: Self.client, settings: settings, now: now)
        (parent, child, childRequestKey) = (session.parent, session.child, session.childRequestKey)
        sinceAnswer = (now - session.childAnsweredAt).wholeSeconds
        sinceConfirmation = session.childConfirmedAt.map { (now - $0).wholeSeconds }
        return decision
    }

    /// The server decides a request; the network may keep a copy of it for later.
    mutating func deliver(_ request: Request, keepingDuplicate: Bool, _ mutation: DriverMutation?) {
        if keepingDuplicate { rules.duplicates -= 1 } else { requests.remove(request) }
        let undecided = Answer(request: request, verdict: .unreachable(Unreachable("stale_request")))
        if isStale(request) {
            answers.insert(undecided)
        } else if request.record.session != session {
            // A later login has ended that session.
            answers.insert(Answer(request: request, verdict: .ended(.replaced)))
        } else {
            let sentAtAge = rules.saysSentAt ? request.sentAtAge : nil
            switch decide(request.record.token, key: request.key, sentAtAge: sentAtAge) {
            case .refused(let reason): violation = .refused(reason)
            case .stale: answers.insert(undecided)
            default: answers.insert(Answer(request: request, verdict: .granted(child)))
            }
        }
    }

    /// Whether the server leaves the request undecided, because it slept on the way.
    private func isStale(_ request: Request) -> Bool {
        guard rules.saysSentAt else { return false }
        let attempt = RefreshAttempt(
            serial: 0, clientID: nil, sentAt: Self.start + .seconds(-request.sentAtAge))
        return attempt.isStale(at: Self.start, interval: .seconds(rules.interval))
    }

    /// Whether the stored token, presented when everything else is long over, is refused.
    var isRefusedLater: Bool {
        guard requests.isEmpty, stored.session == session else { return false }
        var later = self
        later.sinceConfirmation = sinceConfirmation.map { _ in rules.interval }
        later.sinceAnswer = 2 * rules.interval
        if case .refused = later.decide(stored.token, key: nil) { return true }
        return false
    }
}
