/// Keeps a user signed in on this device.
///
/// `start()` at every launch, `states` for what to show, `signIn` and `signOut`, and `data(for:)` or `accessToken()` for calls
/// to APIs: that is all of it. Renewals, retries, lost answers, several processes on one store, wrong clocks and locked devices
/// are dealt with inside. Only `SessionState.signedOut` and `.ended` mean that the login is to be shown.
public actor Sojourn {
    /// Random bytes.
    public typealias RandomBytes = @Sendable (_ count: Int) -> [UInt8]

    package nonisolated let configuration: SojournConfiguration
    let store: any SessionStore
    let keys: any DeviceKeyring
    let transport: any Transport
    let clock: any ClientClock
    let random: RandomBytes
    let log: Log
    let pins: PINMaker
    nonisolated let box = StateBox(.starting)

    /// The record as it was last loaded, and when. It is what is stored: nothing that could not be stored is ever here.
    var cache: (record: LoadedRecord?, at: Duration)?
    var loads = 0
    var lastLoad = 0
    var serverClock: ServerClock
    /// The waits after failed renewals, and why the last renewal failed.
    var retries = RetrySchedule()
    var heldError: SojournError?
    var reachability = SessionState.Reachability.current
    /// What was asked of the user: by the server until a renewal succeeds, by an API until one shows the user's presence.
    var presence: (requirement: PresenceRequirement, isOfAPI: Bool)?
    /// Asks the user for biometry.
    let gate: (any PresenceGate)?
    /// What the user has opened; nil: nothing.
    var unlocked: Unlocked?
    /// The unlock whose prompt is shown.
    var unlocking: Task<Result<Void, SojournError>, Never>?
    /// How many prompts have failed in a row.
    var presenceFailures = 0
    /// Logins with biometry that are under way.
    var activations = 0
    /// What the prompt of a login opened that waits for a second factor, and whether its keys are new.
    var heldGate: (step: SecondFactorChallenge, gate: OpenGate, isNew: Bool)?
    /// The renewals under way, by the version of the record that they found to be due.
    var flights: [RecordVersion: Flight] = [:]
    var lastWaiter = 0
    /// The access token that an API has refused.
    var rejected: AccessToken?
    /// When tokens were renewed in the last ten seconds because an API had refused them.
    var rejections: [Duration] = []
    /// The nonces for proofs, by origin.
    var nonces: [String: (value: String, at: Duration)] = [:]
    /// A sign-out that the store has not taken yet.
    var isSigningOut = false
    /// Whether the server has to be told of it.
    var isOwing = true
    var signOuts = 0
    var logins = 0
    var lastLoginCommitted = 0
    var isPayingDebts = false
    /// How many tasks tell the server of sign-outs, or are about to.
    var debtTasks = 0
    /// Those who wait until nothing is under way.
    var idleWaiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    var watch: Task<Void, Never>?

    /// A session on `store`.
    ///
    /// - Parameters:
    ///   - store: where the record is kept. Every `Sojourn` on the same store has the same session.
    ///   - keys: the keys of the device.
    ///   - gate: asks the user for biometry; nil: the mode `BIOMETRIC` cannot be used.
    ///   - random: for identifiers and secrets; nil: the operating system's.
    public init(
        _ configuration: SojournConfiguration, store: any SessionStore, keys: any DeviceKeyring,
        gate: (any PresenceGate)? = nil,
        transport: any Transport = URLSessionTransport.shared, clock: any ClientClock = SystemClock(),
        random: RandomBytes? = nil, log: Log = .none
    ) {
        self.init(
            configuration, store: store, keys: keys, gate: gate, transport: transport, clock: clock, random: random,
            log: log, pins: PINMaker())
    }

    /// A session with its own maker of what the server learns of PINs.
    package init(
        _ configuration: SojournConfiguration, store: any SessionStore, keys: any DeviceKeyring,
        gate: (any PresenceGate)? = nil, transport: any Transport, clock: any ClientClock, random: RandomBytes? = nil,
        log: Log = .none, pins: PINMaker
    ) {
        SmallCrypto.prepare()
        self.configuration = configuration
        self.store = store
        self.keys = keys
        self.gate = gate
        self.transport = transport
        self.clock = clock
        self.random = random ?? { SmallCrypto.randomBytes(count: $0) }
        self.log = log
        self.pins = pins
        serverClock = ServerClock(wall: clock.wallSeconds, uptime: clock.uptime)
    }

    deinit {
        watch?.cancel()
        box.finish()
    }

    /// The last known state, for the first frame.
    public nonisolated var state: SessionState { box.state }

    /// The present state, then each change.
    public nonisolated var states: SessionStates { SessionStates(box: box) }

    /// Reads the store, and renews in the background, whether a renewal is due or not. To be called at each launch, and when the
    /// app comes to the foreground. It does not wait for the network.
    @discardableResult public func start() async -> SessionState {
        watchStore()
        retries.noteStart()
        guard let loaded = try? await load() else { return state }
        if loaded.renewability == .renewable {
            if configuration.mayRenew, let session = loaded.record.session, isOpen(session),
                retries.hold(at: clock.uptime) == nil
            {
                _ = flight(of: loaded.version)
            }
        } else if !loaded.record.debts.isEmpty {
            payDebtsInBackground()
        }
        return state
    }

    /// Reads the store, and sends nothing: the state without the server.
    @discardableResult public func restore() async -> SessionState {
        watchStore()
        _ = try? await load()
        return state
    }

    /// How the app guards the stored session; nil: none is known. `restore()` or `start()` reads it.
    public var authenticationMode: AuthenticationMode? { cache?.record?.record.session?.mode }

    /// When the session ends at the latest, in Unix seconds of the server, however often it is renewed: an app can tell the user
    /// before that the password will be asked for. Nil: no session is known, or it has ended. A setting of the server can change
    /// it, and a renewal then brings the new one.
    public var sessionExpiresAt: Int64? {
        guard let session = cache?.record?.record.session, session.ending == nil else { return nil }
        return session.sessionExpiresAt
    }

    /// Loads again when the store says that another process has written.
    private func watchStore() {
        guard watch == nil else { return }
        let changes = store.changes
        watch = Task { [weak self] in
            for await _ in changes {
                guard let self else { return }
                _ = try? await self.load()
            }
        }
    }

    // MARK: The record

    /// Loads the record, and publishes the state that follows from it.
    func load() async throws(SojournError) -> LoadedRecord? {
        if isSigningOut {
            do throws(StoreError) { try await settleSignOut() } catch { throw .notSignedIn }
        }
        do throws(StoreError) { return try await loadStored() } catch { throw publish(error) }
    }

    /// Loads the record as it is.
    func loadStored() async throws(StoreError) -> LoadedRecord? {
        await lockIfLapsed()
        loads += 1
        let number = loads
        let stored = try await store.load()
        var loaded: LoadedRecord? = if let stored { try LoadedRecord(stored) } else { nil }
        if let gate = openGate(of: loaded?.record.session) { loaded?.record.open(by: gate.sealingKey) }
        // A load that began earlier may come back later, with what is no longer stored.
        if number > lastLoad {
            lastLoad = number
            take(loaded)
        }
        return loaded
    }

    /// The record, from memory if it was loaded within the last second.
    func current() async throws(SojournError) -> LoadedRecord? {
        await lockIfLapsed()
        if let cache, clock.uptime - cache.at < .seconds(1), !isSigningOut { return cache.record }
        do throws(SojournError) { return try await load() } catch {
            // What was read is good for calls, until it has to be renewed.
            if !isSigningOut, let record = cache?.record, record.record.session?.isDue(at: now) == false {
                return record
            }
            throw error
        }
    }

    /// Takes over what is stored.
    func take(_ loaded: LoadedRecord?) {
        let previous = cache?.record?.record.session
        cache = (loaded, clock.uptime)
        if let offset = loaded?.record.clockOffset, !serverClock.isAnchored { serverClock.recall(offset: offset) }
        if previous?.sessionID != loaded?.record.session?.sessionID {
            (reachability, presence, rejected, heldError) = (.current, nil, nil, nil)
            retries.noteAnswer()
        }
        // Another process has reached the server since.
        if case .unreachable(let since) = reachability, let session = loaded?.record.session, session.issuedAt >= since
        {
            reachability = .current
            noteReached()
        }
        publishState()
    }

    /// The server has been reached since the last renewal failed: what failed then is no longer known to be so.
    func noteReached() {
        guard case .unreachable? = heldError else { return }
        retries.noteStart()
        if retries.hold(at: clock.uptime) == nil { heldError = nil }
    }

    /// Publishes the state that the record and the last renewal give.
    func publishState() {
        guard let cache else { return }
        guard !isSigningOut else { return box.publish(.signedOut(.byUser)) }
        guard let session = cache.record?.record.session else {
            return box.publish(.signedOut(cache.record?.record.isSignedOut == true ? .byUser : .never))
        }
        if let ending = session.ending {
            box.publish(
                ending.reason == .userDeleted
                    ? .signedOut(.deleted) : .ended(ending.reason, session.account, session.mode))
        } else if !isOpen(session) {
            box.publish(.presenceRequired(ways(toOpen: session), session.account))
        } else if let presence {
            box.publish(.presenceRequired(presence.requirement, session.account))
        } else {
            box.publish(.signedIn(session.account, reachability))
        }
    }

    /// Publishes that the store could not be read, unless it was read before, and returns the error for the caller.
    func publish(_ error: StoreError) -> SojournError {
        log("the store cannot be read: \(error)")
        if cache == nil, !isSigningOut {
            switch error {
            case .locked: box.publish(.locked)
            case .corrupted: box.publish(.signedOut(.unreadable))
            case .denied, .failed: box.publish(.storeFailed(error))
            }
        }
        return SojournError(error)
    }

    /// Changes the stored record, as often as another process is first. Returns what is stored then.
    ///
    /// - Parameters:
    ///   - gate: the gate of a session that begins to be stored under seal; nil: the one that is open.
    ///   - change: returns false to leave the record as it is.
    @discardableResult
    func update(
        sealedBy gate: OpenGate? = nil, _ change: (inout SessionRecord) -> Bool
    ) async throws(StoreError) -> LoadedRecord? {
        for _ in 0..<16 {
            guard let loaded = try await loadStored() else { return nil }
            var record = loaded.record
            guard change(&record) else { return loaded }
            let bytes = try bytes(of: record, sealedBy: gate ?? openGate(of: record.session))
            if try await store.replace(loaded.version, with: bytes) { return try await loadStored() }
        }
        throw .failed(0, "the record changes all the time")
    }

    // MARK: Small things

    /// The server's time in Unix seconds.
    var now: Int64 { serverClock.now(uptime: clock.uptime) }

    /// An evenly distributed number.
    func randomNumber() -> UInt64 { random(8).reduce(0) { $0 << 8 | UInt64($1) } }

    func server() throws(SojournError) -> ServerAddress { try ServerAddress(configuration.server) }
}

extension SojournError {
    init(_ error: StoreError) { self = error == .locked ? .locked : .store(error) }
    init(_ error: KeyError) { self = error == .locked ? .locked : .key(error) }

    /// The error of a call whose answer is `verdict`; nil if it was granted.
    init?(_ verdict: Verdict<TokenAnswer>) {
        switch verdict {
        case .granted: return nil
        case .ended(let reason): self = .ended(reason)
        case .suspended(let suspension): self = .suspended(suspension)
        case .presenceRequired(let requirement): self = .presenceRequired(requirement)
        case .signAgain: self = .unreachable(Unreachable("the server refuses this device's signatures, or its clock"))
        case .unreachable(let cause): self = .unreachable(cause)
        // Only a login can go on by it, and takes the challenge before.
        case .secondFactorRequired: self = .refused(Refusal(status: 401, code: "second_factor_required"))
        case .refused(let refusal): self = .refused(refusal)
        case .misconfigured(let word, let detail): self = .misconfigured(word, detail: detail)
        }
    }
}
