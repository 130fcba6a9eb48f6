/// Writes responses to bytes. It alone writes the fields that frame the content, so that handlers cannot.
public enum ResponseSerializer {
    /// The connection option of the response (RFC 9112 §9.3 and §9.6).
    public enum Persistence: Hashable, Sendable {
        /// The connection stays open. HTTP/1.1 assumes it, so no field says it.
        case keepAlive
        /// The connection stays open, and `Connection: keep-alive` says so, because HTTP/1.0 needs it.
        case explicitKeepAlive
        /// The connection closes after this response.
        case close

        /// Chooses the option for the response to `request`, if the server is willing to keep the connection open.
        public init(answering request: borrowing Request) {
            self = !request.wantsKeepAlive ? .close : request.version == .http10 ? .explicitKeepAlive : .keepAlive
        }
    }

    /// The interim response that answers the event `expectContinue`.
    public static let continue100: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Appends a whole response to `output`.
    ///
    /// - Parameters:
    ///   - method: the method of the request; nil if no request could be read. A response to `HEAD` has the fields of the
    ///     response to `GET` and no content.
    ///   - date: the IMF-fixdate, from `DateCache`.
    public static func append(
        _ response: Response, answering method: Method?, persistence: Persistence, date: [UInt8],
        to output: inout [UInt8]
    ) {
        let body = response.status.forbidsContent || method == .head ? [] : response.body
        let capacity = headCapacity(response) + body.count
        ByteWriter.append(to: &output, capacity: capacity) { writer in
            writeHead(response, persistence, date, to: &writer)
            // RFC 9110 §8.6: 1xx and 204 have no Content-Length. With 304 it would have to be the length of the 200
            // response, which is not known here.
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

    /// Writes the status line and all fields except the ones that frame the content.
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
        case .explicitKeepAlive: writer.write(constant: "Connection: keep-alive\r\n")
        case .close: writer.write(constant: "Connection: close\r\n")
        }
    }

    // MARK: Streams

    /// Appends the head of a response with streamed content: chunked (RFC 9112 §7.1), or ended by the close of the
    /// connection (§6.3, rule 8) for clients that do not know chunks.
    public static func appendStreamHead(
        _ response: Response, isChunked: Bool, persistence: Persistence, date: [UInt8], to output: inout [UInt8]
    ) {
        ByteWriter.append(to: &output, capacity: headCapacity(response)) { writer in
            writeHead(response, persistence, date, to: &writer)
            if isChunked { writer.write(constant: "Transfer-Encoding: chunked\r\n") }
            writer.write(constant: "\r\n")
        }
    }

    /// Appends one piece of content. It must not be empty, because an empty chunk ends the content.
    public static func append(piece: [UInt8], isChunked: Bool, to output: inout [UInt8]) {
        if isChunked { output += Array("\(String(piece.count, radix: 16))\r\n".utf8) }
        output += piece
        if isChunked { output += [0x0D, 0x0A] }
    }

    /// The chunk that ends chunked content.
    public static let lastChunk: [UInt8] = Array("0\r\n\r\n".utf8)

    /// Writes the fields: in one copy if they contain no reserved field, which is nearly always.
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

    /// Returns true for the fields that this file writes itself. Comparing the length first decides most cases.
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
