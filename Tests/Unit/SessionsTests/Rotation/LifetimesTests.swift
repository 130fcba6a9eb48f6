import Sessions
import Testing

/// Every boundary of section "lifetimes" at −1, 0 and +1 second, and which limit overrides which.
struct LifetimesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var edit: @Sendable (inout SessionSettings, inout Client, inout User) -> Void
        /// Seconds from the start to the end, with the reason, for a session that is refreshed (idle held off) or not.
        var idle: Int64
        var maximum: Int64
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "defaults", edit: { _, _, _ in }, idle: 1_209_600, maximum: 15_552_000),
        Case(
            name: "settings' idle", edit: { s, _, _ in s.offlineSessionIdle = .seconds(100) }, idle: 100,
            maximum: 15_552_000),
        Case(
            name: "client's idle longer", edit: { _, c, _ in c.offlineSessionIdle = .seconds(2_000_000) },
            idle: 2_000_000, maximum: 15_552_000),
        Case(
            name: "client's idle shorter", edit: { _, c, _ in c.offlineSessionIdle = .seconds(60) }, idle: 60,
            maximum: 15_552_000),
        Case(
            name: "client's zero inherits",
            edit: { _, c, _ in
                c.offlineSessionIdle = .zero; c.offlineSessionMax = .zero
            }, idle: 1_209_600, maximum: 15_552_000),
        Case(
            name: "settings' max", edit: { s, _, _ in s.offlineSessionMax = .seconds(500) }, idle: 1_209_600,
            maximum: 500),
        Case(
            name: "max not limited", edit: { s, _, _ in s.offlineSessionMaxLimited = false }, idle: 1_209_600,
            maximum: 31_536_000),
        Case(
            name: "client's max applies though not limited",
            edit: { s, c, _ in
                s.offlineSessionMaxLimited = false; c.offlineSessionMax = .seconds(700)
            }, idle: 1_209_600, maximum: 700),
        Case(
            name: "client's max cannot raise", edit: { _, c, _ in c.offlineSessionMax = .seconds(20_000_000) },
            idle: 1_209_600, maximum: 15_552_000),
        Case(
            name: "user's max", edit: { _, _, u in u.offlineSessionMax = .seconds(300) }, idle: 1_209_600, maximum: 300),
        Case(
            name: "user's max cannot raise", edit: { _, _, u in u.offlineSessionMax = .seconds(20_000_000) },
            idle: 1_209_600, maximum: 15_552_000),
        Case(
            name: "user's zero inherits", edit: { _, _, u in u.offlineSessionMax = .zero }, idle: 1_209_600,
            maximum: 15_552_000),
        Case(
            name: "smallest wins",
            edit: { s, c, u in
                s.offlineSessionMax = .seconds(900); c.offlineSessionMax = .seconds(800);
                u.offlineSessionMax = .seconds(850)
            }, idle: 1_209_600, maximum: 800),
        Case(
            name: "nobody raises the absolute maximum",
            edit: { s, c, u in
                s.offlineSessionMaxLimited = false; c.offlineSessionMax = .seconds(99_000_000);
                u.offlineSessionMax = .seconds(99_000_000)
            }, idle: 1_209_600, maximum: 31_536_000),
    ]

    @Test(arguments: cases) func idleAndMaximum_endToTheSecond(_ each: Case) {
        var (settings, client, user) = (Settings(), Sample.client(), Sample.user())
        each.edit(&settings.sessions, &client, &user)
        for offset in -1...1 as ClosedRange<Int64> {
            var idling = Sample.session(of: user)
            let idleNow = Sample.start + .seconds(each.idle + offset)
            let idleExpected: RefreshDecision =
                offset < 0 && each.idle - 1 < each.maximum
                ? .rotated : .refused(.ended(.idleExpired))
            if each.idle <= each.maximum {
                #expect(
                    Sample.decide(&idling, serial: 1, at: idleNow, user: user, client: client, settings: settings)
                        == (each.idle + offset < 120 ? .repeated.ifAlive(offset < 0) : idleExpected))
            }
            var refreshed = Sample.session(of: user)
            let endNow = Sample.start + .seconds(each.maximum + offset)
            (refreshed.childAnsweredAt, refreshed.renewedAt) = (endNow, endNow)
            #expect(
                Sample.decide(&refreshed, serial: 1, at: endNow, user: user, client: client, settings: settings)
                    == (offset < 0 ? .repeated : .refused(.ended(.maxLifetimeReached))))
        }
    }

    @Test func rollingToken_neverOutlivesItsSession() {
        let client = Sample.client { $0.accessTokenLifetime = .seconds(7200) }
        let lifetimes = Lifetimes(
            settings: .defaults, client: client, user: nil, absoluteMaximum: Sample.absoluteMaximum)
        var session = Sample.session()
        #expect(
            lifetimes.accessTokenEnd(of: session, issuedAt: Sample.start) == Sample.start + .seconds(7200))
        session.renewedAt = Sample.start + .seconds(15_552_000 - 10)
        #expect(
            lifetimes.accessTokenEnd(of: session, issuedAt: session.renewedAt)
                == Sample.start + .seconds(15_552_000))
    }

    static let impossible: [(String, @Sendable (inout SessionSettings, inout Client) -> Void)] = [
        ("refresh_after must be less than", { s, _ in s.refreshAfter = s.offlineSessionIdle }),
        (
            "access_token_lifetime must not exceed",
            { s, c in c.accessTokenLifetime = s.offlineSessionIdle + .seconds(1) }
        ),
        ("offline_session_idle must not exceed", { s, _ in s.offlineSessionIdle = .seconds(31_536_001) }),
        ("offline_session_max must not exceed", { s, _ in s.offlineSessionMax = .seconds(31_536_001) }),
        ("client mobile: offline_session_idle must not", { _, c in c.offlineSessionIdle = .seconds(31_536_001) }),
        ("client mobile: offline_session_max must not", { _, c in c.offlineSessionMax = .seconds(31_536_001) }),
        ("client mobile: refresh_after must be less", { _, c in c.refreshAfter = .seconds(1_209_600) }),
        ("rotation_interval must not exceed", { s, _ in s.rotationInterval = .seconds(604_801) }),
        ("rotation_interval must not be negative", { s, _ in s.rotationInterval = .seconds(-1) }),
        ("offline_session_idle must be at least", { s, _ in s.offlineSessionIdle = .zero }),
        ("offline_session_max must be at least", { s, _ in s.offlineSessionMax = .zero }),
        ("refresh_after must not be negative", { s, _ in s.refreshAfter = .seconds(-1) }),
    ]

    @Test(arguments: impossible.indices) func impossibleCombination_isRefusedWithASentence(index: Int) throws {
        let (sentence, edit) = Self.impossible[index]
        var (settings, client) = (SessionSettings.defaults, Sample.client())
        edit(&settings, &client)
        let problem = try #require(
            Lifetimes.problem(settings: settings, clients: [client], absoluteMaximum: Sample.absoluteMaximum))
        #expect(problem.contains(sentence))
    }

    @Test(
        "a shorter life of access tokens alone moves the inherited refresh_after below it",
        arguments: [
            (7200, nil, 3600), (3601, nil, 3600), (3600, nil, 1800), (300, nil, 150), (1, nil, 0), (300, 299, 299),
        ]
            as [(Int64, Int64?, Int64)])
    func inheritedRefreshAfter(life: Int64, own: Int64?, expected: Int64) {
        let settings = SessionSettings.defaults
        for isIdle in [false, true] {
            // The idle time is the life of access tokens as well, and twice the rotation interval at least.
            if isIdle, life < settings.rotationInterval.wholeSeconds * 2 { continue }
            let client = Sample.client { client in
                if isIdle {
                    client.offlineSessionIdle = .seconds(life)
                } else {
                    client.accessTokenLifetime = .seconds(life)
                }
                client.refreshAfter = own.map { .seconds($0) }
            }
            #expect(
                Lifetimes.problem(settings: settings, clients: [client], absoluteMaximum: Sample.absoluteMaximum) == nil
            )
            let lifetimes = Lifetimes(
                settings: settings, client: client, user: nil, absoluteMaximum: Sample.absoluteMaximum)
            #expect(lifetimes.refreshAfter == .seconds(expected) && lifetimes.refreshAfter < lifetimes.accessToken)
        }
    }

    @Test func defaultsAndLimits_areAllowed() {
        var settings = SessionSettings.defaults
        let client = Sample.client()
        let problem = { (s: SessionSettings) in
            Lifetimes.problem(settings: s, clients: [client], absoluteMaximum: Sample.absoluteMaximum)
        }
        #expect(problem(settings) == nil)
        settings.rotationInterval = .zero
        #expect(problem(settings) == nil)
        settings.rotationInterval = .seconds(604_800)
        settings.refreshAfter = .seconds(1_209_599)
        settings.offlineSessionMax = .seconds(31_536_000)
        #expect(problem(settings) == nil)
    }
}

extension RefreshDecision {
    /// The decision for a living session, or the idle end.
    fileprivate func ifAlive(_ isAlive: Bool) -> RefreshDecision { isAlive ? self : .refused(.ended(.idleExpired)) }
}
