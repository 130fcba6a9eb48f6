import FoundationEssentials
import Repository
import TLSFixture

/// A script of `Scripts`, run with the Python and the libraries that `.ci/setup tests` installs.
enum PeerScript {
    /// What it ended with, and all that it has said.
    static func run(
        _ script: String, _ arguments: [String], input: String = ""
    ) async throws -> (status: Int32, text: String) {
        let result = try await Tool.run(
            [
                Repository.path(".build/peers/bin/python"), "-B",
                Repository.path("Tests/System/ServerTests/Scripts/" + script),
            ]
                + arguments, input: input)
        return (result.status, result.text)
    }
}
