public import Sessions

/// A random history of phones and of the devices that they let in, played to the real domain on a real store and to a model of a
/// few lines at once: what a session depends on, and why it ended. The first difference ends it.
public struct BondHistory {
    private static let origin = Origin(actor: "test")
    private static let idle: Int64 = 14 * 86_400

    /// A session, as the model has it.
    private struct Place {
        let id: Identifier<Session>
        let user: Int
        let device: String
        var phone: Int?
        var reason: EndReason?
        /// When it was started or renewed last.
        var renewedAt: Int64
        let refreshToken: String
        /// The newest: it lasts for two weeks, and its session longer.
        var accessToken: String
        /// Whether a phone let it in, and how its login stands.
        var phase: PhoneLogin.Phase?
    }

    private let services: Services
    private let admin: Administration
    private let store: any Store
    private let clock: MovableClock
    private var random: SeededGenerator
    private var places: [Place] = []
    private var users: [Identifier<User>] = []

    /// A history on `store`, which is empty and has the same clock.
    public init(seed: UInt64, store: any Store, clock: MovableClock) async throws {
        (random, self.store, self.clock) = (SeededGenerator(seed: seed), store, clock)
        let domain = try await DomainFixture(store, clock.wallClock)
        (services, admin) = (domain.services, domain.admin)
        for id in ["mobile", "tv"] {
            _ = try await admin.createClient(id: id, by: Self.origin) { client in
                client.page.minimumBond = .none
                client.grantTypes.append(.deviceCode)
                return nil
            }
        }
        for index in 0..<2 {
            users.append(
                try await admin.createUser(
                    username: "user-\(index)", password: "three odd words 0", profile: .init(), offlineSessionMax: nil,
                    by: Self.origin
                ).id)
        }
    }

    /// Plays `count` operations, and compares everything after each.
    public mutating func play(_ count: Int) async throws {
        for step in 0..<count {
            do {
                try await playOne()
                try await compare()
            } catch { throw RandomHistory.Difference(description: "step \(step): \(error)") }
        }
    }

