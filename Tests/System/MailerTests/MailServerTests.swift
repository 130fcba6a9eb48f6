import FoundationEssentials
import HTTPClient
import HostileServer
import JSON
import Mail
import Repository
import Sessions
import TLSFixture
import Telemetry
import Testing

@testable import Configuration
@testable import Deliveries
@testable import Server

/// A server that sends mails, by its configuration.
@Suite("Mails of a server", .timeLimit(.minutes(3)))
struct MailServerTests {
    @Test("a server sends what is queued, at once when it is woken, and stops while a relay is silent")
    func server() async throws {
        let relay = ScriptedRelay { $0.contains("silent@") ? .hang : nil }
        defer { relay.stop() }
        try await MailerFixture.with { mailer in
            let deliveries = try mailer.deliveries(to: relay)
            let running = Task { await deliveries.run() }
            try await mailer.queue(.signUp, of: try await mailer.verify())
            mailer.context.mails?.wake()
            while relay.mails.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            try await mailer.queue(.newDevice, to: "silent@example.org")
            while !relay.commands.contains(where: { $0.contains("silent@") }) {
                try await Task.sleep(for: .milliseconds(2))
            }
            running.cancel()
            await running.value
            // The mail was not lost, and is tried again.
            #expect(try await mailer.mails().map(\.email) == ["silent@example.org"])
        }
    }

    @Test("a server sends at its start what has waited, by its configuration")
    func start() async throws {
        let relay = ScriptedRelay()
        defer { relay.stop() }
        let mailer = try await MailerFixture()
        try await mailer.queue(.newDevice, to: "anna@example.org")
        await mailer.application.close()
        var configuration = mailer.configuration
        configuration.mails.relay = relay.url
        let server = SojournServer(configuration, mailer.environment)
        _ = try await server.start()
        while relay.mails.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        await server.stop(deadline: .seconds(1))
        #expect(relay.commands.first == "EHLO login.example" && relay.mails.first?.recipients == ["anna@example.org"])
    }

    @Test("mails go to a program by signed POST, which refuses one by 410 and all by 500")
    func webhook() async throws {
        let status = Switch()
        let receiver = HostileServer { request in
            let code = request.contains("gone@") ? 410 : status.isOn ? 500 : 202
            return [.say("HTTP/1.1 \(code) Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
        }
        defer { receiver.stop() }
        try await MailerFixture.with { mailer in
            let url = try #require(OutboundURL(receiver.origin + "/send", plainLoopback: true))
            let secret = [UInt8](repeating: 7, count: 32)
            let deliveries = try mailer.deliveries(
                by: .webhook(WebhookTarget(name: "mail", url: url, secrets: [secret], events: .usual)))
            let verification = try await mailer.verify()
            let id = try await mailer.queue(.signUp, of: verification, facts: ["place": "Bremen"])
            await mailer.drain(deliveries)
            #expect(try await mailer.mails().first?.reply == "the receiver: status 500")
            status.isOn = false
            try await mailer.queue(.newDevice, to: "gone@example.org")
            for _ in 0..<3 {
                mailer.advance(5)
                await mailer.drain(deliveries)
            }
            #expect(try await mailer.mails(dead: true).map(\.email) == ["gone@example.org"])
            #expect(try await mailer.mails().isEmpty)
            let request = try #require(receiver.requests.last { $0.contains("anna@") })
            let parts = request.split(separator: "\r\n\r\n")
            let body = JSONValue(text: Array(parts[1].utf8))
            #expect(parts[0].contains("webhook-id: \(id)\r\n") && parts[0].contains("webhook-signature: v1,"))
            let code = try #require(mailer.context.verificationSecrets.code(of: verification))
            #expect(body?["facts"]?["code"]?.string == "\(code.prefix(4)) \(code.suffix(4))")
            #expect(body?["to"]?.string == "anna@example.org" && body?["kind"]?.string == "sign_up")
            #expect(body?["facts"]?["place"]?.string == "Bremen" && body?["language"]?.string == "de")
            #expect(body?["message_id"]?.string == "<\(id)@example.com>" && body?["html"]?.string?.isEmpty == false)
        }
    }

    @Test("a mail through aiosmtpd with STARTTLS and AUTH is well-formed, and a wrong password or certificate is said")
    func aiosmtpd() async throws {
        try await MailerFixture.with { mailer in
            let certificates = Certificates.shared
            let folder = mailer.folder + "/program"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            let program =
                ProcessInfo.processInfo.environment["SOJOURN_BIN"]
                ?? bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/sojourn"
            let result = try await Tool.run([
                Repository.path(".build/peers/bin/python"), "-B",
                Repository.path("Tests/System/MailerTests/Scripts/aiosmtpd_relay.py"), program,
                certificates.path("p256.crt"), certificates.path("p256.key"), certificates.path("ca.crt"), folder,
            ])
            #expect(result.status == 0 && result.text.hasSuffix("the mail is well-formed\n"), "\(result.text)")
        }
    }

    @Test("a folder of templates replaces texts, and one that no mail can be made from stops the start")
    func templates() async throws {
        try await MailerFixture.with { mailer in
            let folder = mailer.folder + "/templates"
            func write(_ name: String, _ text: String) throws {
                let path = "\(folder)/\(name)"
                try FileManager.default.createDirectory(
                    atPath: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]),
                    withIntermediateDirectories: true)
                try Data(text.utf8).write(to: URL(filePath: path))
            }
            var configuration = ServerConfiguration()
            configuration.mails.relay = "smtp://127.0.0.1:25"
            configuration.mails.from = "login@example.com"
            configuration.mails.templates = folder
            func problem() -> String? {
                do throws(StartError) {
                    _ = try configuration.mailSetting(
                        Environment(clock: mailer.context.clock, logger: .silent), issuer: "https://login.example")
                    return nil
                } catch { return error.description }
            }
            #expect(problem() == "mail.templates: the folder \(folder) cannot be read")
            try write("de/reset.txt", "Subject: Neu\n\n{{#code}}{{code}}{{/code}} {{link}}\n")
            #expect(problem() == nil)
            try write("de/reset.txt", "Subject: Neu\n\n{{link}}\n")
            #expect(problem() == "mail.templates: \(folder)/de: reset.text has no {{code}}")
            try FileManager.default.removeItem(atPath: folder)
            try write("fr/test.txt", "Subject: Bonjour\n\nBonjour\n")
            #expect(problem()?.hasSuffix("/fr: deletion.subject is missing") == false)
            #expect(problem()?.hasSuffix("is missing") == true)
            try FileManager.default.removeItem(atPath: folder)
            configuration.mails.language = "it"
            configuration.mails.templates = nil
            #expect(problem() == "mail.language is it, which has no texts; there are de, en")
            configuration.mails.language = "en"
            configuration.mails.user = "login"
            #expect(
                problem() == "mail.user is set, and mail.password_file is not: set it, or SOJOURN_MAIL_PASSWORD")
        }
    }
}
