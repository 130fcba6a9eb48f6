internal import Sessions

/// How many mails may leave now: none while the relay rests, one when it is tried again, and otherwise what the limits allow.
struct MailGate {
    /// The pause after the first failure of the relay; each further one doubles it.
    private static let firstPause: Int64 = 5
    private static let longestPause: Int64 = 60
    /// How long a try of the relay holds all other mails.
    private static let longestTry = Duration.seconds(60)

    private let setting: (connections: Int, perSecond: Int, perHour: Int)
    private var second: (number: Int64, codes: Int, notices: Int) = (0, 0, 0)
    private var hour: (number: Int64, count: Int) = (0, 0)
    private var failures = 0
    /// Whether one mail is under way to see whether the relay works again.
    private var isTrying = false
    /// When the relay is tried again; nil: it works.
    private(set) var heldUntil: Instant?
    /// The first failure since the last success.
    private(set) var failingSince: Instant?

    init(connections: Int, perSecond: Int, perHour: Int) { setting = (connections, perSecond, perHour) }

    /// Whether notices wait because so many mails have left in this hour.
    func isFull(at now: Instant) -> Bool {
        hour.number == now.secondsSinceEpoch / 3600 && hour.count >= setting.perHour
    }

    /// Takes the right to send so many mails of a priority. `time` is how long a try of the relay takes at most.
    mutating func take(_ priority: QueuedMail.Priority, at now: Instant, trying time: Duration) -> Int {
        if let heldUntil {
            guard now >= heldUntil else { return 0 }
            // The other priority waits for the result.
            (self.heldUntil, isTrying) = (now + min(time, Self.longestTry), true)
            return count(1, of: priority, at: now)
        }
        if priority == .notices, isFull(at: now) { return 0 }
        return count(max(0, min(setting.connections, left(for: priority, at: now))), of: priority, at: now)
    }

    /// What this second has left for a priority. Notices get half of it at most, so that codes do not wait for them.
    private func left(for priority: QueuedMail.Priority, at now: Instant) -> Int {
        let isSame = second.number == now.secondsSinceEpoch
        let (codes, notices) = isSame ? (second.codes, second.notices) : (0, 0)
        // One mail has no half: each priority has one of its own.
        if setting.perSecond == 1 { return 1 - (priority == .codes ? codes : notices) }
        let all = setting.perSecond - codes - notices
        return priority == .codes ? all : min(all, setting.perSecond / 2 - notices)
    }

    /// Gives back what was taken for mails that there are not.
    mutating func giveBack(_ count: Int, of priority: QueuedMail.Priority, at now: Instant) {
        _ = self.count(-count, of: priority, at: now)
        if isTrying { (heldUntil, isTrying) = (now, false) }
    }

    private mutating func count(_ mails: Int, of priority: QueuedMail.Priority, at now: Instant) -> Int {
        let (seconds, hours) = (now.secondsSinceEpoch, now.secondsSinceEpoch / 3600)
        if second.number != seconds { second = (seconds, 0, 0) }
        switch priority {
        case .codes: second.codes = max(0, second.codes + mails)
        case .notices: second.notices = max(0, second.notices + mails)
        }
        hour = (hours, max(0, (hour.number == hours ? hour.count : 0) + mails))
        return mails
    }

    /// Notes a reply. Returns when mails that the relay did not take are tried again.
    mutating func note(_ reply: MailReply, at now: Instant) -> Instant {
        let wasTrying = isTrying
        isTrying = false
        guard case .relayFails = reply else {
            (failures, heldUntil, failingSince) = (0, nil, nil)
            return now
        }
        // Mails that were under way together fail once.
        if let heldUntil, heldUntil > now, !wasTrying { return heldUntil }
        let pause = min(Self.longestPause, Self.firstPause << Int64(min(failures, 10)))
        failures += 1
        failingSince = failingSince ?? now
        let end = now + .seconds(pause)
        heldUntil = end
        return end
    }

    /// Lets the relay be tried now.
    mutating func endPause(at now: Instant) {
        if let heldUntil, heldUntil > now, !isTrying { self.heldUntil = now }
    }
}
