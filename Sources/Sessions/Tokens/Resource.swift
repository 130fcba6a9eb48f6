/// The APIs that a client can have tokens for (RFC 8707): beside the server's own audience those that an admin has listed for
/// the client. Compared as they stand, byte for byte.
public enum Resource {
    /// How many a client has at most: all of them may stand in one token.
    public static let countMax = 8
    /// How long one is at most, in bytes.
    public static let lengthMax = 256

    /// Whether it is an absolute URI without a fragment (RFC 8707 section 2, RFC 3986 section 4.3).
    public static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count <= lengthMax, let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon < bytes.count - 1,
            let first = bytes.first, isLetter(first),
            bytes[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
        else { return false }
        let rest = bytes[(colon + 1)...]
        return rest.indices.allSatisfy { index in
            if rest[index] == UInt8(ascii: "%") { return rest[(index + 1)...].prefix(2).count(where: isHexDigit) == 2 }
            return isLetter(rest[index]) || isDigit(rest[index]) || "-._~:/?[]@!$&'()*+,;=".utf8.contains(rest[index])
        }
    }

    /// What is wrong with the list of a client, in one sentence; nil when it is good.
    public static func problem(with list: [String]) -> String? {
        guard list.count <= countMax, list.allSatisfy(isValid), Set(list).count == list.count else {
            return """
                resources must be at most \(countMax) absolute URIs without a fragment, each once and of at most \(lengthMax) \
                characters (RFC 8707 section 2)
                """
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }
}

/// For which API somebody wants to use a token, or asks about it.
public enum AudienceRequirement: Hashable, Sendable {
    /// The server's own audience: the one that tokens are for unless others are asked for.
    case own
    /// That one: an API for which a proxy asks.
    case named(String)
    /// Whichever it is for.
    case any

    /// Whether a token for those is good enough.
    public func isMet(by audience: [String], own: String) -> Bool {
        switch self {
        case .own: audience.contains(own)
        case .named(let name): audience.contains(name)
        case .any: !audience.isEmpty
        }
    }
}

/// The APIs that a request for a token names.
struct ResourceRequirement: Hashable, Sendable {
    /// In the order of the request; none: those of the login, or else the server's own audience.
    let resources: [String]
    /// The server's own audience, as a list of one.
    let ownAudience: [String]

    /// The `aud` of the token. What the client cannot have, or the login has not asked for, is `invalid_target`
    /// (RFC 8707 sections 2 and 2.2).
    ///
    /// - Parameter granted: what the login asked for; empty: nothing, or this is the login.
    func audience(for client: Client, granted: [String] = []) throws(ServiceError) -> [String] {
        if resources.isEmpty {
            if granted.isEmpty { return ownAudience }
            // What an admin has taken from the client since is left out. When nothing is left, the server's own audience
            // would be more than was granted.
            let standing = granted.filter { isFor($0, client) }
            guard !standing.isEmpty else { throw .invalidTarget }
            return standing
        }
        var audience: [String] = []
        for resource in resources where !audience.contains(resource) {
            guard isFor(resource, client), granted.isEmpty || granted.contains(resource) else { throw .invalidTarget }
            audience.append(resource)
        }
        return audience
    }

    private func isFor(_ resource: String, _ client: Client) -> Bool {
        ownAudience.contains(resource) || client.resources.contains(resource)
    }
}

extension ServiceContext {
    /// A demand for `resources`.
    func demand(for resources: [String]) -> ResourceRequirement {
        ResourceRequirement(resources: resources, ownAudience: ownAudience)
    }

    /// Those in the `aud` of a token of the client that it still can have.
    func standing(_ audience: [String], of client: Client?) -> [String] {
        audience.filter { $0 == self.audience || client?.resources.contains($0) == true }
    }
}
