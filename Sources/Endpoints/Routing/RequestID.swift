public import Cryptography
public import HTTP
internal import Synchronization

/// The `X-Request-Id` of a request, which the answer, the log and the audit trail repeat.
public enum RequestID: Sendable {
    /// An id that the request brought.
    case kept(String)
    /// An id that this server made. It is formatted only where it is needed.
    case made(UInt64)

    static let lengthMax = 128

    /// The id in the request, if the field occurs once and has 1 to 128 visible ASCII characters.
    init?(keptFrom fields: borrowing Fields) {
        guard let bytes = fields.firstBytes("X-Request-Id"), Self.isVisible(bytes, lengthMax: Self.lengthMax),
            let id = try? fields.only("X-Request-Id")
        else { return nil }
        self = .kept(id)
    }

    /// The id in text form.
    var text: String {
        switch self {
        case .kept(let id): return id
        case .made(let number):
            let digits = Self.digits(number)
            return String(decoding: digits.indices.map { digits[$0] }, as: UTF8.self)
        }
    }

    /// Appends the id to the fields of an answer.
    public func append(to fields: inout Fields) {
        switch self {
        case .kept(let id): fields.append("X-Request-Id", id)
        case .made(let number):
            let digits = Self.digits(number)
            fields.append("X-Request-Id", digits.span)
        }
    }

    /// The number as 16 hexadecimal digits.
    private static func digits(_ number: UInt64) -> InlineArray<16, UInt8> {
        InlineArray { index in
            let digit = UInt8(truncatingIfNeeded: number &>> UInt64(4 * (15 - index)) & 0xF)
            return digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }

    /// Returns true if `bytes` are 1 to `lengthMax` visible ASCII characters.
    static func isVisible(_ bytes: some Collection<UInt8>, lengthMax: Int) -> Bool {
        (1...lengthMax).contains(bytes.count) && bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Makes request ids by counting from a random start, because the ids must be unique but not secret. Two starts lie within a
/// billion requests of each other with a probability of one to ten billion.
public final class RequestIDMaker: Sendable {
    private let last: Atomic<UInt64>

    /// Creates a maker with a random start.
    public init(_ random: RandomSource) { last = Atomic(random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }) }

    /// The next id.
    public func next() -> RequestID { .made(last.wrappingAdd(1, ordering: .relaxed).newValue) }
}
