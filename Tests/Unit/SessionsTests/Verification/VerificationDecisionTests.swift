import Testing

@testable import Sessions

/// Every order of a few acts on one mailbox by its owner, by a stranger and by the clock, and what holds after each of them.
@Suite struct VerificationDecisionTests {
    /// The askers: the owner of the mailbox in a known browser, and a stranger.
    enum Asker: Int, CaseIterable { case owner, stranger }

    /// What happens to a verification, in any order.
    enum Act: Hashable, CaseIterable {
        case ask(Asker)
        case typeWrong(Asker)
        /// The owner types the code of the newest mail, in the own browser.
        case typeMailed
        /// The owner presses the link of the newest mail, in the own browser, or a scanner does in another one.
        case press, scan
        case use(Asker)
        case cancel
        case wait(seconds: Int64)

        static var allCases: [Act] {
            Asker.allCases.flatMap { [.ask($0), .typeWrong($0), .use($0)] }
                + [
                    .typeMailed, .press, .scan, .cancel, .wait(seconds: 60), .wait(seconds: 600),
                    .wait(seconds: 86_400),
                ]
        }
    }

    /// The rows, and what the mailbox has got.
    struct World: Hashable {
        static let start = Instant(secondsSinceEpoch: 1_000_000)
        var policy = VerificationPolicy()
        let purpose: Verification.Purpose
        var now = start
        var rows: [Verification] = []
        var budget = MailboxBudget(mailbox: [1], since: start)
        /// The rows of the mails, in order.
        var mailed: [Identifier<Verification>] = []
        var mailsOfStranger = 0
        var guessesOfStranger = 0
        var uses: [Identifier<Verification>: Int] = [:]
        /// The rows that their asker proved without what only the mailbox has.
        var isStolen = false

        init(_ purpose: Verification.Purpose, mails: Int, codes: Int) {
            self.purpose = purpose
            (policy.mailsPerDay, policy.wrongCodesPerDay) = (mails, codes)
        }

        private static func digest(_ asker: Asker) -> [UInt8] { [UInt8(asker.rawValue)] }

        private func open(_ asker: Asker) -> Int? {
            rows.firstIndex { $0.asker == Self.digest(asker) && $0.endedAt == nil }
        }

        private func row(of id: Identifier<Verification>) -> Int? { rows.firstIndex { $0.id == id } }

        mutating func act(_ act: Act) {
            let day = budget.since
            switch act {
            case .wait(let seconds): now = now + .seconds(seconds)
            case .ask(let asker): ask(asker)
            case .typeWrong(let asker): type(asker, isRight: false)
            case .typeMailed:
                guard let id = mailed.last, let own = open(.owner) else { break }
                type(.owner, isRight: rows[own].id == id)
            case .press, .scan:
                guard let id = mailed.last, let place = row(of: id) else { break }
                let isOwn = act == .press && rows[place].asker == Self.digest(.owner)
                let before = rows[place].provenAt
                let decision = VerificationPolicy.follow(&rows[place], isOwn: isOwn, at: now)
                if decision == .proven, before == nil, !isOwn, purpose != .reset { isStolen = true }
            case .use(let asker):
                guard let place = open(asker), rows[place].isUsable(at: now) else { break }
                rows[place].endedAt = now
                uses[rows[place].id, default: 0] += 1
            case .cancel:
                guard let id = mailed.last, let place = row(of: id), rows[place].endedAt == nil else { break }
                rows[place].endedAt = now
                if purpose != .email { budget.rest(at: now) }
            }
            if budget.since != day {
                mailsOfStranger = min(mailsOfStranger, budget.mails)
                guessesOfStranger = min(guessesOfStranger, budget.wrongCodes)
            }
        }

        private mutating func ask(_ asker: Asker) {
            let place = open(asker)
            var row = place.map { rows[$0] }
            let day = budget.since
            let decision = policy.request(&row, &budget, isKnown: asker == .owner, at: now)
            if budget.since != day { mailsOfStranger = 0 }
            if let place, let row { rows[place] = row }
            switch decision {
            case .goesOn(let isMailed):
                if isMailed, let row { mailed.append(row.id) }
                mailsOfStranger += isMailed && asker == .stranger ? 1 : 0
            case .begins(let isMailed):
                let id = Identifier<Verification>(words: (high: 0, low: UInt64(rows.count + 1)))
                rows.append(
                    Verification(
                        id: id, purpose: purpose, mailbox: [1], email: "a@example.org", asker: Self.digest(asker),
                        sessionID: asker == .owner ? Identifier(words: (high: 0, low: 1)) : nil, language: "en",
                        keyID: 0, createdAt: now, codeUntil: now + VerificationPolicy.codeLifetime,
                        linkUntil: VerificationPolicy.linkEnd(of: purpose, at: now), mails: isMailed ? 1 : 0,
                        mailedAt: isMailed ? now : nil))
                if isMailed { mailed.append(id) }
                mailsOfStranger += isMailed && asker == .stranger ? 1 : 0
            }
        }

        private mutating func type(_ asker: Asker, isRight: Bool) {
            guard let place = open(asker) else { return }
            let isMailed = rows[place].isMailed
            let decision = policy.check(&rows[place], &budget, isRight: isRight, at: now)
            if case .wrong = decision, asker == .stranger, isMailed { guessesOfStranger += 1 }
            if decision == .proven, !isRight { isStolen = true }
        }

