import Repository
import Sessions
import Testing

/// What follows from the rules of a login with a phone, shown by walking every history of a small world around the very function
/// that the server runs; and shown to be able to fail, by breaking each rule.
struct PhoneLoginInterleavingTests {
    typealias Rules = PhoneLoginWorld.Rules

    static let worlds: [Rules] =
        [
            Rules(),
            Rules(bond: .none),
            Rules(bond: .ping(.seconds(120)), changes: 4, minutes: 6),
            Rules(arrival: .pushed, secondFactor: .required),
            Rules(knownTo: [], startsByHand: true),
            Rules(knownTo: [1]),
            Rules(isPresenceDue: true, skipsConfirmation: true),
            Rules(arrival: .linked),
            Rules(kind: .device, arrival: .linked),
            Rules(kind: .device, arrival: .typed, bond: .none),
            Rules(kind: .device, secondFactor: .notRequired, isPresenceDue: true),
            Rules(kind: .app, arrival: .inApp),
            Rules(kind: .backchannel, arrival: .pushed, knownTo: []),
            Rules(kind: .backchannel, arrival: .pushed, startsByHand: true),
        ] + Lane.cases(push: [], full: large)

    /// The worlds of a million histories and more.
    private static let large: [Rules] = [
        Rules(changes: 7, minutes: 5, misfortunes: 2),
        Rules(bond: .ping(.seconds(120)), knownTo: [], startsByHand: true, changes: 6, minutes: 7),
    ]

    static let enrolments: [Rules] = [
        Rules(kind: .enrolment, bond: .none),
        Rules(kind: .enrolment, arrival: .linked, bond: .none, startsByHand: true),
    ]

    @Test(arguments: enrolments) func everyEnrolment_keepsTheRules(_ rules: Rules) async {
        let walk = await PhoneLoginWorld.explore(rules)
        #expect(walk.violation == nil)
        #expect(walk.worlds > 4000)
        #expect(walk.reached.contains(.init(phase: .completed)))
        #expect(!walk.reached.contains { [.approved, .signedIn].contains($0.phase) })
    }

    @Test("a link of a device that has no place to return to brings no phone, whatever else happens")
    func linkThatLeadsNowhere() async {
        let walk = await PhoneLoginWorld.explore(Rules(kind: .device, arrival: .linked, leadsBack: false))
        #expect(walk.violation == nil)
        #expect(walk.worlds > 100)
        #expect(walk.reached.allSatisfy { [.requested, .aborted, .failed, .deleted].contains($0.phase) })
    }

    @Test(arguments: worlds) func everyHistory_keepsTheRules(_ rules: Rules) async {
        let walk = await PhoneLoginWorld.explore(rules)
        #expect(walk.violation == nil)
        #expect(walk.worlds > 5000)
    }

    @Test func everyRowOfTheTable_isReached() async {
        var reached: Set<PhoneLoginWorld.Reached> = []
        for rules in [Rules(secondFactor: .required), Rules(bond: .none, startsByHand: true)] {
            reached.formUnion(await PhoneLoginWorld.explore(rules).reached)
        }
        #expect(reached == PhoneLoginWorld.table)
    }

