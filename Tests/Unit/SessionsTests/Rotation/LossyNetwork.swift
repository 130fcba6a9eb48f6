import Dispatch
import Sessions

/// A small world: one session on a server, one phone with processes that share a stored token, and a network that loses,
/// delays and duplicates. Every value is small, so that all histories can be walked.
struct LossyNetwork: Hashable {
    /// What may happen in this world, and how often.
    struct Rules: Hashable {
        /// Processes of the app on the one phone.
        var processes = 1
        /// Refreshes sent in all.
        var sends = 4
        /// Requests that the network duplicates.
        var duplicates = 1
        /// Seconds that may pass in all; each step is one second.
        var seconds = 7
        /// Restores of the database from the backup that was taken at the start.
        var restores = 0
        /// Whether a retry carries the `Idempotency-Key` that was stored with the token.
        var sharesKey = false
        /// Whether an answer that comes after the client's time-out is still taken, if the stored token is the one that
        /// was presented. Otherwise the client drops it, as the SDK does.
        var takesLateAnswers = false
        /// Whether the session is bound to a key, so that every request carries a proof of it.
        var isBound = false
        /// The rotation interval `W`, in seconds.
        var interval: Int64 = 2
        /// How long after it was sent a request may still be decided: less than this many seconds.
        var decisionLimit: Int64 = 2
        /// How long a process waits for an answer: less than this many seconds. Two processes need
        /// `patience + decisionLimit ≤ interval`.
        var patience: Int64 = 2
    }

    /// A request under way, or awaited. Times are ages, so that worlds that differ only in the date are one.
    struct Request: Hashable {
        var id: Int
        var process: Int
        var presented: UInt64
        var age: Int64 = 0
    }
    struct Answer: Hashable {
        var requestID: Int
        var process: Int
        var presented: UInt64
        var issued: UInt64
    }

    /// The server's half: what the store holds of the session.
    var parent: UInt64 = 0
    var child: UInt64 = 1
    var sinceAnswer: Int64 = 0
    var childRequestKey: UInt64?
    var sinceConfirmation: Int64?
    /// The phone's half: the token that its processes share, and what each waits for.
    var stored: UInt64 = 1
    var waiting: [Request?]
    /// What is under way.
    var requests: Set<Request> = []
    var answers: Set<Answer> = []
    /// What is left of the rules.
    var rules: Rules
    /// Set when an honest client was refused: what must never be.
    var refused: RefusalReason?

    init(_ rules: Rules) {
        self.rules = rules
        waiting = Array(repeating: nil, count: rules.processes)
    }

    private static let user = Sample.user()
    private static let client = Sample.client()
    private static let plain = Sample.session(of: user)
    private static let bound = Sample.session(of: user, keyThumbprint: "key")

    /// Every world that can come next.
    func successors(_ mutation: RefreshMutation?) -> [LossyNetwork] {
        var next: [LossyNetwork] = []
        func add(_ change: (inout LossyNetwork) -> Void) {
            var world = self
            change(&world)
            next.append(world)
        }
        for process in waiting.indices where waiting[process] == nil && rules.sends > 0 {
            add { $0.send(process) }
        }
        // A client that takes late answers waits at least as long as its request can live.
        if !rules.takesLateAnswers {
            for process in waiting.indices where waiting[process] != nil { add { $0.waiting[process] = nil } }
        }
        for request in requests {
            add { $0.deliver(request, keepingDuplicate: false, mutation) }
            if rules.duplicates > 0 { add { $0.deliver(request, keepingDuplicate: true, mutation) } }
            add { $0.requests.remove(request) }
        }
        for answer in answers { add { $0.receive(answer) } }
        if rules.seconds > 0 { add { $0.passSecond() } }
        if rules.restores > 0 { add { $0.restore() } }
        return next
    }

    /// A process loads the stored token and sends it.
    private mutating func send(_ process: Int) {
        let request = Request(id: rules.sends, process: process, presented: stored)
        rules.sends -= 1
        waiting[process] = request
        requests.insert(request)
    }

