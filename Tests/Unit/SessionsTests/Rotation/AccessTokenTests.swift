import JOSE
import FoundationEssentials
import Testing

@testable import Sessions

struct AccessTokenTests {
    @Test func claimsAreWrittenByTheirNamesAndAreReadAsTheyWere() throws {
        var token = AccessToken(
            issuer: "https://a.example/\"x\"", subject: "s", audience: Audience(["a"]), clientID: "c", issuedAt: 1,
            expiry: 2,
            id: "i")
        #expect(
            String(decoding: token.encodedClaims, as: UTF8.self)
                == #"{"aud":"a","client_id":"c","exp":2,"iat":1,"iss":"https://a.example/\"x\"","jti":"i","sub":"s"}"#)
        token.sessionID = "sid"
        token.deviceID = "d"
        token.authenticatedAt = 3
        token.scope = "read write"
        token.authenticationMethods = ["pwd", "otp"]
        token.refreshAfter = 4
        token.confirmation = AccessToken.Confirmation(jkt: "k")
        token.refreshToken = "r"
        #expect(
            String(decoding: token.encodedClaims, as: UTF8.self)
                == #"{"amr":["pwd","otp"],"aud":"a","auth_time":3,"client_id":"c","cnf":{"jkt":"k"},"device_id":"d","exp":2,"#
                + #""iat":1,"iss":"https://a.example/\"x\"","jti":"i","refresh_after":4,"rt":"r","scope":"read write","#
                + #""sid":"sid","sub":"s"}"#)
        #expect(try JSONDecoder().decode(AccessToken.self, from: Data(token.encodedClaims)) == token)
    }
}
