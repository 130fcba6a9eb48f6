import Glibc

/// Returns the nanoseconds of a clock that never jumps.
func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) ?? 0 }

/// Returns the time of a clock in nanoseconds; nil if there is no such clock.
func nanoseconds(of clock: clockid_t) -> Int64? {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Converts nanoseconds to the form of the system calls.
func duration(nanoseconds: Int64) -> timespec {
    timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
}

/// Repeats `body`, which returns its number of operations, for the given time. Returns operations per second.
func rate(seconds: Double, _ body: () throws -> Int) rethrows -> Double {
    let start = monotonicNanoseconds()
    let end = start + Int64(seconds * 1e9)
    var count = 0
    while monotonicNanoseconds() < end { count += try body() }
    return Double(count) * 1e9 / Double(monotonicNanoseconds() - start)
}
