public import Sockets

/// Sends rows to a server and says what was wrong with its answers.
public struct Judge: Sendable {
    /// How a row's bytes are sent.
    public enum Pace: Sendable {
        case whole
        case byteByByte
    }

    /// What the server's handlers are like.
    public enum Handlers: Sendable {
        /// They answer 200 with `Row.summary`.
        case summarize
        /// They answer whatever belongs to the request: only framing is judged.
        case anything
    }

    private let address: SocketAddress
    private let handlers: Handlers
    private static let probe = "GET /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    /// A judge of the server at `address`.
    public init(_ address: SocketAddress, _ handlers: Handlers) {
        self.address = address
        self.handlers = handlers
    }

    /// What is wrong with the answers to these rows; blocks until all have been sent.
    public func complaints(about rows: [Row], _ pace: Pace) -> [String] {
        rows.compactMap { row in
            do {
                return try complaint(about: row, pace).map { "\(row): \($0)" }
            } catch { return "\(row): \(error)" }
        }
    }

    /// What is wrong with the answers to these rows of the whole server; blocks until all have been sent.
    public func complaints(about rows: [EndpointRow]) -> [String] {
        rows.compactMap { row in
            do {
                return try complaint(about: row).map { "\(row): \($0)" }
            } catch { return "\(row): \(error)" }
        }
    }

    private func complaint(about row: EndpointRow) throws -> String? {
        let socket = try ClientSocket(to: address, timeout: .seconds(10))
        try socket.send(row.input.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + Array(Self.probe.utf8))
        var received: [UInt8] = []
        while case let bytes = try socket.receive(), !bytes.isEmpty { received += bytes }
        let lines = row.input.split(separator: "\r\n")
        let methods = lines.filter { $0.contains(" HTTP/1.") }.map { String($0.prefix { $0 != " " }) }
        let answers = try Transcript(reading: received, methods: methods).answers
        guard answers.count == row.answers.count + 1 else { return "\(answers.map(\.status))" }
        for (answer, expected) in zip(answers, row.answers) {
            guard answer.status == expected.status else { return "\(answer.status), not \(expected.status)" }
            for field in expected.fields where !Self.holds(field, in: answer) {
                return "\(answer.status): \(field) does not hold of \(answer.fields)"
            }
            if let content = expected.content, content != answer.content { return answer.content }
        }
        return nil
    }

    private static func holds(_ field: String, in answer: WireAnswer) -> Bool {
        if field.hasPrefix("!") { return answer.values(field.dropFirst().lowercased()).isEmpty }
        let parts = field.split(separator: ":", maxSplits: 1)
        let values = answer.values(parts[0].lowercased())
        return parts.count == 1
            ? !values.isEmpty
            : values.joined(separator: ", ") == String(parts[1].dropFirst()) && !values.isEmpty
    }

    private func complaint(about row: Row, _ pace: Pace) throws -> String? {
        let bytes = try exchange(row, pace)
        let methods = row.reads.map { String($0.prefix { $0 != " " }) } + [Self.refusedMethod(row)]
        let transcript = try Transcript(reading: bytes, methods: methods)
        let answers = transcript.answers
        if pace == .whole {
            let pauses = row.pieces.count - 1
            guard transcript.interim == pauses else { return "\(transcript.interim) interim answers, not \(pauses)" }
        } else if transcript.interim > 0, !row.input.lowercased().contains("expect:") || row.input.contains("HTTP/1.0")
        {
            return "an interim answer that nobody asked for"
        }
        let more =
            switch row.end {
            case .open, .refused: 1
            case .closed, .incomplete: 0
            }
        guard answers.count == row.reads.count + more else {
            return "\(answers.count) answers, not \(row.reads.count + more): \(answers.map(\.status))"
        }
        for (answer, wanted) in zip(answers, row.reads) {
            if let problem = problem(answer, wanted) { return problem }
        }
        return endProblem(row, answers)
    }

    private func problem(_ answer: WireAnswer, _ wanted: String) -> String? {
        switch handlers {
        case .anything: return answer.status == 500 || answer.status == 505 ? "\(answer.status)" : nil
        case .summarize:
            let content = wanted.hasPrefix("HEAD ") ? "" : wanted
            guard answer.status == 200, answer.content == content else {
                return "\(answer.status) \(answer.content.prefix(200)), not \(wanted.prefix(200))"
            }
            return nil
        }
    }

    /// Whether the connection ended as the row says, and said so.
    private func endProblem(_ row: Row, _ answers: [WireAnswer]) -> String? {
        for answer in answers.dropLast() where answer.closes { return "close before the last answer" }
        switch row.end {
        case .open, .closed: return answers.last?.closes == true ? nil : "the last answer does not say close"
        case .incomplete: return answers.last?.closes != true ? nil : "close before the end"
        case .refused(let status):
            guard let last = answers.last, last.closes else { return "the refusal does not say close" }
            return last.status == status ? nil : "\(last.status), not \(status)"
        }
    }

    /// The method of a request that is refused, as far as one can be read: a refused HEAD has no content either.
    private static func refusedMethod(_ row: Row) -> String {
        row.input.unicodeScalars.starts(with: "HEAD /".unicodeScalars) && row.reads.isEmpty ? "HEAD" : "GET"
    }

    /// Everything that comes back, up to the end.
    private func exchange(_ row: Row, _ pace: Pace) throws -> [UInt8] {
        let socket = try ClientSocket(to: address, timeout: .seconds(10))
        var received: [UInt8] = []
        var pieces = row.pieces
        // What must not be taken for content would be, behind a request that is not complete.
        if row.end != .incomplete { pieces[pieces.count - 1] += Array(Self.probe.utf8) }
        do {
            switch pace {
            case .whole:
                for (index, piece) in pieces.enumerated() {
                    if index > 0 {
                        while !Self.endsWithInterim(received) {
                            let bytes = try socket.receive()
                            if bytes.isEmpty { return received }
                            received += bytes
                        }
                    }
                    try socket.send(piece)
                }
            case .byteByByte: for byte in pieces.joined() { try socket.send([byte]) }
            }
            if row.end == .incomplete { socket.shutdownWrite() }
        } catch {
            // The server has closed before it read all: what it said is there all the same.
        }
        // A reset is an end as well: whether it has destroyed an answer, the row shows.
        while let bytes = try? socket.receive(), !bytes.isEmpty { received += bytes }
        return received
    }

    private static func endsWithInterim(_ bytes: [UInt8]) -> Bool {
        bytes.suffix(25).elementsEqual("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    }
}
