import Cryptography
import FoundationEssentials
import Glibc
import HTTP
import JOSE
import JSON
import SQLiteStore
import Sessions
import StoreConformance
import Locks
import Synchronization
import Telemetry
import Testing

@testable import Endpoints

/// A whole server but for its sockets: endpoints, domain, and a database in a folder of its own, with a clock that the
/// test moves. Every answer is checked for what all answers must have, and the log for what it must not hold.
struct EndpointsFixture: Sendable {
    static let start: Int64 = 1_800_000_000
    static let absoluteMaximum: Int64 = 31_536_000
    static let issuer = "https://login.example"
    static let audience = "https://api.example"
    static let password = "correct horse"
    /// The scope of the client `mobile`.
    static let scope = "read write account"
    static let day: Int64 = 86400

    /// What a test can move or read while the server runs.
    final class Environment: Sendable {
        let now = Atomic<Int64>(EndpointsFixture.start)
        let isStopping = Atomic<Bool>(false)
        let log = Locked<[String]>([])
        let secrets = Locked<Set<String>>([])
        /// The cost of every password hash that was computed.
        let hashes = Locked<[Scrypt]>([])
        /// How many transactions wrote rows.
        let writes = Atomic<Int>(0)
        /// How many transactions there were that could write rows, whether they did or not.
        let transactions = Atomic<Int>(0)
        /// What is known of the machine.
        let machine = Locked(MachineState())
        /// Edits requests to the public listener; a test of all ways in adds proofs with it.
        let edit = Locked<(@Sendable (Request) -> Request)?>(nil)

        /// The machine, as it is known at each look.
        var machineState: MachineState {
            var state = MachineState()
            state.certificates = { [machine] in machine.withLock { $0 }.certificates() }
            state.geoDatabaseBuiltAt = { [machine] in machine.withLock { $0 }.geoDatabaseBuiltAt() }
            state.freeMebibytes = { [machine] in machine.withLock { $0 }.freeMebibytes() }
            state.testWebhook = { [machine] name in await machine.withLock { $0 }.testWebhook(name) }
            state.clockLead = { [machine] in machine.withLock { $0 }.clockLead() }
            state.isClockOutvoted = { [machine] in machine.withLock { $0 }.isClockOutvoted() }
            return state
        }
    }

    let store: SQLiteStore
    private(set) var context: ServiceContext
    let rootKeys: RootKeys
    private(set) var endpoints: Endpoints
    let adminKey: String
    let environment: Environment

