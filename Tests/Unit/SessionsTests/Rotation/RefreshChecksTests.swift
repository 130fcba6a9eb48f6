import Sessions
import Testing

/// The checks before the table: which there are, and in which order they answer.
struct RefreshChecksTests {
    /// Everything that can be wrong at once, in the order in which it must answer.
    private enum Fault: CaseIterable {
        case ended, client, device, disabledByAdmin, disabledByUser, idle, maximum, reuse
    }

    private func decide(_ faults: Set<Fault>) -> (RefreshDecision, Session) {
        var user = Sample.user()
        var session = Sample.session(of: user)
        (session.parent, session.child) = (4, 5)
        var now = Sample.start
        if faults.contains(.ended) { session.end(.loggedOut, at: now) }
        if faults.contains(.disabledByAdmin) { user.disabledByAdmin = .init(effective: .immediate, since: now) }
        if faults.contains(.disabledByUser) { user.disabledByUser = .init(effective: .onExpiry, since: now) }
        if faults.contains(.idle) { now = Sample.start + .seconds(1_209_600) }
        if faults.contains(.maximum) {
            now = Sample.start + .seconds(15_552_000)
            if !faults.contains(.idle) { session.renewedAt = now }
        }
        let decision = Sample.decide(
            &session, serial: faults.contains(.reuse) ? 1 : 5, at: now,
            clientID: faults.contains(.client) ? "other" : Client.mobileID,
            deviceID: faults.contains(.device) ? "phone-2" : "phone-1", user: user)
        return (decision, session)
    }

    private func answer(_ fault: Fault) -> RefusalReason {
        switch fault {
        case .ended: .ended(.loggedOut)
        case .client: .bindingMismatch
        case .device: .deviceMismatch
        case .disabledByAdmin: .loginDisabledByAdmin
        case .disabledByUser: .loginDisabledByUser
        case .idle: .ended(.idleExpired)
        case .maximum: .ended(.maxLifetimeReached)
        case .reuse: .ended(.refreshTokenReused)
        }
    }

    @Test func everyCombination_answersWithTheFirstFault() {
        for bits in 1..<(1 << Fault.allCases.count) {
            let faults = Fault.allCases.enumerated().filter { bits >> $0.offset & 1 == 1 }.map(\.element)
            #expect(decide(Set(faults)).0 == .refused(answer(faults[0])), "\(faults)")
        }
    }

    @Test(arguments: [RefusalReason.bindingMismatch, .deviceMismatch, .loginDisabledByAdmin, .loginDisabledByUser])
    func refusalsThatKeepTheSession_writeNothing(reason: RefusalReason) throws {
        let fault = try #require(Fault.allCases.first { answer($0) == reason })
        let (_, session) = decide([fault])
        #expect(session.ending == nil)
        #expect(session.child == 5)
        #expect(!reason.reauthenticate)
    }

    @Test func anEndThatWasAnsweredOnce_isFinalWhateverTheSettingsBecome() {
        var session = Sample.session()
        let now = Sample.start + .seconds(1_209_600)
        #expect(Sample.decide(&session, serial: 1, at: now) == .refused(.ended(.idleExpired)))
        #expect(session.ending == Session.Ending(reason: .idleExpired, at: now))
        var longer = Settings()
        longer.sessions.offlineSessionIdle = .seconds(9_000_000)
        #expect(Sample.decide(&session, serial: 1, at: now, settings: longer) == .refused(.ended(.idleExpired)))
    }

    @Test func boundSession_needsItsKey() {
        var session = Sample.session(keyThumbprint: "key")
        let before = session
        #expect(Sample.decide(&session, serial: 1, at: Sample.start) == .refused(.bindingMismatch))
        #expect(Sample.decide(&session, serial: 1, at: Sample.start, proof: "other") == .refused(.bindingMismatch))
        #expect(session == before)
        #expect(Sample.decide(&session, serial: 1, at: Sample.start, proof: "key") == .repeated)
    }

    @Test func callWithoutClient_servesPublicClientsOnly() {
        var session = Sample.session()
        #expect(Sample.decide(&session, serial: 1, at: Sample.start, clientID: nil) == .repeated)
        let confidential = Sample.client { $0.authenticationMethod = .clientSecretBasic }
        #expect(
            Sample.decide(&session, serial: 1, at: Sample.start, clientID: nil, client: confidential)
                == .refused(.bindingMismatch))
    }

    @Test func revokeAll_endsSessionsOfEarlierEpochs() {
        var settings = Settings(epoch: 2, revokedBefore: .init(epoch: 2, at: Sample.start + .seconds(5)))
        var earlier = Sample.session(epoch: 1)
        let now = Sample.start + .seconds(10)
        #expect(
            Sample.decide(&earlier, serial: 1, at: now, settings: settings) == .refused(.ended(.revokedByAdmin)))
        #expect(earlier.ending?.at == Sample.start + .seconds(5))
        var later = Sample.session(epoch: 2)
        #expect(Sample.decide(&later, serial: 1, at: now, settings: settings) == .repeated)
        settings.revokedBefore = nil
        #expect(Sample.decide(&earlier, serial: 1, at: now, settings: settings) == .refused(.ended(.revokedByAdmin)))
    }

    @Test func deletedClient_takesItsSessionsAlong_evenWhenOneOfTheSameNameIsMade() {
        var session = Sample.session(epoch: 1)
        #expect(Sample.decide(&session, serial: 1, at: Sample.start, client: nil) == .refused(.ended(.revokedByAdmin)))
        var other = Sample.session(epoch: 1)
        let remade = Client(id: Client.mobileID, createdAt: Sample.start, epoch: 2)
        #expect(Sample.decide(&other, serial: 1, at: Sample.start, client: remade) == .refused(.ended(.revokedByAdmin)))
    }

    @Test func deletedUser_isSaid() {
        var session = Sample.session()
        #expect(Sample.decide(&session, serial: 1, at: Sample.start, user: nil) == .refused(.ended(.userDeleted)))
    }
}
