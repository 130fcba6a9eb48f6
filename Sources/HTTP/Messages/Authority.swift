/// The host and port of a `Host` field or of an absolute target: `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986
/// §3.2.2).
///
/// The check is stricter than the grammar in two points. It refuses an empty host, because `http` allows none (RFC 9110
/// §4.2.1), and a port above 65535.
enum Authority {
    static func isValid(_ bytes: Span<UInt8>, portRequired: Bool = false) -> Bool {
        guard !bytes.isEmpty else { return false }
        let hostEnd: Int
        if bytes[0] == UInt8(ascii: "[") {
            guard let close = firstIndex(of: UInt8(ascii: "]"), in: bytes) else { return false }
            let address = bytes.extracting(1..<close)
            guard isIPv6Address(address) || isIPvFuture(address) else { return false }
            hostEnd = close + 1
        } else {
            guard let end = registeredNameEnd(bytes) else { return false }
            hostEnd = end
        }
        guard hostEnd < bytes.count else { return !portRequired }
        guard bytes[hostEnd] == UInt8(ascii: ":") else { return false }
        return isPort(bytes.extracting(hostEnd + 1..<bytes.count), mayBeEmpty: !portRequired)
    }

    /// Returns where the name at the start ends: at a colon or at the end. Returns nil if there is no name.
    ///
    /// `reg-name = *( unreserved / pct-encoded / sub-delims )`, which includes IPv4 addresses.
    private static func registeredNameEnd(_ bytes: Span<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count, bytes[index] != UInt8(ascii: ":") {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, Grammar.hexValue(bytes[index + 1]) != nil,
                    Grammar.hexValue(bytes[index + 2]) != nil
                else { return nil }
                index += 3
            } else {
                guard Grammar.isUnreservedOrSubDelimiter(bytes[index]) else { return nil }
                index += 1
            }
        }
        return index > 0 ? index : nil
    }

    /// `port = *DIGIT`, up to 65535. A required port cannot be 0 either (RFC 9110 §9.3.6).
    private static func isPort(_ bytes: Span<UInt8>, mayBeEmpty: Bool) -> Bool {
        var port = 0
        for index in bytes.indices {
            guard Grammar.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] - 0x30)
            guard port <= 65535 else { return false }
        }
        return mayBeEmpty || port > 0
    }

    /// `IPv6address`: eight groups, or fewer with one `::`. The last two groups may be written as an IPv4 address.
    static func isIPv6Address(_ bytes: Span<UInt8>) -> Bool {
        var groups = 0
        var compressed = false
        var index = 0
        if bytes.count >= 2, bytes[0] == UInt8(ascii: ":"), bytes[1] == UInt8(ascii: ":") {
            compressed = true
            index = 2
        }
        while index < bytes.count {
            let start = index
            while index < bytes.count, Grammar.hexValue(bytes[index]) != nil { index += 1 }
            if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
                guard isIPv4Address(bytes.extracting(start..<bytes.count)) else { return false }
                groups += 2
                break
            }
            guard (1...4).contains(index - start) else { return false }
            groups += 1
            guard index < bytes.count else { break }
            guard bytes[index] == UInt8(ascii: ":"), index + 1 < bytes.count else { return false }
            index += 1
            if bytes[index] == UInt8(ascii: ":") {
                guard !compressed else { return false }
                compressed = true
                index += 1
            }
        }
        return compressed ? groups <= 7 : groups == 8
    }

    /// `IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet`, without leading zeros.
    static func isIPv4Address(_ bytes: Span<UInt8>) -> Bool {
        var octets = 0
        var index = 0
        while true {
            let start = index
            var octet = 0
            while index < bytes.count, Grammar.isDigit(bytes[index]), index - start < 3 {
                octet = octet * 10 + Int(bytes[index] - 0x30)
                index += 1
            }
            guard index > start, octet <= 255, index - start == 1 || bytes[start] != UInt8(ascii: "0") else {
                return false
            }
            octets += 1
            guard index < bytes.count else { return octets == 4 }
            guard bytes[index] == UInt8(ascii: "."), octets < 4 else { return false }
            index += 1
        }
    }

    /// `IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`
    private static func isIPvFuture(_ bytes: Span<UInt8>) -> Bool {
        guard let dot = firstIndex(of: UInt8(ascii: "."), in: bytes), dot >= 2, dot + 1 < bytes.count,
            Grammar.lowercased(bytes[0]) == UInt8(ascii: "v")
        else { return false }
        for index in 1..<dot where Grammar.hexValue(bytes[index]) == nil { return false }
        for index in dot + 1..<bytes.count {
            guard Grammar.isUnreservedOrSubDelimiter(bytes[index]) || bytes[index] == UInt8(ascii: ":") else {
                return false
            }
        }
        return true
    }

    private static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>) -> Int? {
        for index in bytes.indices where bytes[index] == byte { return index }
        return nil
    }
}
