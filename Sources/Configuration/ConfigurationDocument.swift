internal import FoundationEssentials
internal import JSON

/// The values of a configuration file by the paths of their keys, such as `server.public_listen`.
struct ConfigurationDocument {
    private(set) var values: [String: JSONValue] = [:]

    /// Reads a document in JSON5; throws one sentence.
    static func parse(_ text: [UInt8]) throws(ConfigurationSyntaxError) -> ConfigurationDocument {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            return ConfigurationDocument(try decoder.decode([String: JSONValue].self, from: Data(text)))
        } catch {
            throw ConfigurationSyntaxError(error, in: text)
        }
    }

    /// A top-level object is a section, and its members are the values.
    private init(_ file: [String: JSONValue]) {
        for (section, value) in file {
            guard case .object(let members) = value else {
                values[section] = value
                continue
            }
            if members.isEmpty, !ConfigurationKey.all.contains(where: { $0.isIn(section) }) { values[section] = value }
            for (name, member) in members { values["\(section).\(name)"] = member }
        }
    }
}

extension JSONValue {
    /// The value as a configuration file contains it, for errors.
    var configurationText: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number: "a fraction"
        case .string(let value): "\"\(value)\""
        case .object: "an object"
        case .array:
            strings.map { "[" + $0.map { "\"\($0)\"" }.joined(separator: ", ") + "]" }
                ?? (objects == nil ? "a list" : "a list of objects")
        }
    }

    /// The elements of an array of strings; nil for any other value.
    var strings: [String]? {
        guard case .array(let elements) = self else { return nil }
        let strings = elements.compactMap(\.string)
        return strings.count == elements.count ? strings : nil
    }

    /// The members of the objects of an array; nil for any other value, and for an empty array.
    var objects: [[String: JSONValue]]? {
        guard case .array(let elements) = self, !elements.isEmpty else { return nil }
        let objects = elements.compactMap { element -> [String: JSONValue]? in
            if case .object(let members) = element { members } else { nil }
        }
        return objects.count == elements.count ? objects : nil
    }

    /// An array of strings.
    static func list(_ strings: [String]) -> JSONValue { .array(strings.map(JSONValue.string)) }
}

/// The reason why a file is no configuration at all.
struct ConfigurationSyntaxError: Error {
    let description: String

    init(_ error: any Error, in text: [UInt8]) {
        switch error {
        case DecodingError.dataCorrupted: description = SyntaxPosition.problem(in: text)
        default: description = "must hold one object of sections: { server: { … }, … }"
        }
    }
}
