import Testing

@testable import Sessions

/// The discipline of the passwords that wait to be hashed.
@Suite struct PasswordHashQueueTests {
    private typealias Requester = PasswordHasher.Requester
    private static let anna = Identifier<User>(words: (1, 1))
    private static let bert = Identifier<User>(words: (2, 2))
    private static let now = ContinuousClock.now
    private static let clean = login("198.51.100.1")

    private static func login(
        _ address: String, client: String = "mobile", _ evidence: Requester.Evidence = .none
    ) -> Requester {
        Requester(Origin(actor: Origin.userActor, remoteAddress: address), clientID: client, evidence)
    }

    /// A queue, filled in that order; the network 192.0.2.0/24 has sent a wrong password.
    private func queue(_ waiting: [(String, Requester)], pendingMax: Int = 64) -> PasswordHashQueue<String> {
        var queue = PasswordHashQueue<String>(pendingMax: pendingMax)
        queue.noteWrong(from: Self.login("192.0.2.1"), at: Self.now)
        for (name, requester) in waiting { _ = queue.admit(name, of: requester, at: Self.now) }
        return queue
    }

    private func many(_ count: Int, _ name: String, _ requester: Requester) -> [(String, Requester)] {
        (0..<count).map { ("\(name) \($0)", requester) }
    }

    private func order(_ queue: PasswordHashQueue<String>) -> [String] {
        var queue = queue
        var order: [String] = []
        while let (name, place) = queue.next() {
            queue.taken(by: place.priority)
            order.append(name)
        }
        return order
    }

    private func priority(
        of requester: Requester, in queue: PasswordHashQueue<String>, after seconds: Int64 = 0
    ) -> PasswordHasher.Priority? {
        var queue = queue
        guard case .waiting(let priority, _) = queue.admit("x", of: requester, at: Self.now + .seconds(seconds)) else {
            return nil
        }
        return priority
    }

    // MARK: The four queues

    @Test("A secret comes first, then known devices, then networks without a wrong password, then the others")
    func priorities() {
        let secret = Self.login("192.0.2.1", .secret(of: Self.anna))
        let known = Self.login("192.0.2.1", .knownDevice(of: Self.anna))
        let waiting = [
            ("other", Self.login("192.0.2.1")), ("clean", Self.clean), ("known", known), ("secret", secret),
        ]
        #expect(order(queue(waiting)) == ["secret", "known", "clean", "other"])
    }

    @Test("Each queue is served after three turns of those before it")
    func shares() {
        var all: [(String, Requester)] = []
        for number in 0..<120 {
            let user = Identifier<User>(words: (9, UInt64(number)))
            all.append(("u", Self.login("203.0.113.1", .secret(of: user))))
            all.append(("k", Self.login("203.0.113.1", .knownDevice(of: user))))
            all.append(("c", Self.clean))
            all.append(("o", Self.login("192.0.2.1")))
        }
        let first = order(queue(all, pendingMax: 1000)).prefix(128)
        let counts = ["u", "k", "c", "o"].map { name in first.count { $0 == name } }
        #expect(counts == [96, 24, 6, 2])
        #expect(first.prefix(16).joined() == "uuukuuukuuukuuuc")
    }

    @Test("A password that comes too late takes no turn")
    func late() {
        let secret = Self.login("192.0.2.1", .secret(of: Self.anna))
        var queue = queue(many(4, "secret", secret) + many(2, "login", Self.clean))
        var order: [String] = []
        while let (name, place) = queue.next() {
            if place.priority != .users || name == "secret 3" { queue.taken(by: place.priority) }
            order.append(name)
        }
        #expect(order == ["secret 0", "secret 1", "secret 2", "secret 3", "login 0", "login 1"])
    }

