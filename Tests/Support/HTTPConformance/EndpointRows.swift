// Answers that need a table of routes. The rows name what every Sojourn has: `GET /healthz`, `POST /v1/login`,
// `POST /oauth/token`, `GET` and `PATCH /v1/me`, and `/nothing`, which is nothing.

/// Requests to the whole server, and what its answers must be.
public struct EndpointRow: Sendable, CustomStringConvertible {
    /// One answer.
    public struct Expected: Sendable {
        let status: Int
        /// `Name: value` must stand there so, `Name:` must stand there, `!Name` must not.
        let fields: [String]
        /// Nil: whatever it is, but nothing where nothing may be.
        let content: String?

        /// An answer with this status and these fields.
        static func answer(_ status: Int, _ fields: String..., content: String? = nil) -> Expected {
            Expected(status: status, fields: fields, content: content)
        }
    }

    typealias Case = (title: String, input: String, answers: [Expected])

    /// The section: `9110 9.3.7`.
    public let clause: String
    /// How much it matters.
    public let level: Level
    let title: String
    let input: String
    let answers: [Expected]

    /// The clause, the level and the title.
    public var description: String { "RFC \(clause) \(level.rawValue): \(title)" }

    static func rows(_ clause: String, _ level: Level, _ cases: [Case]) -> [EndpointRow] {
        cases.map {
            EndpointRow(clause: clause, level: level, title: $0.title, input: $0.input, answers: $0.answers)
        }
    }

    /// A request with this line, a good `Host`, further field lines and content.
    static func ask(_ line: String, _ lines: String = "", _ content: String = "") -> String {
        "\(line) HTTP/1.1\r\nHost: a\r\n\(lines.isEmpty ? "" : lines + "\r\n")\r\n\(content)"
    }

    /// Every row.
    public static let all: [EndpointRow] = methods + representations + conditions + ranges + content + authentication
}
