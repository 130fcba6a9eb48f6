import Cryptography
import Testing

@testable import Sessions

/// The events about misused tokens are so few that no caller fills the trail with them.
@Suite struct MisuseEventThrottleTests {
    private let now = Instant(secondsSinceEpoch: 1_800_000_000)
    private let minute = Duration.seconds(60)

    private func session(of user: Identifier<User> = Identifier(random: .system)) -> Session {
        Session(
            id: Identifier(random: .system), userID: user, clientID: "app", device: Device(id: "d"), startedAt: now,
            epoch: 1)
    }

    @Test func aSessionHasOneInEachInterval() {
        let (notices, session) = (MisuseEventThrottle(), session())
        #expect(notices.claim(session, for: minute, at: now))
        #expect(!notices.claim(session, for: minute, at: now + .seconds(59)))
        #expect(notices.claim(session, for: minute, at: now + minute))
        // What could not be told may be tried again.
        notices.giveBack(session)
        #expect(notices.claim(session, for: minute, at: now + minute))
        // A clock that was set back silences no event for longer.
        #expect(notices.claim(session, for: minute, at: now + .seconds(-3600)))
    }

    @Test func aUserHasSoMany_andTheOthersTheirs() {
        let (notices, user) = (MisuseEventThrottle(), Identifier<User>(random: .system))
        let told = (0..<20).filter { _ in notices.claim(session(of: user), for: minute, at: now) }
        #expect(told.count == MisuseEventThrottle.perUser)
        #expect(notices.claim(session(), for: minute, at: now))
        #expect(notices.claim(session(of: user), for: minute, at: now + minute))
    }

    @Test func memoryIsBounded_andFreeAgainLater() {
        let notices = MisuseEventThrottle()
        let told = (0..<MisuseEventThrottle.capacity + 9).filter { _ in notices.claim(session(), for: minute, at: now) }
        #expect(told.count == MisuseEventThrottle.capacity)
        #expect(notices.claim(session(), for: minute, at: now + minute))
    }
}
