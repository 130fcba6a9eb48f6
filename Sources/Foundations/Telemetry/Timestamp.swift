internal import Calendar

/// The instant of a log line.
struct Timestamp {
    let milliseconds: Int64

    /// An instant in milliseconds since 1970 (UTC).
    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The moment as RFC 3339: `2026-01-31T23:59:59.999Z`.
    var rfc3339: String {
        let (seconds, rest) = milliseconds.floorDivided(by: 1000)
        let time = UTCTime(secondsSinceEpoch: seconds)
        let fraction = (rest < 100 ? "0" : "") + (rest < 10 ? "0" : "") + String(rest)
        return "\(time.date.text)T\(time.timeText).\(fraction)Z"
    }
}
