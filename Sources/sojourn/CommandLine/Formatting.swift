import Calendar
import Glibc
import JSON

/// Formats instants, durations and tables for the terminal.
enum Formatting {
    /// `2026-11-21 09:30:00 UTC`.
    static func time(_ seconds: Int64?) -> String {
        guard let seconds else { return "-" }
        let time = UTCTime(secondsSinceEpoch: seconds)
        return "\(time.date.text) \(time.timeText) UTC"
    }

    /// The time with its distance from now: `… (in 13 days)`, `… (2 hours ago)`.
    static func timeWithDistance(_ seconds: Int64?) -> String {
        guard let seconds else { return "-" }
        let distance = seconds - Int64(Glibc.time(nil))
        if distance == 0 { return Self.time(seconds) + " (just now)" }
        let span = span(rounded(abs(distance)))
        return Self.time(seconds) + (distance >= 0 ? " (in \(span))" : " (\(span) ago)")
    }

    /// Rounds to the largest unit of which the duration has two or more, so that 13 days and 23 hours are "14 days".
    static func rounded(_ seconds: Int64) -> Int64 {
        let unit = [Int64(86400), 3600, 60].first { seconds >= 2 * $0 } ?? 1
        return (seconds + unit / 2) / unit * unit
    }

    /// `14 days`, `90 minutes`, `1 second`: the largest unit of which there are two or more, or a whole number.
    static func span(_ seconds: Int64) -> String {
        for (unit, length) in [("day", Int64(86400)), ("hour", 3600), ("minute", 60)] {
            if seconds >= 2 * length || (seconds >= length && seconds % length == 0) {
                return count(seconds / length, unit)
            }
        }
        return count(seconds, "second")
    }

    /// `1 session`, `2 sessions`.
    static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// The lifetime of a client or user; `inherited` without one, also by a 0 that the API has stored.
    static func lifetime(_ value: JSONValue?) -> String {
        guard let seconds = value?.integer else { return "inherited" }
        return seconds > 0 ? "\(span(seconds)) (\(seconds))" : "inherited (\(seconds))"
    }

    /// The rows under their headings; the sentence `empty` without rows.
    static func table(_ headings: [String], _ rows: [[String]], empty: String) -> String {
        guard !rows.isEmpty else { return empty }
        let widths = headings.indices.map { column in
            ([headings] + rows).map { visible($0[column]).count }.max() ?? 0
        }
        return ([headings] + rows).map { row in
            var line = zip(row, widths).map { visible($0).padded(to: $1) }.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }

    /// Names with their values, one per line.
    static func facts(_ facts: [(String, String?)]) -> String {
        let known = facts.compactMap { name, value in value.map { (name, visible($0)) } }
        let width = known.map(\.0.count).max() ?? 0
        return known.map { "\($0.padded(to: width))  \($1)" }.joined(separator: "\n")
    }

    /// The text without control characters, because names of users and devices must not control the terminal.
    static func visible(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}
