extension EndReason {
    /// What the end means, and what an admin can do about it, as sentences for support.
    public var explanation: (meaning: String, advice: String) {
        switch self {
        case .loggedOut: ("The app logged out.", "Nothing to do: the user logs in again when they want to.")
        case .replaced:
            (
                "The same user logged in again on the same device: the newer session took its place.",
                "If that is not so, two installations use one device id: each needs its own."
            )
        case .revokedByUser:
            ("The user ended this device from another one.", "If it was not them, they should change the password.")
        case .revokedByAdmin:
            (
                "An admin ended it: this session, all of the user's, all of every user, or the app was deleted.",
                "The user can log in again, unless an admin has disabled the logins."
            )
        case .passwordChanged:
            (
                "The password was changed or reset, which logs out the other devices.",
                "The user logs in with the new one."
            )
        case .idleExpired:
            (
                "The device did not refresh for longer than offline_session_idle allows.",
                "If users are away for longer, raise it: sojourn settings set --offline-session-idle 30d."
            )
        case .maxLifetimeReached:
            (
                "The session reached its longest lifetime, which refreshes do not extend.",
                "Meant to be. See 'sojourn settings show', the client's and the user's own maximum."
            )
        case .codeReused:
            (
                "The authorization code that started the session was presented again with its verifier.",
                "An app that sends a request again has to repeat its Idempotency-Key; otherwise the code was copied."
            )
        case .parentEnded:
            (
                "A phone let this device in, and the session of the phone ended, so that this one ended with it.",
                "See 'sojourn session explain' for the session of the phone, which is named above."
            )
        case .presenceLost:
            (
                "A phone let this device in for as long as it answers, and it did not answer in time.",
                "If it happens often, raise ping_seconds of the client's requests, or use the bond 'session'."
            )
        case .notMe:
            (
                "The user said on the phone that somebody else logged in here.",
                "Take it for an attack: look at the address above, and ask the user to change the password."
            )
        case .refreshTokenReused:
            (
                "A refresh token came that had long been replaced: two copies of it are in use. One of them was stolen, "
                    + "or the app was restored from a backup, or two processes of it do not share their store.",
                "If it happens to many users after a release, look at how the app stores the token; if to one, take it "
                    + "for a theft: sojourn user revoke, and a new password."
            )
        case .userDeleted: ("The user was deleted.", "Nothing to do.")
        case .revokedByProvider:
            (
                "The identity provider by which the user logged in was asked again and refused: the user is deleted or blocked "
                    + "there, or has to log in there again.",
                "The user logs in again, if the provider lets them."
            )
        case .recheckLost:
            (
                "An answer of the identity provider was lost, with the only token by which it could be asked again, and its "
                    + "last word became too old.",
                "The user logs in again. If it happens often, look at the network to the provider."
            )
        }
    }
}

extension RefusalReason {
    /// A sentence for developers and for support.
    public var sentence: String {
        switch self {
        case .malformed: "This is not a refresh token of this server."
        case .unknownSession: "The session is not known, or no longer."
        case .ended(let reason):
            switch reason {
            case .loggedOut: "The session ended: the user logged out on this device."
            case .replaced: "The session ended: a later login on the same device replaced it."
            case .revokedByUser: "The session ended: the user ended it from another device."
            case .revokedByAdmin: "The session ended: an admin ended it."
            case .passwordChanged: "The session ended: the password was changed."
            case .idleExpired: "The session ended: it was not refreshed for too long."
            case .maxLifetimeReached: "The session ended: it reached its longest life."
            case .refreshTokenReused: "The session ended: an old refresh token was used again."
            case .userDeleted: "The session ended: the user was deleted."
            case .revokedByProvider: "The session ended: its identity provider no longer confirms the user."
            case .recheckLost: "The session ended: its identity provider can no longer be asked about it."
            case .codeReused: "The session ended: its authorization code was used again."
            case .parentEnded: "The session ended: that of the phone which let it in ended."
            case .presenceLost: "The session ended: the phone which let it in did not answer in time."
            case .notMe: "The session ended: the user says that somebody else logged in."
            }
        case .loginDisabledByUser: "The user has switched logins off. Sessions are kept."
        case .loginDisabledByAdmin: "An admin has switched logins off. Sessions are kept."
        case .deviceMismatch: "The session belongs to another device, or its app is not attested. It is kept."
        case .bindingMismatch: "The session belongs to another client, or is bound to a key. It is kept."
        case .insufficientUserAuthentication: "The session goes on after the user has proved to be present. It is kept."
        case .invalidAssertion:
            "The assertion is not a new and unused one of the session's key. The session is kept."
        }
    }
}
