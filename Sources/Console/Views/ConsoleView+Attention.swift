internal import HTTP
internal import Pages
public import Sessions

extension ConsoleView {
    /// What an admin should know without looking for it.
    public struct Attention: Sendable {
        /// What waits for other programs.
        public var deliveries: DeliveriesOverview
        /// Whether the database takes changes.
        public var canCommit = true
        /// Since when a new signing key is overdue.
        public var keyOverdueSince: Instant?
        /// Whether the clock has jumped, so that the time is uncertain.
        public var isClockInDoubt = false
        /// The room that is free for the database, if it is scarce.
        public var scarceMebibytes: UInt64?
        /// How far the clock is ahead of the database's, in seconds, if that is too far.
        public var clockLead: Double?
        /// The listeners with a certificate that has to be renewed, each with its end in seconds since 1970.
        public var endingCertificates: [(listener: String, notAfter: Int64)] = []
        /// The age of the geo database, if it is stale.
        public var geoDatabaseDays: Int64?

        /// A server that needs nothing, as far as is known.
        public init(_ deliveries: DeliveriesOverview) { self.deliveries = deliveries }
    }

    /// For how long something may wait before it is a backlog.
    private static let backlog = Duration.seconds(300)

    /// What needs attention, the worst first; or that nothing does.
    func attention(_ attention: Attention) -> ConsoleBlock {
        let sentences =
            database(attention) + clock(attention) + machine(attention) + keys(attention)
            + backlogs(attention.deliveries)
        if sentences.isEmpty { return .text("Nothing needs attention.") }
        return .section("Needs attention", [.list(sentences)])
    }

    private func database(_ attention: Attention) -> [ConsoleText] {
        var sentences: [ConsoleText] = []
        if !attention.canCommit {
            sentences.append(
                "\(badge: "database", .bad) It takes no changes: logins and refreshes fail. The server's log says why.")
        }
        if let free = attention.scarceMebibytes {
            sentences.append(
                "\(badge: "disk", .bad) \(Int(free)) MiB are free for the database: make room before it is full.")
        }
        return sentences
    }

    private func clock(_ attention: Attention) -> [ConsoleText] {
        var sentences: [ConsoleText] = []
        if attention.isClockInDoubt {
            sentences.append(
                """
                \(badge: "clock", .bad) It has jumped, so that no session ends by time until it is certain: look at the time of \
                this machine.
                """)
        }
        if let lead = attention.clockLead {
            let difference = Self.span(.milliseconds(Int64(abs(lead) * 1000)))
            sentences.append(
                """
                \(badge: "clock", .bad) It is \(difference) \(sentence: lead < 0 ? "behind" : "ahead of") the database's: let \
                every node and the database keep time by NTP.
                """)
        }
        return sentences
    }

    private func machine(_ attention: Attention) -> [ConsoleText] {
        var sentences: [ConsoleText] = []
        for (listener, notAfter) in attention.endingCertificates {
            let end: ConsoleText = "\(time: notAfter)"
            sentences.append(
                notAfter <= now.secondsSinceEpoch
                    ? "\(badge: "certificate", .bad) That of the \(listener) listener has expired \(end): renew it."
                    : "\(badge: "certificate", .bad) That of the \(listener) listener expires \(end): renew it."
            )
        }
        if let days = attention.geoDatabaseDays {
            sentences.append(
                """
                \(badge: "geo database", .plain) It was made \(Int(days)) days ago, and its publisher makes a new one every \
                week: places may be wrong.
                """)
        }
        return sentences
    }

    private func keys(_ attention: Attention) -> [ConsoleText] {
        guard let since = attention.keyOverdueSince else { return [] }
        return [
            """
            \(badge: "signing key", .bad) A new one was due \(time(since)), and there is none: the server's log says why. \
            \(link: .consoleKeys, "Keys")
            """
        ]
    }

    private func backlogs(_ deliveries: DeliveriesOverview) -> [ConsoleText] {
        var sentences: [ConsoleText] = []
        for webhook in deliveries.webhooks {
            sentences += backlog(
                "webhook", "The webhook \(name: webhook.name)", since: webhook.waitingSince,
                failingSince: webhook.failingSince)
        }
        for receiver in deliveries.receivers {
            sentences += backlog(
                "logout tokens", "The receiver of \(name: receiver.clientID)", since: receiver.waitingSince,
                failingSince: receiver.failingSince)
        }
        for report in deliveries.streams {
            let subject: ConsoleText = "The event stream of \(name: report.clientID)"
            guard report.stream.status == .enabled else {
                sentences.append(
                    """
                    \(badge: "event stream", .plain) \(subject) is \(report.stream.status.rawValue), so that its receiver is told \
                    nothing. \(link: .consoleDeliveries, "Deliveries")
                    """)
                continue
            }
            sentences += backlog(
                "event stream", subject, since: report.waitingSince, failingSince: report.failingSince)
        }
        return sentences
    }

    /// The sentence about a receiver that fails, or is behind.
    private func backlog(
        _ badge: String, _ subject: ConsoleText, since: Instant?, failingSince: Instant?
    ) -> [ConsoleText] {
        let page: ConsoleText = "\(link: .consoleDeliveries, "Deliveries")"
        if let failingSince {
            return ["\(badge: badge, .bad) \(subject) fails since \(time(failingSince)). \(page)"]
        }
        guard let since, now - since > Self.backlog else { return [] }
        return ["\(badge: badge, .bad) \(subject) is behind: its oldest event is of \(time(since)). \(page)"]
    }
}
