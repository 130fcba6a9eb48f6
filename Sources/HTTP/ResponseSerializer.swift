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
        public init(answering request: Request) {
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
        let status = response.status
        let fields = response.fields
        output.reserveCapacity(
            output.count + 160 + status.reason.utf8.count + fields.bytes.count + 4 * fields.count + response.body.count)
        output.append(contentsOf: "HTTP/1.1 ".utf8)
        appendNumber(status.code, to: &output)
        output.append(Grammar.space)
        output.append(contentsOf: status.reason.utf8)
        output.append(contentsOf: "\r\nDate: ".utf8)
        output.append(contentsOf: date)
        appendLineEnd(to: &output)
        for entry in fields.entries where !isReserved(fields.bytes.span.extracting(entry.name)) {
            output.append(contentsOf: fields.bytes[entry.name])
            output.append(contentsOf: ": ".utf8)
            output.append(contentsOf: fields.bytes[entry.value])
            appendLineEnd(to: &output)
        }
        switch persistence {
        case .keepAlive: break
        case .keepAliveSaid: output.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        case .close: output.append(contentsOf: "Connection: close\r\n".utf8)
        }
        // RFC 9110 §8.6: no Content-Length with 1xx and 204; with 304 it would have to be the length that a 200 has,
        // which is not known here.
        if !status.forbidsContent {
            output.append(contentsOf: "Content-Length: ".utf8)
            appendNumber(response.body.count, to: &output)
            appendLineEnd(to: &output)
        }
        appendLineEnd(to: &output)
        if !status.forbidsContent, method != .head { output.append(contentsOf: response.body) }
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

    private static func appendLineEnd(to output: inout [UInt8]) {
        output.append(Grammar.carriageReturn)
        output.append(Grammar.lineFeed)
    }

    /// Decimal digits of a number that is not negative.
    private static func appendNumber(_ number: Int, to output: inout [UInt8]) {
        let start = output.count
        var rest = number
        repeat {
            output.append(0x30 + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        output[start...].reverse()
    }
}
