import Sessions
import Testing

/// What settings and clients of another store change here, whichever of both has gone further.
@Suite struct CatalogueImportTests {
    private func take(
        _ settings: [Settings] = [], _ clients: [Client] = [], into change: inout CatalogueChange,
        isTaken: Bool = false, known: Set<String> = []
    ) -> CatalogueImport.Outcome {
        var catalogue = CatalogueImport(
            isTaken: isTaken, memory: ImportLedger(), known: known, hasSessions: true, policy: Sample.policy,
            now: Sample.start)
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
