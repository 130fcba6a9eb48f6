internal import Foundation

/// The clocks of the operating system.
public struct SystemClock: ClientClock {
    private static let start = ContinuousClock.now

    /// Creates the clocks.
    public init() {}

    /// Seconds since 1970 by the wall clock.
    public var wallSeconds: Int64 { Int64(Date.now.timeIntervalSince1970.rounded(.down)) }

    /// Time since the first call. It runs while the device sleeps.
    public var uptime: Duration { Self.start.duration(to: .now) }

    /// Waits. Throws `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws { try await ContinuousClock().sleep(for: duration) }
}