    /// Which broken rule is noticed in which world.
    static let mutants: [(PhoneLoginMutation, Rules)] = [
        (.finalIsReopened, Rules()), (.contestedIsRefusedOnly, Rules()), (.contestedTakesOver, Rules()),
        (.wrongNumberHasASecondTry, Rules()), (.wrongNumberPasses, Rules()), (.numberIsOptional, Rules()),
        (.touchSuffices, Rules(arrival: .linked)), (.accountMoves, Rules()), (.collectsAgain, Rules()),
        (.collectsLate, Rules()), (.inputHasNoEnd, Rules()), (.activeTimesOut, Rules()), (.retriesCount, Rules()),
        (.parentEndIsIgnored, Rules()), (.oneShotIsLoggedOut, Rules(bond: .none)), (.clockIsIgnored, Rules()),
        (.silenceIsIgnored, Rules(bond: .ping(.seconds(120)), changes: 4, minutes: 6)),
        (.deletionIsForgotten, Rules()), (.factorsHaveNoEnd, Rules(secondFactor: .required)),
        (.wrongFactorPasses, Rules(secondFactor: .required)), (.strangerConfirms, Rules()),
        (.activeCannotBeStopped, Rules()), (.linkIsPolled, Rules(arrival: .linked)),
        (.linkIsPolled, Rules(kind: .device, arrival: .linked)), (.returnedElsewhere, Rules(arrival: .linked)),
        (.linkLeadsNowhere, Rules(kind: .device, arrival: .linked, leadsBack: false)), (.endIsSilent, Rules()),
        (.numberIsNotSigned, Rules(isPresenceDue: true, skipsConfirmation: true)),
        (.endedPhoneActs, Rules()), (.replacedPhoneIsLost, Rules()),
        (.unknownDeviceSuffices, Rules(knownTo: [])), (.unknownDeviceSuffices, Rules(knownTo: [1])),
        (.numberComesEarly, Rules(startsByHand: true)),
        (.secretIsIgnored, enrolments[0]), (.enrolsWithoutFactor, enrolments[0]),
        (.enrolsWithoutConsent, enrolments[0]),
        (.anotherUserIsPushed, Rules(kind: .backchannel, arrival: .pushed)),
    ]

    @Test(arguments: mutants.indices) func brokenRule_isNoticed(index: Int) async {
        let (mutation, rules) = Self.mutants[index]
        #expect(await PhoneLoginWorld.explore(rules, mutation).violation != nil, "\(mutation) must be noticed")
    }

    @Test func everyMutation_isTried() { #expect(Set(Self.mutants.map(\.0)) == Set(PhoneLoginMutation.allCases)) }

    /// Worlds with a second client and a reload in one browser.
    static let browsers: [BrowserWorld.Rules] =
        [
            BrowserWorld.Rules(),
            BrowserWorld.Rules(asks: 1, ends: 2),
            BrowserWorld.Rules(bond: .none),
            BrowserWorld.Rules(isOlder: true),
            BrowserWorld.Rules(bond: .none, isOlder: true),
            BrowserWorld.Rules(bond: .ping(.seconds(120)), asks: 1, minutes: 4),
        ] + Lane.cases(push: [], full: largeBrowsers)

    private static let largeBrowsers = [
        BrowserWorld.Rules(ends: 2), BrowserWorld.Rules(isOlder: true, ends: 2),
    ]

    @Test(arguments: browsers) func everyBrowserThatAPhoneLetIn_staysWithThePhone(_ rules: BrowserWorld.Rules) async {
        let walk = await BrowserWorld.explore(rules)
        #expect(walk.violation == nil)
        #expect(walk.worlds > 100)
    }

    /// Which broken rule of a browser is noticed in which world.
    static let browserMutants: [(BrowserMutation, BrowserWorld.Rules)] = [
        (.phoneIsForgotten, .init()), (.bondIsNotInherited, .init()), (.probationIsNotInherited, .init()),
        (.scopeIsNotInherited, .init(bond: .none)), (.passwordInherits, .init()),
        (.phoneRenewsPresence, .init(isOlder: true)), (.endSparesOthers, .init()), (.endSparesBrowser, .init()),
        (.logoutEndsOthers, .init()), (.adminSparesOthers, .init()), (.loginEndsWithFirst, .init()),
        (.oneShotIsFinal, .init(bond: .none)), (.reportMovesOneShot, .init(bond: .none)), (.linkIsDeaf, .init()),
        (.endedPhoneAnswers, .init(isOlder: true)), (.othersAreNotMoved, .init()),
        (.silenceIsIgnored, .init(bond: .ping(.seconds(120)), asks: 1, minutes: 4)),
    ]

    @Test(arguments: browserMutants.indices) func brokenRuleOfABrowser_isNoticed(index: Int) async {
        let (mutation, rules) = Self.browserMutants[index]
        #expect(await BrowserWorld.explore(rules, mutation).violation != nil, "\(mutation) must be noticed")
    }

    @Test func everyMutationOfABrowser_isTried() {
        #expect(Set(Self.browserMutants.map(\.0)) == Set(BrowserMutation.allCases))
    }
}
