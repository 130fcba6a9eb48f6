/// A member of an account that its user may change, if the operator allows it. The raw values are on the wire.
public enum ProfileMember: String, CaseIterable, Sendable {
    case username
    case email
    case phoneNumber = "phone_number"
    case displayName = "display_name"
    case givenName = "given_name"
    case familyName = "family_name"
    case country

    /// The members that users change without a word of the operator: all but the username.
    public static let usual = allCases.filter { $0 != .username }

    fileprivate func value(_ username: String, _ profile: User.Profile) -> String? {
        switch self {
        case .username: username
        case .email: profile.email
        case .phoneNumber: profile.phoneNumber
        case .displayName: profile.displayName
        case .givenName: profile.givenName
        case .familyName: profile.familyName
        case .country: profile.country
        }
    }
}

/// What users may change of their accounts, alike by every call and on every page.
struct ProfileRules: Sendable {
    /// The members that users may change.
    let editable: Set<ProfileMember>
    /// Whether a mailbox becomes that of an account only by its proof, because the server sends mails.
    let provesMailboxes: Bool

    /// The error of a change by the user; nil if it is allowed.
    func refusal(
        from old: (username: String, profile: User.Profile), to new: (username: String, profile: User.Profile)
    ) -> ServiceError? {
        // Bytes are compared, because composed and decomposed letters may name two mailboxes.
        let changed = ProfileMember.allCases.filter {
            $0.value(old.username, old.profile).map { Array($0.utf8) }
                != $0.value(new.username, new.profile).map { Array($0.utf8) }
        }
        if let fixed = changed.first(where: { !editable.contains($0) }) {
            return .conflict(
                code: "not_editable", detail: "users do not change \(fixed.rawValue) (accounts.editable)")
        }
        if provesMailboxes, changed.contains(.email) {
            return .conflict(
                code: "email_needs_proof", detail: "the mailbox changes by its proof: POST /v1/me/email")
        }
        return nil
    }
}
