import Cryptography
import FoundationEssentials
import Sessions

/// What is wrong with a line of an import, as the end of a sentence that begins with its number.
struct LineProblem: Error, Hashable {
    let detail: String
    /// Whether the lines after it are no use either.
    let isFatal: Bool

    init(_ detail: String, isFatal: Bool = false) {
        self.detail = detail
        self.isFatal = isFatal
    }
}

private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A line that was read: a JSON object, whose members are asked for by name. Who has asked for all that it knows calls
/// `finish`, so that a misspelt member is not silently ignored.
struct TransferLine: Decodable {
    private let members: KeyedDecodingContainer<MemberName>
    private var asked: Set<String> = []

    init(from decoder: any Decoder) throws { members = try decoder.container(keyedBy: MemberName.self) }

    /// The line that JSON text spells.
    init(text: ArraySlice<UInt8>) throws(LineProblem) {
        do {
            self = try JSONDecoder().decode(TransferLine.self, from: Data(text))
        } catch { throw LineProblem("this is not a JSON object") }
    }

    /// The value of a member; nil when it is missing or null.
    mutating func value<Value: Decodable>(
        _ name: String, _ kind: String, as: Value.Type = Value.self
    ) throws(LineProblem) -> Value? {
        asked.insert(name)
        do {
            return try members.decodeIfPresent(Value.self, forKey: MemberName(name))
        } catch { throw LineProblem("'\(name)' must be \(kind)") }
    }

    mutating func optionalText(_ name: String) throws(LineProblem) -> String? { try value(name, "a string") }

    mutating func text(_ name: String) throws(LineProblem) -> String { try required(name, optionalText(name)) }

    mutating func optionalInteger(_ name: String) throws(LineProblem) -> Int64? { try value(name, "a whole number") }

    mutating func integer(_ name: String) throws(LineProblem) -> Int64 {
        try required(name, optionalInteger(name))
    }

    mutating func unsigned(_ name: String) throws(LineProblem) -> UInt64 {
        try required(name, value(name, "a whole number that is not negative"))
    }

    mutating func optionalInstant(_ name: String) throws(LineProblem) -> Instant? {
        try optionalInteger(name).map(Instant.init(secondsSinceEpoch:))
    }

    mutating func instant(_ name: String) throws(LineProblem) -> Instant { try required(name, optionalInstant(name)) }

    mutating func optionalDuration(_ name: String) throws(LineProblem) -> Duration? {
        try optionalInteger(name).map { .seconds($0) }
    }

    mutating func duration(_ name: String) throws(LineProblem) -> Duration {
        try required(name, optionalDuration(name))
    }

    /// Bytes as base64url or hexadecimal digits.
    mutating func optionalBytes(_ name: String) throws(LineProblem) -> [UInt8]? {
        guard let text = try optionalText(name) else { return nil }
        guard let bytes = Base64URL.decode(text) else { throw LineProblem("'\(name)' must be base64url") }
        return bytes
    }

    mutating func bytes(_ name: String) throws(LineProblem) -> [UInt8] { try required(name, optionalBytes(name)) }

    /// 32 hexadecimal digits; dashes, as UUIDs have them, and capital letters do no harm.
    mutating func optionalIdentifier<Subject>(_ name: String) throws(LineProblem) -> Identifier<Subject>? {
        guard let text = try optionalText(name) else { return nil }
        guard let identifier = Identifier<Subject>(text.lowercased().filter { $0 != "-" }) else {
            throw LineProblem("'\(name)' must be 32 hexadecimal digits or a UUID")
        }
        return identifier
    }

    mutating func identifier<Subject>(_ name: String) throws(LineProblem) -> Identifier<Subject> {
        try required(name, optionalIdentifier(name))
    }

    /// One of the words of an enumeration.
    mutating func optionalWord<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, as: Word.Type = Word.self
    ) throws(LineProblem) -> Word? {
        guard let text = try optionalText(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw LineProblem("'\(name)' must be one of: \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    mutating func scope(_ name: String) throws(LineProblem) -> Scope? {
        guard let text = try optionalText(name) else { return nil }
        guard let scope = Scope(text) else { throw LineProblem("'\(name)' must be scope tokens, parted by blanks") }
        return scope
    }

    mutating func required<Value>(_ name: String, _ value: Value?) throws(LineProblem) -> Value {
        guard let value else { throw LineProblem("'\(name)' is missing") }
        return value
    }

    /// Refuses members that nobody has asked for.
    func finish() throws(LineProblem) {
        let unknown = members.allKeys.map(\.stringValue).filter { !asked.contains($0) }.sorted()
        if let first = unknown.first { throw LineProblem("there is no member '\(first)' here") }
    }
}

/// A line to be written: members without a value are left out.
struct TransferMembers: Encodable {
    private var members: [(name: String, value: any Encodable)] = []

    init(_ type: TransferRecord.Kind) { add("type", type.rawValue) }

    mutating func add(_ name: String, _ value: (any Encodable)?) {
        if let value { members.append((name, value)) }
    }

    mutating func add(_ name: String, _ instant: Instant?) { add(name, instant?.secondsSinceEpoch) }

    mutating func add(_ name: String, _ duration: Duration?) { add(name, duration?.wholeSeconds) }

    mutating func add(_ name: String, bytes: [UInt8]?) { add(name, bytes.map { Base64URL.encode($0) }) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        for (name, value) in members { try container.encode(value, forKey: MemberName(name)) }
    }

    /// The line, with its line feed.
    func line() throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch { throw Failure(.failed, "a record cannot be written as JSON: \(error)") }
    }
}
