import HTTP
import Testing

@Suite struct HTTPDateTests {
    private func date(_ seconds: Int) -> String {
        String(decoding: HTTPDate.imfFixdate(secondsSinceEpoch: seconds), as: UTF8.self)
    }

    /// The first is RFC 9110's own example; the others are from `date -u -d @…`.
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
        (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
        (1_078_012_800, "Sun, 29 Feb 2004 00:00:00 GMT"),
        (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
        (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"),
        (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
        (1_735_689_600, "Wed, 01 Jan 2025 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        (4_107_456_000, "Sun, 28 Feb 2100 00:00:00 GMT"),
        (13_574_563_200, "Tue, 29 Feb 2400 00:00:00 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func writesDates(_ seconds: Int, _ expected: String) {
        #expect(date(seconds) == expected)
    }

    @Test func staysWithinWhatCanBeWritten() {
        #expect(date(-1) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(date(.min) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(date(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }

    @Test func cachesOneSecond() {
        var cache = DateCache()
        for seconds in [784_111_777, 784_111_777, 784_111_778, 784_111_777] {
            #expect(cache.date(secondsSinceEpoch: seconds) == HTTPDate.imfFixdate(secondsSinceEpoch: seconds))
        }
    }
}
