internal import Calendar

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, RFC 9110 §5.6.7).
public enum HTTPDate {
    /// 9999-12-31T23:59:59Z, because the format has four digits for the year.
    static let lastSecond = 253_402_300_799

    /// The date of a Unix time in seconds, as 29 bytes of ASCII. A time before 1970 or after 9999 becomes the nearest
    /// of that range.
    public static func imfFixdate(secondsSinceEpoch: Int) -> [UInt8] {
        let seconds = min(max(secondsSinceEpoch, 0), lastSecond)
        let time = UTCTime(secondsSinceEpoch: Int64(seconds))
        let year = Int(time.date.year)
        var date: [UInt8] = []
        date.reserveCapacity(29)
        func appendTwoDigits(_ number: Int) {
            date.append(0x30 + UInt8(number / 10))
            date.append(0x30 + UInt8(number % 10))
        }
        // 1970-01-01 was a Thursday.
        date.append(contentsOf: ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(time.daysSinceEpoch % 7)].utf8)
        date.append(contentsOf: ", ".utf8)
        appendTwoDigits(time.date.day)
        date.append(Grammar.space)
        date.append(contentsOf: months[time.date.month - 1].utf8)
        date.append(Grammar.space)
        appendTwoDigits(year / 100)
        appendTwoDigits(year % 100)
        date.append(Grammar.space)
        appendTwoDigits(time.hour)
        date.append(UInt8(ascii: ":"))
        appendTwoDigits(time.minute)
        date.append(UInt8(ascii: ":"))
        appendTwoDigits(time.second)
        date.append(contentsOf: " GMT".utf8)
        return date
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
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
