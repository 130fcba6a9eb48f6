public import JSON

/// One key of the configuration: its path, its valid values, and how it is written to and read from a
/// `ServerConfiguration`. File, environment, documentation and tests all use this one table.
public struct ConfigurationKey: Sendable {
    /// Section and name: `server.public_listen`.
    public let path: String
    /// The description of valid values, in words that fit after "must be".
    public let expectation: String
    /// Sets the value; false if it is invalid.
    let set: @Sendable (inout ServerConfiguration, JSONValue) -> Bool
    /// Sets a list of objects, and reports every problem; nil for keys of other kinds.
    var setObjects: SetObjects?
    /// The value in a configuration, in the form of a file.
    public let get: @Sendable (ServerConfiguration) -> JSONValue

    typealias SetObjects =
        @Sendable (inout ServerConfiguration, [[String: JSONValue]], _ report: (String) -> Void) -> Void

    /// The variable of the environment for this key: `SOJOURN_SERVER_PUBLIC_LISTEN`.
    public var variable: String {
        "SOJOURN_" + path.uppercased().map { $0 == "." ? "_" : String($0) }.joined()
    }

    /// True if the key belongs to `section`.
    func isIn(_ section: String) -> Bool { path.hasPrefix(section + ".") }

    /// Every key, in the order of `config/sojourn.json5`.
    public static let all: [ConfigurationKey] =
        server + database + keys + sessions + dpop + passkeys + accounts + [identityProviders] + limits + rateLimits
        + cleanUp + [
            webhooks
        ]
        + mails
        + geo
        + [languages]
        + log

    /// The key at `path`.
    public static func at(_ path: String) -> ConfigurationKey? { all.first { $0.path == path } }
}

// The kinds of values.
extension ConfigurationKey {
    /// A whole number within `range`; `wrap` and `unwrap` convert it to the member's type and back.
    static func number<Value>(
        _ path: String, _ range: ClosedRange<Int>, _ unit: String,
        _ member: any WritableKeyPath<ServerConfiguration, Value> & Sendable,
        wrap: @escaping @Sendable (Int) -> Value, unwrap: @escaping @Sendable (Value) -> Int
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: "a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)",
            set: { configuration, value in
                guard let number = value.integer.map({ Int($0) }), range.contains(number) else { return false }
                configuration[keyPath: member] = wrap(number)
                return true
            },
            get: { .integer(Int64(unwrap($0[keyPath: member]))) })
    }

    static func count(
        _ path: String, _ range: ClosedRange<Int>, _ unit: String,
        _ member: any WritableKeyPath<ServerConfiguration, Int> & Sendable
    ) -> ConfigurationKey {
        number(path, range, unit, member, wrap: { $0 }, unwrap: { $0 })
    }

    static func seconds(
        _ path: String, _ range: ClosedRange<Int>,
        _ member: any WritableKeyPath<ServerConfiguration, Duration> & Sendable
    ) -> ConfigurationKey {
        number(
            path, range, "seconds", member, wrap: { .seconds($0) }, unwrap: { Int($0.components.seconds) })
    }

    static func flag(
        _ path: String, _ member: any WritableKeyPath<ServerConfiguration, Bool> & Sendable
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: "true or false",
            set: { configuration, value in
                switch value {
                case .bool(let isOn): configuration[keyPath: member] = isOn
                // A variable of the environment is always a text.
                case .string("true"): configuration[keyPath: member] = true
                case .string("false"): configuration[keyPath: member] = false
                default: return false
                }
                return true
            },
            get: { .bool($0[keyPath: member]) })
    }

    /// A list; in a variable of the environment, commas separate its members.
    static func list<Member>(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<ServerConfiguration, [Member]> & Sendable,
        parse: @escaping @Sendable (String) -> Member?, print: @escaping @Sendable (Member) -> String
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: expectation,
            set: { configuration, value in
                let texts: [String]
                switch value {
                case .null: texts = []
                case .string(let text):
                    texts = text.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
                default:
                    guard let strings = value.strings else { return false }
                    texts = strings
                }
                let parsed = texts.compactMap(parse)
                guard parsed.count == texts.count else { return false }
                configuration[keyPath: member] = parsed
                return true
            },
            get: { .list($0[keyPath: member].map(print)) })
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// A list of objects, only in the file, because it does not fit into a variable.
    static func objects<Member>(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<ServerConfiguration, [Member]> & Sendable,
        read: @escaping @Sendable ([[String: JSONValue]], _ report: (String) -> Void) -> [Member],
        name: @escaping @Sendable (Member) -> String
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: expectation,
            set: { configuration, value in
                guard value == .null || value == .array([]) else { return false }
                configuration[keyPath: member] = []
                return true
            },
            setObjects: { configuration, entries, report in configuration[keyPath: member] = read(entries, report) },
            // Only the names, because the objects do not fit into a value.
            get: { .list($0[keyPath: member].map(name)) })
    }

    static func word<Value: RawRepresentable & CaseIterable & SendableMetatype>(
        _ path: String, _ member: any WritableKeyPath<ServerConfiguration, Value> & Sendable
    ) -> ConfigurationKey where Value.RawValue == String {
        ConfigurationKey(
            path: path, expectation: "one of " + Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
            set: { configuration, value in
                guard case .string(let text) = value,
                    let word = Value.allCases.first(where: { $0.rawValue == text })
                else { return false }
                configuration[keyPath: member] = word
                return true
            },
            get: { .string($0[keyPath: member].rawValue) })
    }

    static func text<Value>(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<ServerConfiguration, Value> & Sendable,
        parse: @escaping @Sendable (String) -> Value?, print: @escaping @Sendable (Value) -> String
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: expectation,
            set: { configuration, value in
                guard case .string(let text) = value, let parsed = parse(text) else { return false }
                configuration[keyPath: member] = parsed
                return true
            },
            get: { .string(print($0[keyPath: member])) })
    }

    /// A text that may be absent: `null` clears it.
    static func optionalText(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<ServerConfiguration, String?> & Sendable,
        isValid: @escaping @Sendable (String) -> Bool
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: "\(expectation), or null",
            set: { configuration, value in
                switch value {
                case .null: configuration[keyPath: member] = nil
                case .string(let text) where isValid(text): configuration[keyPath: member] = text
                default: return false
                }
                return true
            },
            get: { $0[keyPath: member].map(JSONValue.string) ?? .null })
    }
}