    /// Gives `body` a new server with the client `mobile` and the user `anna`.
    static func with(
        proofs: DPoPPolicy = DPoPPolicy(), identities: ((WallClock, Logger) -> any IdentityVerifier)? = nil,
        passkeys: PasskeyPolicy? = nil, testClock: TestClock? = nil, issuer: String = Self.issuer,
        mails: MailWaker? = nil, accounts: AccountRules = AccountRules(),
        _ body: (EndpointsFixture) async throws -> Void
    ) async throws {
        let path = FileManager.default.temporaryDirectory.path + "/endpoints-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        do {
            let server = try await EndpointsFixture(
                folder: path, proofs: proofs, identities: identities, passkeys: passkeys, testClock: testClock,
                issuer: issuer, mails: mails, accounts: accounts)
            try await body(server)
            server.expectNoSecretsInLog()
            await server.store.close()
        } catch {
            try FileManager.default.removeItem(atPath: path)
            throw error
        }
        try FileManager.default.removeItem(atPath: path)
    }

    private init(
        folder: String, proofs: DPoPPolicy, identities: ((WallClock, Logger) -> any IdentityVerifier)?,
        passkeys: PasskeyPolicy?, testClock: TestClock?, issuer: String, mails: MailWaker?, accounts: AccountRules
    ) async throws {
        let environment = Environment()
        self.environment = environment
        let standing = WallClock { Instant(secondsSinceEpoch: environment.now.load(ordering: .relaxed)) }
        let clock = testClock?.wallClock(over: standing) ?? standing
        var options = SQLiteStore.Options(clock: clock)
        let history = OutcomeHistory(clock)
        options.observer = Observer(batchEnded: { batch in
            if batch.isCommitted { history.count(batch.transitions) }
            environment.transactions.add(batch.changes, ordering: .relaxed)
            if batch.wrote { environment.writes.add(batch.changes, ordering: .relaxed) }
            if batch.wrote || !batch.isCommitted { history.note(commit: batch.isCommitted) }
        })
        store = try SQLiteStore(path: folder + "/test.sqlite", options: options)
        rootKeys = try #require(RootKeys([SecretKey.random()]))
        let maximum = Duration.seconds(Self.absoluteMaximum)
        let signingKeys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: .es256, rotation: .seconds(30 * Self.day),
            absoluteMaximum: maximum, generate: TestSigningKeys.generator())
        try await signingKeys.maintain(at: clock.now)
        var scrypt = try #require(Scrypt(logN: 4, r: 8, p: 1))
        scrypt.observer = { cost in environment.hashes.withLock { $0.append(cost) } }
        context = ServiceContext(
            store: store, policy: RefreshPolicy(absoluteMaximum: maximum), rootKeys: rootKeys,
            signingKeys: signingKeys, passwords: PasswordHasher(scrypt: scrypt),
            clock: clock, issuer: issuer, audience: Self.audience, proofs: proofs,
            passkeys: passkeys, mails: mails, accountRules: accounts)
        let administration = Administration(context)
        _ = try await administration.createClient(id: Client.mobileID, by: .system) { client in
            client.scope = Scope(Self.scope) ?? .empty
            return nil
        }
        _ = try await administration.createUser(
            username: "anna", password: Self.password, profile: User.Profile(email: "anna@example.org"),
            offlineSessionMax: nil, by: .system)
        let key = try await administration.createAdminKey(name: "test", by: .system).1
        adminKey = key
        environment.secrets.withLock { $0 = [key, Self.password] }
        let logger = Logger(
            level: .debug,
            sink: LogSink { line in environment.log.withLock { $0.append(String(decoding: line, as: UTF8.self)) } },
            clock: { 0 })
        endpoints = Endpoints(
            context: context, metrics: MetricsRegistry(), logger: logger,
            identityVerifier: identities?(clock, logger),
            remoteLogins: Self.remoteLogins(.off), history: history, machine: environment.machineState,
            testClock: testClock, isStopping: { environment.isStopping.load(ordering: .relaxed) })
    }

    /// A rule, with the places of three addresses: Graz twice, Lisbon once.
    static func remoteLogins(_ same: ProximityRule) -> Proximity {
        var logins = Proximity()
        logins.same = same
        logins.place = { address, language in
            switch address {
            case "192.0.2.1", "192.0.2.2":
                Place(name: language == "de" ? "Graz <b>, Österreich" : "Graz <b>, Austria", countryCode: "AT")
            case "198.51.100.1": Place(name: "Lisbon, Portugal", countryCode: "PT")
            default: nil
            }
        }
        return logins
    }

    /// Another node on the same database, which has nothing else of this one but its clock and what it knows of providers.
    func anotherNode(
        passwords: PasswordHasher? = nil, remoteLogins: Proximity = Proximity()
    ) async throws -> EndpointsFixture {
        var other = self
        let signingKeys = SigningKeys(
            store: store, rootKeys: rootKeys, algorithm: .es256, rotation: .seconds(30 * Self.day),
            absoluteMaximum: .seconds(Self.absoluteMaximum), generate: TestSigningKeys.generator())
        try await signingKeys.maintain(at: context.clock.now)
        other.context = ServiceContext(
            store: store, policy: context.policy, rootKeys: rootKeys, signingKeys: signingKeys,
            passwords: passwords ?? context.passwords, clock: context.clock, issuer: Self.issuer,
            audience: Self.audience, passkeys: context.passkeys, mails: context.mails,
            accountRules: context.accountRules)
        other.endpoints = Endpoints(
            context: other.context, metrics: MetricsRegistry(),
            logger: Logger(level: .error, sink: LogSink { _ in }, clock: { 0 }),
            identityVerifier: endpoints.identityVerifier, remoteLogins: remoteLogins, isStopping: { false })
        return other
    }

    /// This server over another store, which has the same database and keys.
    func over(
        _ store: some Store, policy: RefreshPolicy? = nil, mails: MailWaker? = nil,
        accountRules: AccountRules? = nil, editable: [ProfileMember] = ProfileMember.usual
    ) -> EndpointsFixture {
        var other = self
        other.context = ServiceContext(
            store: store, policy: policy ?? context.policy, rootKeys: rootKeys, signingKeys: context.signingKeys,
            passwords: context.passwords, clock: context.clock, issuer: Self.issuer, audience: Self.audience,
            passkeys: context.passkeys, mails: mails ?? context.mails,
            accountRules: accountRules ?? context.accountRules, editable: Set(editable))
        other.endpoints = Endpoints(
            context: other.context, metrics: MetricsRegistry(), logger: endpoints.logger,
            identityVerifier: endpoints.identityVerifier, remoteLogins: endpoints.remoteLogins, isStopping: { false })
        return other
    }

    /// This server behind a proxy that removes the path of the issuer from requests, or does not.
    func receiving(_ arrival: IssuerPath.Arrival) -> EndpointsFixture {
        var other = self
        other.endpoints = Endpoints(
            context: context, metrics: MetricsRegistry(), logger: endpoints.logger, issuerPath: arrival,
            isStopping: { false })
        return other
    }

    /// This server with calls that wait by `sleep`, in the time of `stopwatch`, and with a log of failures and a policy of its own.
    func waiting(
        _ limits: WaitingLimits = WaitingLimits(), failures: FailureLog? = nil, retryAfter: RetryAfter? = nil,
        stopwatch: @escaping @Sendable () -> Int64 = Endpoints.monotonicTime,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) -> EndpointsFixture {
        var other = self
        other.endpoints = Endpoints(
            context: context, metrics: MetricsRegistry(), logger: endpoints.logger, failures: failures,
            retryAfter: retryAfter, waiting: limits,
            isStopping: { false }, stopwatch: stopwatch, sleep: sleep)
        return other
    }

    /// Moves the clock to so many seconds after the start.
    func moveClock(to seconds: Int64) { environment.now.store(Self.start + seconds, ordering: .relaxed) }

    /// The lines of the log so far.
    var log: [String] { environment.log.withLock { $0 } }

    private func expectNoSecretsInLog() {
        let secrets = environment.secrets.withLock { $0 }
        // Every test has a log and secrets. Bytes are compared, because comparing characters takes 20 times as long.
        let text = log.joined(separator: "\n")
        for secret in secrets where strstr(text, secret) != nil {
            Issue.record("a secret is in the log: \(log.filter { $0.contains(secret) })")
        }
    }
}

