internal import Cryptography
internal import JOSE
internal import JSON

/// A security event token: one event, signed (RFC 8417).
public struct SecurityEventToken: Hashable, Sendable {
    /// The type in the header (RFC 8417 section 2.3).
    static let type = "secevent+jwt"

    /// The id, `jti`: the same whenever the event is sent again.
    public let id: String
    /// The token.
    public let text: String
}

extension EventStream {
    /// The `jti` of an event of the trail. It holds the time, because a restored database may assign the number again.
    public func tokenID(of recorded: RecordedEvent) -> String {
        "\(id).\(recorded.id).\(recorded.event.at.secondsSinceEpoch)"
    }

    /// The `jti` of a verification event.
    public func tokenID(of verification: Verification) -> String {
        "\(id).verify.\(verification.requestedAt.secondsSinceEpoch)"
    }
}

extension ServiceContext {
    /// The token about `event` for the receiver of `client`; nil if no RSA key can be used at present.
    public func token(
        of event: SecurityEvent, _ recorded: RecordedEvent, in stream: EventStream, to client: Client
    ) async -> SecurityEventToken? {
        var members = event.details
        members["event_timestamp"] = .integer(event.at.secondsSinceEpoch)
        members["initiating_entity"] = .string(event.initiator.rawValue)
        members["reason_admin"] = .object(["en": .string(event.reason)])
        return await sign(
            stream.tokenID(of: recorded), about: subject(of: event), event.kind.rawValue, members, to: client)
    }

    /// The token with which a receiver tests its stream.
    public func token(
        of verification: EventStream.Verification, in stream: EventStream, to client: Client
    ) async -> SecurityEventToken? {
        let subject = JSONValue.object(["format": .string("opaque"), "id": .string(stream.id)])
        let members = verification.state.map { ["state": JSONValue.string($0)] } ?? [:]
        return await sign(
            stream.tokenID(of: verification), about: subject, SecurityEvent.verification, members, to: client)
    }

    /// The user, with the session if the event is about one (CAEP section 2, RFC 9493): a receiver that found only a user in the end
    /// of a session would end all of that user's.
    private func subject(of event: SecurityEvent) -> JSONValue {
        let user = JSONValue.object([
            "format": .string("iss_sub"), "iss": .string(issuer), "sub": .string(event.userID.description),
        ])
        guard let sessionID = event.sessionID else { return user }
        return .object([
            "format": .string("complex"), "user": user,
            "session": .object(["format": .string("opaque"), "id": .string(sessionID.description)]),
        ])
    }

    private struct Claims: Encodable {
        let aud: String
        let events: [String: [String: JSONValue]]
        let iat: Int64
        let iss: String
        let jti: String
        let subject: JSONValue

        enum CodingKeys: String, CodingKey {
            case aud
            case events
            case iat
            case iss
            case jti
            case subject = "sub_id"
        }
    }

    private func sign(
        _ id: String, about subject: JSONValue, _ kind: String, _ members: [String: JSONValue], to client: Client
    ) async -> SecurityEventToken? {
        if signingKeys.isBehind { try? await signingKeys.follow() }
        let now = clock.now
        guard let active = signingKeys.rsaSigner(at: now),
            let signer = try? JWTSigner(key: active.key, kid: active.kid, typ: SecurityEventToken.type),
            let text = try? signer.sign(
                claims: Claims(
                    aud: client.id, events: [kind: members], iat: now.secondsSinceEpoch, iss: issuer, jti: id,
                    subject: subject))
        else { return nil }
        return SecurityEventToken(id: id, text: text)
    }
}
