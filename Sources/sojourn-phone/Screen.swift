import Foundation
import SojournClient
import SojournTestKit

/// The user at the screen, as the commands say: the answers to prompts for biometry and for passkeys.
final class Screen: Sendable {
    enum Answer: String, Sendable {
        case confirmed, canceled
        /// The wrong finger.
        case failed
    }

    private struct State {
        var answers: [Answer] = []
        var prompts: Int64 = 0
        var isInFront = true
    }

    private let state = Guarded(State())

    /// Whether the app is in the foreground, where the user can answer.
    var isInFront: Bool { state.withLock { $0.isInFront } }

    /// Shows a prompt. Without an answer that was set the user confirms.
    func prompt() -> Answer {
        state.withLock { state in
            state.prompts += 1
            return state.answers.isEmpty ? .confirmed : state.answers.removeFirst()
        }
    }

    /// Takes what a command says, and returns how many prompts there were.
    func obey(_ command: [String: JSONValue]) -> Int64 {
        let answers = command["answers"]?.elements?.compactMap(\.text).compactMap(Answer.init)
        return state.withLock { state in
            state.answers = answers ?? state.answers
            if let isInBackground = command["background"]?.bool { state.isInFront = !isInBackground }
            return state.prompts
        }
    }
}

/// A gate with keys in files beside the record, so that the next process can open them. On a phone no file would hold them.
struct FolderGate: PresenceGate {
    let folder: URL
    let screen: Screen

    /// What an item of the Keychain says that is gone with the biometry of its user.
    private static let enrollmentChanged = 25300

    let platform = BiometryPlatform.apple
    private var keys: SoftwareKeys { SoftwareKeys(directory: folder) }

    init(folder: URL, screen: Screen) { (self.folder, self.screen) = (folder, screen) }

    private func sealingKey(_ id: String) -> URL { folder.appendingPathComponent(id + ".seal") }

    private func prompt() throws(PresenceError) {
        switch screen.prompt() {
        case .confirmed: break
        case .canceled: throw PresenceError(platform, code: 2)
        case .failed: throw PresenceError(platform, code: 10)
        }
    }

    /// Enrolls other biometry, with which every key behind the gate is gone.
    func changeEnrollment() throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasPrefix("gate-") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(file))
        }
    }

    func availability() async -> GateAvailability { GateAvailability() }

    func enroll(reason: String) async throws(PresenceError) -> OpenGate {
        try prompt()
        let id = "gate-\(UUID().uuidString)"
        let seal = SmallCrypto.randomBytes(count: 32)
        do {
            let key = try await keys.makeKey(KeyName(rawValue: id))
            try Data(seal).write(to: sealingKey(id))
            return OpenGate(id: id, presenceKey: key, sealingKey: seal)
        } catch { throw PresenceError(platform, code: 25299) }
    }

    func unlock(_ id: String, reason: String) async throws(PresenceError) -> OpenGate {
        guard let key = try? await keys.key(KeyName(rawValue: id)), let seal = try? Data(contentsOf: sealingKey(id))
        else { throw PresenceError(platform, code: Self.enrollmentChanged) }
        try prompt()
        return OpenGate(id: id, presenceKey: key, sealingKey: Array(seal))
    }

    func confirmWithDeviceCredential(title: String, text: String) async throws(PresenceError) { try prompt() }

    func discard(_ id: String) async {
        try? await keys.deleteKey(KeyName(rawValue: id))
        try? FileManager.default.removeItem(at: sealingKey(id))
    }
}

/// Passkeys in memory, with prompts that the user answers.
struct ScreenPasskeys: PasskeyAuthenticator {
    let base: SoftwarePasskeys
    let screen: Screen

    private func prompt() throws(PasskeyError) {
        switch screen.prompt() {
        case .confirmed: break
        case .canceled: throw .cancelled
        case .failed: throw .failed("the user was not verified")
        }
    }

    func assertion(for request: PasskeyAssertionRequest) async throws(PasskeyError) -> PasskeyAssertion {
        try prompt()
        return try await base.assertion(for: request)
    }

    func registration(for request: PasskeyRegistrationRequest) async throws(PasskeyError) -> PasskeyRegistration {
        try prompt()
        return try await base.registration(for: request)
    }
}
