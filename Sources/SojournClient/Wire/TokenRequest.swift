/// A renewal on the wire: `POST /oauth/token`.
package struct TokenRequest: Sendable {
    package static let path = "/oauth/token"

    package var server: ServerAddress
    package var clientID: String
    package var resources: [String] = []
    /// What the app says of the device at each renewal, so that the server notices a token that has moved to another one.
    package var platform: String?
    package var appVersion: String?
    /// An assertion of the presence key, which shows that the user is present.
    package var userAssertion: String?

    package init(server: ServerAddress, clientID: String, resources: [String] = []) {
        (self.server, self.clientID, self.resources) = (server, clientID, resources)
    }

    /// A renewal by the stored refresh token.
    ///
    /// - Parameter sentAt: the server's time in Unix seconds, read before the record was loaded. The server leaves a request
    ///   undecided that slept on the way, because other requests may have been answered meanwhile.
    package func byRefreshToken(
        _ token: String, in record: SessionRecord, sentAt: Int64, proof: String?
    ) throws(SojournError) -> HTTPMessage {
        var form = Form()
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", token)
        // The app has the user in the answer itself, and spares the server a signature.
        form.add("id_token", "false")
        var message = try finish(form, record, sentAt)
        message.fields.append(
            HTTPMessageField("Idempotency-Key", IdempotencyKey.ofRenewal(token, secret: record.retrySecret)))
        if let proof { message.fields.append(HTTPMessageField("DPoP", proof)) }
        return message
    }

    /// A renewal by an assertion of the device key (RFC 7523).
    package func byAssertion(
        _ assertion: String, in record: SessionRecord, sentAt: Int64, proof: String?
    ) throws(SojournError) -> HTTPMessage {
        var form = Form()
        form.add("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        form.add("assertion", assertion)
        var message = try finish(form, record, sentAt)
        if let proof { message.fields.append(HTTPMessageField("DPoP", proof)) }
        return message
    }

    private func finish(_ form: Form, _ record: SessionRecord, _ sentAt: Int64) throws(SojournError) -> HTTPMessage {
        var form = form
        form.add("client_id", clientID)
        form.add("device_id", record.deviceID)
        form.add("device_platform", platform)
        form.add("device_app_version", appVersion)
        form.add("sent_at", String(sentAt))
        form.add("user_assertion", userAssertion)
        for resource in resources { form.add("resource", resource) }
        return try server.post(Self.path, form)
    }
}

/// The values of `Idempotency-Key`. They are derived, so that nothing has to be written before a request is sent, and so that
/// each retry, each process and each start of the app has the same key for the same request. A thief who has only the token
/// cannot make them.
package enum IdempotencyKey {
    /// The key of a renewal: 22 characters of HMAC-SHA-256 over the refresh token.
    package static func ofRenewal(_ token: String, secret: [UInt8]) -> String { key(Array(token.utf8), secret) }

    /// The key of a login: over everything that the login says. The secret changes with every session that begins, so that the
    /// next login has another key.
    package static func ofLogin(_ body: [UInt8], secret: [UInt8]) -> String { key(Array("login:".utf8) + body, secret) }

    /// The key of another call: over everything that it says.
    package static func ofCall(_ call: [UInt8], secret: [UInt8]) -> String { key(Array("call:".utf8) + call, secret) }

    /// The key of the exchange of an authorization code. It is of the verifier, and not of the record's secret, because a login
    /// that comes in between changes that.
    package static func ofCode(_ code: String, verifier: String) -> String {
        key(Array("code:\(code)".utf8), Array(verifier.utf8))
    }

    private static func key(_ message: [UInt8], _ secret: [UInt8]) -> String {
        String(Base64URL.encode(SmallCrypto.hmacSHA256(key: secret, message: message)).prefix(22))
    }
}
