package import Foundation

/// The exchange of an authorization code: `POST /oauth/token` (RFC 6749 §4.1.3).
package struct CodeRequest: Sendable {
    package var code: String
    package var login: PendingLogin
    package var mode: AuthenticationMode
    package var deviceID: String
    /// The session that the device still has.
    package var sessionID: String?
    /// The key that renews the session (RFC 7523).
    package var deviceKey: PublicJWK?
    /// The key that signs after the user has proved to be present.
    package var presenceKey: PublicJWK?

    package init(_ code: String, of login: PendingLogin, mode: AuthenticationMode, deviceID: String) {
        (self.code, self.login, self.mode, self.deviceID) = (code, login, mode, deviceID)
    }

    /// The request, with the `Idempotency-Key` that each retry has.
    package func message(
        to server: ServerAddress, _ configuration: SojournConfiguration
    ) throws(SojournError) -> HTTPMessage {
        var form = Form()
        form.add("grant_type", "authorization_code")
        form.add("client_id", configuration.clientID)
        form.add("code", code)
        form.add("redirect_uri", login.redirectURI)
        form.add("code_verifier", login.verifier)
        form.add("device_id", deviceID)
        form.add("session_id", sessionID)
        form.add("device_name", configuration.deviceName)
        form.add("device_platform", configuration.platform)
        form.add("device_app_version", configuration.appVersion)
        form.add("authentication_mode", mode.rawValue)
        form.add("device_key", deviceKey?.json)
        form.add("presence_key", presenceKey?.json)
        var message = try server.post(TokenRequest.path, form)
        message.fields.append(
            HTTPMessageField("Idempotency-Key", IdempotencyKey.ofCode(code, verifier: login.verifier)))
        return message
    }
}

/// The URL that the browser of a login opens (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1).
package struct AuthorizationURL {
    package static let path = "/oauth/authorize"

    /// The URL for `login`.
    ///
    /// - Parameter keyThumbprint: the key to which the code is bound (RFC 9449 §10).
    package static func url(
        of login: PendingLogin, _ page: LoginPage, at server: ServerAddress, _ configuration: SojournConfiguration,
        keyThumbprint: String?
    ) throws(SojournError) -> URL {
        var form = Form()
        form.add("response_type", "code")
        form.add("client_id", configuration.clientID)
        form.add("redirect_uri", login.redirectURI)
        form.add("scope", configuration.scope)
        form.add("state", login.state)
        form.add("nonce", login.nonce)
        form.add("code_challenge", login.challenge)
        form.add("code_challenge_method", "S256")
        form.add("dpop_jkt", keyThumbprint)
        form.add("prompt", page.prompt)
        form.add("login_hint", page.loginHint)
        form.add("ui_locales", Self.words(page.uiLocales))
        form.add("acr_values", Self.words(page.acrValues))
        for resource in configuration.resources { form.add("resource", resource) }
        return try server.url(path + "?" + String(decoding: form.bytes, as: UTF8.self))
    }

    private static func words(_ words: [String]) -> String? {
        words.isEmpty ? nil : words.joined(separator: " ")
    }
}
