/// Requests that are nearly right, and what follows them looks like another one: a peer that finds their end in another place
/// sees `/smuggled`. From a seed, always the same.
struct HostileFraming {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(state: seed) }

    static let tail = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    private mutating func pick(_ words: [String]) -> String { words.randomElement(using: &random) ?? "" }
    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    /// The plain word mostly, an odd one at times: a request should have one thing wrong, or two, seldom more.
    private mutating func mostly(_ plain: String, _ odd: [String]) -> String { chance(16) ? pick(odd) : plain }

    /// One connection's bytes: one or two hostile requests, and the tail.
    mutating func next() -> String {
        var input = chance(4) ? request() : ""
        input += request() + mostly("", ["\r\n", "\n", " ", "\r\n\r\n", "0\r\n\r\n"]) + Self.tail
        if chance(6) { input = mutated(input) }
        return input
    }

    private mutating func request() -> String {
        let body = pick(["abc", "0\r\n\r\n", "G", Self.tail, "3\r\nabc\r\n0\r\n\r\n", ""])
        let target = mostly(pick(["/a", "/a?b=c", "/a;b"]), Self.targets)
        var lines = [
            "\(mostly("POST", Self.methods)) \(target) \(mostly("HTTP/1.1", Self.versions))",
            mostly("Host: a", Self.hosts),
        ]
        var content = body
        switch Int.random(in: 0..<20, using: &random) {
        case 0: content = ""
        case 1...8: lines.append(lengthLine(body.utf8.count))
        case 9...16:
            lines.append(codingLine())
            content = chunked(body)
        case 17:
            lines += [lengthLine(body.utf8.count), codingLine()].shuffled(using: &random)
            content = chance(2) ? chunked(body) : body
        case 18: lines += [lengthLine(body.utf8.count), lengthLine(chance(2) ? body.utf8.count : 0)]
        default:
            lines += [codingLine(), codingLine()]
            content = chunked(body)
        }
        if chance(3) { lines.append(pick(Self.others)) }
        let lineEnds = lines.map { _ in mostly("\r\n", chance(2) ? ["\n", "\r", "\r\r\n", "\n\r", "\r\n\t"] : ["\r\n"])
        }
        return zip(lines, lineEnds).map { $0 + $1 }.joined()
            + mostly("\r\n", ["\n", "\r", " \r\n", "\r\n\r\n", ""]) + content
    }

    private mutating func lengthLine(_ count: Int) -> String {
        let value = mostly("N", Self.lengthValues).replacing("N", with: "\(count)")
        return mostly("Content-Length", Self.lengthNames) + mostly(": ", Self.colons) + value + mostly("", Self.ends)
    }

    private mutating func codingLine() -> String {
        mostly("Transfer-Encoding", Self.codingNames) + mostly(": ", Self.colons) + mostly("chunked", Self.codingValues)
            + mostly("", Self.ends)
    }

    private mutating func chunked(_ body: String) -> String {
        var rest = Array(body)
        var coded = ""
        while !rest.isEmpty {
            let piece = String(rest.prefix(Int.random(in: 8...40, using: &random)))
            rest.removeFirst(min(rest.count, piece.count))
            coded += chunk(piece)
        }
        return coded + mostly("0\r\n", Self.lastChunks) + mostly("\r\n", Self.trailers)
    }

    private mutating func chunk(_ piece: String) -> String {
        let size = String(piece.utf8.count, radix: 16)
        return mostly("N", Self.chunkSizes).replacing("N", with: size) + mostly("\r\n", ["\n", "\r", "\r\r\n"]) + piece
            + mostly("\r\n", ["\n", "\r", "\r\r\n", "\n\n", ""])
    }

    private mutating func mutated(_ input: String) -> String {
        var scalars = Array(input.unicodeScalars)
        let place = Int.random(in: 0..<scalars.count, using: &random)
        let odd = pick([
            "\0", "\u{0B}", "\u{0C}", "\u{7F}", "\u{A0}", "\u{85}", " ", "\t", "\n", "\r", ":", ",", ";", "\"",
        ])
        switch Int.random(in: 0..<3, using: &random) {
        case 0: scalars.replaceSubrange(place...place, with: odd.unicodeScalars)
        case 1: scalars.insert(contentsOf: odd.unicodeScalars, at: place)
        default: scalars.remove(at: place)
        }
        return scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
    }
}

