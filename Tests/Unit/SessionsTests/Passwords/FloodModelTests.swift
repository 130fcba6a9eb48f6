import Testing

@testable import Sessions

/// A machine that hashes two passwords at a time, 0.3 seconds each, in virtual time: the discipline under floods.
@Suite struct FloodModelTests {
    private typealias Requester = PasswordHasher.Requester

    /// A password that comes.
    private struct Arrival {
        let milliseconds: Int
        let requester: Requester
        /// The name of right logins that are counted together; nil: it is wrong.
        var name: String?
        /// Whether the sender sends another one as soon as this one is answered.
        var isRepeated = false
    }

    private static let hash = 300
    private static let width = 2
    private static let seconds = 60
    private static let start = ContinuousClock.now

    private static func login(_ address: String, _ evidence: Requester.Evidence = .none) -> Requester {
        Requester(Origin(actor: Origin.userActor, remoteAddress: address), clientID: "mobile", evidence)
    }

    private static func user(_ number: Int) -> Identifier<User> { Identifier(words: (7, UInt64(number))) }

    /// One right login a second, in turn from a known device in a network of the attacker and from a new device elsewhere.
    private static let right = (1...seconds).map { second in
        second.isMultiple(of: 2)
            ? Arrival(
                milliseconds: second * 1000,
                requester: login("10.0.\(second % 50).9", .knownDevice(of: user(second % 10))), name: "known")
            : Arrival(milliseconds: second * 1000, requester: login("203.0.\(second % 20).1"), name: "new")
    }

    /// How many in a hundred of the right logins of each name succeed within two seconds. No rate limit helps.
    private static func succeeding(_ arrivals: [Arrival]) -> [String: Int] {
        successes(arrivals).mapValues { $0 * 200 / seconds }
    }

    private static func successes(_ arrivals: [Arrival]) -> [String: Int] {
        var queue = PasswordHashQueue<Arrival>(pendingMax: 64)
        var coming = arrivals.sorted { $0.milliseconds < $1.milliseconds }[...]
        var again: [Arrival] = []
        var hashed: [(end: Int, work: Arrival, place: PasswordHashQueue<Arrival>.Place)] = []
        var successes: [String: Int] = [:]
        func answer(_ work: Arrival, at now: Int) {
            guard work.isRepeated, now < Self.seconds * 1000 else { return }
            again.append(Arrival(milliseconds: now + 1, requester: work.requester, isRepeated: true))
        }
        func begin(at now: Int) {
            while hashed.count < width, let (work, place) = queue.next() {
                if now - work.milliseconds > 10_000 {
                    queue.leave(place)
                    answer(work, at: now)
                } else {
                    queue.taken(by: place.priority)
                    hashed.append((now + hash, work, place))
                }
            }
        }
        while true {
            let end = hashed.map(\.end).min() ?? .max
            let sent = min(coming.first?.milliseconds ?? .max, again.first?.milliseconds ?? .max)
            if end == .max, sent == .max { return successes }
            guard sent < end else {
                let index = hashed.firstIndex { $0.end == end } ?? 0
                let (_, work, place) = hashed.remove(at: index)
                queue.leave(place)
                if let name = work.name {
                    if end - work.milliseconds <= 2000 { successes[name, default: 0] += 1 }
                } else {
                    queue.noteWrong(from: work.requester, at: start + .milliseconds(end))
                    answer(work, at: end)
                }
                begin(at: end)
                continue
            }
            let isNew = coming.first?.milliseconds == sent
            let arrival = isNew ? coming.removeFirst() : again.removeFirst()
            let admission = queue.admit(arrival, of: arrival.requester, at: start + .milliseconds(sent))
            switch admission {
            case .refused: answer(arrival, at: sent)
            case .waiting(_, displaced: let displaced): if let displaced { answer(displaced, at: sent) }
            }
            begin(at: sent)
        }
    }

    /// So many wrong passwords a second, each from the requester of its number.
    private static func flood(_ perSecond: Int, _ requester: (Int) -> Requester) -> [Arrival] {
        (0..<perSecond * seconds).map { number in
            Arrival(milliseconds: number * 1000 / perSecond, requester: requester(number))
        }
    }

    @Test("Without a flood all right logins succeed")
    func quiet() { #expect(Self.succeeding(Self.right) == ["known": 100, "new": 100]) }

    @Test("Right logins succeed beside 200 wrong passwords a second from 50 networks")
    func fiftyNetworks() {
        let successes = Self.succeeding(Self.right + Self.flood(200) { Self.login("10.0.\($0 % 50).1") })
        #expect(successes["known", default: 0] >= 95, "\(successes)")
        #expect(successes["new", default: 0] >= 90, "\(successes)")
    }

    @Test("Right logins succeed beside 50 networks that each wait for an answer before the next wrong password")
    func closedLoop() {
        let flood = (0..<50).map { number in
            Arrival(milliseconds: number, requester: Self.login("10.0.\(number).1"), isRepeated: true)
        }
        let successes = Self.succeeding(Self.right + flood)
        #expect(successes["known", default: 0] >= 95, "\(successes)")
        #expect(successes["new", default: 0] >= 90, "\(successes)")
    }

    @Test("Right logins from known devices succeed beside wrong passwords each from another network")
    func everyTimeAnotherNetwork() {
        let flood = Self.flood(200) { number in
            let (high, low) = (String(number / 256, radix: 16), String(number % 256 * 256, radix: 16))
            return Self.login("2001:db8:\(high):\(low)::1")
        }
        let successes = Self.succeeding(Self.right + flood)
        #expect(successes["known", default: 0] >= 95, "\(successes)")
    }

    @Test("Right logins from known devices succeed beside a flood that names a known device of another user")
    func knownDevice() {
        let flood = Self.flood(200) { Self.login("10.0.\($0 % 50).1", .knownDevice(of: Self.user(99))) }
        let successes = Self.succeeding(Self.right + flood)
        #expect(successes["known", default: 0] >= 95, "\(successes)")
    }

    @Test("Right logins succeed beside sessions that send passwords on and on")
    func secrets() {
        let flood = Self.flood(200) { Self.login("10.0.\($0 % 50).1", .secret(of: Self.user(100 + $0 % 20))) }
        let successes = Self.succeeding(Self.right + flood)
        #expect(successes["known", default: 0] >= 95, "\(successes)")
        #expect(successes["new", default: 0] >= 90, "\(successes)")
    }

    @Test("Right logins succeed from networks with a mistyped password")
    func mistyped() {
        let mistyped = (0..<20).map { Arrival(milliseconds: 0, requester: Self.login("203.0.\($0).1")) }
        let successes = Self.succeeding(Self.right + mistyped + Self.flood(200) { Self.login("10.0.\($0 % 50).1") })
        #expect(successes["new", default: 0] >= 90, "\(successes)")
    }
}
