// Calendar: the date and the time of day in UTC of a number of seconds, and RFC 3339 text.
//
// This module owns the one conversion from days to a date of the Gregorian calendar. It must not know a time zone, a
// language or a clock. It imports nothing, so that every other module may use it.
//
// Reading order: CivilDate, UTCTime.

/// A date of the Gregorian calendar, extended to all years (ISO 8601).
public struct CivilDate: Hashable, Sendable {
    /// The year; 0 is the year before 1.
    public let year: Int64
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    /// The date of a number of days since 1970-01-01. Years begin in March, so that the leap day is the last day of a
    /// year, and an era is 400 years, which always have 146 097 days.
    public init(daysSinceEpoch: Int64) {
        let (era, dayOfEra) = (daysSinceEpoch + 719_468).floorDivided(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days from 1970-01-01 to a date like `2026-01-31`; nil if the text is no date of the years 0 to 9999.
    public static func daysSinceEpoch(to text: String) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], parts.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2])
        else { return nil }
        let (era, yearOfEra) = (year - (month <= 2 ? 1 : 0)).floorDivided(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return CivilDate(daysSinceEpoch: days).text == text ? days : nil
    }

    /// `2026-01-31`.
    public var text: String { "\(padded(year, 4))-\(padded(Int64(month), 2))-\(padded(Int64(day), 2))" }
}

/// A date and a time of day in UTC, to the second.
public struct UTCTime: Hashable, Sendable {
    /// The days since 1970-01-01, a Thursday.
    public let daysSinceEpoch: Int64
    /// The date.
    public let date: CivilDate
    /// The second of the day, 0 to 86 399.
    public let secondOfDay: Int

    /// The time of a number of seconds since 1970-01-01T00:00:00Z.
    public init(secondsSinceEpoch: Int64) {
        let (days, seconds) = secondsSinceEpoch.floorDivided(by: 86_400)
        daysSinceEpoch = days
        date = CivilDate(daysSinceEpoch: days)
        secondOfDay = Int(seconds)
    }

    /// The hour, 0 to 23.
    public var hour: Int { secondOfDay / 3600 }
    /// The minute of the hour, 0 to 59.
    public var minute: Int { secondOfDay / 60 % 60 }
    /// The second of the minute, 0 to 59.
    public var second: Int { secondOfDay % 60 }

    /// `23:59:59`.
    public var timeText: String {
        "\(padded(Int64(hour), 2)):\(padded(Int64(minute), 2)):\(padded(Int64(second), 2))"
    }

    /// `2026-01-31T23:59:59Z` (RFC 3339).
    public var rfc3339: String { "\(date.text)T\(timeText)Z" }
}

extension Int64 {
    /// The quotient, rounded down, and the remainder, which is never negative. `divisor` is positive.
    public func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// The digits of `number`, with zeros in front up to `count`.
private func padded(_ number: Int64, _ count: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: Swift.max(0, count - digits.count)) + digits
}
