import Calendar
import Testing

@Suite struct CalendarTests {
    @Test(
        "RFC 3339 texts of known instants",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"), (951_868_800, "2000-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, "10000-01-01T00:00:00Z"),
            (-62_135_596_800, "0001-01-01T00:00:00Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
            (-62_167_219_201, "-0001-12-31T23:59:59Z"),
        ] as [(Int64, String)])
    func knownInstants(seconds: Int64, text: String) {
        #expect(UTCTime(secondsSinceEpoch: seconds).rfc3339 == text)
    }

    @Test("a text of a day is read, and what is no day is not")
    func daysAreRead() {
        for days in stride(from: Int64(-719_528), through: 2_932_896, by: 137) {
            #expect(CivilDate.daysSinceEpoch(to: CivilDate(daysSinceEpoch: days).text) == days)
        }
        for text in [
            "", "2026-1-31", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "+026-01-01", "2026-01-31Z",
        ] {
            #expect(CivilDate.daysSinceEpoch(to: text) == nil, "\(text)")
        }
    }

    @Test("every day of 800 years follows the day before by the rule of leap years")
    func everyDay() {
        var date = CivilDate(daysSinceEpoch: -146_097)
        #expect(date.text == "1570-01-01")
        for days in Int64(-146_096)...146_097 {
            let next = CivilDate(daysSinceEpoch: days)
            let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
            let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][date.month - 1]
            let isLast = date.day == length
            let (year, month) =
                isLast && date.month == 12 ? (date.year + 1, 1) : (date.year, date.month + (isLast ? 1 : 0))
            guard next.year == year, next.month == month, next.day == (isLast ? 1 : date.day + 1) else {
                Issue.record("\(next.text) follows \(date.text)")
                return
            }
            date = next
        }
        #expect(date.text == "2370-01-01")
    }

    @Test("the extreme numbers of seconds do not overflow")
    func extremes() {
        #expect(UTCTime(secondsSinceEpoch: .max).date.year == 292_277_026_596)
        #expect(UTCTime(secondsSinceEpoch: .min).date.year == -292_277_022_657)
        #expect(UTCTime(secondsSinceEpoch: .min).secondOfDay == 30_592)
    }
}