        /// The rule that is broken; nil: none.
        func broken(_ bounds: VerificationPolicy) -> String? {
            if isStolen { return "a mailbox is proven without its mail" }
            if rows.contains(where: { $0.asker == Self.digest(.stranger) && $0.provenAt != nil }), purpose != .reset {
                return "a stranger's row is proven"
            }
            if rows.contains(where: { $0.wrongCodes > VerificationPolicy.wrongCodesMax }) { return "a sixth try" }
            if uses.values.contains(where: { $0 > 1 }) { return "a proof is used twice" }
            if mailsOfStranger > bounds.mailsPerDay { return "a mailbox is bombed" }
            if guessesOfStranger > bounds.wrongCodesPerDay { return "strangers guess too often" }
            let open = rows.filter { $0.endedAt == nil }
            if Set(open.map(\.asker)).count != open.count { return "an asker has two open rows" }
            for row in rows {
                if row.endedAt == nil, row.wrongCodes >= VerificationPolicy.wrongCodesMax {
                    return "tried out and open"
                }
                if let provenAt = row.provenAt, provenAt >= row.linkUntil { return "proven too late" }
                if row.provenAt != nil, row.mails == 0 { return "proven without a mail" }
            }
            return nil
        }
    }

    /// The first rule that a sequence of acts breaks; nil: none of them up to that depth does.
    private static func broken(_ first: World, depth: Int, bounds: VerificationPolicy) -> String? {
        var (known, border): (Set<World>, Set<World>) = ([first], [first])
        for _ in 0..<depth {
            var next: Set<World> = []
            for world in border {
                for act in Act.allCases {
                    var changed = world
                    changed.act(act)
                    if let rule = changed.broken(bounds) { return rule }
                    if known.insert(changed).inserted { next.insert(changed) }
                }
            }
            border = next
        }
        return nil
    }

    @Test(
        "no order of acts proves a mailbox without its mail, nor uses a proof twice",
        arguments: Verification.Purpose.allCases)
    func everyOrder(_ purpose: Verification.Purpose) {
        let world = World(purpose, mails: 1, codes: 2)
        #expect(Self.broken(world, depth: 4, bounds: world.policy) == nil)
    }

    @Test("a rule that is taken away is missed")
    func mutations() {
        var loose = World(.signUp, mails: 1, codes: 2)
        let bounds = loose.policy
        loose.policy.wrongCodesPerDay = .max
        #expect(Self.broken(loose, depth: 4, bounds: bounds) == "strangers guess too often")
        var bombed = World(.signUp, mails: 1, codes: 2)
        bombed.policy.mailsPerDay = 100
        #expect(Self.broken(bombed, depth: 4, bounds: bounds) == "a mailbox is bombed")
    }

    @Test("a cancelled mailbox rests for an hour, and the counts of its day do not begin anew after that")
    func rest() {
        let policy = VerificationPolicy()
        var budget = MailboxBudget(
            mailbox: [1], since: World.start, mails: policy.mailsPerDay - 1, wrongCodes: policy.wrongCodesPerDay - 1)
        budget.rest(at: World.start)
        func ask(after seconds: Int64) -> Bool {
            var open: Verification?
            let now = World.start + .seconds(seconds)
            return policy.request(&open, &budget, isKnown: false, at: now) == .begins(isMailed: true)
        }
        #expect(!ask(after: 3599))
        #expect(ask(after: 3600) && !ask(after: 3601))
        #expect(budget.mails == policy.mailsPerDay && budget.wrongCodes == policy.wrongCodesPerDay - 1)
        #expect(ask(after: 3600 + 86_400))
    }

    @Test("wrong codes of a change count against the mailbox, although a session asks", arguments: [false, true])
    func strangersChange(_ isChange: Bool) {
        let policy = VerificationPolicy()
        var budget = MailboxBudget(mailbox: [1], since: World.start, wrongCodes: policy.wrongCodesPerDay)
        var row = Verification(
            id: Identifier(words: (high: 0, low: 1)), purpose: isChange ? .email : .signIn, mailbox: [1],
            email: "a@example.org", sessionID: Identifier(words: (high: 0, low: 1)), language: "en", keyID: 0,
            createdAt: World.start, codeUntil: World.start + .seconds(600), linkUntil: World.start + .seconds(600),
            mails: 1, mailedAt: World.start)
        let decision = policy.check(&row, &budget, isRight: true, at: World.start)
        #expect(decision == (isChange ? .tooMany(retryAfter: .seconds(86_400)) : .proven))
    }

    @Test("the last second of a code is good, the next one is not, and the link of a login ends with it")
    func ends() {
        var world = World(.signIn, mails: 9, codes: 50)
        world.act(.ask(.owner))
        world.act(.wait(seconds: 599))
        var early = world
        early.act(.typeMailed)
        #expect(early.rows[0].provenAt != nil)
        world.act(.wait(seconds: 1))
        for act in [Act.typeMailed, .press] {
            var late = world
            late.act(act)
            #expect(late.rows[0].provenAt == nil)
        }
    }
}
