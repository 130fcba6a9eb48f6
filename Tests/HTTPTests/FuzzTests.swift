import HTTP
import Testing

/// Goal: no input traps, none is read differently when it is cut differently, nothing passes a limit.
/// Method: the tables' inputs, spliced and mutated from a seed; a failure names the seed.
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

    private func pieces(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...40, using: &random))
            pieces.append(bytes[start..<end])
            start = end
        }
        return pieces
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func readsMutatedInputsTheSameHoweverCut(_ seed: UInt64) {
        var random = SeededGenerator(state: seed)
        var limits = Limits()
        limits.body = 64
        for round in 0..<1500 {
            let bytes = mutated(&random)
            let whole = parse([bytes[...]], limits: limits)
            let cut = parse(pieces(bytes, &random), limits: limits)
            if cut != whole { Issue.record("seed \(seed), round \(round): \(whole) but in pieces \(cut)") }
            for request in whole.requests where !isSound(request, limits) {
                Issue.record("seed \(seed), round \(round): \(request)")
            }
        }
    }

    /// What holds for every request that a handler may see.
    private func isSound(_ request: Request, _ limits: Limits) -> Bool {
        let controls = (0...0x1F).map { UInt8($0) } + [0x7F]
        let target = request.target.path + (request.target.query.map { "?" + $0 } ?? "")
        return request.body.count <= limits.body
            && request.fields.count <= limits.fieldCount + 1
            && target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && (request.target.path.hasPrefix("/") || request.target == .asterisk)
            && request.method != .connect
            && request.fields.allSatisfy { field in
                !field.name.isEmpty && field.value.utf8.allSatisfy { $0 == 0x09 || !controls.contains($0) }
            }
            && request.fields.values("Host").count <= 1
            && (request.version == .http10 || request.fields.contains("Host"))
            && !(request.fields.contains("Content-Length") && request.fields.contains("Transfer-Encoding"))
    }

    /// A request that was read, written again and read again is the same: nobody behind us can read it otherwise.
    @Test func readsWhatItReadAgain() {
        var random = SeededGenerator(state: 99)
        for _ in 0..<3000 {
            for request in parse([mutated(&random)[...]]).requests where canBeWritten(request) {
                let again = parse([written(request)[...]])
                #expect(again == Outcome(requests: [request]))
            }
        }
    }

    /// Not with a coding, which the parser removes; nor with bytes that are not UTF-8, which a `String` replaces.
    private func canBeWritten(_ request: Request) -> Bool {
        !request.fields.contains("Transfer-Encoding") && !request.fields.contains { $0.value.contains("\u{FFFD}") }
    }

    private func written(_ request: Request) -> [UInt8] {
        var target = request.target.path + (request.target.query.map { "?" + $0 } ?? "")
        if request.target.form == .absolute { target = "http://" + (request.authority ?? "") + target }
        var bytes = Array("\(request.method) \(target) \(request.version.rawValue)\r\n".utf8)
        // An absolute target put its Host last, so the order stays the same.
        for (name, value) in request.fields { bytes += Array("\(name): \(value)\r\n".utf8) }
        return bytes + [0x0D, 0x0A] + request.body
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodesFormsOrRefusesThem(_ seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let alphabet = "ab=&%+0aF\0\u{C3}\u{A9}~".bytes
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            guard let pairs = try? FormDecoder.decode(bytes) else { continue }
            let again = try FormDecoder.decode(Array(pairs.map(encoded).joined(separator: "&").utf8))
            #expect(again == pairs.filter { !encoded($0).isEmpty })
        }
    }

    private func encoded(_ pair: FormPair) -> String {
        func escape(_ text: String) -> String {
            text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return escape(pair.name) + "=" + escape(pair.value)
    }
}
