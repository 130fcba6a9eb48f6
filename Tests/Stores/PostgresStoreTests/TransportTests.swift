import Cryptography
import PostgresFixture
import Sessions
import TLSFixture
import Testing

@testable import PostgresStore

/// TLS to the server, as `sslmode` and `sslrootcert` of the URL ask for it.
@Suite(.serialized) struct TransportTests {
    /// Its certificate is for localhost, not for db.example.
    private static let server = Result {
        try PostgresServer(certificate: (Certificates.shared.path("p256.crt"), Certificates.shared.path("p256.key")))
    }

    private static func url(_ host: String, _ mode: String, root: String? = nil) throws -> String {
        let server = try server.get()
        let schema = "t\(UInt32.random(in: 0 ... .max))"
        try server.run("CREATE SCHEMA \(schema)")
        let authority = root.map { "&sslrootcert=" + Certificates.shared.path($0) } ?? ""
        return server.url(schema: schema, host: host, "sslmode=\(mode)\(authority)")
    }

    @Test(
        arguments: [
            ("localhost", "verify-full", "ca.crt"), ("db.example", "verify-ca", "ca.crt"),
            ("db.example", "require", nil),
        ] as [(String, String, String?)])
    func aServerThatIsTrustedIsUsed_encrypted(host: String, mode: String, root: String?) async throws {
        let url = try Self.url(host, mode, root: root)
        let store = try openStore(url)
        let user = User(id: Identifier(random: .system), username: "anna", createdAt: Instant(secondsSinceEpoch: 1))
        #expect(try await store.insertUser(user, from: .admin, events: []))
        #expect(try await store.user(.username("anna")) == user)
        let clear =
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0 AND NOT ssl"
        #expect(try Self.server.get().run(clear) == "0\n")
        let survey = try PostgresStore.DatabaseReport(url: url, options: .init(clock: WallClock { user.createdAt }))
        #expect(survey.isEncrypted)
        #expect(survey.host == host)
        await store.close()
    }

    @Test(arguments: [
        ("localhost", "verify-full", "other-ca.crt", "sslrootcert must name the authority"),
        ("localhost", "verify-ca", "other-ca.crt", "sslrootcert must name the authority"),
        ("localhost", "verify-full", "none.crt", "none.crt\" does not exist"),
        ("db.example", "verify-full", "ca.crt", "does not match host name \"db.example\""),
    ])
    func aServerThatIsNotTrustedIsRefusedInASentence_andHearsNothing(
        host: String, mode: String, root: String, sentence: String
    ) throws {
        let url = try Self.url(host, mode, root: root).replacing("sojourn@", with: "sojourn:geheim@")
        let admitted = try Self.server.get().admittedCount()
        let error = #expect(throws: PostgresStore.OpenError.self) { try openStore(url) }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("geheim") == false)
        #expect(try Self.server.get().admittedCount() == admitted)
    }

    @Test func theLogNamesTheUserThatWasLetIn() throws {
        let admitted = try Self.server.get().admittedCount()
        let store = try openStore(try Self.url("localhost", "verify-full", root: "ca.crt"))
        #expect(try Self.server.get().admittedCount() > admitted)
        _ = store
    }

    @Test func aServerWithoutTLSIsRefusedWhereItIsAskedFor() throws {
        let server = try PostgresServer(certificate: nil)
        for mode in ["require", "verify-full"] {
            let url = server.url(
                schema: "public", host: "localhost",
                "sslmode=\(mode)&sslrootcert=\(Certificates.shared.path("ca.crt"))")
            let error = #expect(throws: PostgresStore.OpenError.self) { try openStore(url) }
            #expect(error?.description.contains("does not support SSL") == true, "\(error?.description ?? "")")
        }
    }
}
