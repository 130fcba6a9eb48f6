import Foundation
import SojournClient
import SojournTestKit
import Testing

/// A server that calls itself by another URL than the app.
struct IssuerTests {
    /// A server that refuses every signature, and whose metadata is `metadata`.
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
        guard case .misconfigured(let text)? = error else {
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
}
