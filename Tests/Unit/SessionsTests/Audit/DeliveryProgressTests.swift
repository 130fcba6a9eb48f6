import Sessions
import Testing

/// Which node sends.
@Suite struct DeliveryProgressTests {
    private static let month = 30 * 86_400

    private final class Deliveries {
        private let start = Instant(secondsSinceEpoch: 1_800_000_000)
        private let lease = Duration.seconds(30)
        private var progress = DeliveryProgress(since: Instant(secondsSinceEpoch: 1_800_000_000))

        /// Whether that node may send, by its clock.
        func take(_ node: String, at seconds: Int) -> Bool {
            progress.take(by: node, at: start + .seconds(seconds), for: lease)
        }

        /// The receiver asks that node for time.
        func fail(_ node: String, at seconds: Int, delay: Int) {
            _ = progress.fail(by: node, at: start + .seconds(seconds), for: .seconds(delay), lease)
        }
    }

    @Test func anotherNodeTakesOver_whenTheLeaseIsOver() {
        let deliveries = Deliveries()
        #expect(deliveries.take("a", at: 0))
        #expect(!deliveries.take("b", at: 29))
        #expect(deliveries.take("b", at: 30))
        deliveries.fail("b", at: 30, delay: 300)
        #expect(!deliveries.take("a", at: 359))
        #expect(deliveries.take("a", at: 360))
    }

    @Test func aNodeWithAClockAheadForAMoment_keepsNoOtherFromSendingWhenItIsGone() {
        let deliveries = Deliveries()
        #expect(deliveries.take("a", at: Self.month))
        #expect(deliveries.take("b", at: 0))
        #expect(!deliveries.take("a", at: 29))
    }

    @Test func aNodeWithAClockAhead_holdsItByTheRightTimeFromThenOn() {
        let deliveries = Deliveries()
        #expect(deliveries.take("a", at: Self.month))
        #expect(deliveries.take("a", at: 0))
        #expect(!deliveries.take("b", at: 29))
        #expect(deliveries.take("b", at: 30))
    }
}
