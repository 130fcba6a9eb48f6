import Foundation

/// What a request about a session has to be signed with.
struct SigningNeed: Hashable, Sendable {
    /// The key of the session; nil if nothing is signed.
    var keyThumbprint: String?
    /// Whether the request carries a proof of the key (RFC 9449).
    var needsProof = false
    /// The session and the user that an assertion names (RFC 7523); nil if a refresh token is presented.
    var assertion: Assertion?

    struct Assertion: Hashable, Sendable {
        var sessionID: String
        var userID: String
    }

    init() {}

    /// What a renewal of `session` needs; nothing for one that cannot be renewed.
    init(renewing session: StoredSession?) {
        guard let session, session.isRenewable else { return }
        needsProof = session.isBound
        if session.refreshToken == nil, let sessionID = session.sessionID {
            assertion = Assertion(sessionID: sessionID, userID: session.account.userID)
        }
        if needsProof || assertion != nil { keyThumbprint = session.keyThumbprint }
    }
}

/// The signatures of one request.
struct Signatures: Sendable {
    var need: SigningNeed
    var proof: String?
    var assertion: String?
    /// Whether the keyring is certain that the key of the session no longer exists. A key with another thumbprint is not the
    /// session's, and is not used.
    var isKeyGone = false
    /// Why the keyring could not be asked.
    var error: KeyError?
}

extension Sojourn {
    /// Signs a renewal. It does so before the record is loaded, because a key can make the caller wait, and nothing that can
    /// wait stands between loading a record and sending its token.
    func signatures(for need: SigningNeed) async -> Signatures {
        var signatures = Signatures(need: need)
        guard need.needsProof || need.assertion != nil else { return signatures }
        do throws(KeyError) {
            guard let key = try await deviceKey(need.keyThumbprint) else {
                signatures.isKeyGone = true
                return signatures
            }
            guard let server = try? server() else { return signatures }
            if need.needsProof, let url = try? server.url(TokenRequest.path) {
                signatures.proof = try await proof(by: key, "POST", url, accessToken: nil)
            }
            if let assertion = need.assertion {
                signatures.assertion = try await AssertionMaker(key: key, random: random).assertion(
                    issuer: assertion.sessionID, subject: assertion.userID, audience: server.base, issuedAt: now,
                    lifetime: 120)
            }
        } catch {
            signatures.error = error
        }
        return signatures
    }

    /// The device key, if it has that thumbprint; nil if it certainly does not exist.
    func deviceKey(_ thumbprint: String?) async throws(KeyError) -> (any DeviceKey)? {
        guard let key = try await keys.key(.device) else { return nil }
        return thumbprint == nil || key.publicKey.thumbprint == thumbprint ? key : nil
    }

    /// A proof of `key` for a request (RFC 9449), with the nonce that the origin asked for.
    func proof(
        by key: any DeviceKey, _ method: String, _ url: URL, accessToken: String?
    ) async throws(KeyError) -> String {
        try await DPoPProofMaker(key: key, random: random).proof(
            method: method, url: url, issuedAt: now, accessToken: accessToken, nonce: nonce(for: url))
    }

    private func nonce(for url: URL) -> String? {
        guard let nonce = nonces[url.origin], clock.uptime - nonce.at < .seconds(200) else { return nil }
        return nonce.value
    }

    /// Remembers the nonce of an answer.
    func note(nonce: String?, from url: URL) {
        guard let nonce, !nonce.isEmpty else { return }
        nonces[url.origin] = (nonce, clock.uptime)
    }

    /// Sends a request to the server, and notes what its answer says of time and nonces. An answer that comes after the limit is
    /// dropped, because the process may have been frozen in between.
    func exchange(_ message: HTTPMessage, within limit: Duration) async throws(TransportFailure) -> HTTPAnswer {
        let sentAt = clock.uptime
        let answer = try await transport.send(message, within: limit)
        let receivedAt = clock.uptime
        guard receivedAt - sentAt <= limit else { throw .timedOut }
        if let time = answer.serverTime { serverClock.note(server: time, sentAt: sentAt, receivedAt: receivedAt) }
        note(nonce: answer["DPoP-Nonce"], from: message.url)
        return answer
    }
}

extension URL {
    /// Scheme, host and port.
    var origin: String { "\(scheme ?? "")://\(host ?? ""):\(port.map(String.init) ?? "")" }
}

extension Unreachable {
    init(_ failure: TransportFailure) {
        switch failure {
        case .unreachable(let detail): self.init(detail)
        case .timedOut: self.init("no answer in time")
        case .cancelled: self.init("cancelled")
        case .tooLong: self.init("the answer is too long")
        }
    }
}
