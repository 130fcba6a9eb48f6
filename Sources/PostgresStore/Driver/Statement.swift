internal import Cryptography
internal import Sessions

/// The text of a statement that is run again and again: the server parses and plans it once for each connection, under a name
/// that no other text has. So nobody runs another's, however many nodes share a connection to the server behind a pooler.
struct Template: Sendable {
    let text: String
    let name: String

    init(_ text: String) {
        self.text = text
        name = "sojourn_" + Hex.encode(Array(sha256(Array(text.utf8)).prefix(16)))
    }
}

/// One statement with its parameters, as it travels: `$1`, `$2` … stand for them.
struct Statement: Sendable {
    let text: String
    /// Nil for what is run too seldom to be worth one.
    let name: String?
    let parameters: [Parameter]

    init(_ template: Template, _ parameters: (any PostgresValue)?...) {
        self.init(template, parameters: parameters.map { $0?.parameter ?? .null })
    }

    init(_ template: Template, parameters: [Parameter]) {
        text = template.text
        name = template.name
        self.parameters = parameters
    }

    init(_ text: String, _ parameters: (any PostgresValue)?...) {
        self.init(text, parameters: parameters.map { $0?.parameter ?? .null })
    }

    init(_ text: String, parameters: [Parameter]) {
        self.text = text
        name = nil
        self.parameters = parameters
    }
}

/// A parameter in one of the two forms of the protocol.
enum Parameter: Sendable {
    case null
    /// As PostgreSQL reads it, numbers in decimal. Holds no NUL.
    case text(String)
    /// In the binary form: `bytea`, `uuid` and arrays.
    case bytes([UInt8])
}

/// A value that a parameter can have.
protocol PostgresValue {
    var parameter: Parameter { get }
}

extension String: PostgresValue {
    var parameter: Parameter { .text(self) }
}

extension Int64: PostgresValue {
    var parameter: Parameter { .text(String(self)) }
}

extension Int: PostgresValue {
    var parameter: Parameter { .text(String(self)) }
}

extension UInt64: PostgresValue {
    /// The same 64 bits: serials stay below 2^63, and of hashes only equality is asked.
    var parameter: Parameter { Int64(bitPattern: self).parameter }
}

extension Bool: PostgresValue {
    var parameter: Parameter { .text(self ? "true" : "false") }
}

extension [UInt8]: PostgresValue {
    var parameter: Parameter { .bytes(self) }
}

extension Identifier: PostgresValue {
    var parameter: Parameter { .bytes(bytes) }
}

extension Instant: PostgresValue {
    var parameter: Parameter { secondsSinceEpoch.parameter }
}

extension Duration: PostgresValue {
    var parameter: Parameter { wholeSeconds.parameter }
}
