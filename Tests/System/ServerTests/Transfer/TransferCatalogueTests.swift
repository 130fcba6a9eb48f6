import Sessions
import Testing

@testable import Transfer
@testable import sojourn

/// With settings that one client does not go together with, no node starts: an import leaves none such.
@Suite("Export and import: settings and clients", .timeLimit(.minutes(5)))
struct TransferCatalogueTests {
    private let transfer: TransferTests

    init() throws { transfer = try TransferTests() }

    private static func settings(idle: Int = 1_209_600, maximum: Int = 15_552_000, refreshAfter: Int = 3600) -> String {
        #"{"type":"settings","offline_session_idle":\#(idle),"offline_session_max_limited":true,"#
            + #""offline_session_max":\#(maximum),"refresh_after":\#(refreshAfter),"rotation_interval":10,"epoch":5}"#
    }

    private static func client(_ id: String, accessToken: Int? = nil) -> String {
        #"{"type":"client","client_id":"\#(id)","created_at":1,"epoch":1"#
            + (accessToken.map { #","access_token_lifetime":\#($0)"# } ?? "") + "}"
    }

    /// What is here before an import that changes it: a client with access tokens that live for two hours.
    private func fill(_ stage: TransferFixture, hasUser: Bool) async throws {
        _ = try await stage.administration.createClient(id: "here", by: .system) { client in
            client.accessTokenLifetime = .seconds(7200)
            return nil
        }
        if hasUser { _ = try await stage.createUser("ada") }
    }

    /// What an import of those lines stops with; nil: it went through.
    private func problem(_ stage: TransferFixture, replacing: Bool, _ lines: [String]) async throws -> String? {
        transfer.folder.write("mine.jsonl", lines.joined(separator: "\n"))
        do {
            let (_, refused) = try await stage.load(transfer.folder, "mine.jsonl", replacing: replacing)
            return refused.first
        } catch let failure as TransferError { return "stopped: " + failure.detail }
    }

    /// Whether a node would start with the settings and clients of the store.
    private func isSound(_ stage: TransferFixture) async throws -> Bool {
        let settings = try await stage.store.settings()
        return Lifetimes.problem(
            settings: settings.sessions, clients: try await stage.store.clients(),
            absoluteMaximum: RefreshPolicy(absoluteMaximum: TransferFixture.absoluteMaximum)
                .absoluteMaximum(beside: settings)) == nil
    }

    @Test(
        "settings with which a client that is only here does not go together are refused, and nothing is changed",
        arguments: [true, false])
    func onlyHere(_ replaces: Bool) async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                try await fill(stage, hasUser: replaces)
                let (settings, clients) = (try await stage.store.settings(), try await stage.store.clients())
                for lines in [
                    [Self.settings(idle: 7100, refreshAfter: 60), Self.client("there")],
                    [Self.client("there"), Self.settings(idle: 7100, refreshAfter: 60)],
                    [Self.settings(idle: 7000, refreshAfter: 60), Self.client("there")],
                    // One that comes and goes together with nothing does not take the place of the one that is here.
                    [Self.settings(idle: 7100, refreshAfter: 60), Self.client("here", accessToken: 7200)],
                ] {
                    let problem = try #require(try await problem(stage, replacing: replaces, lines))
                    let place = lines[0].contains("settings") ? "line 1" : "line 2"
                    #expect(problem.hasPrefix("stopped: \(place): the settings are impossible here: client here: "))
                    #expect(problem.hasSuffix(". Nothing of settings and clients was taken"))
                    #expect(try await stage.store.settings() == settings)
                    #expect(try await stage.store.clients() == clients)
                }
                #expect(try await isSound(stage))
            }
        }
    }

    @Test("a client that comes with the settings takes the place of one that they would not go together with")
    func bothCome() async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                try await fill(stage, hasUser: true)
                let lines = [Self.settings(refreshAfter: 7200), Self.client("here", accessToken: 9000)]
                #expect(try await problem(stage, replacing: true, lines) == nil)
                #expect(try await stage.store.settings().sessions.refreshAfter == .seconds(7200))
                #expect(try await stage.store.client("here")?.accessTokenLifetime == .seconds(9000))
                // And back, with more clients than one part of other records has.
                let others = (0..<1100).map { Self.client("c\($0)", accessToken: 5000) }
                let again = others + [Self.client("here", accessToken: 7200), Self.settings(refreshAfter: 3600)]
                #expect(try await problem(stage, replacing: true, again) == nil)
                #expect(try await isSound(stage))
                #expect(try await stage.store.clients().count == 1102)
            }
        }
    }

    @Test("a client of the file that does not go together with the settings here is told and left out, others come")
    func clientOfTheFile() async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                try await fill(stage, hasUser: true)
                let lines = [
                    Self.settings(refreshAfter: 60), Self.client("bad", accessToken: 1_300_000),
                    Self.client("good", accessToken: 7200), Self.client("here", accessToken: 60),
                ]
                let problem = try await problem(stage, replacing: false, lines)
                #expect(
                    problem == "line 2: this is impossible here: client bad: access_token_lifetime must not "
                        + "exceed offline_session_idle")
                #expect(try await stage.store.client("bad") == nil)
                #expect(try await stage.store.client("good") != nil)
                #expect(try await stage.store.client("here")?.accessTokenLifetime == .seconds(7200))
                #expect(try await isSound(stage))
            }
        }
    }

    @Test("settings and clients that live longer than the shortest maximum that a node serves with are refused")
    func servedMaximum() async throws {
        try await transfer.withRoute { first, postgres, _ in
            for stage in [first, postgres] {
                _ = try await stage.store.updateSettings { change in
                    change.settings.sessions.offlineSessionIdle = .seconds(1_000_000)
                    change.settings.sessions.offlineSessionMax = .seconds(2_000_000)
                    change.serve(RefreshPolicy(absoluteMaximum: .seconds(2_500_000)), at: transfer.clock.wall.now)
                }
                let long = #""offline_session_max":\#(2_500_001)"#
                for (lines, sentence) in [
                    (
                        [Self.settings(maximum: 2_500_001)],
                        "line 1: the settings are impossible here: offline_session_max"
                    ),
                    (
                        [Self.settings(idle: 2_500_001, maximum: 1)],
                        "line 1: the settings are impossible here: offline_s"
                    ),
                    (
                        [String(Self.client("web").dropLast()) + ",\(long)}"],
                        "line 1: this is impossible here: client web: offline_session_max must not exceed "
                            + "absolute_max_lifetime (2500000)"
                    ),
                ] {
                    for replacing in [true, false] {
                        let problem = try #require(try await problem(stage, replacing: replacing, lines))
                        #expect(problem.replacing("stopped: ", with: "").hasPrefix(sentence))
                    }
                    #expect(try await isSound(stage))
                }
                let fitting = [Self.settings(maximum: 2_500_000), Self.client("web")]
                #expect(try await problem(stage, replacing: true, fitting) == nil)
                #expect(try await stage.store.settings().sessions.offlineSessionMax == .seconds(2_500_000))
                #expect(try await stage.store.settings().servedMaximum == .seconds(2_500_000))
            }
        }
    }
}
