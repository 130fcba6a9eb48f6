import FoundationEssentials
import Glibc
import HTTP
import JSON
import Locks
import Sessions
import TLS
import TLSFixture
import Telemetry
import Testing

@testable import Configuration
@testable import Server
@testable import sojourn

/// Files of certificates, as an operator has them.
private struct CertificateFolder {
    let folder = StartingFolder()

    init(_ name: String = "p256") { put(name) }

    /// Replaces both files by others.
    func put(_ name: String) {
        putCertificate(name)
        putKey(name)
    }

    func putCertificate(_ name: String) { write("c.pem", Certificates.shared.bytes(name + ".crt")) }
    func putKey(_ name: String) { write("k.pem", Certificates.shared.bytes(name + ".key")) }

    func write(_ name: String, _ bytes: [UInt8]) { folder.write(name, String(decoding: bytes, as: UTF8.self)) }

    var configuration: ServerConfiguration {
        var configuration = folder.configuration
        configuration.server.tlsCertificate = folder.file("c.pem")
        configuration.server.tlsKey = folder.file("k.pem")
        return configuration
    }
}

/// The lines of a log.
private final class Lines: Sendable {
    private let text = Locked("")

    var logger: Logger {
        Logger(
            level: .info, format: .text,
            sink: LogSink { line in
                self.text.withLock { $0 += String(decoding: line, as: UTF8.self) }
            }
        ) { 0 }
    }

    func count(_ part: String) -> Int { text.withLock { $0 }.split(separator: part).count - 1 }
}

/// A clock that stands where the test puts it.
private final class Moment: Sendable {
    private let seconds: Locked<Int64>
    init(_ start: Int64 = Certificates.shared.now) { seconds = Locked(start) }
    var wall: WallClock { WallClock { Instant(secondsSinceEpoch: self.seconds.withLock { $0 }) } }
    func advance(_ distance: Int64) { seconds.withLock { $0 += distance } }
}

@Suite("TLS of a server", .serialized, .timeLimit(.minutes(10)))
struct TLSServerTests {
    private func curl(_ url: String, _ options: [String] = []) async throws -> Tool.Result {
        try await Tool.run(
            ["curl", "-sS", "--cacert", Certificates.shared.path("ca.crt")] + options + [url])
    }

    private func failure(_ configuration: ServerConfiguration, _ moment: Moment = Moment()) async -> String? {
        let server = SojournServer(configuration, Environment(clock: moment.wall, logger: .silent))
        do throws(StartError) {
            _ = try await server.start()
            await server.stop(deadline: .zero)
            return nil
        } catch { return error.description }
    }

    // MARK: Starting

    @Test("both listeners speak TLS, admins show certificates, the issuer begins with https")
    func bothListeners() async throws {
        let files = CertificateFolder()
        var configuration = files.configuration
        configuration.server.adminTLSCertificate = configuration.server.tlsCertificate
        configuration.server.adminTLSKey = configuration.server.tlsKey
        configuration.server.adminClientCA = Certificates.shared.path("ca.crt")
        let server = SojournServer(configuration, Environment(clock: Moment().wall, logger: .silent))
        let addresses = try await server.start().addresses
        #expect(addresses.public.hasPrefix("https://127.0.0.1:"))
        #expect(addresses.admin.hasPrefix("https://127.0.0.1:"))
        let metadata = try await curl(addresses.public + "/.well-known/oauth-authorization-server")
        #expect(metadata.contains(#""issuer":"\#(addresses.public)""#), "\(metadata.text)")
        #expect(try await curl(addresses.admin + "/healthz").status != 0)
        let files2 = Certificates.shared
        let certificate = ["--cert", files2.path("client.crt"), "--key", files2.path("client.key")]
        #expect(try await curl(addresses.admin + "/healthz", certificate).status == 0)
        // The admin key is needed all the same.
        #expect(try await curl(addresses.admin + "/admin/v1/users", certificate + ["-i"]).contains("HTTP/1.1 401 "))
        let plain = try await Tool.run(["curl", "-sS", "http://" + addresses.public.dropFirst("https://".count)])
        #expect(plain.contains("tls_required"))
        await server.stop(deadline: .zero)
    }

