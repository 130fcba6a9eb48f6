/// How grave an event is.
public enum LogLevel: String, Sendable, CaseIterable, Codable, Comparable {
    /// For whoever looks for a fault.
    case debug
    /// The course of things.
    case info
    /// Rare, right, and worth knowing: a start, a key rotation.
    case notice
    /// Something is wrong, and the server copes.
    case warning
    /// Somebody was not served, or something was lost.
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

    /// By gravity.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}

/// The value of a field.
public enum LogValue: Sendable, Hashable {
    /// Text; what is longer than `LogLine.longestText` bytes is cut.
    case string(String)
    /// An integer.
    case int(Int)
    /// A truth value.
    case bool(Bool)
    /// A number; written as `null` when it is not finite.
    case double(Double)
}

extension LogValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
}

/// Fields in the order in which they are written: `["session_id": .string(id), "attempt": 2]`.
///
/// Names are snake_case, and not `time`, `level` or `message`, which every line has.
public struct LogFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    struct Field: Sendable, Hashable {
        let name: String
        let value: LogValue
    }

    private(set) var list: [Field]

    /// These fields, in this order.
    public init(dictionaryLiteral elements: (String, LogValue)...) {
        list = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// Adds a field at the end.
    public mutating func append(_ name: String, _ value: LogValue) { list.append(Field(name: name, value: value)) }

    /// Both, the right ones last.
    public static func + (left: LogFields, right: LogFields) -> LogFields {
        var sum = left
        sum.list += right.list
        return sum
    }
}
