/// A status code with its reason phrase (RFC 9110 §15).
public struct Status: Hashable, Sendable, CustomStringConvertible {
    /// Three digits, 100 to 599.
    public let code: Int
    /// The reason phrase. Programs ignore it.
    public let reason: String

    /// - Precondition: `code` is in 100...599 and `reason` is printable ASCII. Both are constants of the program.
    public init(code: Int, reason: String) {
        precondition((100...599).contains(code), "a status code has three digits, the first of them 1 to 5")
        precondition(reason.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a reason phrase is printable ASCII")
        self.code = code
        self.reason = reason
    }

    /// Compares the codes only, because the phrase has no meaning.
    public static func == (left: Status, right: Status) -> Bool { left.code == right.code }

    /// Hashes the code only, as `==` compares it only.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// `404 Not Found`
    public var description: String { "\(code) \(reason)" }

    /// True if the code is in 200...299.
    public var isSuccess: Bool { (200...299).contains(code) }

    /// True if a response with this status never has content, for any request (RFC 9110 §6.4.1).
    public var forbidsContent: Bool { code < 200 || code == 204 || code == 304 }
}

// Names follow RFC 9110 §15, RFC 6585 and RFC 8246; the phrases are those of the IANA registry.
extension Status {
    /// 100
    public static let `continue` = Status(code: 100, reason: "Continue")
    /// 200
    public static let ok = Status(code: 200, reason: "OK")
    /// 201
    public static let created = Status(code: 201, reason: "Created")
    /// 202
    public static let accepted = Status(code: 202, reason: "Accepted")
    /// 204
    public static let noContent = Status(code: 204, reason: "No Content")
    /// 302
    public static let found = Status(code: 302, reason: "Found")
    /// 303
    public static let seeOther = Status(code: 303, reason: "See Other")
    /// 304
    public static let notModified = Status(code: 304, reason: "Not Modified")
    /// 400
    public static let badRequest = Status(code: 400, reason: "Bad Request")
    /// 401
    public static let unauthorized = Status(code: 401, reason: "Unauthorized")
    /// 403
    public static let forbidden = Status(code: 403, reason: "Forbidden")
    /// 404
    public static let notFound = Status(code: 404, reason: "Not Found")
    /// 405
    public static let methodNotAllowed = Status(code: 405, reason: "Method Not Allowed")
    /// 408
    public static let requestTimeout = Status(code: 408, reason: "Request Timeout")
    /// 409
    public static let conflict = Status(code: 409, reason: "Conflict")
    /// 410
    public static let gone = Status(code: 410, reason: "Gone")
    /// 412
    public static let preconditionFailed = Status(code: 412, reason: "Precondition Failed")
    /// 413
    public static let contentTooLarge = Status(code: 413, reason: "Content Too Large")
    /// 414
    public static let uriTooLong = Status(code: 414, reason: "URI Too Long")
    /// 415
    public static let unsupportedMediaType = Status(code: 415, reason: "Unsupported Media Type")
    /// 417
    public static let expectationFailed = Status(code: 417, reason: "Expectation Failed")
    /// 421
    public static let misdirectedRequest = Status(code: 421, reason: "Misdirected Request")
    /// 422
    public static let unprocessable = Status(code: 422, reason: "Unprocessable Content")
    /// 425
    public static let tooEarly = Status(code: 425, reason: "Too Early")
    /// 429
    public static let tooManyRequests = Status(code: 429, reason: "Too Many Requests")
    /// 431
    public static let requestHeaderFieldsTooLarge = Status(code: 431, reason: "Request Header Fields Too Large")
    /// 500
    public static let internalServerError = Status(code: 500, reason: "Internal Server Error")
    /// 501
    public static let notImplemented = Status(code: 501, reason: "Not Implemented")
    /// 503
    public static let serviceUnavailable = Status(code: 503, reason: "Service Unavailable")
    /// 505
    public static let httpVersionNotSupported = Status(code: 505, reason: "HTTP Version Not Supported")
}
