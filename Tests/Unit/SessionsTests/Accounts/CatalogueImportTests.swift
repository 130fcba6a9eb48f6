import Sessions
import Testing

/// What settings and clients of another store change here, whichever of both has gone further.
@Suite struct CatalogueImportTests {
    private func take(
        _ settings: [Settings] = [], _ clients: [Client] = [], into change: inout CatalogueChange,
        isTaken: Bool = false, known: Set<String> = [], memory: ImportLedger = ImportLedger(),
        isForgetful: Bool = false
    ) -> CatalogueImport.Outcome {
        var catalogue = CatalogueImport(
            isTaken: isTaken, memory: memory, known: known, isForgetful: isForgetful, hasSessions: true,
            policy: Sample.policy, now: Sample.start)
        (catalogue.settings, catalogue.clients) = (settings, clients)
        return catalogue.apply(to: &change)
    }

    @Test(arguments: [true, false]) func counterAndCutAndTheEndOfEarlierTokensOnlyGoFurther(_ isTaken: Bool) {
        var early = Settings(epoch: 3, revokedBefore: Settings.RevokedBefore(epoch: 2, at: Sample.start))
        early.earlierTokensEnd = Sample.start + .seconds(10)
        var late = Settings(
            epoch: 8, revokedBefore: Settings.RevokedBefore(epoch: 7, at: Sample.start + .seconds(50)))
        late.earlierTokensEnd = Sample.start + .seconds(90)
        for (here, there) in [(early, late), (late, early)] {
            var change = CatalogueChange(settings: here, clients: [:])
            _ = take([there], into: &change, isTaken: isTaken)
            #expect(change.settings == late)
        }
    }

    @Test(arguments: [true, false]) func theEpochOfAClientOnlyGoesUp(_ isTaken: Bool) {
        let (early, late) = (Sample.client { $0.epoch = 2 }, Sample.client { $0.epoch = 5 })
        for (here, there) in [(early, late), (late, early)] {
            var change = CatalogueChange(settings: Settings(epoch: 9), clients: [here.id: here])
            _ = take([], [there], into: &change, isTaken: isTaken)
            #expect(change.clients[here.id]?.epoch == 5)
        }
    }

    private static func backend(tokenEpoch: Int64, secret: UInt8 = 1) -> Client {
        Sample.client { client in
            client.authenticationMethod = .clientSecretBasic
            client.secretHash = [UInt8](repeating: secret, count: 32)
            client.grantTypes = [.clientCredentials]
            client.tokenEpoch = tokenEpoch
        }
    }

    @Test(arguments: [true, false]) func tokensOfAClientThatHaveEndedInEitherStoreStayEnded(_ isTaken: Bool) {
        for (here, there) in [(2, 5), (5, 2), (5, 5)] as [(Int64, Int64)] {
            let (old, new) = (Self.backend(tokenEpoch: here), Self.backend(tokenEpoch: there))
            var change = CatalogueChange(settings: Settings(epoch: 9), clients: [old.id: old])
            _ = take([], [new], into: &change, isTaken: isTaken)
            #expect(change.clients[old.id]?.tokenEpoch == 5)
            let told = change.events.filter { $0.revokes == .clientTokensEnded }
            #expect(told.map(\.tokenEpoch) == (there > here ? [5] : []))
        }
    }

    @Test func aSecretThatAnImportReplacesHasEnded() {
        let (old, new) = (Self.backend(tokenEpoch: 2), Self.backend(tokenEpoch: 2, secret: 7))
        for isTaken in [true, false] {
            var change = CatalogueChange(settings: Settings(epoch: 9), clients: [old.id: old])
            _ = take([], [new], into: &change, isTaken: isTaken)
            #expect(change.clients[old.id]?.tokenEpoch == (isTaken ? 10 : 2))
            #expect(change.settings.epoch == (isTaken ? 10 : 9))
            #expect(change.events.map(\.revokes).contains(.clientTokensEnded) == isTaken)
        }
    }

    @Test func aClientThatComesBackAfterItsDeletionHereRevivesNoToken() {
        let client = Self.backend(tokenEpoch: 2)
        var memory = ImportLedger()
        memory.note(AuditEvent(.clientDeleted, at: Sample.start + .seconds(-9), by: .system, clientID: client.id))
        let cases: [(ImportLedger, Bool, Int64)] = [
            (memory, false, 10), (ImportLedger(), true, 10), (ImportLedger(), false, 2),
        ]
        for (memory, isForgetful, epoch) in cases {
            var change = CatalogueChange(settings: Settings(epoch: 9), clients: [:])
            _ = take([], [client], into: &change, memory: memory, isForgetful: isForgetful)
            #expect(change.clients[client.id]?.tokenEpoch == epoch)
            #expect(change.settings.epoch == max(9, epoch))
        }
    }

    /// It was here when the trail was read, and is not when all is written.
    @Test func aClientThatIsDeletedMeanwhileDoesNotComeBack() {
        let client = Sample.client()
        var change = CatalogueChange(settings: Settings(), clients: [:])
        let known = take([], [client], into: &change, known: [client.id])
        #expect(known == .done(settings: [], clients: [.done(.differs)]))
        #expect(change.clients.isEmpty && change.events.isEmpty)
        let new = take([], [client], into: &change)
        #expect(new == .done(settings: [], clients: [.done(.written)]))
    }
}
