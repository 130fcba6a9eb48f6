internal import Sessions

/// One statement with its parameters, as it travels: `$1`, `$2` … stand for them.
struct Statement: Sendable {
    let text: String
    let parameters: [Parameter]

    init(_ text: String, _ parameters: (any PostgresValue)?...) {
        self.text = text
        self.parameters = parameters.map { $0?.parameter ?? .null }
    }

    init(_ text: String, parameters: [Parameter]) {
        self.text = text
        self.parameters = parameters
    }
}

/// A parameter in one of the two forms of the protocol.
enum Parameter: Sendable {
    case null
    /// As PostgreSQL reads it: numbers in decimal, arrays in braces. Holds no NUL.
    case text(String)
    /// As they are, for `bytea` and `uuid`.
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

/// A column of many rows: an array parameter, in the text that PostgreSQL reads.
struct ArrayParameter: PostgresValue, Sendable {
    private var text = "{"

    var parameter: Parameter { .text(text + "}") }

    mutating func append(_ number: Int64?) {
        beginElement()
        text += number.map(String.init) ?? "NULL"
    }

    mutating func append(_ bits: UInt64?) { append(bits.map { Int64(bitPattern: $0) }) }

    mutating func append(_ instant: Instant?) { append(instant?.secondsSinceEpoch) }

    mutating func append<Subject>(_ identifier: Identifier<Subject>?) {
        beginElement()
        text += identifier?.description ?? "NULL"
    }

    mutating func append(_ element: String?) {
        beginElement()
        guard let element else {
            text += "NULL"
            return
        }
        text += "\""
        for scalar in element.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        text += "\""
    }

    private mutating func beginElement() { if text.utf8.count > 1 { text += "," } }
}
