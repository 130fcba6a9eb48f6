internal import HTTP
internal import Sessions

/// What a login page says above its fields.
enum LoginMessage: Hashable, Sendable {
    case pressAgain
    case wrongCredentials
    case loginsPaused
    case loginsBlocked
    case tooManyAttempts(seconds: Int)
    case unavailable

    /// The status of the page.
    var status: Status {
        switch self {
        case .pressAgain: .ok
        case .wrongCredentials: .unprocessable
        case .loginsPaused, .loginsBlocked: .forbidden
        case .tooManyAttempts: .tooManyRequests
        case .unavailable: .serviceUnavailable
        }
    }
}

/// What a login page shows.
struct LoginPageModel: Sendable {
    let client: Client
    let request: AuthorizationRequest
    let sealed: String
    let csrf: String
    let username: String
    let message: LoginMessage?
}

extension Endpoints {
    /// The login page.
    func render(_ page: LoginPageModel, _ call: Call) -> Response {
        let form = """
            <form method="post" action="/login/password"><input type="hidden" name="csrf" value="\(page.csrf)">\
            <input type="hidden" name="r" value="\(page.sealed)">\
            <input name="username" value="\(Self.escaped(page.username))"><input name="password" type="password">\
            <button>Sign in</button></form>
            """
        let message = page.message.map { "<p>\($0)</p>" } ?? ""
        return html("<h1>\(Self.escaped(page.client.name ?? page.client.id))</h1>\(message)\(form)", page.message?.status ?? .ok)
    }

    /// The page of an error, for people.
    func errorPage(_ problem: Problem, to call: Call) -> Response {
        html("<h1>\(Self.escaped(problem.title))</h1><p>\(Self.escaped(problem.detail))</p>", problem.httpStatus)
    }

    private func html(_ body: String, _ status: Status) -> Response {
        Response(
            status: status,
            fields: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            ], body: Array("<!doctype html><title>Sojourn</title>\(body)".utf8))
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
