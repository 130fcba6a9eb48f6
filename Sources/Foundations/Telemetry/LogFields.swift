/// The severity of an event.
public enum LogLevel: String, Sendable, CaseIterable, Codable, Comparable {
    /// Details for finding a fault.
    case debug
    /// Normal operation.
    case info
    /// Rare, expected and important: a start, a key rotation.
    case notice
    /// Something is wrong, and the server copes with it.
    case warning
    /// A request was not served, or something was lost.
    case error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }

    /// Compares by severity.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// The value of a field.
public enum LogValue: Sendable, Hashable {
    /// Text. It is truncated after `LogLine.longestText` bytes.
    case string(String)
    /// An integer.
    case int(Int)
    /// A truth value.
    case bool(Bool)
    /// A number. It is written as `null` if it is not finite.
    case double(Double)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// Creates a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .double(value) }
}

/// The fields of an event, in their order: `["session_id": .string(id), "attempt": 2]`.
///
/// Names are in snake_case. `time`, `level` and `message` are reserved, because every line has them.
public struct LogFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    struct Field: Sendable, Hashable {
        let name: String
        let value: LogValue
    }

    private(set) var list: [Field]

    /// Creates fields in this order.
    public init(dictionaryLiteral elements: (String, LogValue)...) {
        list = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: LogValue) { list.append(Field(name: name, value: value)) }

    /// Joins two lists of fields, the left ones first.
    public static func + (left: LogFields, right: LogFields) -> LogFields {
        var sum = left
        sum.list += right.list
        return sum
    }
}