    @Test("a fault in the files is one line that names the key and the file, and no start")
    func refusals() async throws {
        let files = CertificateFolder()
        let (certificate, key) = (files.folder.file("c.pem"), files.folder.file("k.pem"))
        #expect(await failure(files.configuration) == nil)

        files.putKey("next")
        #expect(await failure(files.configuration) == "server.tls_key: \(key) is not the key of the certificate")
        files.write("k.pem", Certificates.shared.bytes("encrypted.key"))
        #expect(try #require(await failure(files.configuration)).hasPrefix("server.tls_key: \(key) is encrypted"))
        files.write("k.pem", Certificates.shared.bytes("not.pem"))
        #expect(
            try #require(await failure(files.configuration)).hasPrefix("server.tls_key: \(key) holds no private key"))
        unlink(key)
        #expect(
            await failure(files.configuration)
                == "server.tls_key: \(key) cannot be read: No such file or directory")
        files.put("weak")
        #expect(
            try #require(await failure(files.configuration)).hasPrefix(
                "server.tls_certificate: \(certificate) has a weak key (RSA, 1024 bits)"))
        files.put("p256")
        files.write("c.pem", Certificates.shared.bytes("not.pem"))
        #expect(
            try #require(await failure(files.configuration)).hasPrefix(
                "server.tls_certificate: \(certificate) holds no certificate"))
        files.put("p256")
        let late = try #require(await failure(files.configuration, Moment(Certificates.shared.now + 91 * 86_400)))
        #expect(late.hasPrefix("server.tls_certificate: \(certificate) expired at "))
        let early = try #require(await failure(files.configuration, Moment(Certificates.shared.now - 86_400)))
        #expect(early.hasPrefix("server.tls_certificate: \(certificate) is not valid before "))
        var configuration = files.configuration
        configuration.server.adminTLSCertificate = certificate
        configuration.server.adminTLSKey = key
        configuration.server.adminClientCA = "/nowhere"
        #expect(
            await failure(configuration) == "server.admin_client_ca: /nowhere cannot be read: No such file or directory"
        )
        configuration.server.adminClientCA = nil
        configuration.server.adminTLSKey = files.folder.path
        #expect(try #require(await failure(configuration)).contains("cannot be read: Is a directory"))
    }

    @Test(
        "half of a pair is no configuration",
        arguments: [
            (["tls_certificate"], "server.tls_certificate is set, but server.tls_key is not"),
            (["tls_key"], "server.tls_key is set, but server.tls_certificate is not"),
            (["admin_tls_certificate"], "server.admin_tls_certificate is set, but server.admin_tls_key is not"),
            (["admin_tls_key"], "server.admin_tls_key is set, but server.admin_tls_certificate is not"),
            (["admin_client_ca"], "server.admin_client_ca is set, but server.admin_tls_certificate is not"),
        ])
    func halves(names: [String], line: String) {
        var sources = ServerConfiguration.Sources()
        for name in names { sources.environment["SOJOURN_SERVER_" + name.uppercased()] = "/x" }
        let problems = #expect(throws: ServerConfiguration.Problems.self) { try ServerConfiguration(from: sources) }
        #expect(problems?.lines.count == 1)
        #expect(problems?.lines.first?.hasPrefix(line) == true)
    }

    // MARK: Reloading

    @Test("new files are taken at the next look, broken ones are told once and change nothing")
    func looking() throws {
        let (files, lines, moment) = (CertificateFolder(), Lines(), Moment())
        let reloader = try CertificateReloader(
            #require(files.configuration.server.publicCertificate), clock: moment.wall, logger: lines.logger)
        var subject: String { reloader.holder.current.certificate.subject }
        #expect(lines.count("certificate loaded") == 1)
        reloader.tick()
        #expect(lines.count("certificate loaded") == 1, "nothing has changed")
        // The moment between two files.
        files.putCertificate("next")
        reloader.tick()
        #expect(subject == "CN=p256")
        #expect(lines.count("cannot be used") == 0, "the key may be on its way")
        files.putKey("next")
        reloader.tick()
        #expect(subject == "CN=next")
        #expect(lines.count("subject=\"CN=next\"") == 1)

        files.write("c.pem", Certificates.shared.bytes("not.pem"))
        for _ in 0..<5 { reloader.tick() }
        #expect(subject == "CN=next")
        #expect(lines.count("cannot be used") == 1)
        unlink(files.folder.file("c.pem"))
        for _ in 0..<5 { reloader.tick() }
        #expect(lines.count("cannot be used") == 2)
        files.put("next")
        reloader.tick()
        #expect(lines.count("certificate loaded") == 2, "the old one is back")
        files.put("weak")
        for _ in 0..<5 { reloader.tick() }
        #expect(lines.count("weak key") == 1)
        files.put("p256")
        reloader.tick()
        #expect(subject == "CN=p256")
    }

    @Test("a link that leads elsewhere is a change, as Kubernetes makes it")
    func links() throws {
        let (files, lines, moment) = (CertificateFolder(), Lines(), Moment())
        let folder = files.folder
        for name in ["p256", "next"] {
            mkdir(folder.file(name), 0o700)
            files.write(name + "/c.pem", Certificates.shared.bytes(name + ".crt"))
            files.write(name + "/k.pem", Certificates.shared.bytes(name + ".key"))
        }
        unlink(folder.file("c.pem"))
        unlink(folder.file("k.pem"))
        symlink("p256", folder.file("..data"))
        symlink("..data/c.pem", folder.file("c.pem"))
        symlink("..data/k.pem", folder.file("k.pem"))
        let reloader = try CertificateReloader(
            #require(files.configuration.server.publicCertificate), clock: moment.wall, logger: lines.logger)
        #expect(reloader.holder.current.certificate.subject == "CN=p256")
        symlink("next", folder.file("..data_tmp"))
        rename(folder.file("..data_tmp"), folder.file("..data"))
        reloader.tick()
        #expect(reloader.holder.current.certificate.subject == "CN=next")
    }

    @Test("the last 14 days are warned of once a day, beginning with the start")
    func warnings() throws {
        let (files, lines, moment) = (CertificateFolder(), Lines(), Moment())
        let reloader = try CertificateReloader(
            #require(files.configuration.server.publicCertificate), clock: moment.wall, logger: lines.logger)
        let left = reloader.notAfter - Certificates.shared.now
        // 15 days less a second are 14 whole ones.
        moment.advance(left - 15 * 86_400)
        reloader.tick()
        #expect(lines.count("expires soon") == 0)
        moment.advance(1)
        reloader.tick()
        reloader.tick()
        #expect(lines.count("days_left=14") == 1)
        moment.advance(86_399)
        reloader.tick()
        #expect(lines.count("expires soon") == 1)
        moment.advance(1)
        reloader.tick()
        #expect(lines.count("days_left=13") == 1)
        let another = Lines()
        _ = try CertificateReloader(
            #require(files.configuration.server.publicCertificate), clock: moment.wall, logger: another.logger)
        #expect(another.count("expires soon") == 1)
        moment.advance(14 * 86_400)
        reloader.tick()
        #expect(lines.count("has expired") == 1)
    }

    @Test("SIGHUP loads new files without ending a connection; broken ones change nothing")
    func hangup() async throws {
        let files = CertificateFolder()
        let program = CommandLineProgram(files.folder)
        files.folder.write(
            "sojourn.json5",
            """
            {server: {public_listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0", tls_certificate: "c.pem", tls_key: "k.pem"},
             log: {format: "text"}}
            """)
        let process = try program.start(["serve", "--ready-file", "ready.json"])
        #expect(await process.waitForFile("ready.json"))
        let ready = try #require(JSONValue(text: Array((files.folder.text("ready.json") ?? "").utf8)))
        let url = try #require(ready["public"]?.string)
        #expect(url.hasPrefix("https://"))
        let health = try await program.run(["health"])
        #expect(health.status == 0, "\(health.errors)")
        let doctor = try await program.run(["doctor"])
        #expect(doctor.output.contains("public TLS       CN=p256 lasts 89 days more"), "\(doctor.output)")

        let script = """
            import os, signal, socket, ssl, sys, time
            folder, port, ca = sys.argv[1], int(sys.argv[2]), sys.argv[3]
            tls = ssl.create_default_context(cafile=ca)
            def connect():
                return tls.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
            def ask(s):
                s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                return s.recv(65536).startswith(b"HTTP/1.1 200")
            def name(s): return dict(x[0] for x in s.getpeercert()["subject"])["commonName"]
            old = connect()
            print(name(old), ask(old))
            os.replace(folder + "/c2.pem", folder + "/c.pem")
            os.replace(folder + "/k2.pem", folder + "/k.pem")
            os.kill(int(sys.argv[4]), signal.SIGHUP)
            while True:
                new = connect()
                if name(new) == "next": break
            print(name(new), ask(new), ask(old))
            """
        files.write("c2.pem", Certificates.shared.bytes("next.crt"))
        files.write("k2.pem", Certificates.shared.bytes("next.key"))
        let port = String(url.split(separator: ":").last ?? "")
        let result = try await Tool.run([
            "python3", "-c", script, files.folder.path, port, Certificates.shared.path("ca.crt"), "\(process.pid)",
        ])
        #expect(result.text == "p256 True\nnext True True\n")
        process.signal(SIGTERM)
        let end = await process.result()
        #expect(end.status == 0)
        #expect(end.errors.contains("certificate loaded listener=public subject=\"CN=next\""), "\(end.errors)")
    }

    @Test("a certificate that cannot be used keeps the program from starting")
    func programRefuses() async throws {
        let files = CertificateFolder()
        files.putKey("next")
        var program = CommandLineProgram(files.folder)
        program.environment = [
            "SOJOURN_SERVER_TLS_CERTIFICATE": "c.pem", "SOJOURN_SERVER_TLS_KEY": "k.pem",
            "SOJOURN_SERVER_PUBLIC_LISTEN": "127.0.0.1:0", "SOJOURN_SERVER_ADMIN_LISTEN": "127.0.0.1:0",
        ]
        let result = try await program.run(["serve"])
        #expect(result.status == 1)
        #expect(result.errors == "sojourn: server.tls_key: k.pem is not the key of the certificate\n")
        #expect(!files.folder.exists("sojourn.sqlite"))
        let doctor = try await program.run(["doctor"])
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("server.tls_key: k.pem is not the key of the certificate"))
    }

    @Test("metrics say when the certificate ends")
    func metrics() async throws {
        let files = CertificateFolder()
        let server = SojournServer(files.configuration, Environment(clock: Moment().wall, logger: .silent))
        let start = try await server.start()
        let key = try #require(start.firstAdminKey)
        let metrics = try await Tool.run([
            "curl", "-sS", "-H", "Authorization: Bearer \(key)", start.addresses.admin + "/metrics",
        ])
        #expect(metrics.contains(#"sojourn_tls_certificate_expiry_seconds{listener="public"} "#))
        #expect(metrics.contains(#"sojourn_tls_handshakes_total{outcome="full"} 0"#))
        await server.stop(deadline: .zero)
    }
}
