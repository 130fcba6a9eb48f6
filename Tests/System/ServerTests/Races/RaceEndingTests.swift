import Repository
import Sessions
import Synchronization
import Testing

/// Refreshes race with what ends their session. From the moment the ending is acknowledged nothing succeeds that starts
/// later, and what succeeded meanwhile, even if its answer arrives after the acknowledgement, is good for nothing.
@Suite("Races of refreshes and endings", .timeLimit(.minutes(10)))
struct RaceEndingTests {
    struct Plan: Sendable, CustomTestStringConvertible {
        var ending: RaceEnding
        var rounds: Int
        /// Refreshes in each race.
        var width: Int
        var isStrict = false

        var testDescription: String { "\(ending), \(rounds) × \(width)\(isStrict ? ", strict" : "")" }
    }

    static let plans =
        RaceEnding.allCases.map { Plan(ending: $0, rounds: Lane.rounds(push: 200, full: 1000), width: 4) }
        + RaceEnding.allCases.map { Plan(ending: $0, rounds: Lane.rounds(push: 10, full: 20), width: 50) }
        + RaceEnding.allCases.map {
            Plan(ending: $0, rounds: Lane.rounds(push: 10, full: 20), width: 50, isStrict: true)
        }

    /// So many races run at the same time, so that they share commits.
    static let parallelRaces = 25

