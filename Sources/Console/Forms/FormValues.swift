internal import AdminActs
internal import Pages

/// The values of the fields of a form: those that were sent, or those with which it is shown.
public struct FormValues: Sendable {
    private let value: @Sendable (String) -> String?

    /// The values that were sent: what `value` has for a name, nil for one that is missing or empty.
    public init(_ value: @escaping @Sendable (String) -> String?) { self.value = value }

    /// The values with which the fields are shown.
    init(_ fields: [ConsoleField]) {
        let values = Dictionary(fields.flatMap(\.values).map { ($0.name, $0.value) }) { first, _ in first }
        value = { name in values[name].flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// The value of a field; nil if it is empty.
    public subscript(_ name: String) -> String? { value(name) }

    /// Whether a box is ticked.
    func isOn(_ name: String) -> Bool { value(name) == "1" }

    /// The seconds of the duration that was typed; nil if the field is empty.
    func seconds(_ name: String, label: String) throws(CallRefusal) -> Int64? {
        guard let text = value(name) else { return nil }
        return try DurationText.seconds(text, in: label)
    }
}

extension ConsoleField {
    /// A line for a duration.
    static func duration(_ name: String, label: String, value: String, hint: String) -> ConsoleField {
        .text(name, label: label, value: value, hint: "\(hint) \(DurationText.hint)")
    }
}
