/// One key of the configuration: its path, what it takes, and how it gets into a `Configuration` and out of it.
/// File, environment, documentation and tests all go by this one table.
public struct ConfigurationKey: Sendable {
    /// Section and name: `server.public_listen`.
    public let path: String
    /// What the value must be, in words that fit after "must be".
    public let expectation: String
    /// Puts a value in; false when it is impossible.
    let set: @Sendable (inout Configuration, ConfigurationValue) -> Bool
    /// Puts a list of objects in, and tells all that is wrong with them; nil: the key takes none.
    var setObjects: SetObjects?
    /// The value of a configuration, as a file would say it.
    public let get: @Sendable (Configuration) -> ConfigurationValue

    typealias SetObjects =
        @Sendable (inout Configuration, [[String: ConfigurationValue]], _ tell: (String) -> Void) -> Void

    /// The variable of the environment that sets it: `SOJOURN_SERVER_PUBLIC_LISTEN`.
    public var variable: String {
        "SOJOURN_" + path.uppercased().map { $0 == "." ? "_" : String($0) }.joined()
    }

    /// Whether the key belongs to `section`.
    func isIn(_ section: String) -> Bool { path.hasPrefix(section + ".") }

    /// Every key, in the order of `config/sojourn.json5`.
    public static let all: [ConfigurationKey] =
        server + database + keys + sessions + dpop + [identityProviders] + limits + doors + cleanUp + [webhooks] + geo
        + log

    /// The key at `path`.
    public static func at(_ path: String) -> ConfigurationKey? { all.first { $0.path == path } }
}

// The kinds of values.
extension ConfigurationKey {
    /// A whole number within `range`; `wrap` and `unwrap` turn it into the member's type.
    static func number<Value>(
        _ path: String, _ range: ClosedRange<Int>, _ unit: String,
        _ member: any WritableKeyPath<Configuration, Value> & Sendable,
        wrap: @escaping @Sendable (Int) -> Value, unwrap: @escaping @Sendable (Value) -> Int
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: "a whole number of \(unit) from \(range.lowerBound) to \(range.upperBound)",
            set: { configuration, value in
                guard case .integer(let number) = value, range.contains(number) else { return false }
                configuration[keyPath: member] = wrap(number)
                return true
            },
            get: { .integer(unwrap($0[keyPath: member])) })
    }

    static func count(
        _ path: String, _ range: ClosedRange<Int>, _ unit: String,
        _ member: any WritableKeyPath<Configuration, Int> & Sendable
    ) -> ConfigurationKey {
        number(path, range, unit, member, wrap: { $0 }, unwrap: { $0 })
    }

    static func seconds(
        _ path: String, _ range: ClosedRange<Int>, _ member: any WritableKeyPath<Configuration, Duration> & Sendable
    ) -> ConfigurationKey {
        number(
            path, range, "seconds", member, wrap: { .seconds($0) }, unwrap: { Int($0.components.seconds) })
    }

    static func flag(
        _ path: String, _ member: any WritableKeyPath<Configuration, Bool> & Sendable
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: "true or false",
            set: { configuration, value in
                switch value {
                case .boolean(let isOn): configuration[keyPath: member] = isOn
                // The environment knows only text.
                case .string("true"): configuration[keyPath: member] = true
                case .string("false"): configuration[keyPath: member] = false
                default: return false
                }
                return true
            },
            get: { .boolean($0[keyPath: member]) })
    }

    /// A list; as one text, the form of the environment, its members are parted by commas.
    static func list<Member>(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<Configuration, [Member]> & Sendable,
        parse: @escaping @Sendable (String) -> Member?, print: @escaping @Sendable (Member) -> String
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: expectation,
            set: { configuration, value in
                var texts: [String]
                switch value {
                case .null: texts = []
                case .list(let members): texts = members
                case .string(let text):
                    texts = text.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
                default: return false
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

    /// A list of objects, in the file alone: it does not fit into a variable.
    static func objects<Member>(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<Configuration, [Member]> & Sendable,
        read: @escaping @Sendable ([[String: ConfigurationValue]], _ tell: (String) -> Void) -> [Member],
        name: @escaping @Sendable (Member) -> String
    ) -> ConfigurationKey {
        ConfigurationKey(
            path: path, expectation: expectation,
            set: { configuration, value in
                guard value == .null || value == .list([]) else { return false }
                configuration[keyPath: member] = []
                return true
            },
            setObjects: { configuration, entries, tell in configuration[keyPath: member] = read(entries, tell) },
            // A name stands for each: what it is does not fit into a value.
            get: { .list($0[keyPath: member].map(name)) })
    }

    static func word<Value: RawRepresentable & CaseIterable & SendableMetatype>(
        _ path: String, _ member: any WritableKeyPath<Configuration, Value> & Sendable
    ) -> ConfigurationKey where Value.RawValue == String {
        ConfigurationKey(
            path: path, expectation: "one of " + Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
            set: { configuration, value in
                guard case .string(let text) = value, let word = Value(rawValue: text) else { return false }
                configuration[keyPath: member] = word
                return true
            },
            get: { .string($0[keyPath: member].rawValue) })
    }

    static func text<Value>(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<Configuration, Value> & Sendable,
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

    /// Text that may be absent: `null`, and nothing at all, leave it so.
    static func optionalText(
        _ path: String, _ expectation: String, _ member: any WritableKeyPath<Configuration, String?> & Sendable,
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
            get: { $0[keyPath: member].map(ConfigurationValue.string) ?? .null })
    }
}