// Calls.
extension EndpointsFixture {
    /// Sends a request as it is.
    func send(
        _ request: Request, on listener: Caller.Listener = .public, isSecure: Bool = false,
        address: String = "192.0.2.1"
    ) async -> Answer {
        let caller = Caller(remoteAddress: address, listener: listener, isSecure: isSecure)
        let request = listener == .public ? environment.edit.withLock { $0 }?(request) ?? request : request
        let answer = Answer(await endpoints.reply(to: request, from: caller).response())
        #expect(answer.field("X-Request-Id") != nil)
        #expect(answer.field("X-Content-Type-Options") == "nosniff")
        #expect(answer.response.fields.values("Cache-Control").count == 1)
        let pages = [
            "/login", "/oauth/authorize", "/oauth/logout", "/account", "/reset", "/console", "/device", "/not-me",
            "/forgot", "/sign-up", "/v", "/cancel", "/undo",
        ]
        let path = (endpoints.issuerPath.stripped(request) ?? request).target.path
        let isPage = pages.contains { path.hasPrefix($0) }
        #expect(answer.field("Set-Cookie") == nil || isPage)
        #expect(answer.response.fields.values("X-Content-Type-Options").count == 1)
        // RFC 6750 section 3.1: the refusal of a token that lacks a scope names it.
        let challenges = answer.response.fields.values("WWW-Authenticate")
        let namesScope = answer.status == 403 && challenges.contains { $0.contains("insufficient_scope") }
        #expect((answer.status == 401 || namesScope) == !challenges.isEmpty)
        if answer.status == 429 || answer.status == 500 || answer.status == 503 {
            #expect(answer.field("Retry-After") != nil)
        }
        environment.secrets.withLock { $0.formUnion(answer.secrets) }
        return answer
    }

    /// A JSON call; `bearer` is an access token.
    func call(
        _ method: Method, _ target: String, _ json: String? = nil, bearer: String? = nil, fields: Fields = Fields()
    ) async -> Answer {
        var fields = fields
        if json != nil { fields.append("Content-Type", "application/json") }
        if let bearer { fields.append("Authorization", "Bearer \(bearer)") }
        return await send(Request(method, target, fields: fields, body: Array((json ?? "").utf8)))
    }

