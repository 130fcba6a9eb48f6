/// A moment to be formatted.
struct Timestamp {
    let milliseconds: Int64

    /// Creates a moment from milliseconds since 1970 (UTC).
    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// The moment as RFC 3339: `2026-01-31T23:59:59.999Z`.
    var rfc3339: String {
        let day = Self.floor(milliseconds, 86_400_000)
        let rest = milliseconds - day * 86_400_000
        let (year, month, dayOfMonth) = Self.civil(day)
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))"
        let hours = Self.padded(rest / 3_600_000, 2)
        let minutes = Self.padded(rest / 60_000 % 60, 2)
        let seconds = Self.padded(rest / 1000 % 60, 2)
        return "\(date)T\(hours):\(minutes):\(seconds).\(Self.padded(rest % 1000, 3))Z"
    }

    /// Returns the Gregorian date of a number of days since 1970-01-01. Years begin in March, so that the leap day is
    /// the last one, and an era is 400 years, 146 097 days.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
