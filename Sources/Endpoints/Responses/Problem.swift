internal import HTTP
internal import OAuth

/// A problem (RFC 9457) with a stable `code` for programs.
struct Problem: Encodable, Sendable {
    let type = "about:blank"
    let title: String
    let status: Int
    let detail: String
    let code: String
    var member: String?
    var reauthenticate: Bool?
    var acrValues: String?
    var maxAge: Int64?
    var attemptsLeft: Int?
    var loginToken: String?
    var methods: [String]?
    var enrols: Bool?
    var clockDiffers: Bool?
    let httpStatus: Status

    init(_ status: Status, code: String, detail: String, member: String? = nil, reauthenticate: Bool? = nil) {
        title = status.reason
        self.status = status.code
        self.detail = detail
        self.code = code
        self.member = member
        self.reauthenticate = reauthenticate
        httpStatus = status
    }

    /// A problem for a missing or invalid member of the request.
    static func invalid(_ member: String, _ detail: String) -> Problem {
        Problem(.badRequest, code: "invalid_request", detail: "\(member) \(detail).", member: member)
    }

    /// The problem for an unexpected error.
    static let internalError = Problem(.internalServerError, code: "internal_error", detail: Endpoints.internalText)

    var response: Response { Response(httpStatus, "application/problem+json", JSONAnswer.encodeOrEmpty(self)) }

    enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code, member, reauthenticate
        case acrValues = "acr_values"
        case maxAge = "max_age"
        case attemptsLeft = "attempts_left"
        case loginToken = "login_token"
        case methods, enrols
        case clockDiffers = "clock_differs"
    }
}

/// An error of the OAuth endpoints (RFC 6749 section 5.2) with its HTTP status.
struct OAuthError: Sendable {
    let status: Status
    let body: ErrorResponse

    init(_ status: Status, _ body: ErrorResponse) {
        self.status = status
        self.body = body
    }

    init(_ status: Status, _ code: ErrorCode, _ description: String) {
        self.init(status, ErrorResponse(code, description: description))
    }

    var response: Response {
        var response = Response(status, "application/json", JSONAnswer.encodeOrEmpty(body))
        response.fields.append("Cache-Control", "no-store")
        response.fields.append("Pragma", "no-cache")
        return response
    }
}
