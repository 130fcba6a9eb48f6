import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A server that calls itself by another URL than the app.
struct IssuerTests {
    /// A server that refuses every signature, and has `metadata` as its metadata.
    private func thrown(_ status: Int = 200, metadata: String) async throws -> (SojournError?, Phone) {
        let phone = try await Phone.new(renewal: .boundRefreshToken)
        phone.wire.always { request, _, _ throws(TransportFailure) in
            request.url.path == "/v1/login"
                ? HTTPAnswer(status: 400, body: Array(#"{"code":"invalid_dpop_proof"}"#.utf8))
                : HTTPAnswer(status: status, body: Array(metadata.utf8))
        }
        let error = await #expect(throws: SojournError.self) {
            try await phone.sojourn.signIn(username: "anna", password: "pw")
        }
        return (error, phone)
    }

    @Test func loginAtAnotherURL_saysWhatToSet() async throws {
        let (error, phone) = try await thrown(metadata: #"{"issuer":"https://auth.example/"}"#)
        guard case .misconfigured(let text, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        for part in ["https://auth.example,", "https://sojourn.test:", "SojournConfiguration.server", "server.issuer"] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(phone.wire.requests().map(\.url.path).suffix(1) == ["/.well-known/oauth-authorization-server"])
        #expect(phone.wire.requests().allSatisfy { $0.url.host == "sojourn.test" })
    }

    @Test(arguments: [
        (200, #"{"issuer":"https://sojourn.test"}"#), (200, #"{"issuer":"https://sojourn.test/"}"#), (200, "<html>"),
        (200, "{}"), (404, #"{"issuer":"https://auth.example"}"#),
    ])
    func otherRefusalsOfSignatures_areTriedAgainLater(status: Int, metadata: String) async throws {
        guard case .unreachable? = try await thrown(status, metadata: metadata).0 else {
            Issue.record("misconfigured by \(metadata)")
            return
        }
    }

    /// The error of a login at a server that answers so, to the login and to the question for its metadata.
    private func error(login: (Int, String), metadata: (Int, String)) async throws -> SojournError? {
        let phone = try await Phone.new()
        phone.wire.always { request, _, _ throws(TransportFailure) in
            let answer = request.url.path == "/v1/login" ? login : metadata
            return HTTPAnswer(status: answer.0, body: Array(answer.1.utf8))
        }
        return await #expect(throws: SojournError.self) {
            try await phone.sojourn.signIn(username: "anna", password: "pw")
        }
    }

    static let page = "<html>Not Found</html>"
    static let problem = #"{"type":"about:blank","status":404,"code":"not_found"}"#

    @Test(
        "a server that is no Sojourn, and its admin listener, are a fault of the app",
        arguments: [
            ((404, page), (404, page)), ((405, ""), (404, "")), ((501, page), (403, page)),
            ((404, problem), (404, problem)), ((404, page), (200, #"{"issuer":"https://sojourn.test"}"#)),
        ])
    func anotherServer(login: (Int, String), metadata: (Int, String)) async throws {
        guard case .misconfigured(let text, _)? = try await error(login: login, metadata: metadata) else {
            Issue.record("not told: \(login), \(metadata)")
            return
        }
        #expect(text.contains("https://sojourn.test") && text.contains("SojournConfiguration.server"), "\(text)")
    }

    @Test(
        "an outage, a portal and a refusal of the server are none",
        arguments: [
            ((404, page), (503, "")), ((404, page), (429, "")), ((404, page), (200, page)), ((200, page), (404, page)),
            ((503, ""), (404, page)),
            (
                (404, page),
                (200, #"{"issuer":"https://sojourn.test","token_endpoint":"https://sojourn.test/oauth/token"}"#)
            ),
        ])
    func noOtherServer(login: (Int, String), metadata: (Int, String)) async throws {
        guard case .unreachable? = try await error(login: login, metadata: metadata) else {
            Issue.record("not unreachable: \(login), \(metadata)")
            return
        }
    }
}
