internal import HTTPClient
internal import JSON

/// An entry of a list of objects in the configuration, read member by member. Each problem is one line that names the entry.
struct ListEntry {
    let members: [String: JSONValue]
    /// The path of the entry: `identity_providers[0]`.
    let path: String
    var problems: [String] = []
    private var known: Set<String> = []

    private init(members: [String: JSONValue], path: String) {
        self.members = members
        self.path = path
    }

    /// Reads the entries of the list `list` with `read`, and reports every problem. Names must be unique.
    static func all<Item>(
        _ list: String, _ entries: [[String: JSONValue]], name: (Item) -> String, report: (String) -> Void,
        read: (inout ListEntry) -> Item
    ) -> [Item] {
        var items: [Item] = []
        for (index, members) in entries.enumerated() {
            var entry = ListEntry(members: members, path: "\(list)[\(index)]")
            let item = read(&entry)
            entry.refuseUnknown()
            entry.problems.forEach(report)
            if !name(item).isEmpty, items.contains(where: { name($0) == name(item) }) {
                report("\(entry.path).name is '\(name(item))', as that of another one")
            }
            items.append(item)
        }
        return items
    }

    private mutating func refuseUnknown() {
        for member in members.keys.filter({ !known.contains($0) }).sorted() {
            let hint = Suggestions.nearest(to: member, among: known.sorted()).map { "; did you mean \($0)?" } ?? ""
            problems.append("\(path): unknown key \(member)\(hint)")
        }
    }

    mutating func value(_ name: String) -> JSONValue? {
        known.insert(name)
        return members[name] == .null ? nil : members[name]
    }

    mutating func refuse(_ name: String, _ expectation: String, _ value: JSONValue) {
        problems.append("\(path).\(name) must be \(expectation), not \(value.configurationText)")
    }

    mutating func requireMember(_ name: String) {
        if members[name] == nil || members[name] == .null { problems.append("\(path).\(name) is missing") }
    }

    mutating func text(_ name: String, _ expectation: String, isValid: (String) -> Bool) -> String? {
        guard let value = value(name) else { return nil }
        if case .string(let text) = value, isValid(text) { return text }
        refuse(name, expectation, value)
        return nil
    }

    mutating func flag(_ name: String) -> Bool {
        guard let value = value(name) else { return false }
        if case .bool(let isOn) = value { return isOn }
        refuse(name, "true or false", value)
        return false
    }

    mutating func url(_ name: String, _ isPlain: Bool) -> OutboundURL? {
        text(name, "an https URL") { OutboundURL($0, plainLoopback: isPlain) != nil }
            .flatMap { OutboundURL($0, plainLoopback: isPlain) }
    }

    mutating func seconds(_ name: String, _ range: ClosedRange<Int>) -> Duration? {
        number(name, range, of: " of seconds").map { .seconds($0) }
    }

    mutating func number(_ name: String, _ range: ClosedRange<Int>, of unit: String = "") -> Int? {
        guard let value = value(name) else { return nil }
        if let number = value.integer.map({ Int($0) }), range.contains(number) { return number }
        refuse(name, "a whole number\(unit) from \(range.lowerBound) to \(range.upperBound)", value)
        return nil
    }

    mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, as: Word.Type
    ) -> Word? {
        let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return text(name, "one of \(words)") { Word(rawValue: $0) != nil }.flatMap(Word.init(rawValue:))
    }
}
