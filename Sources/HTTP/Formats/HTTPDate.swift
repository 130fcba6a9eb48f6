/// Formats dates for HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 §5.6.7).
public enum HTTPDate {
    /// 9999-12-31T23:59:59Z, because the format has four digits for the year.
    static let lastSecond = 253_402_300_799

    /// Returns the date of a Unix time in seconds, as 29 bytes of ASCII. Times before 1970 and after 9999 are clamped.
    public static func imfFixdate(secondsSinceEpoch: Int) -> [UInt8] {
        let seconds = min(max(secondsSinceEpoch, 0), lastSecond)
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86400)
        let (year, month, day) = civil(daysSinceEpoch: days)
        var date: [UInt8] = []
        date.reserveCapacity(29)
        func appendTwoDigits(_ number: Int) {
            date.append(0x30 + UInt8(number / 10))
            date.append(0x30 + UInt8(number % 10))
        }
        // 1970-01-01 was a Thursday.
        date.append(contentsOf: ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days % 7].utf8)
        date.append(contentsOf: ", ".utf8)
        appendTwoDigits(day)
        date.append(Grammar.space)
        date.append(contentsOf: months[month - 1].utf8)
        date.append(Grammar.space)
        appendTwoDigits(year / 100)
        appendTwoDigits(year % 100)
        date.append(Grammar.space)
        appendTwoDigits(time / 3600)
        date.append(UInt8(ascii: ":"))
        appendTwoDigits(time / 60 % 60)
        date.append(UInt8(ascii: ":"))
        appendTwoDigits(time % 60)
        date.append(contentsOf: " GMT".utf8)
        return date
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the Gregorian date of a day. The calculation counts years from March, so that the leap day is the last
    /// day of a year, in eras of 400 years, which all have 146 097 days.
    private static func civil(daysSinceEpoch: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSinceEpoch + 719_468  // since 0000-03-01
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

/// Caches the `Date` field of the current second.
public struct DateCache: Sendable {
    private var second: Int?
    private var bytes: [UInt8] = []

    /// An empty cache.
    public init() {}

    /// Returns the IMF-fixdate of a Unix time in seconds.
    public mutating func date(secondsSinceEpoch: Int) -> [UInt8] {
        if second != secondsSinceEpoch {
            bytes = HTTPDate.imfFixdate(secondsSinceEpoch: secondsSinceEpoch)
            second = secondsSinceEpoch
        }
        return bytes
    }
}
