/// The clocks of a device.
public protocol ClientClock: Sendable {
    /// Seconds since 1970 by the wall clock, which the user can set.
    var wallSeconds: Int64 { get }
    /// Time since an arbitrary moment that never runs backwards and runs while the device sleeps.
    var uptime: Duration { get }
    /// Waits. Throws `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws
}
