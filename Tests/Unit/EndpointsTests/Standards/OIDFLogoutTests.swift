import HTTP
import Testing

@testable import Endpoints

/// The modules of the OpenID Foundation's plan `oidcc-rp-initiated-logout-certification-test-plan`, each by its name. What the
/// plan for logouts by back channel demands of tokens is in `LogoutDeliveryTests`.
@Suite struct OIDFLogoutTests {
    /// What a module expects: the redirect of the client, a page that asks the user, or a page that names an error, which keeps
    /// the browser from the redirect and not from the logout.
    enum Outcome: Hashable, Sendable {
        case redirect(String)
        case question
        case outWithError
        case questionWithError
    }

    struct Module: Sendable, CustomTestStringConvertible {
        let name: String
        let outcome: Outcome
        let parameters: @Sendable (_ idToken: String) -> [String: String]
        var testDescription: String { name }

        init(_ name: String, _ outcome: Outcome, _ parameters: @escaping @Sendable (String) -> [String: String]) {
            (self.name, self.outcome, self.parameters) = (name, outcome, parameters)
        }
    }

    private static let uri = RelyingParty.goodbyeURI

    static let modules: [Module] = [
        Module("oidcc-rp-initiated-logout", .redirect("\(uri)?state=s%201")) {
            ["id_token_hint": $0, "post_logout_redirect_uri": uri, "state": "s 1"]
        },
        Module("oidcc-rp-initiated-logout-no-state", .redirect(uri)) {
            ["id_token_hint": $0, "post_logout_redirect_uri": uri]
        },
        Module("oidcc-rp-initiated-logout-bad-post-logout-redirect-uri", .outWithError) {
            ["id_token_hint": $0, "post_logout_redirect_uri": "https://app.example/other", "state": "s"]
        },
        Module("oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri", .outWithError) {
            ["id_token_hint": $0, "post_logout_redirect_uri": uri + "?extra=1", "state": "s"]
        },
        Module("oidcc-rp-initiated-logout-modified-id-token-hint", .questionWithError) { token in
            let parts = token.split(separator: ".").map(String.init)
            let claims = parts[1].dropLast(4) + (parts[1].hasSuffix("AAAA") ? "BBBB" : "AAAA")
            let forged = [parts[0], String(claims), parts[2]].joined(separator: ".")
            return ["id_token_hint": forged, "post_logout_redirect_uri": uri, "state": "s"]
        },
        Module("oidcc-rp-initiated-logout-bad-id-token-hint", .questionWithError) { _ in
            ["id_token_hint": "x", "post_logout_redirect_uri": uri, "state": "s"]
        },
        Module("oidcc-rp-initiated-logout-no-id-token-hint", .questionWithError) { _ in
            ["post_logout_redirect_uri": uri, "state": "s"]
        },
        Module("oidcc-rp-initiated-logout-no-params", .question) { _ in [:] },
        Module("oidcc-rp-initiated-logout-only-state", .question) { _ in ["state": "s"] },
        Module("oidcc-rp-initiated-logout-no-post-logout-redirect-uri", .question) { ["id_token_hint": $0] },
    ]

    @Test(arguments: modules) func logout(_ module: Module) async throws {
        try await RelyingParty.with { party in
            let (tokens, _) = try await party.expectLogin()
            let query = Browser.encoded(module.parameters(try #require(tokens.string("id_token"))))
            let answer = await party.browser.get("/oauth/logout" + (query.isEmpty ? "" : "?" + query))
            let isOut = try await party.silent(["prompt": "none"])["error"] == "login_required"
            switch module.outcome {
            case .redirect(let uri):
                #expect(answer.status == 303 && answer.field("Location") == uri, "\(answer.text)")
                #expect(isOut)
            case .question:
                #expect(answer.status == 200 && answer.field("Location") == nil, "\(answer.text)")
                #expect(!answer.text.contains("For the people who run this service"))
            case .outWithError, .questionWithError:
                #expect(answer.status == 200 && answer.field("Location") == nil, "\(answer.text)")
                #expect(answer.text.contains("For the people who run this service"))
                #expect(isOut == (module.outcome == .outWithError))
            }
        }
    }
}