    /// A call of an admin with the key, or with another one.
    func admin(_ method: Method, _ target: String, _ json: String? = nil, key: String? = nil) async -> Answer {
        var fields: Fields = ["Authorization": "Bearer \(key ?? adminKey)"]
        if json != nil { fields.append("Content-Type", "application/json; charset=utf-8") }
        return await send(Request(method, target, fields: fields, body: Array((json ?? "").utf8)), on: .admin)
    }

    /// An OAuth call; `basic` is `id:secret`.
    func form(
        _ target: String, _ form: String, basic: String? = nil, fields: Fields = Fields(), address: String = "192.0.2.1"
    ) async -> Answer {
        var fields = fields
        fields.append("Content-Type", "application/x-www-form-urlencoded")
        if let basic { fields.append("Authorization", "Basic " + Data(basic.utf8).base64EncodedString()) }
        return await send(Request(.post, target, fields: fields, body: Array(form.utf8)), address: address)
    }

    /// Logs anna in on a device.
    func logIn(device: String = "phone-1", client: String = Client.mobileID, more: String = "") async throws -> Tokens {
        let answer = await call(
            .post, "/v1/login",
            #"{"username":"anna","password":"\#(Self.password)","client_id":"\#(client)","device":{"id":"\#(device)"}\#(more)}"#
        )
        #expect(answer.status == 200)
        return try Tokens(answer)
    }

    /// Refreshes at the token endpoint.
    func refresh(_ token: String, more: String = "", fields: Fields = Fields()) async -> Answer {
        await form("/oauth/token", "grant_type=refresh_token&refresh_token=\(token)\(more)", fields: fields)
    }

    /// Makes a client. Returns its secret, if it is confidential.
    func makeClient(_ json: String) async throws -> String? {
        let answer = await admin(.post, "/admin/v1/clients", json)
        #expect(answer.status == 201)
        return answer.string("client_secret")
    }
}

/// The tokens of an answer.
struct Tokens: Sendable {
    let access: String
    /// Empty for a client that keeps one string.
    let refresh: String
    let sessionID: String
    let userID: String
    let answer: Answer

    init(_ answer: Answer) throws {
        self.answer = answer
        access = try #require(answer.string("access_token"))
        refresh = answer.string("refresh_token") ?? ""
        sessionID = try #require(answer.string("session_id"))
        userID = try #require(answer.string("user", "user_id"))
    }
}

/// An answer, with its JSON read.
struct Answer: Sendable {
    let response: Response
    private let members: [String: JSONValue]

    init(_ response: Response) {
        self.init(response, (try? StrictJSON.object(response.body)) ?? [:])
    }

    private init(_ response: Response, _ members: [String: JSONValue]) {
        self.response = response
        self.members = members
    }

    var status: Int { response.status.code }
    var text: String { String(decoding: response.body, as: UTF8.self) }
    var names: Set<String> { Set(members.keys) }

    func field(_ name: StaticString) -> String? { response.fields.first(name) }

    /// The string at that path of members.
    func string(_ path: String...) -> String? { value(path)?.string }

    /// The integer at that path of members.
    func integer(_ path: String...) -> Int64? {
        if case .integer(let number)? = value(path) { number } else { nil }
    }

    /// The truth value at that path of members.
    func bool(_ path: String...) -> Bool? { if case .bool(let truth)? = value(path) { truth } else { nil } }

    /// The strings in the array at that path of members.
    func strings(_ path: String...) -> [String]? {
        if case .array(let values)? = value(path) { values.compactMap(\.string) } else { nil }
    }

    /// The items of a list.
    var items: [Answer] { elements("items") }

    /// The objects in an array.
    func elements(_ name: String) -> [Answer] {
        guard case .array(let elements)? = members[name] else { return [] }
        return elements.compactMap { if case .object(let members) = $0 { Answer(response, members) } else { nil } }
    }

    func value(_ path: [String]) -> JSONValue? {
        var value: JSONValue? = .object(members)
        for name in path {
            guard case .object(let members)? = value else { return nil }
            value = members[name]
        }
        return value
    }

    /// The claims of a token, unverified.
    static func claims(of token: String) throws -> Answer {
        let payload = try #require(token.split(separator: ".").dropFirst().first)
        return Answer(Response(.ok, "application/json", try #require(Base64URL.decode(payload))))
    }

    /// What must not be in a log.
    var secrets: [String] {
        ["access_token", "refresh_token", "reset_token", "client_secret", "admin_key", "verification_token"].compactMap
        {
            members[$0]?.string
        }
    }
}
