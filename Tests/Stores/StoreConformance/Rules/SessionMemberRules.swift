import Sessions
import Testing

/// Each member of a session is one that a change may edit, or one that never changes.
let sessionMemberRules: [StoreRule] = [
    StoreRule("each member that can change is written by itself") { store in
        let user = try await store.given(Fixture.user())
        let members = Mirror(reflecting: Fixture.session(of: user.id)).children.compactMap(\.label)
        #expect(Set(sessionEdits.keys).union(constants) == Set(members))
        for (member, edit) in sessionEdits {
            let session = try await store.given(Fixture.session(of: user.id, device: member))
            let edited = try await store.updateSession(session.id) { change -> Session in
                edit(&change.session)
                return change.session
            }
            #expect(edited != session, "\(member)")
            #expect(try await store.stored(session.id) == edited, "\(member)")
        }
    }
]

private let constants: Set = [
    "id", "userID", "clientID", "scope", "resources", "keyThumbprint", "deviceKey", "startedAt", "epoch",
]

private let sessionEdits: [String: @Sendable (inout Session) -> Void] = [
    "device": { $0.device.name = "Küche" },
    "authenticationMode": { $0.authenticationMode = .password },
    "authenticationMethods": { $0.authenticationMethods = ["pwd", "otp", "phone"] },
    "parent": { $0.parent = 8 },
    "child": { $0.child = 9 },
    "childAnsweredAt": { $0.childAnsweredAt = Fixture.start + .seconds(60) },
    "renewedAt": { $0.renewedAt = Fixture.start + .seconds(61) },
    "childRequestKey": { $0.childRequestKey = 7 },
    "childConfirmedAt": { $0.childConfirmedAt = Fixture.start + .seconds(62) },
    "ending": { $0.ending = Session.Ending(reason: .loggedOut, at: Fixture.start + .seconds(63)) },
    "presence": { $0.presence.passwordAt = Fixture.start + .seconds(64) },
    "confirmation": { $0.confirmation = ProviderConfirmation(provider: "acme", at: Fixture.start + .seconds(65)) },
    "phoneID": { $0.phoneID = Fixture.sessionID() },
    "probationUntil": { $0.probationUntil = Fixture.start + .seconds(66) },
    "attestation": { $0.attestation = Session.genuine },
    "encryptionKey": { $0.encryptionKey = "P-256.x" },
]
