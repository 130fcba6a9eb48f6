import Cryptography
import FoundationEssentials
import HTTP
import JOSE
import Testing

@testable import Endpoints
@testable import Sessions

/// The rolling token as a JWT: RFC 7519 sections 4.1, 5 and 7, and as an access token: RFC 9068 sections 2 and 4.
@Suite struct RFC7519Tests {
    private func number(_ value: JSONValue?) -> Int64? {
        if case .integer(let number)? = value { number } else { nil }
    }

    @Test func aTokenHasTheClaimsThatTheClausesDemand() async throws {
        try await Stage.with { stage in
            let tokens = try await stage.logIn()
            let (header, claims) = try tokenParts(tokens.access)
            // RFC 9068 section 2.1: the type, and an asymmetric algorithm. RFC 7515 section 4.1.4: which key.
            #expect(header["typ"]?.string == "at+jwt")
            #expect(header["alg"]?.string == "ES256")
            #expect(Set(header.keys) == ["typ", "alg", "kid"])
            // RFC 9068 section 2.2: all of them REQUIRED.
            #expect(claims["iss"]?.string == Stage.issuer)
            #expect(claims["aud"]?.string == Stage.audience)
            #expect(claims["sub"]?.string == tokens.userID)
            #expect(claims["client_id"]?.string == "mobile")
            #expect(claims["jti"]?.string?.utf8.count == 22)
            // RFC 7519 section 4.1.4 and 4.1.6: whole seconds.
            #expect(number(claims["iat"]) == Stage.start)
            #expect(number(claims["exp"]) == tokens.answer.integer("expires_at"))
            // RFC 9068 section 2.2.1 and 2.2.3.
            #expect(number(claims["auth_time"]) == Stage.start)
            #expect(claims["scope"]?.string == "read write")
            if case .array(let methods)? = claims["amr"] { #expect(methods.map(\.string) == ["pwd"]) }
        }
    }

    /// RFC 7519 section 4.1.7: no two tokens share a name, also not two of one second.
    @Test func everyTokenHasANameOfItsOwn() async throws {
        try await Stage.with { stage in
            let tokens = try await stage.logIn()
            let again = await stage.refresh(tokens.refresh)
            let first = try tokenParts(tokens.access).claims["jti"]?.string
            let second = try tokenParts(try #require(again.string("access_token"))).claims["jti"]?.string
            #expect(first != nil && second != nil && first != second)
        }
    }

    /// RFC 9068 section 2.2: the subject of a token that a client got for itself is the client.
    @Test func aClientsOwnTokenNamesTheClient() async throws {
        try await Stage.with { stage in
            let scene = try await Scene(stage)
            let (_, claims) = try tokenParts(scene["own"])
            #expect(claims["sub"]?.string == "backend" && claims["client_id"]?.string == "backend")
            // RFC 9068 section 2.2.1: nobody logged in.
            #expect(Set(claims.keys) == ["iss", "aud", "sub", "client_id", "iat", "exp", "jti", "scope"])
        }
    }

    /// RFC 7519 section 4.1.4: on or after `exp` it must not be accepted; RFC 9068 section 4 for the rest.
    @Test func timeAndAudienceDecide() async throws {
        try await Stage.with { stage in
            let tokens = try await stage.logIn()
            let end = try #require(tokens.answer.integer("expires_at")) - Stage.start
            let signer = try #require(stage.context.signingKeys.signer(at: stage.context.clock.now))
            let sid = tokens.sessionID
            func claims(_ iss: String, _ aud: String, _ exp: Int64) -> String {
                #"{"iss":"\#(iss)","aud":"\#(aud)","sub":"\#(tokens.userID)","client_id":"mobile","iat":1,"exp":\#(exp),"jti":"x","sid":"\#(sid)"}"#
            }
            func status(_ claims: String) async -> Int {
                await stage.call(.get, "/v1/me", bearer: signer.sign(encodedClaims: Array(claims.utf8))).status
            }
            let later = Stage.start + 60
            #expect(await status(claims(Stage.issuer, Stage.audience, later)) == 200)
            #expect(await status(claims("https://other.example", Stage.audience, later)) == 401)
            #expect(await status(claims(Stage.issuer + "/", Stage.audience, later)) == 401)
            #expect(await status(claims(Stage.issuer, "https://other.example", later)) == 401)
            #expect(await status(claims(Stage.issuer, Stage.audience, Stage.start)) == 401)
            #expect(await status(claims(Stage.issuer, Stage.audience, Stage.start + 1)) == 200)
            stage.moveClock(to: end - 1)
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 200)
            stage.moveClock(to: end)
            #expect(await stage.call(.get, "/v1/me", bearer: tokens.access).status == 401)
        }
    }
}
