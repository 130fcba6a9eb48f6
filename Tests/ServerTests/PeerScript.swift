import FoundationEssentials
import TLSStage

/// A script of this folder, run with the Python and the libraries that `.ci/setup tests` installs.
enum PeerScript {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()

    /// What it ended with, and all that it has said.
    static func run(
        _ script: String, _ arguments: [String], input: String = ""
    ) async throws -> (status: Int32, text: String) {
        let root = here.deletingLastPathComponent().deletingLastPathComponent().path
        let result = try await Tool.run(
            [root + "/.build/peers/bin/python", "-B", here.path + "/" + script] + arguments, input: input)
        return (result.status, result.text)
    }
}
