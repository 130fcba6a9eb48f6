internal import FoundationEssentials
internal import HTTP

/// Encodes answers as JSON.
enum JSONAnswer {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        // Keys are sorted, so that equal states give equal answers in tests and documentation.
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }()

    /// Encodes `value` as JSON.
    static func encode(_ value: some Encodable) throws -> [UInt8] { Array(try encoder.encode(value)) }

    /// Encodes `value` as JSON, or returns `{}` on failure. It serves error answers, which have no further error to fall back
    /// to.
    static func encodeOrEmpty(_ value: some Encodable) -> [UInt8] { (try? encode(value)) ?? Array("{}".utf8) }
}

extension Response {
    /// A response with `value` as JSON.
    static func json(_ value: some Encodable, _ status: Status = .ok) throws -> Response {
        Response(status, "application/json", try JSONAnswer.encode(value))
    }

    /// A response 204 without content.
    static let noContent = Response(status: .noContent)
}

/// A page of a list. `next_cursor` is absent on the last page.
struct ListAnswer<Item: Encodable>: Encodable {
    let items: [Item]
    var nextCursor: String?

    init(_ items: [Item], nextCursor: String? = nil) {
        self.items = items
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case items
        case nextCursor = "next_cursor"
    }
}

/// The number of ended sessions.
struct RevokedAnswer: Encodable {
    let revoked: Int
}
