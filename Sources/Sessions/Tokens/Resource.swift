/// The APIs that a client can have tokens for (RFC 8707), beside the server's own audience: those that an admin has listed for
/// the client. They are compared byte for byte.
public enum Resource {
    /// The largest number of APIs of a client, which may all stand in one token.
    public static let countMax = 8
    /// The longest name of an API, in bytes.
    public static let lengthMax = 256

    /// Returns true if `text` is an absolute URI without a fragment (RFC 8707 section 2, RFC 3986 section 4.3).
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

    /// The error in the list of a client, as one sentence; nil if it is valid.
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

/// The API that a token is presented to, or that a question about a token is about.
public enum AudienceRequirement: Hashable, Sendable {
    /// The server's own audience, which tokens have by default.
    case own
    /// The named API, for which a proxy asks.
    case named(String)
    /// Any API.
    case any

    /// Whether a token with that `aud` meets the requirement.
    public func isMet(by audience: [String], own: String) -> Bool {
        switch self {
        case .own: audience.contains(own)
        case .named(let name): audience.contains(name)
        case .any: !audience.isEmpty
        }
    }
}

/// The APIs that a token request names.
struct ResourceRequirement: Hashable, Sendable {
    /// The APIs in the order of the request. An empty list means those of the login, or else the server's own audience.
    let resources: [String]
    /// The server's own audience, as a list of one.
    let ownAudience: [String]

    /// The `aud` of the token. A resource that the client cannot have, or that the login did not ask for, is `invalid_target`
    /// (RFC 8707 sections 2 and 2.2).
    ///
    /// - Parameter granted: the resources that the login asked for; empty: none, or this is the login.
    func audience(for client: Client, granted: [String] = []) throws(ServiceError) -> [String] {
        if resources.isEmpty {
            if granted.isEmpty { return ownAudience }
            // Resources that the client has lost since are left out. When none is left, the server's own audience would be
            // more than was granted.
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
    /// The requirement of a request that names `resources`.
    func resourceRequirement(for resources: [String]) -> ResourceRequirement {
        ResourceRequirement(resources: resources, ownAudience: ownAudience)
    }

    /// The members of the `aud` of a token that its client still can have.
    func standing(_ audience: [String], of client: Client?) -> [String] {
        audience.filter { $0 == self.audience || client?.resources.contains($0) == true }
    }
}
