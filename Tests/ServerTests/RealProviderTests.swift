import FoundationEssentials
import TLSStage
import Testing

/// Logins by the ID tokens of a provider that nobody here wrote, as a package of Debian has it.
@Suite struct RealProviderTests {
    @Test(.timeLimit(.minutes(3))) func glewlwyd_vouchesForItsUser() async throws {
        let folder = StartingFolder()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "RealProvider/glewlwyd.py")
        let result = try await Tool.run(["python3", script.path, folder.path, CommandLineProgram.path])
        #expect(
            result.text.split(separator: "\n") == [
                "wrong nonce 401", "login 200 Ada L", "again 401 invalid_id_token", "next login 200 True",
                "provider gone 200",
            ], "\(result.text)")
    }
}