    private mutating func playOne() async throws {
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<3: try await logIn()
        case 3..<8: try await letIn()
        case 8..<10: try await refresh()
        case 10: try await logOut()
        case 11: try await endByAdmin()
        case 12: try await stop()
        case 13: try await endDevice()
        case 14: try await revoke()
        default: clock.advance(by: .seconds(Int64.random(in: 1...6, using: &random) * 86_400))
        }
    }

    private var now: Int64 { clock.now.secondsSinceEpoch }

    /// Those of the living sessions that fit.
    private func living(_ fits: (Place) -> Bool = { _ in true }) -> [Int] {
        places.indices.filter { places[$0].reason == nil && reasonNow($0) == nil && fits(places[$0]) }
    }

    // MARK: Operations

    private mutating func logIn() async throws {
        let user = Int.random(in: 0..<users.count, using: &random)
        let device = ["phone-1", "phone-2"].randomElement(using: &random) ?? ""
        let grant = try await services.login.mintSession(
            SessionRequest(clientID: "mobile", device: Device(id: device)), for: .id(users[user]), from: Self.origin)
        start(grant, user: user, device: device, phone: nil, phase: nil)
    }

    private mutating func letIn() async throws {
        guard let phone = living({ $0.phase == nil }).randomElement(using: &random) else { return }
        let session = try await services.accessTokens.authenticate(places[phone].accessToken, from: Self.origin)
        let isBonded = Int.random(in: 0..<4, using: &random) > 0
        var opening = PhoneLoginService.Opening(.device, clientID: "tv")
        opening.bond = isBonded ? .session : .none
        let opened = try await services.phoneLogins.open(opening, from: Self.origin)
        let code = services.phoneLogins.link(of: opened.login, .picture)
        let claim = PhoneLoginService.ClaimRequest(code: code, source: .camera, wishes: .init())
        let claimed = try await services.phoneLogins.claim(claim, by: session, key: nil, from: Self.origin)
        _ = try await services.phoneLogins.perform(
            .confirm(number: claimed.number), on: claimed.id, by: session, key: nil, from: Self.origin)
        _ = try await services.phoneLogins.perform(
            .proveFactor(PhoneFactor(isValid: true)), on: claimed.id, by: session, key: nil, from: Self.origin)
        let device = ["tv-1", "tv-2", "tv-3"].randomElement(using: &random) ?? ""
        let grant = try await services.phoneLogins.collect(
            opened.secret ?? "", SessionRequest(clientID: "tv", device: Device(id: device)), from: Self.origin)
        start(
            grant, user: places[phone].user, device: device, phone: isBonded ? phone : nil,
            phase: isBonded ? .signedIn : .completed)
    }

    private mutating func refresh() async throws {
        guard let index = places.indices.randomElement(using: &random) else { return }
        let expected = reasonNow(index)
        var refusal: ServiceError?
        do throws(ServiceError) {
            let grant = try await services.refresh.refresh(
                RefreshAttempt(token: places[index].refreshToken, clientID: nil), from: Self.origin)
            places[index].accessToken = grant.accessToken
        } catch { refusal = error }
        guard refusal == expected.map({ .refused(.ended($0)) }) else {
            throw RandomHistory.Difference(
                description:
                    "a refresh is answered by \(String(describing: refusal)), not \(String(describing: expected))")
        }
        if let expected { end(index, expected) } else { places[index].renewedAt = now }
    }

    private mutating func logOut() async throws {
        guard let index = living().randomElement(using: &random) else { return }
        _ = try await services.logout.end(places[index].id, .loggedOut, from: Self.origin)
        end(index, .loggedOut)
    }

    private mutating func endByAdmin() async throws {
        guard let index = living().randomElement(using: &random) else { return }
        try await admin.endSession(places[index].id, by: Self.origin)
        end(index, .revokedByAdmin)
    }

    private mutating func stop() async throws {
        guard let index = living({ $0.phone != nil }).randomElement(using: &random),
            let phone = places[index].phone, reasonNow(phone) == nil
        else { return }
        let session = try await services.accessTokens.authenticate(places[phone].accessToken, from: Self.origin)
        let isReport = Bool.random(using: &random)
        _ = try await services.phoneLogins.perform(
            .stop(isReport: isReport), on: places[index].id, by: session, key: nil, from: Self.origin)
        end(index, isReport ? .notMe : .revokedByUser)
    }

    private mutating func endDevice() async throws {
        let user = Int.random(in: 0..<users.count, using: &random)
        let device = ["phone-1", "phone-2", "tv-1", "tv-2"].randomElement(using: &random) ?? ""
        _ = try await services.accounts.endSessions(of: users[user], onDevice: device, from: Self.origin)
        for index in places.indices where places[index].user == user && places[index].device == device {
            end(index, .revokedByUser)
        }
    }

    private mutating func revoke() async throws {
        guard Int.random(in: 0..<4, using: &random) == 0 else { return }
        let user = Int.random(in: 0..<users.count, using: &random)
        _ = try await admin.revokeSessions(of: .id(users[user]), by: Self.origin)
        // All have the reason of the change, so that the order does not matter.
        for index in places.indices where places[index].user == user && places[index].reason == nil {
            places[index].reason = .revokedByAdmin
            if places[index].phase == .signedIn { places[index].phase = .signedOut }
        }
    }

    // MARK: The model

    private mutating func start(
        _ grant: TokenGrant, user: Int, device: String, phone: Int?, phase: PhoneLogin.Phase?
    ) {
        let earlier = places.indices.filter {
            places[$0].user == user && places[$0].device == device && places[$0].reason == nil
        }
        places.append(
            Place(
                id: grant.session.id, user: user, device: device, phone: phone, reason: nil, renewedAt: now,
                refreshToken: grant.refreshToken ?? "", accessToken: grant.accessToken, phase: phase))
        for index in earlier {
            places[index].reason = .replaced
            if places[index].phase == .signedIn { places[index].phase = .signedOut }
            for child in places.indices where places[child].phone == index && places[child].reason == nil {
                places[child].phone = places.count - 1
            }
        }
    }

    /// Records an end, and what follows from it.
    private mutating func end(_ index: Int, _ reason: EndReason) {
        guard places[index].reason == nil else { return }
        places[index].reason = reason
        if places[index].phase == .signedIn { places[index].phase = .signedOut }
        if reason == .idleExpired { return }
        for child in places.indices where places[child].phone == index { end(child, .parentEnded) }
    }

    /// Why a session has ended now, by a recorded end or by the clock.
    private func reasonNow(_ index: Int) -> EndReason? {
        let place = places[index]
        if let reason = place.reason { return reason }
        if let phone = place.phone, reasonNow(phone) != nil { return .parentEnded }
        return now >= place.renewedAt + Self.idle ? .idleExpired : nil
    }

    private mutating func compare() async throws {
        for index in places.indices.suffix(24) {
            let record = try await store.wholeSession(places[index].id)
            let reason = record.flatMap { services.context.policy.ending(of: $0, at: clock.now)?.reason }
            guard reason == reasonNow(index) else {
                throw RandomHistory.Difference(
                    description:
                        "session \(index) ended by \(String(describing: reason)), not \(String(describing: reasonNow(index)))"
                )
            }
            guard let phase = places[index].phase else { continue }
            // The clock of the phone ends the login: a look shows it, and the clean-up after the look writes it.
            let found = try await services.phoneLogins.login(places[index].id)
            _ = try await services.phoneLogins.sweep()
            if let phone = places[index].phone, reasonNow(phone) != nil { end(index, .parentEnded) }
            let expected = places[index].phase ?? phase
            guard found.state.phase == expected else {
                throw RandomHistory.Difference(
                    description: "login \(index) is \(found.state.phase), not \(expected)")
            }
        }
    }
}