    @Test("A flood in one queue leaves the room of the others")
    func room() {
        let flood = many(9, "login", Self.clean)
        var queue = queue(flood, pendingMax: 8)
        #expect(queue.pending(.cleanNetworks) == 8)
        for (index, evidence) in [Requester.Evidence.secret(of: Self.anna), .knownDevice(of: Self.anna)].enumerated() {
            guard
                case .waiting(let priority, displaced: nil) = queue.admit(
                    "x", of: Self.login("198.51.100.1", evidence), at: Self.now)
            else { return #expect(Bool(false), "no room") }
            #expect(priority == [.users, .knownDevices][index])
        }
        #expect(priority(of: Self.login("192.0.2.1"), in: queue) == .otherNetworks)
    }

    @Test("Of one user four passwords with a secret have a place, and no fifth")
    func usersOwnRoom() {
        let secret = Self.login("192.0.2.1", .secret(of: Self.anna))
        var queue = queue(many(5, "secret", secret))
        #expect(queue.pending(.users) == 4)
        #expect(priority(of: secret, in: queue) == nil)
        #expect(priority(of: Self.login("192.0.2.1", .secret(of: Self.bert)), in: queue) == .users)
        let first = queue.next()
        #expect(queue.pending(.users) == 4)
        if let first { queue.leave(first.place) }
        #expect(priority(of: secret, in: queue) == .users)
    }

    @Test("Of one user four passwords from known devices come first; more wait with their network")
    func knownDevicesOfOneUser() {
        let known = Self.login("192.0.2.1", .knownDevice(of: Self.anna))
        let queue = queue(many(4, "known", known))
        #expect(queue.pending(.knownDevices) == 4)
        #expect(priority(of: known, in: queue) == .otherNetworks)
        #expect(priority(of: Self.login("198.51.100.1", .knownDevice(of: Self.anna)), in: queue) == .cleanNetworks)
        #expect(priority(of: Self.login("192.0.2.1", .knownDevice(of: Self.bert)), in: queue) == .knownDevices)
    }

    // MARK: Turns

    @Test("The networks take turns, whatever number each sends")
    func networks() {
        let waiting =
            many(4, "a", Self.login("198.51.100.1")) + many(2, "b", Self.login("203.0.113.1"))
            + many(2, "c", Self.login("2001:db8:0:100::1"))
        #expect(order(queue(waiting)) == ["a 0", "b 0", "c 0", "a 1", "b 1", "c 1", "a 2", "a 3"])
    }

    @Test("Beside a secret and from known devices the users take turns, from whatever networks")
    func users() {
        for evidence in [Requester.Evidence.secret, Requester.Evidence.knownDevice] {
            let waiting =
                (0..<3).map { ("a \($0)", Self.login("10.0.\($0).1", evidence(Self.anna))) }
                + (0..<2).map { ("b \($0)", Self.login("10.0.9.1", evidence(Self.bert))) }
            #expect(order(queue(waiting)) == ["a 0", "b 0", "a 1", "b 1", "a 2"])
        }
    }

    @Test("A network is a /24 of IPv4 and a /56 of IPv6")
    func networkSizes() {
        func sender(_ address: String) -> Requester.Sender { Self.login(address).sender }
        #expect(sender("198.51.100.1") == sender("198.51.100.254"))
        #expect(sender("198.51.100.1") != sender("198.51.101.1"))
        #expect(sender("::ffff:198.51.100.9") == sender("198.51.100.1"))
        #expect(sender("2001:db8:0:1ff::1") == sender("2001:db8:0:100:ffff::9"))
        #expect(sender("2001:db8:0:1ff::1") != sender("2001:db8:0:200::1"))
        #expect(sender("unknown") != sender("unknown2"))
    }

    @Test("The clients in a network take turns")
    func clients() {
        let waiting =
            many(3, "a", Self.login("198.51.100.1", client: "a"))
            + many(2, "b", Self.login("198.51.100.2", client: "b"))
        #expect(order(queue(waiting)) == ["a 0", "b 0", "a 1", "b 1", "a 2"])
    }

    @Test("An authenticated client is a sender of its own, whatever its address")
    func provenClient() {
        let backend = Requester(Origin(actor: "client:shop", remoteAddress: "198.51.100.1"), clientID: "shop")
        #expect(backend.sender != Self.login("198.51.100.1").sender)
        #expect(
            order(queue(many(3, "a", Self.login("198.51.100.1")) + many(2, "b", backend)))
                == ["a 0", "b 0", "a 1", "b 1", "a 2"])
    }

    @Test("A network with one password comes before those with several, the newest first, in every second turn")
    func oneBeforeSeveral() {
        let waiting =
            many(2, "a", Self.login("198.51.100.1")) + many(2, "b", Self.login("203.0.113.1"))
            + [("c", Self.login("10.0.0.1")), ("d", Self.login("10.0.1.1")), ("e", Self.login("10.0.2.1"))]
        #expect(order(queue(waiting)) == ["e", "a 0", "d", "b 0", "c", "a 1", "b 1"])
    }

    // MARK: A full queue