    /// The server decides a request; the network may keep a copy of it for later.
    private mutating func deliver(_ request: Request, keepingDuplicate: Bool, _ mutation: RefreshMutation?) {
        if keepingDuplicate { rules.duplicates -= 1 } else { requests.remove(request) }
        var settings = Settings()
        settings.sessions.rotationInterval = .seconds(rules.interval)
        var session = rules.isBound ? Self.bound : Self.plain
        (session.parent, session.child, session.childRequestKey) = (parent, child, childRequestKey)
        let now = Sample.start + .seconds(sinceAnswer)
        session.childConfirmedAt = sinceConfirmation.map { now + .seconds(-$0) }
        let attempt = RefreshAttempt(
            serial: request.presented, clientID: Client.mobileID,
            requestKey: rules.sharesKey ? request.presented : nil, provenKeyThumbprint: rules.isBound ? "key" : nil)
        let decision =
            mutation?.decide(
                attempt, &session, settings: settings, now: now, user: Self.user, client: Self.client)
            ?? Sample.policy.renew(
                attempt, &session, user: Self.user, client: Self.client, settings: settings, now: now)
        (parent, child, childRequestKey) = (session.parent, session.child, session.childRequestKey)
        sinceAnswer = (now - session.childAnsweredAt).wholeSeconds
        sinceConfirmation = session.childConfirmedAt.map { (now - $0).wholeSeconds }
        if case .refused(let reason) = decision {
            refused = reason
        } else {
            answers.insert(
                Answer(
                    requestID: request.id, process: request.process, presented: request.presented, issued: child))
        }
    }

    /// An answer reaches the phone: it is stored if the process still waits for it and the stored token is the one that
    /// it presented; then the process is done.
    private mutating func receive(_ answer: Answer) {
        answers.remove(answer)
        let isAwaited = waiting[answer.process]?.id == answer.requestID
        if isAwaited { waiting[answer.process] = nil }
        if (isAwaited || rules.takesLateAnswers) && stored == answer.presented { stored = answer.issued }
        // What can change nothing any more need not be told apart.
        answers = answers.filter { rules.takesLateAnswers || waiting[$0.process]?.id == $0.requestID }
    }

    /// Time passes: requests that are too old are never decided, clients stop waiting.
    private mutating func passSecond() {
        rules.seconds -= 1
        // What is long ago need not be told apart; but the confirmation came after the answer, and stays so.
        sinceConfirmation = sinceConfirmation.map { min($0 + 1, rules.interval) }
        sinceAnswer = min(sinceAnswer + 1, sinceConfirmation == nil ? rules.interval : 2 * rules.interval)
        requests = Set(requests.map { $0.older }.filter { $0.age < rules.decisionLimit })
        waiting = waiting.map { $0.map(\.older).flatMap { $0.age < rules.patience ? $0 : nil } }
    }

    /// The database is restored from the backup of the first moment, which takes longer than any request lives.
    private mutating func restore() {
        rules.restores -= 1
        (parent, child, childRequestKey, sinceAnswer, sinceConfirmation) = (0, 1, nil, rules.interval, nil)
        requests = []
        waiting = waiting.map { _ in nil }
    }

    /// Walks every history, on a thread of its own: this takes seconds, and the threads that tasks share are few.
    /// Returns how many worlds there are, and the first one in which an honest client was refused.
    static func explore(
        _ rules: Rules, _ mutation: RefreshMutation? = nil
    ) async -> (worlds: Int, violation: LossyNetwork?) {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: walk(rules, mutation)) }
        }
    }

    private static func walk(_ rules: Rules, _ mutation: RefreshMutation?) -> (worlds: Int, violation: LossyNetwork?) {
        let first = LossyNetwork(rules)
        var seen: Set<LossyNetwork> = [first]
        var frontier = [first]
        while let world = frontier.popLast() {
            for next in world.successors(mutation) where seen.insert(next).inserted {
                if next.refused != nil { return (seen.count, next) }
                frontier.append(next)
            }
        }
        return (seen.count, nil)
    }
}

extension LossyNetwork.Request {
    /// The request a second later.
    fileprivate var older: LossyNetwork.Request {
        var request = self
        request.age += 1
        return request
    }
}