    @Test("nothing outlives an ending that was acknowledged", arguments: plans)
    func racing(_ plan: Plan) async throws {
        try await RaceFixture.with { stage in
            if plan.isStrict { try await stage.rotateStrictly() }
            var subjects: [RaceSubject] = []
            for start in stride(from: 0, to: plan.rounds, by: Self.parallelRaces) {
                subjects += try await withThrowingTaskGroup(of: RaceSubject.self) { group in
                    for number in start..<min(start + Self.parallelRaces, plan.rounds) {
                        group.addTask { try await RaceSubject(stage, number) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            // From now on a refresh rotates.
            stage.clock.advance(by: RaceFixture.rotationInterval)
            var (succeeded, refused) = (0, 0)
            for start in stride(from: 0, to: plan.rounds, by: Self.parallelRaces) {
                try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                    for subject in subjects[start..<min(start + Self.parallelRaces, plan.rounds)] {
                        group.addTask { try await Self.race(stage, subject, plan) }
                    }
                    for try await counts in group {
                        succeeded += counts.0
                        refused += counts.1
                    }
                }
            }
            // Races that all go one way would prove nothing.
            #expect(succeeded > plan.rounds / 10)
            #expect(refused > plan.rounds / 10)
        }
    }

    /// One refresh, and when it began.
    private struct Attempt: Sendable {
        var start: Int
        var outcome: Result<TokenGrant, ServiceError>
    }

    private enum Event: Sendable {
        case attempts([Attempt])
        case acknowledged(Int)
    }

    /// Refreshes with one token until it is refused, at most `triesMax` times.
    private static func refresh(
        _ stage: RaceFixture, _ subject: RaceSubject, _ triesMax: Int, _ moments: RaceMoments
    ) async -> [Attempt] {
        var attempts: [Attempt] = []
        repeat {
            let start = moments.next()
            let outcome = await stage.refresh(subject.login.token)
            attempts.append(Attempt(start: start, outcome: outcome))
        } while attempts.count < triesMax && attempts.last?.outcome.failure == nil
        return attempts
    }

    /// One race. Returns how many of its refreshes succeeded and how many were refused.
    private static func race(_ stage: RaceFixture, _ subject: RaceSubject, _ plan: Plan) async throws -> (Int, Int) {
        let moments = RaceMoments()
        let place = Int.random(in: 0...plan.width)
        var attempts: [Attempt] = []
        var acknowledged = Int.max
        try await withThrowingTaskGroup(of: Event.self) { group in
            for index in 0...plan.width {
                if index == place {
                    group.addTask {
                        try await plan.ending.bringAbout(stage, subject)
                        return .acknowledged(moments.next())
                    }
                } else {
                    // Every other one goes on until it is refused, because some endings take long to come.
                    let triesMax = index.isMultiple(of: 2) ? 1 : 500
                    group.addTask { await .attempts(Self.refresh(stage, subject, triesMax, moments)) }
                }
            }
            for try await event in group {
                switch event {
                case .attempts(let made): attempts += made
                case .acknowledged(let moment): acknowledged = moment
                }
            }
        }
        let refusal = plan.ending.refusal
        var grants: [TokenGrant] = []
        for attempt in attempts {
            switch attempt.outcome {
            case .success(let grant):
                try #require(attempt.start < acknowledged, "a refresh began after the acknowledgement and succeeded")
                grants.append(grant)
            case .failure(let error): try #require(error == .refused(refusal))
            }
        }
        if !plan.isStrict { try #require(Set(grants.map(\.token)).count <= 1, "two children of one token") }
        var last = grants.last
        for grant in grants where grant.session.child > last?.session.child ?? 0 { last = grant }
        // Of several calls that got the same tokens, one is asked.
        for grant in [subject.login] + grants.prefix(3) + grants.suffix(3) + [last].compactMap(\.self) {
            try #require(await stage.refusal(of: grant.accessToken) == .invalidToken(refusal))
            try #require(await stage.refresh(grant.token).failure == .refused(refusal))
        }
        try await plan.ending.expectAftermath(
            stage, subject, newest: last)
        return (grants.count, attempts.count - grants.count)
    }
}

/// Numbers the moments of a race in the order in which they come.
final class RaceMoments: Sendable {
    private let count = Atomic<Int>(0)

    /// How many there have been.
    var last: Int { count.load(ordering: .sequentiallyConsistent) }

    func next() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// The session that a race is about.
struct RaceSubject: Sendable {
    let user: User
    let login: TokenGrant
    /// On another device.
    let otherLogin: TokenGrant

    init(_ stage: RaceFixture, _ number: Int) async throws {
        user = try await stage.makeUser("user-\(number)")
        login = try await stage.logIn(user)
        otherLogin = try await stage.logIn(user, device: "tablet")
    }
}

/// What ends a session, or stops it.
enum RaceEnding: CaseIterable, Sendable {
    case revokedByAdmin, sessionEndedByAdmin, disabled, loggedOut, replaced, passwordChanged, userDeleted

    /// What a refresh is refused with from then on.
    var refusal: RefusalReason {
        switch self {
        case .revokedByAdmin, .sessionEndedByAdmin: .ended(.revokedByAdmin)
        case .disabled: .loginDisabledByAdmin
        case .loggedOut: .ended(.loggedOut)
        case .replaced: .ended(.replaced)
        case .passwordChanged: .ended(.passwordChanged)
        case .userDeleted: .ended(.userDeleted)
        }
    }

    /// Ends the session of the subject; it is acknowledged when this returns.
    func bringAbout(_ stage: RaceFixture, _ subject: RaceSubject) async throws {
        let user = UserReference.id(subject.user.id)
        switch self {
        case .revokedByAdmin: _ = try await stage.administration.revokeSessions(of: user, by: .system)
        case .sessionEndedByAdmin: try await stage.administration.endSession(subject.login.session.id, by: .system)
        case .disabled:
            _ = try await stage.administration.disable(
                user, effective: .immediate, revokingSessions: false, note: nil, by: .system)
        case .loggedOut: try await stage.services.logout.logOut(subject.login.token, from: .system)
        case .replaced: _ = try await stage.logIn(subject.user)
        case .passwordChanged:
            try await stage.accounts.changePassword(
                of: subject.user, in: subject.otherLogin.session, from: RaceFixture.password, to: "another password",
                by: .system)
        case .userDeleted: _ = try await stage.administration.deleteUser(user, by: .system)
        }
    }

    /// Checks which sessions are left: never two of one (user, client, device), and what was not to end lives on.
    func expectAftermath(_ stage: RaceFixture, _ subject: RaceSubject, newest: TokenGrant?) async throws {
        let living = try await stage.accounts.livingSessions(of: subject.user.id).map(\.session)
        let devices = living.map(\.device.id).sorted()
        switch self {
        case .revokedByAdmin, .userDeleted: try #require(devices == [])
        case .sessionEndedByAdmin, .loggedOut, .passwordChanged:
            try #require(devices == ["tablet"])
            try #require(await stage.refresh(subject.otherLogin.token).failure == nil)
        case .replaced:
            try #require(devices == ["phone", "tablet"])
            try #require(!living.contains { $0.id == subject.login.session.id })
        case .disabled:
            try #require(devices == ["phone", "tablet"])
            _ = try await stage.administration.enable(.id(subject.user.id), includingOwnSwitch: false, by: .system)
            // It has ended no session: the token stored last goes on.
            try #require(await stage.refresh((newest ?? subject.login).token).failure == nil)
        }
    }
}
