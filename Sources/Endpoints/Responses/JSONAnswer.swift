internal import FoundationEssentials
internal import HTTP

/// Writes JSON, once for each answer.
enum JSONAnswer {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        // Sorted, so that an answer is the same for the same state, in tests and documentation too.
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }()

    /// `value` as JSON.
    static func encode(_ value: some Encodable) throws -> [UInt8] { Array(try encoder.encode(value)) }

    /// `value` as JSON; `{}` if it cannot be written, for answers that are errors already.
    static func encodeOrEmpty(_ value: some Encodable) -> [UInt8] { (try? encode(value)) ?? Array("{}".utf8) }
}

extension Response {
    /// A response with `value` as JSON.
    static func json(_ value: some Encodable, _ status: Status = .ok) throws -> Response {
        Response(status, "application/json", try JSONAnswer.encode(value))
    }

    /// Nothing is to say.
    static let noContent = Response(status: .noContent)
}

/// A part of a list. `next_cursor` is absent on the last page.
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

/// How many sessions ended.
struct RevokedAnswer: Encodable {
    let revoked: Int
}
