// The end of tokens that clients get for themselves (RFC 6749 section 4.4). They belong to no session, so that the epoch of
// their client ends them: it increases with the end of what they were issued for, and a new client begins above every earlier
// one.

internal import JOSE

/// The reason for which all tokens that a client got for itself end. The raw values are the `reason` of the event
/// `client_tokens_ended`.
public enum ClientTokenEnding: String, CaseIterable, Sendable {
    /// The client authenticates by another method.
    case authenticationMethodChanged = "authentication_method_changed"
    case secretRotated = "secret_rotated"
    /// A key of the client was removed.
    case keyRemoved = "key_removed"
    /// The client may no longer get tokens for itself.
    case grantRemoved = "grant_removed"
    case allRevoked = "all_revoked"
    /// The tokens had ended in the store that an import came from.
    case imported = "import"
}

extension Client {
    /// Whether the client can get tokens for itself.
    var getsOwnTokens: Bool { !isPublic && grantTypes.contains(.clientCredentials) }

    /// The client as it becomes `next` by the change that `cause` records, with the event for the end of its own tokens. They
    /// end if a part of its credentials does; a new secret or key beside the present ones ends none.
    func becoming(_ next: Client, _ settings: Settings, _ cause: AuditEvent) -> (Client, AuditEvent?) {
        guard getsOwnTokens else { return (next, nil) }
        if next.tokenEpoch > settings.tokenEpoch(of: self) {
            return (next, .tokensEnded(of: id, before: next.tokenEpoch, .imported, cause))
        }
        guard let ending = tokenEnding(by: next, at: cause.at) else { return (next, nil) }
        var client = next
        client.tokenEpoch = max(settings.epoch, next.tokenEpoch) + 1
        return (client, .tokensEnded(of: id, before: client.tokenEpoch, ending, cause))
    }

    private func tokenEnding(by next: Client, at now: Instant) -> ClientTokenEnding? {
        if next.authenticationMethod != authenticationMethod { return .authenticationMethodChanged }
        if !Set(secretHashes(at: now)).isSubset(of: next.secretHashes(at: now)) { return .secretRotated }
        if let keys, !keys.thumbprints.isSubset(of: next.keys?.thumbprints ?? []) { return .keyRemoved }
        return next.grantTypes.contains(.clientCredentials) ? nil : .grantRemoved
    }
}

extension ClientKeys {
    /// The keys themselves, without their names and uses (RFC 7638).
    fileprivate var thumbprints: Set<String> { Set(set.keys.map(\.thumbprint)) }
}

extension Settings {
    /// The epoch of the tokens that `client` gets for itself now. Tokens of an earlier one have ended.
    func tokenEpoch(of client: Client) -> Int64 { max(client.tokenEpoch, revokedBefore?.epoch ?? client.tokenEpoch) }
}

extension AuditEvent {
    /// The event for the end of tokens that a client, or every client, got for itself before `epoch`. `cause` is the event of
    /// the change that ends them.
    static func tokensEnded(
        of clientID: String?, before epoch: Int64, _ ending: ClientTokenEnding, _ cause: AuditEvent
    ) -> AuditEvent {
        var event = AuditEvent(
            .clientTokensEnded, at: cause.at, by: Origin(cause), clientID: clientID, reason: ending.rawValue)
        event.tokenEpoch = epoch
        event.revokes = .clientTokensEnded
        return event
    }
}
