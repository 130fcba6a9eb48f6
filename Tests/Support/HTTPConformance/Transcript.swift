/// One answer as it stands on the wire, checked for what every answer must have.
public struct WireAnswer: Sendable {
    /// The status code.
    public let status: Int
    /// Names in lower case, and values, in their order.
    public let fields: [(name: String, value: String)]
    /// The content, one scalar for each byte.
    public let content: String

    /// The values of all lines of this name.
    public func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Whether the answer says that the connection closes.
    public var closes: Bool { values("connection").contains("close") }
}

/// Reads what a server has sent on one connection, with eyes that know nothing of the server's own parser.
struct Transcript {
    /// Why the bytes are no sequence of answers.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var interim = 0
    private(set) var answers: [WireAnswer] = []

    /// - Parameter methods: those of the requests that are answered, in their order; what comes later answers `GET`.
    init(reading bytes: [UInt8], methods: [String]) throws(Broken) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let method = answers.count < methods.count ? methods[answers.count] : "GET"
            let (answer, isInterim) = try Self.next(&rest, method)
            if isInterim { interim += 1 } else { answers.append(answer) }
        }
    }

    private static func next(
        _ rest: inout ArraySlice<UInt8>, _ method: String
    ) throws(Broken) -> (WireAnswer, isInterim: Bool) {
        var lines: [String] = []
        while true {
            let line = try line(&rest)
            if line.isEmpty { break }
            lines.append(line)
        }
        guard let first = lines.first else { throw Broken(description: "an empty line for a status line") }
        let status = try statusCode(first)
        let fields = try lines.dropFirst().map { (line) throws(Broken) in try field(line) }
        let head = WireAnswer(status: status, fields: fields, content: "")
        if status < 200 {
            guard fields.isEmpty else { throw Broken(description: "an interim answer with fields") }
            return (head, true)
        }
        try checkFields(head)
        var length = 0
        if status != 204, status != 304 {
            guard let value = head.values("content-length").first, let number = Int(value), number >= 0 else {
                throw Broken(description: "no Content-Length with \(status)")
            }
            if method != "HEAD" { length = number }
        }
        guard rest.count >= length else { throw Broken(description: "content cut at \(rest.count) of \(length)") }
        let content = text(rest.prefix(length))
        rest = rest.dropFirst(length)
        return (WireAnswer(status: status, fields: fields, content: content), false)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
        return text
    }

    private static func line(_ rest: inout ArraySlice<UInt8>) throws(Broken) -> String {
        guard let end = rest.firstIndex(of: 13), end + 1 < rest.endIndex, rest[end + 1] == 10 else {
            throw Broken(description: "a line without end: \(text(rest.prefix(80)).debugDescription)")
        }
        defer { rest = rest[(end + 2)...] }
        let line = text(rest[..<end])
        guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw Broken(description: "a control in \(line.debugDescription)")
        }
        return line
    }

    /// `HTTP-version SP status-code SP [ reason-phrase ]` (RFC 9112 §4); the version is this server's highest.
    private static func statusCode(_ line: String) throws(Broken) -> Int {
        guard line.hasPrefix("HTTP/1.1 "), line.dropFirst(12).first == " ", let code = Int(line.dropFirst(9).prefix(3)),
            (100...599).contains(code)
        else { throw Broken(description: "no status line: \(line.debugDescription)") }
        return code
    }

    private static func field(_ line: String) throws(Broken) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: ":") else { throw Broken(description: "no field: \(line)") }
        let name = line[..<colon]
        let value = line[line.index(after: colon)...]
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), value.first == " ", value.last != " "
        else {
            throw Broken(description: "no field: \(line)")
        }
        return (name.lowercased(), String(value.dropFirst()))
    }

    /// What holds for every final answer of an origin server.
    private static func checkFields(_ answer: WireAnswer) throws(Broken) {
        let status = answer.status
        for name in ["date", "content-length", "connection", "content-type", "allow", "etag", "location"]
        where answer.values(name).count > 1 { throw Broken(description: "\(name) twice with \(status)") }
        // RFC 9110 §6.6.1 and §5.6.7.
        guard let date = answer.values("date").first, isIMFFixdate(date) else {
            throw Broken(description: "no Date with \(status)")
        }
        // RFC 9112 §6.1 and RFC 9110 §8.6. This server never needs the chunked coding.
        guard answer.values("transfer-encoding").isEmpty else { throw Broken(description: "Transfer-Encoding") }
        guard status != 204 && status != 304 || answer.values("content-length").isEmpty else {
            throw Broken(description: "Content-Length with \(status)")
        }
        // RFC 9110 §15.5.6, §15.5.2 and §15.5.22.
        for (code, name) in [(405, "allow"), (401, "www-authenticate"), (426, "upgrade")]
        where status == code && answer.values(name).isEmpty { throw Broken(description: "\(status) without \(name)") }
        // RFC 9110 §8.3, §15.5 and §15.6: content has a type, and errors explain themselves.
        let length = answer.values("content-length").first
        guard length == nil || length == "0" || !answer.values("content-type").isEmpty else {
            throw Broken(description: "content without a type with \(status)")
        }
        guard status < 400 || length != "0" else { throw Broken(description: "\(status) without a word") }
        guard status != 101 && status != 206 && status != 416 else { throw Broken(description: "\(status)") }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func isIMFFixdate(_ text: String) -> Bool {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        return text.utf8.count == 29 && parts.count == 6
            && ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"].contains(parts[0])
            && parts[1].utf8.count == 2 && parts[2].utf8.count == 3 && parts[3].utf8.count == 4
            && parts[4].split(separator: ":").allSatisfy { $0.utf8.count == 2 } && parts[5] == "GMT"
    }
}
