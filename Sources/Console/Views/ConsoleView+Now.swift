internal import HTTP
public import Pages
public import Sessions

extension ConsoleView {
    /// How often a live page is loaded again.
    private static let liveSeconds = 5
    /// The events of the page.
    public static let newestMax = 20

    /// The figures of the last hour, and the newest events.
    public func now(
        _ minutes: [OutcomeMinute], running: OutcomeMinute, _ newest: Trail,
        _ attention: Attention, signingKeys: Int, isLive: Bool
    ) -> ConsolePage {
        let all = minutes + [running]
        let path = PagePath.consoleNow
        let live: ConsoleText =
            isLive
            ? "This page is live: it is loaded again every \(Self.liveSeconds) seconds. \(link: path, "Stop")"
            : "\(link: PagePath("/console/now", ["live": "1"]), "Live")"
        var page = page(
            .now, "Now",
            [
                self.attention(attention), .text(live), .facts(figures(all, signingKeys)),
                .section(
                    "The last hour at this node",
                    [
                        .charts([
                            chart(
                                "Refreshes per minute", all, .refresh, bad: "refused", Self.isRefusal),
                            chart("Logins per minute", all, .login, bad: "failed", Self.isFailure),
                            transitions(all),
                        ])
                    ]),
                .section("Refreshes by outcome, in the last hour", [.shares(outcomes(all))]),
                .section("Why sessions ended, in the last hour at this node", [.shares(reasons(all))]),
                .section(
                    "The last \(Self.newestMax) events",
                    [
                        events(newest.events, names: newest.names),
                        .text("\(link: .consoleEvents, "All events")"),
                    ]),
            ])
        if isLive { page.reloadsAfter = Self.liveSeconds }
        return page
    }

    private static let granting: Set = [
        "repeated", "rotated", "converged", "reissued", "caught_up", "restored", "resumed",
    ]

    private static func isRefusal(_ outcome: String) -> Bool { !granting.contains(outcome) }

    /// The sums of the charts below.
    private func figures(_ minutes: [OutcomeMinute], _ signingKeys: Int) -> [(name: String, value: ConsoleText)] {
        func sum(_ subject: OutcomeMinute.Subject, where isCounted: (String) -> Bool = { _ in true }) -> Int {
            minutes.map { $0.count(subject, where: isCounted) }.reduce(0, +)
        }
        return [
            ("Refreshes in the last hour", "\(sum(.refresh)), \(sum(.refresh, where: Self.isRefusal)) refused"),
            ("Logins in the last hour", "\(sum(.login)), \(sum(.login, where: Self.isFailure)) failed"),
            ("Sessions in the last hour", "\(sum(.start)) began, \(sum(.end)) ended"),
            ("Signing keys", "\(signingKeys)"),
            ("Time of the server", time(now)),
        ]
    }

    private static func isFailure(_ outcome: String) -> Bool { outcome != "started" }

    private func chart(
        _ title: String, _ minutes: [OutcomeMinute], _ subject: OutcomeMinute.Subject, bad: String,
        _ isBad: (String) -> Bool
    ) -> ColumnChart {
        ColumnChart(
            title, marked: bad,
            columns: minutes.map { minute in
                ColumnChart.Column(
                    Self.clock(minute), total: minute.count(subject), marked: minute.count(subject, where: isBad))
            }, ends: ("\(minutes.count - 1) minutes ago", "now"))
    }

    /// The hour and the minute, in UTC.
    private static func clock(_ minute: OutcomeMinute) -> String {
        let (hour, rest) = (minute.number / 60 % 24, minute.number % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest) UTC"
    }

    /// The sessions that this node has recorded to begin and to end.
    private func transitions(_ minutes: [OutcomeMinute]) -> ColumnChart {
        ColumnChart(
            "Sessions that began and ended, per minute", marked: "ended",
            columns: minutes.map { minute in
                let ended = minute.count(.end)
                return ColumnChart.Column(Self.clock(minute), total: minute.count(.start) + ended, marked: ended)
            }, ends: ("\(minutes.count - 1) minutes ago", "now"))
    }

    private func outcomes(_ minutes: [OutcomeMinute]) -> ShareChart {
        let parts = Self.sums(minutes, .refresh).map { outcome, count in
            ("\(code: outcome) \(sentence: Self.meaning(ofOutcome: outcome))" as ConsoleText, count)
        }
        return ShareChart(
            "Refreshes by the row of the table that decided them", parts: parts,
            empty: "This node has answered no refresh in the last hour.")
    }

    private static func meaning(ofOutcome outcome: String) -> String {
        switch outcome {
        case "repeated": "the newest token, again within the rotation interval"
        case "rotated": "the newest token, for a new one"
        case "converged": "the one before: a lost answer or a race, repaired"
        case "reissued": "the one before, because the newest never arrived"
        case "caught_up": "an old one of the right device"
        case "restored": "newer than the database, after a restore"
        case "resumed": "by the key of the device"
        case "failed": "not decided: busy, stale, or not to be had"
        default: "refused"
        }
    }

    private func reasons(_ minutes: [OutcomeMinute]) -> ShareChart {
        let parts = Self.sums(minutes, .end).map { reason, count in
            (
                """
                \(link: PagePath("/console/events", ["kind": "session_ended", "reason": reason]), Self.plain(reason)) \
                \(sentence: EndReason(rawValue: reason)?.explanation.meaning ?? "")
                """ as ConsoleText, count
            )
        }
        return ShareChart(
            "Ends by reason", parts: parts, empty: "This node has recorded no end of a session in the last hour.")
    }

    /// The outcomes of some minutes, the most frequent first.
    private static func sums(
        _ minutes: [OutcomeMinute], _ subject: OutcomeMinute.Subject
    ) -> [(outcome: String, count: Int)] {
        var sums: [String: Int] = [:]
        for minute in minutes { sums.merge(minute[subject]) { $0 + $1 } }
        return sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }
}