// The odd words.
extension HostileFraming {
    private static let methods = ["GET", "PUT", "OPTIONS", "HEAD", "post", "X!", "TRACE", "PRI"]
    private static let targets = ["http://b/c", "http://b", "https://b?c", "//b", "/%2F", "*", "/a#b", "/%", "", "a"]
    private static let versions = [
        "HTTP/1.0", "HTTP/1.0", "HTTP/1.2", "http/1.1", "HTTP/1.1 ", "HTTP/01.1", "HTTP/2.0", "HTTP/1.1\t", "",
    ]
    private static let hosts = [
        "X: y", "Host: a\r\nHost: b", "host:a", "Host: a b", "Host: a, b", "Host : a", "Host:", "Host: a/b", " Host: a",
        "Host: a:80", "Host: a@b", "Host: [::1]",
    ]
    private static let others = [
        "Connection: close", "Connection: keep-alive", "Connection: close, keep-alive", "Connection: Transfer-Encoding",
        "Connection: Content-Length", "Connection: , close ,", "Connection:\tclose", "Connection: xclose",
        "Expect: 100-continue", "Upgrade: websocket\r\nConnection: upgrade", "Upgrade: h2c\r\nConnection: Upgrade",
        "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings",
        "TE: trailers",
        "Trailer: X", "nocolon", ": x", "X\0Y: z", "X: \u{0B}", "X Y: z", "X: a\r\n\tb", "X(: y", "\u{C3}: y",
        "X: \u{FF}",
        "Keep-Alive: timeout=1", "Proxy-Connection: close",
    ]
    private static let lengthNames = [
        "content-length", "CONTENT-LENGTH", "Content_Length", "Content-Length ", " Content-Length", "\tContent-Length",
        "Content-Length\t", "Content-Length\0", "Content-Length\u{0B}", "\0Content-Length", "Content-\r\n Length",
        "X: y\nContent-Length", "X: y\rContent-Length", "Content Length", "Content-Length:", "\"Content-Length\"",
    ]
    private static let lengthValues = [
        "+N", "-N", "0N", "00000000000000000000000N", "0xN", "N,N", "N, N", "N,0", "0,N", "N;0", "N 0", "N.0", "Ne0",
        "\"N\"",
        "N\0", "N\u{0B}", "\u{0B}N", "\u{0C}N", "N\u{85}", "\u{A0}N", "", " ", "18446744073709551616",
        "9223372036854775808",
        "4294967296", "N\r\n ", "\r\n N", "\r\n\tN", "N\r\n", "N_0", "\u{B2}", "N,", ",N", "0b11", "0o3",
    ]
    private static let codingNames = [
        "transfer-encoding", "TRANSFER-ENCODING", "Transfer_Encoding", "Transfer-Encoding ", " Transfer-Encoding",
        "\tTransfer-Encoding", "Transfer-Encoding\t", "Transfer-Encoding\0", "Transfer-Encoding\u{0B}",
        "X-Transfer-Encoding",
        "X: y\nTransfer-Encoding", "X: y\rTransfer-Encoding", "Transfer-\r\n Encoding", "Transfer Encoding",
        "Transfer-Encoding:", "TE",
    ]
    private static let codingValues = [
        "Chunked", "CHUNKED", "chunked,", ",chunked", ", chunked", "chunked, chunked", "chunked, identity",
        "identity, chunked", "identity", "gzip, chunked", "chunked, gzip", "xchunked", "chunkedx", "x chunked",
        "chunked x",
        "chunked;q=1", "chunked; a=b", "\"chunked\"", "'chunked'", "\u{0B}chunked", "chunked\u{0B}", "\u{0C}chunked",
        "chunked\0", "\0chunked", "chunked\u{85}", "\u{A0}chunked", "", " ", "\r\n chunked", "\r\n\tchunked",
        "chunked\r\n ",
        "cow", "chunked, cow", "cow, chunked", "deflate,chunked", "chun\u{212A}ed", "chunKed", "(x)chunked",
    ]
    private static let colons =
        Array(repeating: ": ", count: 12) + [":", ":\t", " : ", "\t:", ":  ", ":\u{0B}", "::", " ", "="]
    private static let ends = [" ", "\t", " \t ", "\u{0B}", "\0", "\u{A0}"]
    private static let chunkSizes = [
        "0N", "0000000000000000000N", "000000000000000N", "+N", "-N", "0xN", "N ", " N", "N\t", "\tN", "N;", "N;a",
        "N;a=b",
        "N;a=\"b\"", "N;a=\"\\\"\"", "N ;a", "N; a", "N;a\nb", "N;a\rb", "N;\n", "N;\"", "N;a=\"\r\n\"", "N\0", "N;\0",
        "N.0",
        "N,0", "N a", "1N", "FFFFFFFFFFFFFFFFN", "10000000000000000N", "N_", "N;a=b;c=d;;", "N;=", "N;a=", "N\u{0B}",
        "", "g",
        "N;a=\u{FF}", "N\u{A0}",
    ]
    private static let lastChunks = [
        "00\r\n", "000000000000000000000\r\n", "0;a=b\r\n", "0;\r\n", "0 \r\n", "0\n", "0\r", " 0\r\n", "0x0\r\n",
        "-0\r\n",
        "0\r\r\n", "", "0", "\r\n", "0;\n\r\n", "+0\r\n",
    ]
    private static let trailers = [
        "X: y\r\n\r\n", "Content-Length: 5\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "X: y\n\r\n", "X: y\r\n\n",
        "nocolon\r\n\r\n", " X: y\r\n\r\n", "X : y\r\n\r\n", "\n", "\r", "", "X\0: y\r\n\r\n", "X: y\r\n z\r\n\r\n",
        "Host: b\r\nConnection: close\r\n\r\n", ": y\r\n\r\n",
    ]
}
