import FoundationEssentials
import Repository
import TLSFixture
import Testing

/// Programs of other projects log a user in on the login page in Chromium: the scripts in `Scripts/Programs`, each with one
/// program from PyPI or Debian, unmodified. What is missing is a failure: `.ci/setup` installs it.
@Suite(
    "Programs that log users in",
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver"),
        "there is no chromedriver; Debian has it"
    ), .timeLimit(.minutes(10)))
struct ProgramLoginTests {
    private static let light = ["streamlit", "synapse", "django", "dovecot"]
    /// Those with installations of up to seven gigabytes.
    private static let heavy = ["jupyterhub", "pgadmin", "superset", "mlflow", "open_webui", "roundcube"]

    @Test(
        "a login in Chromium, and what ends with the session", arguments: Lane.cases(push: light, full: light + heavy))
    func login(program: String) async throws {
        let server = try await ServerForClients(environment: [:])
        let result = try await server.run(program + "_login", in: "Programs")
        #expect(result.status == 0, "\(result.text)")
        #expect(await server.stop() == "")
    }
}
