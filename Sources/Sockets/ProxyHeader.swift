/// Parser of the PROXY protocol, versions 1 and 2. A proxy that forwards bytes, not requests, sends this header first
/// to name its client (HAProxy's "The PROXY protocol", sections 2.1 and 2.2).
///
/// It is a pure function. Bytes that cannot become a header are malformed at the first byte that shows it.
public enum ProxyHeader {
    /// The result of parsing the first bytes of a connection.
    public enum Outcome: Equatable, Sendable {
        /// The bytes may be the start of a header.
        case needMore
        /// A whole header of `length` bytes. `source` is the client. It is nil if the proxy connects for itself
        /// (`LOCAL`), does not know its client (`UNKNOWN`, `UNSPEC`), or the client has no network address; then the
        /// connection's own address counts.
        case header(source: SocketAddress?, length: Int)
        /// The bytes are not a header.
        case malformed
    }

    /// The longest accepted header. Version 1 has 107 bytes at most. Version 2 could have 65551 with extensions (TLVs)
    /// that no proxy sends; some kilobytes hold even a client certificate.
    public static let maximumLength = 2048

    /// "\r\n\r\n\0\r\nQUIT\n", which is no line of any text protocol.
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
    private static let prefix = Array("PROXY ".utf8)
    /// The length with its CRLF.
    private static let maximumLineLength = 107

    /// Parses the header at the start of `bytes` and ignores what follows it.
    public static func parse(_ bytes: [UInt8]) -> Outcome {
        guard let first = bytes.first else { return .needMore }
        return first == signature[0] ? parseBinary(bytes) : parseLine(bytes)
    }

    // MARK: Version 1

    private static func parseLine(_ bytes: [UInt8]) -> Outcome {
        guard zip(bytes, prefix).allSatisfy(==) else { return .malformed }
        let line = bytes.prefix(maximumLineLength)
        guard let lineFeed = line.firstIndex(of: 10) else {
            return bytes.count < maximumLineLength && !hasBareReturn(line) ? .needMore : .malformed
        }
        // Any bytes may follow UNKNOWN; everything else is ASCII.
        guard lineFeed > prefix.count, bytes[lineFeed - 1] == 13, !hasBareReturn(line[..<(lineFeed - 1)]) else {
            return .malformed
        }
        let words = line[prefix.count..<(lineFeed - 1)].split(separator: 0x20, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if words.first == "UNKNOWN" { return .header(source: nil, length: lineFeed + 1) }
        guard words.count == 5, let port = port(words[3]), self.port(words[4]) != nil,
            let source = SocketAddress(host: words[1], port: port),
            let destination = SocketAddress(host: words[2], port: 0)
        else { return .malformed }
        switch (words[0], source, destination) {
        case ("TCP4", .ipv4, .ipv4), ("TCP6", .ipv6, .ipv6):
            return .header(source: source.unmapped, length: lineFeed + 1)
        default: return .malformed
        }
    }

    /// Returns true if a CR stands before the end. At the end its LF may still arrive.
    private static func hasBareReturn(_ line: ArraySlice<UInt8>) -> Bool { line.dropLast().contains(13) }

    /// Parses `[0..65535]` without leading zeros.
    private static func port(_ text: String) -> UInt16? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text == "0" || !text.hasPrefix("0")
        else { return nil }
        return UInt16(text)
    }

    // MARK: Version 2

    /// Signature (12 bytes), version and command, family and protocol, length of the rest (2 bytes).
    private static let binaryStart = 16

    private static func parseBinary(_ bytes: [UInt8]) -> Outcome {
        guard zip(bytes, signature).allSatisfy(==) else { return .malformed }
        if bytes.count > 12, bytes[12] != 0x20, bytes[12] != 0x21 { return .malformed }
        if bytes.count > 13, minimumRest(bytes[13]) == nil { return .malformed }
        guard bytes.count >= binaryStart, let minimum = minimumRest(bytes[13]) else { return .needMore }
        let isLocal = bytes[12] == 0x20
        let rest = Int(bytes[14]) << 8 | Int(bytes[15])
        let length = binaryStart + rest
        guard length <= maximumLength, isLocal || rest >= minimum else { return .malformed }
        guard bytes.count >= length else { return .needMore }
        return .header(source: isLocal ? nil : source(bytes, family: bytes[13]), length: length)
    }

    /// Returns the number of bytes of the two addresses; nil for reserved values and for datagrams, which do not arrive
    /// by connection.
    private static func minimumRest(_ family: UInt8) -> Int? {
        switch family {
        case 0x00: 0
        case 0x11: 12
        case 0x21: 36
        case 0x31: 216
        default: nil
        }
    }

    private static func source(_ bytes: [UInt8], family: UInt8) -> SocketAddress? {
        let rest = bytes[binaryStart...]
        switch family {
        case 0x11: return .ipv4(bytes: Array(rest.prefix(4)), port: port(rest.dropFirst(8)))
        case 0x21: return SocketAddress.ipv6(bytes: Array(rest.prefix(16)), port: port(rest.dropFirst(32))).unmapped
        default: return nil
        }
    }

    private static func port(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
    }
}
