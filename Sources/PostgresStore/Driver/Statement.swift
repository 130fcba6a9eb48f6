internal import Cryptography
internal import Sessions

/// The text of a repeated statement. The server parses and plans it once for each connection, under a name that is unique to
/// the text. Nodes that share a server connection behind a pooler therefore cannot run each other's statements by mistake.
struct Template: Sendable {
    let text: String
    let name: String

    init(_ text: String) {
        self.text = text
        name = "sojourn_" + Hex.encode(Array(sha256(Array(text.utf8)).prefix(16)))
    }
}

/// One statement with its parameters, which the text names `$1`, `$2` and so on.
struct Statement: Sendable {
    let text: String
    /// Nil for a statement that is too rare to be worth a name.
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
    /// The text form, with numbers in decimal. Contains no NUL.
    case text(String)
    /// The binary form, for `bytea`, `uuid` and arrays.
    case bytes([UInt8])
}

/// A value that can be a parameter.
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
    /// The bits as a signed number: serials stay below 2^63, and hashes are only compared for equality.
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
