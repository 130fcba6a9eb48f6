/// Writes responses. It alone decides what frames them, so that no handler can.
public enum ResponseSerializer {
    /// What becomes of the connection, as the response says it (RFC 9112 §9.3 and §9.6).
    public enum Persistence: Hashable, Sendable {
        /// It stays open, which HTTP/1.1 takes for granted.
        case keepAlive
        /// It stays open, which HTTP/1.0 has to be told.
        case keepAliveSaid
        /// It closes after this response.
        case close

        /// The word for a response to `request`, when the connection is to stay open if `request` lets it.
        public init(answering request: borrowing Request) {
            self = !request.wantsKeepAlive ? .close : request.version == .http10 ? .keepAliveSaid : .keepAlive
        }
    }

    /// The interim response that `expectContinue` asks for.
    public static let continue100: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Appends a whole response to `output`.
    ///
    /// - Parameters:
    ///   - method: the method of the request: the answer to `HEAD` has the fields of the one to `GET`, and no content.
    ///     Nil when no request could be read.
    ///   - date: the IMF-fixdate, from `DateCache`.
    public static func append(
        _ response: Response, answering method: Method?, persistence: Persistence, date: [UInt8],
        to output: inout [UInt8]
    ) {
        let body = response.status.forbidsContent || method == .head ? [] : response.body
        let capacity = headCapacity(response) + body.count
        ByteWriter.append(to: &output, capacity: capacity) { writer in
            writeHead(response, persistence, date, to: &writer)
            // RFC 9110 §8.6: no Content-Length with 1xx and 204; with 304 it would have to be the length that a 200 has,
            // which is not known here.
            if !response.status.forbidsContent {
                writer.write(constant: "Content-Length: ")
                writer.write(decimal: response.body.count)
                writer.write(constant: "\r\n")
            }
            writer.write(constant: "\r\n")
            writer.write(body)
        }
    }

    @inline(__always)
    private static func headCapacity(_ response: Response) -> Int {
        160 + response.status.reason.utf8.count + response.fields.bytes.count + 4 * response.fields.count
    }

    /// All that precedes what frames the content.
    @inline(__always)
    private static func writeHead(
        _ response: Response, _ persistence: Persistence, _ date: [UInt8], to writer: inout ByteWriter
    ) {
        writer.write(constant: "HTTP/1.1 ")
        writer.write(decimal: response.status.code)
        writer.write(constant: " ")
        writer.write(response.status.reason)
        writer.write(constant: "\r\nDate: ")
        writer.write(date)
        writer.write(constant: "\r\n")
        write(response.fields, to: &writer)
        switch persistence {
        case .keepAlive: break
        case .keepAliveSaid: writer.write(constant: "Connection: keep-alive\r\n")
        case .close: writer.write(constant: "Connection: close\r\n")
        }
    }

    // MARK: Streams

    /// Appends the head of a response whose content comes in pieces, to a client that knows chunks (RFC 9112 §7.1) or to
    /// one that reads to the end of the connection (§6.3, rule 8).
    public static func appendStreamHead(
        _ response: Response, isChunked: Bool, persistence: Persistence, date: [UInt8], to output: inout [UInt8]
    ) {
        ByteWriter.append(to: &output, capacity: headCapacity(response)) { writer in
            writeHead(response, persistence, date, to: &writer)
            if isChunked { writer.write(constant: "Transfer-Encoding: chunked\r\n") }
            writer.write(constant: "\r\n")
        }
    }

    /// Appends a piece of content, which is not empty: an empty chunk is the end.
    public static func append(piece: [UInt8], isChunked: Bool, to output: inout [UInt8]) {
        if isChunked { output += Array("\(String(piece.count, radix: 16))\r\n".utf8) }
        output += piece
        if isChunked { output += [0x0D, 0x0A] }
    }

    /// The end of content in chunks.
    public static let lastChunk: [UInt8] = Array("0\r\n\r\n".utf8)

    /// In one piece where the fields allow it: nearly always.
    private static func write(_ fields: Fields, to writer: inout ByteWriter) {
        let areFree = fields.entries.allSatisfy { !isReserved(fields.bytes.span.extracting($0.name)) }
        if areFree, fields.areLines { return writer.write(fields.bytes) }
        for entry in fields.entries where !isReserved(fields.bytes.span.extracting(entry.name)) {
            writer.write(fields.bytes[entry.name])
            writer.write(constant: ": ")
            writer.write(fields.bytes[entry.value])
            writer.write(constant: "\r\n")
        }
    }

    /// The fields that this file writes itself. By length first: most names end there.
    private static func isReserved(_ name: Span<UInt8>) -> Bool {
        switch name.count {
        case 4: Grammar.equalsIgnoringCase(name, "date".utf8.span)
        case 10: Grammar.equalsIgnoringCase(name, "connection".utf8.span)
        case 14: Grammar.equalsIgnoringCase(name, "content-length".utf8.span)
        case 17: Grammar.equalsIgnoringCase(name, "transfer-encoding".utf8.span)
        default: false
        }
    }
}
