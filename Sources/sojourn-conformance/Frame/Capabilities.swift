import Foundation
import SojournClient

/// What a scenario can need of a client or of its driver.
enum Ability: String, CaseIterable, Sendable {
    /// Seals the tokens behind a biometric check.
    case biometry
    /// Asks a phone to let it in.
    case phoneAsking = "phone-asking"
    /// Lets other devices in.
    case phoneApproving = "phone-approving"
    case passkeys
    /// The driver stops itself at a point of a renewal.
    case freezing
    /// The client keeps everything in files of its folder.
    case files
}

/// What a driver says of itself before the first scenario.
struct Capabilities: Sendable {
    /// What the client does not have.
    var lacks: Set<Ability> = []
    /// The origin of the pages of a client in a browser.
    var origin: String?

    /// The first thing that a scenario needs and the client lacks.
    func obstacle(to scenario: Scenario) -> Ability? { scenario.needs.first(where: lacks.contains) }

    /// Asks a driver, in a folder and with a server that it has no reason to use. A driver that does not answer lacks nothing.
    static func of(_ command: [String]) async -> Capabilities {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)")
        guard (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil else {
            return Capabilities()
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        // No program listens on this port: it is for tests of exactly that (RFC 863).
        let words = [folder.appendingPathComponent("app").path, "--server", "http://127.0.0.1:9"]
        let errors = folder.appendingPathComponent("errors").path
        guard let driver = try? Driver(command + words + ["--renewal", "refresh-token"], errors: errors),
            let answer = try? await driver.ask("capabilities"), answer.error == nil
        else { return Capabilities() }
        let lacks = (answer.members["lacks"]?.elements ?? []).compactMap(\.text).compactMap(Ability.init)
        let origin = answer.members.text("origin")
        await driver.kill()
        return Capabilities(lacks: Set(lacks), origin: origin)
    }
}
