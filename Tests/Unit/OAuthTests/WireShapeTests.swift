import FoundationEssentials
import OAuth
import Testing

@Suite struct WireShapeTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func aTokenAnswerHasTheNamesOfRFC6749AndOurs() throws {
        var answer = TokenResponse(accessToken: "a", expiresIn: 2, issuedAt: 1, expiresAt: 3)
        #expect(
            String(decoding: answer.json, as: UTF8.self)
                == #"{"access_token":"a","expires_at":3,"expires_in":2,"issued_at":1,"token_type":"Bearer"}"#)
        answer.refreshToken = "r"
        answer.scope = "s"
        answer.refreshAfter = 4
        answer.sessionID = "i"
        answer.deviceID = "d"
        answer.sessionIdleExpiresAt = 5
        answer.sessionExpiresAt = 6
        answer.authenticationMode = "NO"
        answer.user = TokenResponse.User(
            userID: "u", username: "n", email: "e", phoneNumber: "p", displayName: "d", givenName: "g", familyName: "f",
            country: "DE")
        let text = String(decoding: answer.json, as: UTF8.self)
        #expect(
            text
                == #"{"access_token":"a","authentication_mode":"NO","device_id":"d","expires_at":3,"expires_in":2,"issued_at":1,"#
                + #""refresh_after":4,"refresh_token":"r","scope":"s","session_expires_at":6,"session_id":"i","#
                + #""session_idle_expires_at":5,"token_type":"Bearer","user":{"country":"DE","display_name":"d","email":"e","#
                + #""family_name":"f","given_name":"g","phone_number":"p","user_id":"u","username":"n"}}"#)
        #expect(try JSONDecoder().decode(TokenResponse.self, from: Data(text.utf8)) == answer)
    }

    @Test func anErrorSaysOnlyWhatRFC6749Allows() throws {
        let error = ErrorResponse(
            .invalidGrant, description: "a \"b\" \\ ä\n.", uri: "https://e", reason: "malformed", reauthenticate: true)
        #expect(
            try json(error)
                == #"{"error":"invalid_grant","error_description":"a ?b? ? ???.","error_uri":"https://e","#
                + #""reason":"malformed","reauthenticate":true}"#)
        #expect(try json(ErrorResponse(.invalidRequest)) == #"{"error":"invalid_request"}"#)
    }

    @Test func ofATokenThatIsNotActiveNothingElseIsSaid() throws {
        #expect(try json(IntrospectionResponse(active: false)) == #"{"active":false}"#)
    }

    @Test(arguments: ["https://a.example", "https://a.example/", "https://a.example/base"])
    func endpointsLieUnderTheIssuer(_ issuer: String) throws {
        let metadata = ServerMetadata(
            issuer: issuer, tokenPath: "/t", revocationPath: "/r", introspectionPath: "/i", jwksPath: "/j",
            authorizationPath: "/a", pushedRequestPath: "/p", deviceAuthorizationPath: "/d", backchannelPath: "/c",
            userInfoPath: "/u", logoutPath: "/o", grantTypes: ["g"],
            authMethods: ["none", "m"], confidentialAuthMethods: ["m"], assertionAlgorithms: ["A"],
            idTokenAlgorithms: ["ES256"],
            signingAlgorithms: ["ES256"], proofAlgorithms: ["ES256"], acrValues: ["presence"])
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        #expect(metadata.issuer == issuer)
        #expect(metadata.tokenEndpoint == base + "/t")
        #expect(metadata.revocationEndpoint == base + "/r")
        #expect(metadata.introspectionEndpoint == base + "/i")
        #expect(metadata.jwksURI == base + "/j")
        #expect(metadata.authorizationEndpoint == base + "/a")
        #expect(metadata.pushedAuthorizationRequestEndpoint == base + "/p")
        #expect(metadata.deviceAuthorizationEndpoint == base + "/d")
        #expect(metadata.backchannelAuthenticationEndpoint == base + "/c")
        #expect(metadata.userinfoEndpoint == base + "/u")
        #expect(metadata.endSessionEndpoint == base + "/o")
        #expect(metadata.responseTypesSupported == ["code"])
    }

    @Test func theCodesAreThoseOfTheRFCs() {
        #expect(
            ErrorCode.allCases.map(\.rawValue) == [
                "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
                "invalid_scope", "server_error", "temporarily_unavailable", "unsupported_response_type",
                "access_denied", "login_required", "unmet_authentication_requirements", "request_not_supported",
                "request_uri_not_supported", "invalid_request_uri", "registration_not_supported", "invalid_token",
                "insufficient_scope",
                "invalid_target", "authorization_pending", "expired_token", "slow_down",
                "unknown_user_id", "invalid_binding_message",
                "insufficient_user_authentication", "invalid_dpop_proof",
                "use_dpop_nonce",
            ])
    }
}
