/// The server's time, as far as a device can tell it. It decides when to renew and what to sign, and ends nothing.
///
/// It is anchored in answers of the server and goes on by a clock that runs while the device sleeps and that the user cannot
/// set. Before the first answer it is a guess: the wall clock at the start of the process, corrected by what the record holds.
package struct ServerClock: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        /// The server's time in Unix seconds, and the uptime at which its answer had come.
        var server: Int64
        var uptime: Duration
        var roundTrip: Duration
    }

    /// An answer that took longer says too little.
    private static let roundTripMax: Duration = .seconds(5)
    /// A sample that is older gives way to any other.
    private static let sampleAgeMax: Duration = .seconds(3600)

    private var sample: Sample?
    private let startWall: Int64
    private let startUptime: Duration
    private var storedOffset: Int64

    /// A clock that has not heard of the server.
    package init(wall: Int64, uptime: Duration, offset: Int64 = 0) {
        (startWall, startUptime, storedOffset) = (wall, uptime, offset)
    }

    /// The offset of the last process, from the record. It counts until the server answers.
    package mutating func recall(offset: Int64) { storedOffset = offset }

    /// The server's time in Unix seconds.
    package func now(uptime: Duration) -> Int64 {
        if let sample { return sample.server + (uptime - sample.uptime).components.seconds }
        return startWall + storedOffset + (uptime - startUptime).components.seconds
    }

    /// Whether the server has told its time to this process.
    package var isAnchored: Bool { sample != nil }

    /// What the server's time is ahead of the wall clock, for the record; nil if the server has not told it.
    package func offset(wall: Int64, uptime: Duration) -> Int64? {
        sample == nil ? nil : now(uptime: uptime) - wall
    }

    /// An answer told the server's time.
    ///
    /// The answer with the shortest round trip of the last hour counts. If two answers contradict each other by more than
    /// their round trips, the later one counts, because the server's clock has been set.
    package mutating func note(server: Int64, sentAt: Duration, receivedAt: Duration) {
        let roundTrip = receivedAt - sentAt
        guard roundTrip >= .zero, roundTrip <= Self.roundTripMax else { return }
        let new = Sample(server: server, uptime: receivedAt, roundTrip: roundTrip)
        guard let old = sample else {
            sample = new
            return
        }
        let difference = Duration.seconds(abs(server - now(uptime: receivedAt)))
        let tolerance = old.roundTrip + roundTrip + .seconds(2)
        if roundTrip <= old.roundTrip || receivedAt - old.uptime > Self.sampleAgeMax || difference > tolerance {
            sample = new
        }
    }
}
