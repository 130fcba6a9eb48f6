internal import HTTP
internal import JSON
internal import Sessions

/// Reads the members of a JSON body, or of an object in it, by name and type. Unknown members, wrong types and repeated members
/// are refused with the name of the member; so is an object nested too deep.
///
/// `null` means absent for members that a request may leave out. Where a change can clear a value, `change` distinguishes null
/// from absent. Null is refused for a member that a change can set but not clear.
struct Members {
    private let values: [String: JSONValue]
    private let prefix: String

    /// Reads the body of a call. `known` lists all members that it may have.
    init(_ call: Call, known: [String], mayBeMissing: Bool = false) throws {
        let body = call.request.body
        if body.isEmpty {
            guard mayBeMissing else { throw RequestProblem.unreadable("A JSON object is missing.") }
            try self.init([:], known: known, prefix: "")
            return
        }
        guard try call.hasContentType("application/json") else { throw RequestProblem.unsupportedMediaType }
        try self.init(json: body, known: known)
    }

    /// Reads a JSON object.
    init(json text: [UInt8], known: [String]) throws {
        let values: [String: JSONValue]
        do throws(StrictJSON.Problem) { values = try StrictJSON.object(text) } catch {
            switch error {
            case .duplicateMember: throw RequestProblem.unreadable("A member of the JSON object appears twice.")
            case .tooManyValues: throw RequestProblem.unreadable("The JSON has too many values.")
            case .nestedTooDeep: throw RequestProblem.unreadable("The JSON is nested too deep.")
            case .notAnObject: throw RequestProblem.unreadable("The content is not a JSON object.")
            }
        }
        try self.init(values, known: known, prefix: "")
    }

    private init(_ values: [String: JSONValue], known: [String], prefix: String) throws {
        // The error names the first unknown member in sorted order, so that equal bodies get equal answers.
        if let unknown = values.keys.filter({ !known.contains($0) }).min() {
            throw RequestProblem.invalid(
                prefix + Self.shown(unknown),
                "is not a member that this call knows: \(known.isEmpty ? "it has none" : known.joined(separator: ", "))"
            )
        }
        self.values = values
        self.prefix = prefix
    }

    /// Returns true if the member is present, even if it is null.
    func contains(_ name: String) -> Bool { values[name] != nil }

    /// The object in the member; nil when it is absent. `known` lists all members that it may have.
    func object(_ name: String, known: [String]) throws -> Members? {
        switch values[name] {
        case nil, .null: return nil
        case .object(let members): return try Members(members, known: known, prefix: prefix + name + ".")
        default: throw refused(name, "must be an object")
        }
    }

    /// An object whose members another party defines, as it is. Throws if it is absent.
    func requiredJSON(_ name: String) throws -> [String: JSONValue] {
        switch values[name] {
        case nil, .null: throw refused(name, "is missing")
        case .object(let members): return members
        default: throw refused(name, "must be an object")
        }
    }

    /// A JSON object that a phone shows; nil when it is absent.
    func info(_ name: String) throws -> String? {
        switch values[name] {
        case nil, .null: return nil
        case .object(let members)?:
            let text = JSONText.compact(JSONValue.object(members)) ?? []
            let longest = PhoneLogin.Request.infoLengthMax
            guard text.count <= longest else { throw refused(name, "must have at most \(longest) bytes") }
            return String(decoding: text, as: UTF8.self)
        default: throw refused(name, "must be an object")
        }
    }

    /// A string; nil when it is absent. U+0000 is refused, as in forms, queries and paths, because some databases cannot store
    /// it.
    func string(_ name: String) throws -> String? {
        switch values[name] {
        case nil, .null: return nil
        case .string(let text):
            guard !text.utf8.contains(0) else { throw refused(name, "must not have the character U+0000") }
            return text
        default: throw refused(name, "must be a string")
        }
    }

    /// A string. Throws if it is absent.
    func requiredString(_ name: String) throws -> String {
        guard let text = try string(name) else { throw refused(name, "is missing") }
        return text
    }

    /// A short text without control characters; nil when it is absent.
    func text(_ name: String) throws -> String? {
        guard let text = try string(name) else { return nil }
        guard Device.isValid(text: text) else {
            throw refused(name, "must have 1 to \(Device.textLengthMax) bytes and no control characters")
        }
        return text
    }

    /// An id of visible ASCII characters; nil when it is absent.
    func identifier(_ name: String) throws -> String? {
        guard let id = try string(name) else { return nil }
        guard Device.isValid(id: id) else {
            throw refused(name, "must have 1 to \(Device.idLengthMax) visible ASCII characters")
        }
        return id
    }

