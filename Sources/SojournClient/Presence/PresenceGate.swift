/// Asks the user for biometry, and holds two keys back until the user has given it: the presence key, which the server knows,
/// and the sealing key, which encrypts the tokens that are stored.
///
/// A gate asks only when one of its calls is made, and once per call. It remembers nothing of an earlier answer.
public protocol PresenceGate: Sendable {
    /// The platform that gives the gate's errors their codes.
    var platform: BiometryPlatform { get }

    /// What the device offers at present. It is asked before every prompt, because a lock-out concerns the whole device and can
    /// end outside of the app.
    func availability() async -> GateAvailability

    /// Makes both keys under a new ID, and asks the user once. The keys of earlier enrollments stay as they are.
    ///
    /// - Parameter reason: what the prompt says.
    func enroll(reason: String) async throws(PresenceError) -> OpenGate

    /// Opens the keys of an enrollment, and asks the user once. If the enrolled biometry has changed since, it throws an error of
    /// the kind `enrollmentChanged`, without asking.
    func unlock(_ id: String, reason: String) async throws(PresenceError) -> OpenGate

    /// Asks for the device's PIN, pattern or password. Afterwards biometry that was locked can be used again.
    func confirmWithDeviceCredential(title: String, text: String) async throws(PresenceError)

    /// Deletes the keys of an enrollment, if there are any.
    func discard(_ id: String) async
}

/// What one prompt has opened.
public struct OpenGate: Sendable {
    /// Names the enrollment: letters, digits, `-` and `_`.
    public var id: String
    /// The presence key. It signs without another prompt until the gate closes.
    public var presenceKey: any DeviceKey
    /// The key of AES-256-GCM, 32 bytes.
    public var sealingKey: [UInt8]
    /// Closes the gate: the presence key signs no more.
    public var close: @Sendable () async -> Void

    /// Creates an open gate.
    public init(
        id: String, presenceKey: any DeviceKey, sealingKey: [UInt8], close: @escaping @Sendable () async -> Void = {}
    ) {
        self.id = id
        self.presenceKey = presenceKey
        self.sealingKey = sealingKey
        self.close = close
    }
}

/// What a device offers for the user's presence.
public struct GateAvailability: Hashable, Sendable {
    /// Why biometry cannot be asked for; nil: it can.
    public var obstacle: PresenceError?
    /// Whether the device has a PIN, pattern or password.
    public var hasDeviceCredential: Bool

    /// Creates an availability.
    public init(obstacle: PresenceError? = nil, hasDeviceCredential: Bool = true) {
        self.obstacle = obstacle
        self.hasDeviceCredential = hasDeviceCredential
    }
}

/// The default texts of prompts. The SDK has no other text for users.
public enum PresencePrompt {
    /// The reason of a prompt for biometry.
    public static let reason = "Unlock your session."
    /// The title of the prompt for the device's credential.
    public static let lockedTitle = "Biometry Locked"
    /// The text of the prompt for the device's credential.
    public static let lockedText =
        "Too many failed fingerprint/faceId attempts! Provide your credentials to unlock fingerprint/faceId for further use."
}
