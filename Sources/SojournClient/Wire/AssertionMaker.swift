/// Makes assertions by which a device resumes a session, or shows that its user is present (RFC 7523 §3).
package struct AssertionMaker: Sendable {
    /// The longest time in seconds for which the server accepts an assertion.
    package static let longestLifetime: Int64 = 300

    private let key: any DeviceKey
    private let random: @Sendable (_ count: Int) -> [UInt8]

    /// A maker of assertions with `key`. `random` makes the `jti` of each.
    package init(
        key: any DeviceKey,
        random: @escaping @Sendable (_ count: Int) -> [UInt8] = { SmallCrypto.randomBytes(count: $0) }
    ) {
        self.key = key
        self.random = random
    }

    /// The login for which an assertion is the second factor, and the number that the user has typed.
    package struct Login: Hashable, Sendable {
        package var id: String
        package var number: Int?

        package init(id: String, number: Int?) { (self.id, self.number) = (id, number) }
    }

    /// An assertion. The server accepts it once.
    ///
    /// - Parameters:
    ///   - issuer: the session ID.
    ///   - subject: the user ID.
    ///   - audience: the server's issuer.
    ///   - issuedAt: the server's time in Unix seconds.
    ///   - lifetime: seconds until the assertion expires, at most `longestLifetime`.
    ///   - login: what the user has seen and approves by it; nil: no login.
    package func assertion(
        issuer: String, subject: String, audience: String, issuedAt: Int64, lifetime: Int64,
        login: Login? = nil
    ) async throws(KeyError) -> String {
        let expiry = issuedAt + min(max(lifetime, 1), Self.longestLifetime)
        var names = [("iss", issuer), ("sub", subject), ("aud", audience), ("jti", Base64URL.encode(random(16)))]
        if let login { names.append(("login", login.id)) }
        let texts = names.map { #""\#($0)":\#(CompactJWS.quoted($1))"# }.joined(separator: ",")
        let number = login?.number.map { #","number":\#($0)"# } ?? ""
        return try await CompactJWS.token(
            header: #"{"alg":"\#(key.publicKey.curve.algorithm)","typ":"JWT"}"#,
            claims: #"{\#(texts),"iat":\#(issuedAt),"exp":\#(expiry)\#(number)}"#, by: key)
    }
}
