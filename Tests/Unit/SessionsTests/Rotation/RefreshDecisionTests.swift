import Sessions
import Testing

/// The table of convergent, confirmed rotation, row by row, at every boundary of the rotation interval (120 s).
struct RefreshDecisionTests {
    /// A session at which token 4 was presented and token 5 was issued, `age` seconds before the test's instant.
    private func session(
        keyThumbprint: String? = nil, requestKey: UInt64? = nil
    ) -> Session {
        var session = Sample.session(keyThumbprint: keyThumbprint)
        (session.parent, session.child, session.childRequestKey) = (4, 5, requestKey)
        return session
    }

    /// The parent of a child that came back `confirmed` seconds after it was given out, and when it is given out anew.
    @Test(
        arguments: [
            (60, 61, RefreshDecision.converged), (60, 179, .converged), (119, 238, .converged),
            (60, 180, .refused(.ended(.refreshTokenReused))), (1, 5000, .refused(.ended(.refreshTokenReused))),
        ] as [(Int64, Int64, RefreshDecision)])
    func parentOfAConfirmedChild(confirmed: Int64, age: Int64, expected: RefreshDecision) {
        var session = session()
        #expect(Sample.decide(&session, serial: 5, at: Sample.start + .seconds(confirmed)) == .repeated)
        let noted = session
        #expect(Sample.decide(&session, serial: 5, at: Sample.start + .seconds(119)) == .repeated)
        #expect(session.childConfirmedAt == noted.childConfirmedAt, "it is noted once")
        #expect(Sample.decide(&session, serial: 4, at: Sample.start + .seconds(age)) == expected)
        if expected == .converged {
            session.renewedAt = noted.renewedAt
            #expect(session == noted, "nothing moves but the idle time")
        }
    }

    @Test func whatIsGivenOutAnew_isNotConfirmed() {
        var session = session(requestKey: 77)
        _ = Sample.decide(&session, serial: 5, at: Sample.start + .seconds(60))
        let late = Sample.start + .seconds(500)
        #expect(Sample.decide(&session, serial: 4, at: late, key: 77) == .converged, "the same request")
        // As a resumption writes it.
        session.childAnsweredAt = late
        #expect(Sample.decide(&session, serial: 4, at: late + .seconds(119), key: 78) == .converged)
        #expect(Sample.decide(&session, serial: 4, at: late + .seconds(300), key: 78) == .reissued)
    }

    /// The parent of a session's first token is the token of another system that it was exchanged for, if it was.
    @Test(
        arguments: [(179, RefreshDecision.converged), (180, .refused(.ended(.refreshTokenReused)))]
            as [(Int64, RefreshDecision)])
    func theTokenOfAnotherSystem_isAParentLikeAnyOther(age: Int64, expected: RefreshDecision) {
        var session = Sample.session()
        #expect(Sample.decide(&session, serial: 0, at: Sample.start + .seconds(40)) == .converged)
        #expect(Sample.decide(&session, serial: 1, at: Sample.start + .seconds(60)) == .repeated)
        #expect(Sample.decide(&session, serial: 0, at: Sample.start + .seconds(age)) == expected)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var presented: UInt64
        var age: Int64
        var bound = false
        var sameKey = false
        var expected: RefreshDecision
        var parent: UInt64 = 4
        var child: UInt64 = 5
        /// Seconds by which `childAnsweredAt` moved.
        var moved: Int64 = 0
        /// Whether the child is known to have arrived.
        var confirmed = false
        var testDescription: String { "\(presented) after \(age) s → \(expected.name)" }
    }

    static let rows: [Row] = [
        Row(presented: 5, age: 0, expected: .repeated),
        Row(presented: 5, age: 119, expected: .repeated, confirmed: true),
        Row(presented: 5, age: 119, bound: true, expected: .repeated),
        Row(presented: 5, age: 120, expected: .rotated, parent: 5, child: 6, moved: 120),
        Row(presented: 5, age: 121, expected: .rotated, parent: 5, child: 6, moved: 121),
        Row(presented: 5, age: -60, expected: .repeated),
        Row(presented: 4, age: 0, expected: .converged),
        Row(presented: 4, age: 29, expected: .converged),
        Row(presented: 4, age: 30, expected: .converged, moved: 30),
        Row(presented: 4, age: 119, expected: .converged, moved: 119),
        Row(presented: 4, age: -60, expected: .converged),
        Row(presented: 4, age: 120, expected: .reissued, child: 6, moved: 120),
        Row(presented: 4, age: 1_000_000, expected: .reissued, child: 6, moved: 1_000_000),
        Row(presented: 4, age: 120, sameKey: true, expected: .converged, moved: 120),
        Row(presented: 4, age: 1_000_000, sameKey: true, expected: .converged, moved: 1_000_000),
        Row(presented: 4, age: 120, bound: true, expected: .converged, moved: 120),
        Row(presented: 3, age: 0, bound: true, expected: .caughtUp),
        Row(presented: 1, age: 1000, bound: true, expected: .caughtUp),
        Row(presented: 6, age: 0, expected: .restored, parent: 6, child: 7),
        Row(presented: 9, age: 500, expected: .restored, parent: 9, child: 10, moved: 500),
    ]