    @Test("In a full queue the network with the most loses its oldest to the newcomer")
    func displaced() {
        var queue = queue(
            many(3, "a", Self.login("198.51.100.1")) + many(5, "b", Self.login("203.0.113.1")), pendingMax: 8)
        for (number, expected) in ["b 0", "b 1", "a 0"].enumerated() {
            let newcomer = Self.login("10.0.\(number).1")
            guard case .waiting(.cleanNetworks, displaced: let lost) = queue.admit("n", of: newcomer, at: Self.now)
            else { return #expect(Bool(false), "no place") }
            #expect(lost == expected)
            #expect(queue.pending(.cleanNetworks) == 8)
        }
    }

    @Test("In a full queue of many networks the oldest password loses its place")
    func displacedOfMany() {
        var queue = queue((0..<8).map { ("\($0)", Self.login("10.0.\($0).1")) }, pendingMax: 8)
        guard case .waiting(_, displaced: let lost) = queue.admit("n", of: Self.clean, at: Self.now) else {
            return #expect(Bool(false), "no place")
        }
        #expect(lost == "0")
        #expect(order(queue) == ["n", "7", "6", "5", "4", "3", "2", "1"])
    }

    @Test("In the network with the most, the client with the most loses its oldest")
    func displacedClient() {
        var queue = queue(
            many(1, "a", Self.login("198.51.100.1", client: "a"))
                + many(3, "b", Self.login("198.51.100.1", client: "b")), pendingMax: 4)
        guard case .waiting(_, displaced: let lost) = queue.admit("n", of: Self.login("10.0.0.1"), at: Self.now) else {
            return #expect(Bool(false), "no place")
        }
        #expect(lost == "b 0")
    }

    @Test("A newcomer finds no place while all that have one are being hashed")
    func allHashed() {
        var queue = queue(many(2, "a", Self.clean), pendingMax: 2)
        _ = queue.next()
        let last = queue.next()
        guard case .refused(.cleanNetworks) = queue.admit("n", of: Self.login("10.0.0.1"), at: Self.now) else {
            return #expect(Bool(false), "there is a place")
        }
        if let last { queue.leave(last.place) }
        #expect(priority(of: Self.login("10.0.0.1"), in: queue) == .cleanNetworks)
    }

    @Test("A displaced password of a known device frees the place of its user")
    func displacedUser() {
        var queue = queue(many(4, "known", Self.login("198.51.100.1", .knownDevice(of: Self.anna))), pendingMax: 4)
        _ = queue.admit("bert", of: Self.login("10.0.0.1", .knownDevice(of: Self.bert)), at: Self.now)
        #expect(priority(of: Self.login("10.0.0.1", .knownDevice(of: Self.anna)), in: queue) == .knownDevices)
    }

    // MARK: Wrong passwords

    @Test("A wrong password counts for the network, for ten minutes")
    func wrongPasswords() {
        let queue = queue([])
        #expect(priority(of: Self.login("192.0.2.77"), in: queue, after: 599) == .otherNetworks)
        #expect(priority(of: Self.login("192.0.2.77"), in: queue, after: 600) == .cleanNetworks)
        #expect(priority(of: Self.login("192.0.3.1"), in: queue) == .cleanNetworks)
    }

    @Test("A wrong password beside a session's token or by an authenticated client counts for no network")
    func wrongPasswordsThatDoNotCount() {
        var queue = queue([])
        queue.noteWrong(from: Self.login("198.51.100.1", .secret(of: Self.anna)), at: Self.now)
        let backend = Requester(Origin(actor: "client:shop", remoteAddress: "198.51.100.1"), clientID: "shop")
        queue.noteWrong(from: backend, at: Self.now)
        #expect(priority(of: Self.clean, in: queue) == .cleanNetworks)
        #expect(priority(of: backend, in: queue) == .cleanNetworks)
        queue.noteWrong(from: Self.login("198.51.100.1", .knownDevice(of: Self.anna)), at: Self.now)
        #expect(priority(of: Self.clean, in: queue) == .otherNetworks)
    }

    @Test("The memory of wrong passwords is bounded, and forgets the oldest")
    func boundedMemory() {
        var wrong = RecentWrongPasswords()
        func sender(_ number: Int) -> Requester.Sender { .actor("\(number)") }
        for number in 0..<20_000 { wrong.note(sender(number), at: Self.now + .milliseconds(number)) }
        let now = Self.now + .seconds(20)
        let kept = (0..<20_000).filter { wrong.contains(sender($0), at: now) }
        #expect((14_000...2048 * 8).contains(kept.count))
        #expect(kept.contains(19_999))
        #expect(kept.count { $0 < 10_000 } < kept.count { $0 >= 10_000 })
    }
}
