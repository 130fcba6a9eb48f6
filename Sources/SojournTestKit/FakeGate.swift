public import SojournClient

/// A presence gate without a device: the test decides what the user does. Its keys sign, so that the real server accepts them.
///
/// As on a device, biometry is locked after five denials in a row, until the device's credential was given, here or outside of
/// the app.
public final class FakeGate: PresenceGate {
    /// What the user does at a prompt.
    public enum Answer: Hashable, Sendable {
        /// The right biometry.
        case accept
        /// The wrong biometry.
        case deny
        /// The prompt ends with a code of the platform.
        case code(Int)
    }

    /// What the gate was asked.
    public enum Call: Hashable, Sendable {
        /// A prompt for biometry, with its reason.
        case prompt(String)
        /// A prompt for the device's credential, with its title and text.
        case credential(String, String)
    }

    private struct Keys: Sendable {
        var presenceKey: any DeviceKey
        var sealingKey: [UInt8]
        var isValid = true
    }

    private struct State {
        var answers: [Answer] = []
        var keys: [String: Keys] = [:]
        var lastID = 0
        var denials = 0
        var isLockedOut = false
        var calls: [Call] = []
        var openCount = 0
        var obstacle: PresenceError?
        var hasDeviceCredential = true
        var givesCredential = true
        var hold: (@Sendable () async -> Void)?
    }

    /// After how many denials in a row biometry is locked.
    public static let denialsMax = 5

    /// The platform that gives the errors of the gate their codes.
    public let platform: BiometryPlatform
    private let state = Guarded(State())
    private let keyring = SoftwareKeys.temporary()

    /// A gate of a device with biometry and a PIN, whose user accepts every prompt.
    public init(_ platform: BiometryPlatform = .apple) { self.platform = platform }

    // MARK: The test

    /// What the user does at the next prompts, in order. Further prompts are accepted.
    public func next(_ answers: Answer...) { state.withLock { $0.answers += answers } }

    /// Enrolls other biometry: all keys made so far are gone.
    public func changeEnrollment() {
        state.withLock { state in
            for id in state.keys.keys { state.keys[id]?.isValid = false }
        }
    }

    /// Unlocks biometry outside of the app.
    public func unlockDevice() { state.withLock { ($0.denials, $0.isLockedOut) = (0, false) } }

    /// Makes biometry unavailable with a code, or available again.
    public func setObstacle(_ code: Int?) {
        state.withLock { [platform] in $0.obstacle = code.map { PresenceError(platform, code: $0) } }
    }

    /// Whether the device has a PIN, and whether the user gives it.
    public func setDeviceCredential(exists: Bool, isGiven: Bool = true) {
        state.withLock { ($0.hasDeviceCredential, $0.givesCredential) = (exists, isGiven) }
    }

    /// Awaited while each prompt is shown; nil: nothing.
    public func holdPrompts(_ hold: (@Sendable () async -> Void)?) { state.withLock { $0.hold = hold } }

    /// What the gate was asked, in order.
    public var calls: [Call] { state.withLock { $0.calls } }
    /// How many prompts for biometry there were.
    public var promptCount: Int {
        calls.count { if case .prompt = $0 { true } else { false } }
    }
    /// How many enrollments have keys.
    public var enrollmentCount: Int { state.withLock { $0.keys.count } }
    /// How many gates are open.
    public var openCount: Int { state.withLock { $0.openCount } }

    // MARK: PresenceGate

    /// What the test has set.
    public func availability() async -> GateAvailability {
        state.withLock { [platform] state in
            let lockOut = state.isLockedOut ? PresenceError(platform, code: Self.lockOut(platform)) : nil
            return GateAvailability(obstacle: state.obstacle ?? lockOut, hasDeviceCredential: state.hasDeviceCredential)
        }
    }

    /// Makes keys, if the user accepts the prompt.
    public func enroll(reason: String) async throws(PresenceError) -> OpenGate {
        try await ask(reason)
        let id = state.withLock { state in
            state.lastID += 1
            return "enrollment-\(state.lastID)"
        }
        guard let key = try? await keyring.makeKey(KeyName(rawValue: id)) else {
            throw PresenceError(platform, code: 25299)
        }
        let keys = Keys(presenceKey: key, sealingKey: SmallCrypto.randomBytes(count: 32))
        state.withLock { $0.keys[id] = keys }
        return opened(id, keys)
    }

    /// Opens keys, if they are valid and the user accepts the prompt.
    public func unlock(_ id: String, reason: String) async throws(PresenceError) -> OpenGate {
        guard let keys = state.withLock({ $0.keys[id] }), keys.isValid else {
            throw PresenceError(platform, code: 67811)
        }
        try await ask(reason)
        return opened(id, keys)
    }

    /// Unlocks biometry, if the device has a credential and the user gives it.
    public func confirmWithDeviceCredential(title: String, text: String) async throws(PresenceError) {
        let code = state.withLock { [platform] state -> Int? in
            state.calls.append(.credential(title, text))
            guard state.hasDeviceCredential else { return platform == .apple ? 5 : 14 }
            guard state.givesCredential else { return platform == .apple ? 2 : 10 }
            (state.denials, state.isLockedOut) = (0, false)
            return nil
        }
        if let code { throw PresenceError(platform, code: code) }
    }

    /// Deletes keys.
    public func discard(_ id: String) async {
        state.withLock { $0.keys[id] = nil }
        try? await keyring.deleteKey(KeyName(rawValue: id))
    }

    private static func lockOut(_ platform: BiometryPlatform) -> Int { platform == .apple ? 8 : 7 }

    /// One prompt.
    private func ask(_ reason: String) async throws(PresenceError) {
        let hold = state.withLock { state in
            state.calls.append(.prompt(reason))
            return state.hold
        }
        await hold?()
        let code = state.withLock { [platform] state -> Int? in
            if state.isLockedOut { return Self.lockOut(platform) }
            switch state.answers.isEmpty ? .accept : state.answers.removeFirst() {
            case .accept:
                state.denials = 0
                return nil
            case .deny:
                state.denials += 1
                state.isLockedOut = state.denials >= Self.denialsMax
                if state.isLockedOut { return Self.lockOut(platform) }
                return platform == .apple ? 25293 : 2
            case .code(let code): return code
            }
        }
        if let code { throw PresenceError(platform, code: code) }
    }

    private func opened(_ id: String, _ keys: Keys) -> OpenGate {
        let isOpen = Guarded(true)
        state.withLock { $0.openCount += 1 }
        return OpenGate(
            id: id, presenceKey: FakeGateKey(key: keys.presenceKey, isOpen: isOpen), sealingKey: keys.sealingKey,
            close: { [state] in
                let wasOpen = isOpen.withLock { isOpen in
                    defer { isOpen = false }
                    return isOpen
                }
                if wasOpen { state.withLock { $0.openCount -= 1 } }
            })
    }
}

/// The presence key of an open gate. It signs until the gate is closed.
private struct FakeGateKey: DeviceKey {
    let key: any DeviceKey
    let isOpen: Guarded<Bool>

    var publicKey: PublicJWK { key.publicKey }

    func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] {
        guard isOpen.withLock({ $0 }) else { throw .denied(25308) }
        return try await key.sign(message)
    }
}
