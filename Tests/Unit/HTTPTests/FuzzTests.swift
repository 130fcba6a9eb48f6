import HTTP
import Testing

/// Goal: no input traps, none is read differently when it is cut differently, no byte belongs to two requests, nothing
/// passes a limit: `ParserProperties`.
/// Method: the tables' inputs, spliced and mutated from a seed (a failure names it), and what libFuzzer came upon.
/// `.ci/fuzz` asks the same of millions of inputs.
@Suite struct FuzzTests {
    private static let corpus = NamedInput.all.map(\.input.bytes).filter { $0.count < 1000 }

    /// Bytes that mean something to the grammar, drawn more often than chance would.
    private static let dictionary: [[UInt8]] =
        [
            "\r\n", "\r", "\n", "\r\n\r\n", " ", "\t", ":", ",", ";", "=", "\"", "0", "0\r\n\r\n", "%", "[", "]", "\0",
            "HTTP/1.1", "HTTP/1.0", "Host: a\r\n", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "chunked",
            "Expect: 100-continue\r\n", "FFFFFFFFFFFFFFFF", "9223372036854775807", "-1",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ].map(\.bytes)

    private func mutated(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes = (0..<Int.random(in: 1...2, using: &random)).flatMap { _ in
            Self.corpus.randomElement(using: &random) ?? []
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let from = Int.random(in: 0...bytes.count, using: &random)
            let to = Int.random(in: from...min(bytes.count, from + 8), using: &random)
            switch Int.random(in: 0...3, using: &random) {
            case 0: bytes.replaceSubrange(from..<to, with: [UInt8.random(in: 0...255, using: &random)])
            case 1: bytes.insert(contentsOf: Self.dictionary.randomElement(using: &random) ?? [], at: from)
            case 2: bytes.removeSubrange(from..<to)
            default: bytes.insert(contentsOf: bytes[from..<to], at: from)
            }
        }
        return bytes
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func mutatedInputsKeepTheProperties(_ seed: UInt64) {
        var random = SeededGenerator(state: seed)
        for round in 0..<600 {
            if let violation = ParserProperties.violation(mutated(&random)) {
                Issue.record("seed \(seed), round \(round): \(violation)")
            }
        }
    }

    @Test func theInputsOfTheTablesAndOfTheFuzzerKeepTheProperties() {
        for bytes in NamedInput.all.map(\.input.bytes) + FuzzCorpus.requests.map(\.bytes) {
            if let violation = ParserProperties.violation(bytes) { Issue.record("\(bytes): \(violation)") }
        }
    }

    @Test func valuesThatTheFuzzerFoundKeepTheProperties() {
        for bytes in FuzzCorpus.values.map(\.bytes) {
            let violation =
                FormProperties.violation(bytes) ?? ForwardingProperties.violation(bytes)
                ?? ProxyHeaderProperties.violation(bytes)
            if let violation { Issue.record("\(bytes): \(violation)") }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func mutatedFormsKeepTheProperties(_ seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let alphabet = "ab=&%+0aF\0\u{C3}\u{A9}~/".bytes
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            if let violation = FormProperties.violation(bytes) { Issue.record("\(bytes): \(violation)") }
        }
    }
}
