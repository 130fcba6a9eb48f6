internal import Cryptography
internal import FoundationEssentials
internal import JSON
internal import Sessions

/// The problem of a line of an import, as the end of a sentence that begins with its number.
struct LineProblem: Error, Hashable {
    let detail: String
    /// True if the problem makes all later lines useless.
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

/// A line that was read: a JSON object with members that are read by name. After the last one, `finish` refuses unknown
/// members, so that a misspelt member is not silently ignored.
struct TransferLine: Decodable {
    private let members: KeyedDecodingContainer<MemberName>
    private var known: Set<String> = []
    /// Whether the numbers of the line are read as they are.
    private(set) var keepsNumbers = true

    init(from decoder: any Decoder) throws { members = try decoder.container(keyedBy: MemberName.self) }

    /// Reads a line of JSON.
    init(text: ArraySlice<UInt8>) throws(LineProblem) {
        do {
            self = try JSONDecoder().decode(TransferLine.self, from: Data(text))
        } catch { throw LineProblem("this is not a JSON object") }
        keepsNumbers = StrictJSON.keepsNumbers(Array(text))
    }

    /// The value of a member; nil when it is missing or null.
    mutating func value<Value: Decodable>(
        _ name: String, _ kind: String, as: Value.Type = Value.self
    ) throws(LineProblem) -> Value? {
        known.insert(name)
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

    /// Reads bytes in base64url.
    mutating func optionalBytes(_ name: String) throws(LineProblem) -> [UInt8]? {
        guard let text = try optionalText(name) else { return nil }
        guard let bytes = Base64URL.decode(text) else { throw LineProblem("'\(name)' must be base64url") }
        return bytes
    }

    mutating func bytes(_ name: String) throws(LineProblem) -> [UInt8] { try required(name, optionalBytes(name)) }

    /// Reads 32 hexadecimal digits; the dashes of UUIDs and capital letters are allowed.
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

    /// Reads a word of an enumeration.
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
        guard let scope = Scope(registered: text) else {
            throw LineProblem("'\(name)' must be scope tokens, parted by blanks")
        }
        return scope
    }

    mutating func required<Value>(_ name: String, _ value: Value?) throws(LineProblem) -> Value {
        guard let value else { throw LineProblem("'\(name)' is missing") }
        return value
    }

    /// Refuses unknown members.
    func finish() throws(LineProblem) {
        let unknown = members.allKeys.map(\.stringValue).filter { !known.contains($0) }.sorted()
        if let first = unknown.first { throw LineProblem("there is no member '\(first)' here") }
    }
}

/// A line to write: members without a value are omitted.
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
    func line() throws(TransferError) -> [UInt8] {
        guard let text = JSONText.compact(self) else {
            throw TransferError(.failed, "a record cannot be written as JSON")
        }
        return text + [UInt8(ascii: "\n")]
    }
}
