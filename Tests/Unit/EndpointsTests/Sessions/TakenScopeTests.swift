import HTTP
import Sessions
import Testing

/// A scope that an admin takes from a client: it is gone at once wherever the server is asked, from tokens that were issued before and
/// from sessions that were granted it, and comes back with it. No session ends by it.
@Suite struct TakenScopeTests {
    private static let backend =
        #"{"client_id":"backend","token_endpoint_auth_method":"client_secret_basic","scope":"read write","#
        + #""grant_types":["client_credentials"]}"#

    private func set(_ scope: String, of client: String = Client.mobileID, _ server: EndpointsFixture) async {
        let answer = await server.admin(.patch, "/admin/v1/clients/\(client)", #"{"scope":"\#(scope)"}"#)
        #expect(answer.status == 200)
    }

    @Test func aSessionIsRenewedWithWhatIsLeft() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(tokens.answer.string("scope") == EndpointsFixture.scope)
            await set("read admin", server)
            #expect(await server.refresh(tokens.refresh).string("scope") == "read")
            // RFC 6749 section 3.3: the answer says what was granted of what an app asks for all the same.
            #expect(await server.refresh(tokens.refresh, more: "&scope=read+write").string("scope") == "read")
            let nothing = await server.refresh(tokens.refresh, more: "&scope=write")
            #expect(nothing.status == 200)
            #expect(!nothing.names.contains("scope"))
            // What the client gets later is none that was granted.
            #expect(await server.refresh(tokens.refresh, more: "&scope=admin").string("error") == "invalid_scope")
            await set("read write", server)
            #expect(await server.refresh(tokens.refresh).string("scope") == "read write")
        }
    }

    @Test func aTokenIsGoodForWhatIsLeft() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(try await server.makeClient(Self.backend))
            let own = await server.form("/oauth/token", "grant_type=client_credentials", basic: "backend:\(secret)")
            let tokens = try await server.logIn()
            let held = [tokens.access, tokens.refresh, try #require(own.string("access_token"))]
            for (scope, seen) in [("read write", "read write"), ("write", "write"), ("", nil)] as [(String, String?)] {
                await set(scope, server)
                await set(scope, of: "backend", server)
                for token in held {
                    let answer = await server.form(
                        "/oauth/introspect", "token=\(token)&token_type_hint=refresh_token", basic: "backend:\(secret)")
                    #expect(answer.bool("active") == true)
                    #expect(answer.string("scope") == seen)
                }
                let verified = await server.call(.get, "/v1/verify", bearer: tokens.access)
                #expect(verified.status == 200)
                #expect(verified.field("X-Scope") == seen ?? "")
            }
        }
    }
}
