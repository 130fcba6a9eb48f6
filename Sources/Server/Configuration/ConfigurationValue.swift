import FoundationEssentials

/// One value of a configuration file. Sections are not values: `ConfigurationDocument` takes them apart.
public enum ConfigurationValue: Hashable, Sendable {
    /// `null`: what the default says.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number.
    case integer(Int)
    /// Text.
    case string(String)
    /// A list of texts.
    case list([String])
    /// A list of objects.
    case objects([[String: ConfigurationValue]])
    /// An object in one of those.
    case object([String: ConfigurationValue])
    /// Something that no key takes; the word says what it is.
    case other(String)
}

extension ConfigurationValue: CustomStringConvertible {
    /// The value as it stands in a file.
    public var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .list(let values): "[" + values.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        case .objects: "a list of objects"
        case .object: "an object"
        case .other(let word): word
        }
    }
}

/// A configuration file, taken apart into values by their paths: `server.public_listen`.
struct ConfigurationDocument: Decodable {
    private(set) var values: [String: ConfigurationValue] = [:]

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let file = try decoder.container(keyedBy: Key.self)
        for section in file.allKeys {
            guard let members = try? file.nestedContainer(keyedBy: Key.self, forKey: section) else {
                values[section.stringValue] = Self.value(in: file, section)
                continue
            }
            if members.allKeys.isEmpty, !ConfigurationKey.all.contains(where: { $0.isIn(section.stringValue) }) {
                values[section.stringValue] = .other("an object")
            }
            for member in members.allKeys {
                values["\(section.stringValue).\(member.stringValue)"] = Self.value(in: members, member)
            }
        }
    }

    private static func value(in container: KeyedDecodingContainer<Key>, _ key: Key) -> ConfigurationValue {
        if (try? container.decodeNil(forKey: key)) == true { return .null }
        if let value = try? container.decode(Bool.self, forKey: key) { return .boolean(value) }
        if let value = try? container.decode(Int.self, forKey: key) { return .integer(value) }
        if let value = try? container.decode(String.self, forKey: key) { return .string(value) }
        if (try? container.decode(Double.self, forKey: key)) != nil { return .other("a fraction") }
        if let value = try? container.decode([String].self, forKey: key) { return .list(value) }
        guard var list = try? container.nestedUnkeyedContainer(forKey: key) else { return .other("an object") }
        var objects: [[String: ConfigurationValue]] = []
        while !list.isAtEnd {
            guard let object = try? list.nestedContainer(keyedBy: Key.self) else { return .other("a list") }
            objects.append(members(of: object))
        }
        return .objects(objects)
    }

    /// The members of an object in a list, and of objects in it.
    private static func members(of object: KeyedDecodingContainer<Key>) -> [String: ConfigurationValue] {
        var members: [String: ConfigurationValue] = [:]
        for key in object.allKeys {
            if let inner = try? object.nestedContainer(keyedBy: Key.self, forKey: key) {
                members[key.stringValue] = .object(
                    Dictionary(uniqueKeysWithValues: inner.allKeys.map { ($0.stringValue, value(in: inner, $0)) }))
            } else {
                members[key.stringValue] = value(in: object, key)
            }
        }
        return members
    }

    /// The document that JSON5 text spells; throws one sentence.
    static func parse(_ text: [UInt8]) throws(ConfigurationSyntaxError) -> ConfigurationDocument {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            return try decoder.decode(ConfigurationDocument.self, from: Data(text))
        } catch {
            throw ConfigurationSyntaxError(error)
        }
    }
}

/// Why a file is no configuration at all.
struct ConfigurationSyntaxError: Error {
    let description: String

    init(_ error: any Error) {
        switch error {
        case DecodingError.dataCorrupted:
            // FoundationEssentials does not say where.
            description = "is not JSON5; look for a missing comma, brace or quotation mark"
        default: description = "must hold one object of sections: { server: { … }, … }"
        }
    }
}
