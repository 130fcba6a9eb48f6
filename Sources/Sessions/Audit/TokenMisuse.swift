/// How a refresh token of a session that is bound to a key was presented without that key.
public enum TokenMisuse: String, Hashable, Sendable {
    /// Without a proof of any key.
    case noKey = "no_key"
    /// With a proof of another key.
    case otherKey = "other_key"

    /// The misuse that presenting a token of `session` with a proof of `provenKey` is; nil: none.
    init?(of session: Session, provenKey: String?) {
        guard let key = session.keyThumbprint, key != provenKey else { return nil }
        self = provenKey == nil ? .noKey : .otherKey
    }
}