    /// One of the raw values of `Word`; nil when it is absent.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String, as type: Word.Type) throws -> Word?
    where Word.RawValue == String {
        guard let text = try string(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw refused(name, "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    /// A list of raw values of `Word` without repetition; nil when it is absent.
    func words<Word: RawRepresentable & CaseIterable & Equatable>(_ name: String, as type: Word.Type) throws -> [Word]?
    where Word.RawValue == String {
        guard let value = values[name] else { return nil }
        guard case .array(let elements) = value else { throw refused(name, "must be an array") }
        var words: [Word] = []
        for element in elements {
            guard let word = element.string.flatMap(Word.init(rawValue:)), !words.contains(word) else {
                throw refused(name, "must be some of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            words.append(word)
        }
        return words
    }

    /// A list of strings; nil when it is absent.
    func strings(_ name: String) throws -> [String]? {
        guard let value = values[name], value != .null else { return nil }
        guard case .array(let elements) = value else { throw refused(name, "must be an array of strings") }
        return try elements.map { element in
            guard let text = element.string else { throw refused(name, "must be an array of strings") }
            return text
        }
    }

    /// A scope (RFC 6749 section 3.3); nil when it is absent.
    func scope(_ name: String) throws -> Scope? {
        guard let text = try string(name) else { return nil }
        guard let scope = Scope(text) else { throw ServiceError.invalidScope }
        return scope
    }

    /// The scope of a client's registration; nil when it is absent.
    func registeredScope(_ name: String) throws -> Scope? {
        guard let text = try string(name) else { return nil }
        guard let scope = Scope(registered: text) else { throw ServiceError.invalidScope }
        return scope
    }

    /// The claims that scopes bring, an object of lists of strings; nil when it is absent.
    func scopeClaims(_ name: String) throws -> ScopeClaims? {
        guard let value = values[name] else { return nil }
        guard case .object(let members) = value else { throw refused(name, "must be an object of arrays of strings") }
        let names = try members.mapValues { value in
            let names = value.elements.compactMap(\.string)
            guard value == .array(names.map { .string($0) }) else {
                throw refused(name, "must be an object of arrays of strings")
            }
            return names
        }
        do throws(ScopeClaims.Problem) { return try ScopeClaims(names) } catch { throw refused(name, error.detail) }
    }

    /// A JWK set of a client's public keys; nil when it is absent or null.
    func keys(_ name: String) throws -> ClientKeys? {
        guard let value = values[name] else { return nil }
        if case .null = value { return nil }
        do throws(ClientKeys.Problem) { return try ClientKeys(json: value) } catch {
            throw refused(name, error.detail)
        }
    }

    /// The claims of a user in the body of a call: nil when absent, `.some(nil)` for null. An empty object also removes the claims.
    func claims(_ name: String, in call: Call) throws -> UserClaims?? {
        switch values[name] {
        case nil: return nil
        case .null: return .some(nil)
        case .object(let members):
            guard StrictJSON.keepsNumbers(call.request.body) else { throw refused(name, UserClaims.inexactNumbers) }
            do throws(UserClaims.Problem) { return .some(try UserClaims(members)) } catch {
                throw refused(name, error.detail)
            }
        default: throw refused(name, "must be an object")
        }
    }

    /// A boolean; nil when it is absent.
    func bool(_ name: String) throws -> Bool? {
        switch values[name] {
        case nil, .null: return nil
        case .bool(let truth): return truth
        default: throw refused(name, "must be true or false")
        }
    }

    /// A whole number; nil when it is absent.
    func integer(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
        switch values[name] {
        case nil, .null: return nil
        case .integer(let number) where range.contains(number): return number
        default: throw refused(name, "must be a whole number of at least \(range.lowerBound)")
        }
    }

    /// A duration in whole seconds; nil when it is absent.
    func seconds(_ name: String) throws -> Duration? {
        switch values[name] {
        case nil, .null: return nil
        case .integer(let seconds) where (0...Self.secondsMax).contains(seconds): return .seconds(seconds)
        default: throw refused(name, "must be a whole number of seconds from 0 to \(Self.secondsMax)")
        }
    }

    /// A time in Unix seconds; nil when it is absent.
    func instant(_ name: String) throws -> Instant? {
        switch values[name] {
        case nil, .null: return nil
        case .integer(let seconds) where Instant.unixSeconds.contains(seconds):
            return Instant(secondsSinceEpoch: seconds)
        default: throw refused(name, "must be a time in Unix seconds")
        }
    }

    /// The change to a value: nil keeps it, `.some(nil)` clears it.
    func change<Value>(_ name: String, _ read: (String) throws -> Value?) throws -> Value?? {
        contains(name) ? .some(try read(name)) : .none
    }

    /// Throws if one of the members is null. It serves members that a change can set but not clear.
    func refuseNull(_ names: String...) throws {
        for name in names {
            if case .null = values[name] { throw refused(name, "must not be null") }
        }
    }

    /// The error for a member of this object.
    func refused(_ name: String, _ detail: String) -> RequestProblem { .invalid(prefix + name, detail) }

    /// Two hundred years in seconds. The bound exceeds any session, and no sum of two durations overflows.
    private static let secondsMax: Int64 = 6_311_520_000

    /// A member's name for an error text: at most 64 characters, control characters replaced.
    private static func shown(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(64).map { $0.value < 0x20 ? "?" : $0 }))
    }
}

extension Instant {
    /// The times that a request can name: from 1970 to the year 9999.
    static let unixSeconds: ClosedRange<Int64> = 0...253_402_300_799
}
