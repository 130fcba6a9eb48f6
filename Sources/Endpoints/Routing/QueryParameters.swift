internal import Cryptography
internal import HTTP
internal import Sessions

/// The query parameters of a call. Unknown and repeated parameters are refused.
struct QueryParameters {
    private let values: [String: String]

    /// Reads the query of a call. `known` lists all parameters that it may have.
    init(_ call: Call, known: [String]) throws {
        let pairs: [FormPair]
        do throws(FormError) { pairs = try call.request.queryItems(maximumCount: 16) } catch {
            throw RequestProblem.unreadable("The query cannot be read.")
        }
        var values: [String: String] = [:]
        for pair in pairs {
            guard known.contains(pair.name) else {
                throw RequestProblem.unreadable(
                    "The query has a parameter that this call does not know: \(known.joined(separator: ", ")).")
            }
            guard values.updateValue(pair.value, forKey: pair.name) == nil else {
                throw RequestProblem.invalid(pair.name, "must stand only once")
            }
        }
        self.values = values
    }

    /// A text of 1 to 256 bytes without control characters; nil when it is absent or empty.
    func text(_ name: String) throws -> String? {
        guard let text = values[name], !text.isEmpty else { return nil }
        guard Text.isValid(text, lengthMax: 256) else {
            throw RequestProblem.invalid(name, "must have 1 to 256 bytes and no control characters")
        }
        return text
    }

    /// A text of 1 to 2048 bytes without control characters; nil when it is absent or empty.
    func long(_ name: String) throws -> String? {
        guard let text = values[name], !text.isEmpty else { return nil }
        guard Text.isValid(text, lengthMax: 2048) else {
            throw RequestProblem.invalid(name, "must have 1 to 2048 bytes and no control characters")
        }
        return text
    }

    /// A text of 1 to 256 bytes; nil when it is absent. An empty text is refused, because it must not act as an absent one.
    func wholeText(_ name: String) throws -> String? {
        guard values[name]?.isEmpty != true else {
            throw RequestProblem.invalid(name, "must have 1 to 256 bytes and no control characters")
        }
        return try text(name)
    }

    /// A raw value of `Word`; nil when it is absent or empty.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String, as type: Word.Type) throws -> Word?
    where Word.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw RequestProblem.invalid(
                name, "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    /// `true` or `false`; false when it is absent.
    func flag(_ name: String) throws -> Bool {
        switch values[name] {
        case nil, "false": return false
        case "true": return true
        default: throw RequestProblem.invalid(name, "must be true or false")
        }
    }

    /// The largest number of items on a page: 50 by default, at most 200.
    func limit() throws -> Int {
        guard let text = values["limit"] else { return 50 }
        guard text.utf8.count <= 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let limit = Int(text),
            (1...200).contains(limit)
        else { throw RequestProblem.invalid("limit", "must be a number from 1 to 200") }
        return limit
    }

    /// The cursor of the list of a user's sessions.
    func sessionCursor() throws -> SessionCursor? {
        guard let text = try text("cursor") else { return nil }
        guard let cursor = SessionCursor(text) else {
            throw RequestProblem.invalid("cursor", "must be a next_cursor of this list")
        }
        return cursor
    }

    /// The cursor of a list that is sorted by a text of any characters, decoded from base64url.
    func encodedCursor() throws -> String? {
        guard let text = try text("cursor") else { return nil }
        guard let bytes = Base64URL.decode(text), !bytes.contains(0),
            let cursor = String(validating: bytes, as: UTF8.self)
        else {
            throw RequestProblem.invalid("cursor", "must be a next_cursor of this list")
        }
        return cursor
    }

    /// Encodes a text as a `next_cursor` that needs no escaping in a URL.
    static func cursor(at text: String) -> String { Base64URL.encode(Array(text.utf8)) }

    /// The cursor of the audit trail: the id of an event, 0 by default.
    func eventCursor() throws -> Int64 {
        guard let text = try text("cursor") else { return 0 }
        guard let cursor = Self.number(text) else {
            throw RequestProblem.invalid("cursor", "must be a next_cursor of this list")
        }
        return cursor
    }

    /// Parses a decimal number of at most 19 digits.
    static func number(_ text: String) -> Int64? {
        text.utf8.count <= 19 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    /// A duration in whole seconds, at most `max`.
    func seconds(_ name: String, max: Duration) throws -> Duration? {
        guard let text = try text(name) else { return nil }
        let longest = max.components.seconds
        guard let seconds = Self.number(text), seconds <= longest else {
            throw RequestProblem.invalid(name, "must be a number of seconds from 0 to \(longest)")
        }
        return .seconds(seconds)
    }
}
