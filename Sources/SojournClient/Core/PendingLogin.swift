/// A login on the server's page that waits for its answer. It is stored before the browser opens, so that the answer is good for
/// an app that was ended meanwhile.
package struct PendingLogin: Hashable, Sendable {
    /// Recognizes the answer to this request (RFC 6749 §10.12).
    package var state: String
    /// What an ID token of this login has to name (OpenID Connect Core §3.1.2.1).
    package var nonce: String
    /// The secret without which the code is worth nothing (RFC 7636): 43 characters.
    package var verifier: String
    package var redirectURI: String
    package var mode: AuthenticationMode

    package init(
        state: String, nonce: String, verifier: String, redirectURI: String, mode: AuthenticationMode
    ) {
        (self.state, self.nonce, self.verifier) = (state, nonce, verifier)
        (self.redirectURI, self.mode) = (redirectURI, mode)
    }

    /// Reads the members of a record; nil if one is missing.
    init?(_ members: [String: JSONValue]) {
        guard let state = members.text("state"), let nonce = members.text("nonce"),
            let verifier = members.text("code_verifier"), let redirectURI = members.text("redirect_uri")
        else { return nil }
        let mode = members.text("authentication_mode").flatMap(AuthenticationMode.init) ?? .no
        self.init(state: state, nonce: nonce, verifier: verifier, redirectURI: redirectURI, mode: mode)
    }

    var members: [String: JSONValue] {
        [
            "state": .string(state), "nonce": .string(nonce), "code_verifier": .string(verifier),
            "redirect_uri": .string(redirectURI), "authentication_mode": .string(mode.rawValue),
        ]
    }

    /// The challenge of the verifier, with the method `S256`.
    package var challenge: String { Base64URL.encode(SmallCrypto.sha256(Array(verifier.utf8))) }
}