    @Test(arguments: rows) func eachRow_answersAndWritesAsTheTableSays(_ row: Row) {
        var session = session(keyThumbprint: row.bound ? "key" : nil, requestKey: 77)
        let before = session
        let now = Sample.start + .seconds(row.age)
        let decision = Sample.decide(
            &session, serial: row.presented, at: now, key: row.sameKey ? 77 : 78, proof: row.bound ? "key" : nil)
        #expect(decision == row.expected)
        #expect(session.parent == row.parent)
        #expect(session.child == row.child)
        #expect(session.childAnsweredAt == before.childAnsweredAt + .seconds(row.moved))
        #expect(session.ending == nil)
        #expect(session.childRequestKey == (row.child == 5 ? 77 : row.sameKey ? 77 : 78))
        #expect(session.childConfirmedAt == (row.confirmed ? now : nil))
        // Each answer with tokens begins the idle time anew, in steps of a quarter interval (30 s).
        let isMoved = row.child != 5 || row.age >= 30
        #expect(session.renewedAt == (isMoved ? now : before.renewedAt))
        if row.moved == 0, row.child == 5, !row.confirmed {
            session.renewedAt = before.renewedAt
            #expect(session == before)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64], [0, 119, 120, 5000] as [Int64])
    func olderToken_endsTheSessionAsReused(serial: UInt64, age: Int64) {
        var session = session()
        let now = Sample.start + .seconds(age)
        #expect(Sample.decide(&session, serial: serial, at: now) == .refused(.ended(.refreshTokenReused)))
        #expect(session.ending == Session.Ending(reason: .refreshTokenReused, at: now))
        #expect(Sample.decide(&session, serial: 5, at: now) == .refused(.ended(.refreshTokenReused)))
    }

    @Test func deadChild_isReuse() {
        var session = session()
        let late = Sample.start + .seconds(500)
        #expect(Sample.decide(&session, serial: 4, at: late) == .reissued)
        #expect(Sample.decide(&session, serial: 5, at: late) == .refused(.ended(.refreshTokenReused)))
    }

    @Test func noKeyOnEitherSide_isNotTheSameRequest() {
        var session = session(requestKey: nil)
        #expect(Sample.decide(&session, serial: 4, at: Sample.start + .seconds(120), key: nil) == .reissued)
    }

    @Test func zeroInterval_isStrictRotation() {
        var settings = Settings()
        settings.sessions.rotationInterval = .zero
        var session = session()
        #expect(Sample.decide(&session, serial: 5, at: Sample.start, settings: settings) == .rotated)
        #expect(Sample.decide(&session, serial: 6, at: Sample.start, settings: settings) == .rotated)
        #expect(Sample.decide(&session, serial: 6, at: Sample.start, settings: settings) == .reissued)
        #expect(
            Sample.decide(&session, serial: 5, at: Sample.start, settings: settings)
                == .refused(.ended(.refreshTokenReused)))
    }

    @Test func zeroInterval_sameRequestStillConverges() {
        var settings = Settings()
        settings.sessions.rotationInterval = .zero
        var session = session()
        #expect(Sample.decide(&session, serial: 5, at: Sample.start, key: 9, settings: settings) == .rotated)
        #expect(Sample.decide(&session, serial: 5, at: Sample.start, key: 9, settings: settings) == .converged)
    }

    /// The rotation, the confirmation of the child, and the idle time in steps of a quarter.
    @Test func hammering_writesAtMostFiveTimesAnInterval() {
        for presentsParent in [false, true] {
            var session = session()
            var writes = 0
            for second in 0..<1200 {
                let before = session
                let serial = presentsParent ? session.parent : session.child
                _ = Sample.decide(&session, serial: serial, at: Sample.start + .seconds(Int64(second)))
                if session != before { writes += 1 }
            }
            #expect(session.ending == nil)
            #expect(writes <= 5 * 10)
        }
    }
}
