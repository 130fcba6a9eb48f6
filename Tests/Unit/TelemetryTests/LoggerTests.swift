import FoundationEssentials
import Glibc
import Locks
import Testing

@testable import Telemetry

/// Keeps lines instead of writing them.
final class Lines: Sendable {
    private let lines = Locked<[String]>([])

    var sink: LogSink { LogSink { line in self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } } }
    var all: [String] { lines.withLock { $0 } }
}

@Suite struct LoggerTests {
    private let lines = Lines()
    private func logger(_ format: Logger.Format, _ level: LogLevel = .debug) -> Logger {
        Logger(level: level, format: format, sink: lines.sink) { 1_793_232_448_007 }
    }

    @Test func writesOneJSONObjectPerLineInOrder() {
        logger(.json).notice("key rotated", ["kid": "a/b", "count": 2, "ok": true, "ratio": 0.5, "nan": .double(.nan)])
        #expect(
            lines.all == [
                #"{"time":"2026-10-29T00:07:28.007Z","level":"notice","message":"key rotated","kid":"a/b","count":2,"ok":true,"ratio":0.5,"nan":null}"#
                    + "\n"
            ])
    }

    @Test func writesTextForPeople() {
        logger(.text).warning("disk is slow", ["path": "/var/db", "why": "a b", "ms": 12, "none": "", "x": "a=b"])
        #expect(
            lines.all == [
                #"2026-10-29T00:07:28.007Z warning disk is slow path=/var/db why="a b" ms=12 none="" x="a=b""# + "\n"
            ])
    }

    @Test(arguments: Logger.Format.allCases) func aDisabledLevelCostsNothing(format: Logger.Format) {
        let logger = logger(format, .notice)
        var made = 0
        func message() -> String {
            made += 1
            return "x"
        }
        func fields() -> LogFields {
            made += 1
            return [:]
        }
        logger.debug(message(), fields())
        logger.info(message(), fields())
        #expect(made == 0 && lines.all.isEmpty)
        logger.notice(message(), fields())
        logger.warning(message(), fields())
        logger.error(message(), fields())
        #expect(made == 6 && lines.all.count == 3)
        #expect(LogLevel.allCases.map(logger.enabled) == [false, false, true, true, true])
    }

    private static let hostile = [
        "a\nb", "a\r\n2026-01-01T00:00:00.000Z error forged", "\u{1b}[2J\u{7}", "tab\there", "nul\0", "\u{7f}\u{9b}31m",
        "line\u{2028}paragraph\u{2029}", "\u{202e}gnp.exe", "\u{2066}x\u{2069}", #"quote " and \ backslash"#,
        #"x","level":"error","y":"z"#, "\u{feff}bom", "é, 漢字, 🐚",
    ]

    @Test(arguments: hostile, Logger.Format.allCases) func noTextMakesALineOfItsOwn(text: String, format: Logger.Format)
    {
        logger(format).info(text, ["field": .string(text), "last": 1])
        #expect(lines.all.count == 1)
        let line = lines.all[0]
        #expect(line.last == "\n")
        for scalar in line.unicodeScalars.dropLast() {
            #expect(scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .format)
            #expect(scalar.value != 0x2028 && scalar.value != 0x2029)
        }
        #expect(format == .text ? line.hasSuffix(" last=1\n") : line.hasSuffix(",\"last\":1}\n"))
    }

    @Test(arguments: hostile) func JSONKeepsTheExactText(text: String) throws {
        struct Line: Decodable { let message: String, field: String, level: String }
        logger(.json).info(text, ["field": .string(text)])
        let line = try JSONDecoder().decode(Line.self, from: Data(lines.all[0].utf8))
        #expect(Array(line.message.unicodeScalars) == Array(text.unicodeScalars))
        #expect(Array(line.field.unicodeScalars) == Array(text.unicodeScalars))
        #expect(line.level == "info")
    }

    @Test(arguments: Logger.Format.allCases) func longTextIsCut(format: Logger.Format) {
        logger(format).info("x", ["agent": .string(String(repeating: "é", count: 100_000))])
        #expect(lines.all[0].utf8.count < 2 * LogLine.longestText)
        #expect(lines.all[0].contains("é…"))
    }

    @Test func contextComesFirst() {
        let logger = logger(.text).with(["request_id": "r1"]).with(["user": "u"])
        logger.info("done", ["ms": 3])
        #expect(lines.all[0].hasSuffix(" info done request_id=r1 user=u ms=3\n"))
        var fields: LogFields = ["a": 1]
        fields.append("b", "\(2 + 3)")
        #expect(fields == ["a": 1, "b": "5"])
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (1_798_761_599_000, "2026-12-31T23:59:59.000Z"),
    ])
    func timesAreRFC3339(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test func aFileDescriptorGetsWholeLinesFromManyThreads() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let logger = Logger(format: .text, sink: .fileDescriptor(writeEnd)) { 0 }
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask { for _ in 0..<50 { logger.info("event", ["number": .int(number)]) } }
            }
        }
        close(writeEnd)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(readEnd, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        close(readEnd)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 200)
        #expect(lines.allSatisfy { $0.hasPrefix("1970-01-01T00:00:00.000Z info event number=") && $0.utf8.count == 44 })
    }

    @Test func aClosedDescriptorLosesLinesAndNothingElse() {
        Logger(sink: .fileDescriptor(-1)) { 0 }.error("nobody hears this")
        Logger.silent.error("nor this")
    }
}
