import Sessions
import Testing

/// A change of the profile while a token for a new password is out.
private enum ReachChange: CaseIterable {
    case otherAddress, noAddress, otherNumber, noNumber, name, country

    /// Whether the user is no longer reached where the token may have been sent.
    var leavesFormerReach: Bool { self != .name && self != .country }

    func make(_ profile: inout User.Profile) {
        switch self {
        case .otherAddress: profile.email = "anna@example.net"
        case .noAddress: profile.email = nil
        case .otherNumber: profile.phoneNumber = "+49 30 2"
        case .noNumber: profile.phoneNumber = nil
        case .name: profile.displayName = "Anna L."
        case .country: profile.country = "DE"
        }
    }
}

private enum Changer: CaseIterable { case user, admin }

/// Tokens for a new password.
let resetRules: [StoreRule] =
    Changer.allCases.map { changer in
        StoreRule("whoever reads where the user was reached before sets no password, changed by: \(changer)") { store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            _ = try await domain.admin.createClient(id: Client.mobileID, by: Fixture.admin) { _ in nil }
            for change in ReachChange.allCases {
                let user = try await domain.admin.createUser(
                    username: "user-\(change)", password: DomainFixture.password,
                    profile: User.Profile(email: "anna@example.org", phoneNumber: "+49 30 1"), offlineSessionMax: nil,
                    by: Fixture.admin)
                let (old, _) = try await domain.admin.requestPasswordReset(of: .id(user.id), by: Fixture.admin)
                let proven = try await domain.accounts.passwordReset(by: old)
                switch changer {
                case .user:
                    let session = try await domain.session(of: user.username)
                    _ = try await domain.accounts.changeProfile(in: session, from: Fixture.admin) { profile in
                        change.make(&profile)
                        return nil
                    }
                case .admin:
                    _ = try await domain.admin.changeUser(.id(user.id), by: Fixture.admin) { user in
                        change.make(&user.profile)
                        return nil
                    }
                }
                // The token of before, and one with a password that is being hashed already.
                var failure: ServiceError?
                do throws(ServiceError) { _ = try await domain.accounts.passwordReset(by: old) } catch {
                    failure = error
                }
                #expect((failure != nil) == change.leavesFormerReach, "\(change)")
                failure = nil
                do throws(ServiceError) {
                    try await domain.accounts.resetPassword(proven, to: "the words of a thief", from: Fixture.admin)
                } catch { failure = error }
                #expect((failure != nil) == change.leavesFormerReach, "\(change)")
                // What is asked for afterwards goes to where the user is reached now.
                let (new, _) = try await domain.admin.requestPasswordReset(of: .id(user.id), by: Fixture.admin)
                let reset = try await domain.accounts.passwordReset(by: new)
                try await domain.accounts.resetPassword(reset, to: "four very odd words", from: Fixture.admin)
            }
        }
    } + [
        StoreRule("a token for a new password outlives the first address, which it was not sent to") { store in
            let domain = try await DomainFixture(store, WallClock { Fixture.start })
            let user = try await domain.admin.createUser(
                username: "anna", password: nil, profile: User.Profile(), offlineSessionMax: nil, by: Fixture.admin)
            let (token, _) = try await domain.admin.requestPasswordReset(of: .id(user.id), by: Fixture.admin)
            _ = try await domain.admin.changeUser(.id(user.id), by: Fixture.admin) { user in
                user.profile.email = "anna@example.org"
                user.profile.phoneNumber = "+49 30 1"
                return nil
            }
            let reset = try await domain.accounts.passwordReset(by: token)
            try await domain.accounts.resetPassword(reset, to: "four very odd words", from: Fixture.admin)
        }
    ]
