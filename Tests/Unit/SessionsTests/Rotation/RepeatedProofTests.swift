import Repository
import Testing

@testable import Sessions

/// Histories of a session that is bound to a key, in which requests are repeated as they are, or with the proof of another one: by
/// a network that does it by itself, or by a thief that has captured them.
@Suite struct RepeatedProofTests {
    /// A step of a history.
    enum Step: CaseIterable {
        /// The client refreshes with a new proof, and stores the answer, or loses it.
        case refresh, refreshInVain
        /// The first or the last request arrives again.
        case repeatFirst, repeatLast
        /// The current token is presented with the proof of the last request.
        case reuseProof
        case second, minute, interval
    }

    /// A request that was made, and what its answer held.
    private struct Sent {
        let number: Int
        let serial: UInt64
        let at: Instant
        var child: UInt64?
    }

    /// The server's row and memory, and what a client and a thief know.
    private struct World {
        var session = Sample.session(keyThumbprint: "key")
        let cache = ReplayCache(longest: .seconds(76), lead: .seconds(15))
        var now = Sample.start
        var stored: UInt64 = 1
        var sent: [Sent] = []
        let user = Sample.user()
        let client = Sample.client()

        /// Presents a token with the proof of a request; nil: refused.
        mutating func ask(_ request: Sent, serial: UInt64, hash: UInt64) -> (child: UInt64?, isUnchanged: Bool) {
            let (now, end) = (now, request.at + .seconds(61))
            let proof = ProofOfPossession(of: "key", hasNonce: false) { [cache] () throws(DPoPError) in
                guard now < end else { throw .tooOld }
                switch cache.present("\(request.number)", of: "key", until: end, at: now, by: hash) {
                case .fresh: return .first
                case .repeatedRequest: return .repetition
                case .repeated: throw .repeated
                case .forgotten, .crowdedOut: throw .tooOld
                }
            }
            var change = SessionChange(
                SessionRecord(session: session, user: user, client: client, settings: Sample.settings))
            let verdict = Sample.policy.decide(
                RefreshAttempt(serial: serial, clientID: client.id, proof: proof), &change,
                for: ResourceRequirement(resources: [], ownAudience: ["api"]), from: .system,
                at: ClockGuard.Reading(now: now, earliest: now))
            let isUnchanged = change.session == session && change.events.isEmpty
            session = change.session
            guard case .granted(let entitlement) = verdict else { return (nil, isUnchanged) }
            return (entitlement.session.child, isUnchanged)
        }

        /// Takes a step; a sentence for what must not happen.
        mutating func take(_ step: Step) -> String? {
            switch step {
            case .second: now = now + .seconds(1)
            case .minute: now = now + .seconds(40)
            case .interval: now = now + .seconds(130)
            case .refresh, .refreshInVain:
                var request = Sent(number: sent.count, serial: stored, at: now)
                request.child = ask(request, serial: stored, hash: UInt64(request.number) + 1).child
                sent.append(request)
                guard let child = request.child else { return "the client is refused" }
                if step == .refresh { stored = child }
            case .repeatFirst, .repeatLast:
                guard let request = step == .repeatFirst ? sent.first : sent.last else { return nil }
                let (child, isUnchanged) = ask(request, serial: request.serial, hash: UInt64(request.number) + 1)
                if let child, child != request.child { return "a repetition gets another child" }
                if !isUnchanged { return "a repetition changes the session" }
                // A repetition at once is what browsers make.
                if child == nil, request.number == sent.count - 1, now == request.at { return "it gets nothing" }
            case .reuseProof:
                guard let request = sent.last else { return nil }
                let (child, isUnchanged) = ask(request, serial: session.child, hash: 1_000_000)
                if child != nil || !isUnchanged { return "a proof is good for another request" }
            }
            return nil
        }
    }

    /// The sentence for what goes wrong in a history.
    private func fault(in history: [Step]) -> String? {
        var world = World()
        for (index, step) in history.enumerated() {
            if let fault = world.take(step) { return "\(fault): \(history[...index])" }
        }
        return nil
    }

    @Test("A repeated request gets the child of its first answer or nothing, in every short history")
    func everyShortHistory() {
        var histories: [[Step]] = [[]]
        for _ in 1...Lane.rounds(push: 3, full: 5) {
            histories = histories.flatMap { history in Step.allCases.map { history + [$0] } }
        }
        for history in histories { #expect(fault(in: [.refresh] + history) == nil) }
    }

    @Test("The same holds in long random histories")
    func longHistories() {
        var number: UInt64 = 43
        func nextStep() -> Step {
            number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Step.allCases[Int((number >> 33) % UInt64(Step.allCases.count))]
        }
        for _ in 1...Lane.rounds(push: 60, full: 5000) {
            #expect(fault(in: (1...24).map { _ in nextStep() }) == nil)
        }
    }
}
