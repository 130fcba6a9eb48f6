import FoundationEssentials
import JSON
import Repository
import Telemetry
import Testing

@testable import Configuration

@Suite("Configuration")
struct ConfigurationKeyTests {
    /// `config/sojourn.json5`.
    static func documentedFile() throws -> [UInt8] {
        return Array(try Data(contentsOf: Repository.root.appending(path: "config/sojourn.json5")))
    }

    static func problems(
        file: String? = nil, environment: [String: String] = [:], flags: [(String, String, String)] = []
    ) -> [String] {
        var sources = ServerConfiguration.Sources()
        if let file { sources.file = ("sojourn.json5", Array(file.utf8)) }
        sources.environment = environment
        sources.flags = flags
        do throws(ServerConfiguration.Problems) {
            _ = try ServerConfiguration(from: sources)
            return []
        } catch {
            return error.lines
        }
    }

    @Test("the documented file says every key, with its default")
    func documentedFileHoldsTheDefaults() throws {
        let file = try ConfigurationDocument.parse(Self.documentedFile())
        #expect(Set(file.values.keys) == Set(ConfigurationKey.all.map(\.path)))
        for key in ConfigurationKey.all {
            #expect(file.values[key.path] == key.get(ServerConfiguration()), "\(key.path)")
        }
    }

    @Test("the documented file loads, and is the default configuration")
    func documentedFileLoads() throws {
        var sources = ServerConfiguration.Sources()
        sources.file = ("config/sojourn.json5", try Self.documentedFile())
        #expect(try ServerConfiguration(from: sources) == ServerConfiguration())
    }

    @Test("every key of the documented file has a comment just above it")
    func documentedFileExplainsEachKey() throws {
        let lines = String(decoding: try Self.documentedFile(), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (line, above) in zip(lines.dropFirst(), lines) where line.hasPrefix("        ") && line.contains(": ") {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("//") { continue }
            #expect(above.drop { $0 == " " }.hasPrefix("// "), "\(text)")
        }
    }

    /// A value of each key that is no number.
    private static let others: [String: String] = [
        "server.public_listen": "[::1]:9", "server.admin_listen": "0.0.0.0:10",
        "server.issuer": "https://login.example/sojourn", "server.audience": "https://api.example",
        "server.scopes_supported": "openid read", "server.issuer_path": "removed",
        "database.url": "sqlite:/var/lib/sojourn/db", "keys.root_key_file": "/run/secrets/1",
        "keys.algorithm": "EdDSA", "log.level": "debug", "log.format": "text",
        "server.tls_certificate": "/c.pem", "server.tls_key": "/k.pem", "server.admin_tls_certificate": "/c.pem",
        "server.admin_tls_key": "/k.pem", "server.admin_client_ca": "/ca.pem",
        "server.admin_hosts": "console.example, admin.example",
        "server.unix_socket_mode": "0666", "server.reuse_port": "true", "server.forwarded_field": "forwarded",
        "server.private_receivers": "10.0.0.0/8, ::1",
        "server.trusted_proxies": "10.0.0.0/8, 2001:db8::1,unix", "server.proxy_protocol": "required",
        "dpop.nonce": "required", "limits.remote_login_same": "network", "geo.database": "/var/lib/geo/city.mmdb",
        "languages": "/usr/share/sojourn/languages",
        "limits.password_own_words": "acme, roadrunner", "passkeys.rp_id": "example.com",
        "passkeys.origins": "https://example.com, https://login.example.com",
        "mail.relay": "smtps://smtp.example:465", "mail.user": "login", "mail.password_file": "/p",
        "mail.auth_mechanism": "PLAIN", "mail.ca_file": "/ca.pem", "mail.helo": "login.example",
        "mail.webhook_url": "https://mails.example/send", "mail.webhook_secret_file": "/s",
        "mail.from": "Shop <login@example.com>", "mail.language": "de", "mail.templates": "/mails",
        "mail.code_in_subject": "true",
        "accounts.sign_up": "open", "accounts.usernames": "chosen", "accounts.editable": "username, country",
    ]

    @Test("every key can be set by its variable, and what is set can be read back")
    func everyKeyGoesRound() throws {
        // Values that text alone does not spell.
        let spelt: [String: JSONValue] = [
            "server.reuse_port": .bool(true), "mail.code_in_subject": .bool(true),
            "server.admin_hosts": .list(["console.example", "admin.example"]),
            "server.private_receivers": .list(["10.0.0.0/8", "::1"]),
            "server.trusted_proxies": .list(["10.0.0.0/8", "2001:db8::1", "unix"]),
            "limits.password_own_words": .list(["acme", "roadrunner"]),
            "passkeys.origins": .list(["https://example.com", "https://login.example.com"]),
            "accounts.editable": .list(["username", "country"]),
        ]
        // What makes sense only together.
        let together = [
            ["server.tls_certificate", "server.tls_key"],
            ["server.admin_tls_certificate", "server.admin_tls_key", "server.admin_client_ca"],
            [
                "mail.relay", "mail.from", "mail.user", "mail.password_file", "mail.auth_mechanism", "mail.ca_file",
                "mail.helo",
            ],
            ["mail.webhook_url", "mail.webhook_secret_file"],
        ]
        // A list of objects is for the file alone.
        for key in ConfigurationKey.all where key.setObjects == nil {
            var text = Self.others[key.path] ?? ""
            if case .integer(let number) = key.get(ServerConfiguration()) { text = "\(number + 1)" }
            var sources = ServerConfiguration.Sources()
            sources.environment = [key.variable: text]
            // It makes no sense alone.
            if key.path == "server.proxy_protocol" {
                sources.environment["SOJOURN_SERVER_TRUSTED_PROXIES"] = "unix"
            }
            if key.path == "passkeys.origins" { sources.environment["SOJOURN_PASSKEYS_RP_ID"] = "example.com" }
            if key.path.hasPrefix("mail.webhook") {
                sources.environment["SOJOURN_MAIL_FROM"] = Self.others["mail.from"]
            }
            for partner in together.first(where: { $0.contains(key.path) }) ?? [] {
                let variable = try #require(ConfigurationKey.at(partner)).variable
                sources.environment[variable] = Self.others[partner]
            }
            let configuration = try ServerConfiguration(from: sources)
            #expect(configuration != ServerConfiguration(), "\(key.path) changes nothing")
            let number = text.hasPrefix("0") ? nil : Int(text)
            let expected = spelt[key.path] ?? number.map { .integer(Int64($0)) } ?? .string(text)
            #expect(key.get(configuration) == expected, "\(key.path)")
        }
    }

    @Test("flags go over the environment, the environment over the file, the file over the default")
    func precedence() throws {
        var sources = ServerConfiguration.Sources()
        #expect(try ServerConfiguration(from: sources).log.level == .info)
        sources.file = ("f", Array("{log: {level: 'debug', format: 'text'}, keys: {rotation_days: 7}}".utf8))
        #expect(try ServerConfiguration(from: sources).log.level == .debug)
        sources.environment = ["SOJOURN_LOG_LEVEL": "warning", "SOJOURN_KEYS_ROTATION_DAYS": "8", "HOME": "/"]
        #expect(try ServerConfiguration(from: sources).log.level == .warning)
        sources.flags = [("--log-level", "log.level", "error")]
        let all = try ServerConfiguration(from: sources)
        #expect(all.log.level == .error)
        #expect(all.keys.rotationDays == 8)
        #expect(all.log.format == .text)
    }

    @Test(
        "unknown keys and impossible values are refused with a line that names place, key and what would be right",
        arguments: [
            ("{server: {public_liste: '*:1'}}", "unknown key server.public_liste; did you mean server.public_listen?"),
            ("{sever: {}, log: {levle: 'info'}}", "unknown key log.levle; did you mean log.level?"),
            ("{logs: {}}", "unknown key logs"),
            ("{logs: 3}", "unknown key logs"),
            ("{log: null}", "unknown key log"),
            ("{server: {public_listen: '127.0.0.1'}}", "server.public_listen must be an address like 127.0.0.1:8080"),
            ("{server: {public_listen: 'unix:'}}", "server.public_listen must be an address"),
            ("{server: {public_listen: 'unix:/x'}}", "set server.issuer to the one that apps call"),
            ("{server: {admin_listen: 'unix:/x'}}", "server.admin_listen must be an address"),
            ("{server: {unix_socket_mode: '660'}}", "server.unix_socket_mode must be a mode like"),
            ("{server: {unix_socket_mode: '0777'}}", "server.unix_socket_mode must be a mode like"),
            ("{server: {unix_socket_mode: '0066'}}", "server.unix_socket_mode must be a mode like"),
            ("{server: {unix_socket_mode: '0668'}}", "server.unix_socket_mode must be a mode like"),
            ("{server: {unix_socket_mode: 660}}", "server.unix_socket_mode must be a mode like"),
            ("{server: {reuse_port: 1}}", "server.reuse_port must be true or false, not 1"),
            (
                "{server: {trusted_proxies: ['10.0.0.1/8']}}",
                "must be a list of addresses, ranges like 10.0.0.0/8, or unix"
            ),
            ("{server: {trusted_proxies: ['10.0.0.0/8', 'nginx']}}", "not [\"10.0.0.0/8\", \"nginx\"]"),
            ("{server: {trusted_proxies: '*'}}", "server.trusted_proxies must be a list"),
            ("{server: {trusted_proxies: [10]}}", "server.trusted_proxies must be a list"),
            ("{server: {private_receivers: ['unix']}}", "must be a list of addresses or ranges like 10.0.0.0/8"),
            ("{server: {forwarded_field: 'X-Real-IP'}}", "one of \"x-forwarded-for\", \"forwarded\", \"none\""),
            ("{server: {proxy_protocol: 'v2'}}", "server.proxy_protocol must be one of \"off\", \"required\""),
            ("{server: {proxy_protocol: 'required'}}", "name the proxies in server.trusted_proxies"),
            ("{limits: {remote_login_same: 'country'}}", "geo.database is not set: it knows the countries"),
            ("{server: {admin_listen: 8081}}", "server.admin_listen must be an address"),
            ("{server: {issuer: 'ftp://x'}}", "server.issuer must be an http or https URL"),
            ("{server: {issuer: 'https://x/'}}", "server.issuer must be"),
            ("{server: {issuer: 'https://x?y'}}", "server.issuer must be"),
            ("{server: {issuer: 'https://x/a//b'}}", "whose path has letters, digits"),
            ("{server: {issuer: 'https://x/a/../b'}}", "whose path has letters, digits"),
            ("{server: {issuer: 'https://x/a%2Fb'}}", "whose path has letters, digits"),
            ("{server: {issuer: 'https://x/{a}'}}", "whose path has letters, digits"),
            ("{server: {audience: ''}}", "server.audience must be"),
            ("{server: {admin_listen: '127.0.0.1:8080'}}", "give each its own port"),
            (
                "{database: {url: 'mysql://x'}}",
                "database.url must be sqlite:PATH or postgres://USER@HOST/NAME, not \"mysql://x\""
            ),
            ("{database: {url: 'sqlite:'}}", "database.url must be"),
            ("{database: {url: 'sqlite::memory:'}}", "database.url must be"),
            ("{database: {url: null}}", "database.url must be sqlite:PATH or postgres://USER@HOST/NAME, not null"),
            ("{keys: {algorithm: 'none'}}", "keys.algorithm must be one of \"ES256\", \"EdDSA\""),
            ("{keys: {rotation_days: 0}}", "keys.rotation_days must be a whole number of days from 2 to 3650, not 0"),
            ("{keys: {rotation_days: 2.5}}", "not a fraction"),
            ("{keys: {rotation_days: '30'}}", "not \"30\""),
            ("{keys: {rotation_days: [30]}}", "not a list"),
            ("{keys: {rotation_days: {days: 30}}}", "not an object"),
            ("{keys: {rotation_days: true}}", "not true"),
            ("{sessions: {absolute_max_lifetime: 59}}", "sessions.absolute_max_lifetime must be"),
            ("{limits: {password_hash_width: 0}}", "limits.password_hash_width must be"),
            ("{log: {level: 'INFO'}}", "log.level must be one of \"debug\", \"info\""),
            ("[]", "must hold one object"),
            ("{log: {level: 'info'}", "line 1, column 22: the text ends, and nothing closes the { of line 1, column 1"),
            ("", "line 1, column 1: the text ends, and holds no object"),
        ])
    func refusals(file: String, expected: String) {
        let lines = Self.problems(file: file)
        let starts = ["sojourn.json5: ", "server.", "limits."]
        #expect(lines.contains { line in starts.contains(where: line.hasPrefix) }, "\(lines)")
        #expect(lines.contains { $0.contains(expected) }, "\(lines)")
        #expect(lines.allSatisfy { !$0.contains("\n") }, "\(lines)")
    }

    @Test("all problems are told at once, from every source")
    func allProblemsAtOnce() {
        let lines = Self.problems(
            file: "{log: {levl: 'x', format: 'xml'}}",
            environment: ["SOJOURN_LOG_LEVL": "info", "SOJOURN_DATABASE_URL": "mysql:x", "SOJOURN_BIN": "/x"],
            flags: [("--public", "server.public_listen", "nowhere")])
        #expect(
            lines == [
                "sojourn.json5: log.format must be one of \"json\", \"text\", not \"xml\"",
                "sojourn.json5: unknown key log.levl; did you mean log.level?",
                "environment: SOJOURN_DATABASE_URL must be sqlite:PATH or postgres://USER@HOST/NAME, not 'mysql:x'",
                "environment: unknown variable SOJOURN_LOG_LEVL; did you mean SOJOURN_LOG_LEVEL?",
                "--public must be an address like 127.0.0.1:8080, [::1]:8080 or *:8080 (port 0 takes a free one), "
                    + "or unix:PATH, not 'nowhere'",
            ])
    }

    @Test("secrets in the environment are no keys, and are not repeated in an error")
    func secretsAreNotRepeated() {
        let lines = Self.problems(environment: [
            "SOJOURN_ROOT_KEY": "secret-root", "SOJOURN_ADMIN_KEY": "secret-admin", "SOJOURN_ADMIN_KEI": "secret-typo",
        ])
        #expect(lines == ["environment: unknown variable SOJOURN_ADMIN_KEI; did you mean SOJOURN_ADMIN_KEY?"])
    }

    @Test(
        "a database is shown without its passwords, wherever libpq takes them from",
        arguments: [
            ("postgres://sojourn@db/tokens", "postgres://sojourn@db/tokens"),
            (
                "postgres://sojourn:hush@db:5432/tokens?sslmode=require",
                "postgres://sojourn:…@db:5432/tokens?sslmode=require"
            ),
            ("postgres://sojourn:hu@sh@db/tokens", "postgres://sojourn:…@db/tokens"),
            ("postgres://sojourn:hu?sh@db/tokens", "postgres://sojourn:…@db/tokens"),
            ("postgres://sojourn:hu/sh@db/tokens?a=b", "postgres://sojourn:…@db/tokens?a=b"),
            ("postgres://db/tokens?password=hu:sh@x&sslpassword=hush", "postgres://db/tokens?password=…&sslpassword=…"),
            (
                "postgres://db/tokens?user=a&password=hush&sslpassword=hush",
                "postgres://db/tokens?user=a&password=…&sslpassword=…"
            ),
            ("postgres://db/tokens?PASSWORD=hush&p%61ssword=hush&", "postgres://db/tokens?PASSWORD=…&p%61ssword=…&"),
            ("postgres://a,b:5433/tokens?target_session_attrs=read-write", nil), ("sqlite:/var/lib/a:b@c", nil),
        ] as [(String, String?)])
    func databaseIsShownWithoutPasswords(_ url: String, _ shown: String?) throws {
        var sources = ServerConfiguration.Sources()
        sources.environment = ["SOJOURN_DATABASE_URL": url]
        #expect(try ServerConfiguration(from: sources).database.url == shown ?? url)
    }

    @Test("a text that looks like a number is still a text where one is wanted")
    func numericText() throws {
        var sources = ServerConfiguration.Sources()
        sources.environment = ["SOJOURN_SERVER_AUDIENCE": "42", "SOJOURN_KEYS_ROOT_KEY_FILE": ""]
        let configuration = try ServerConfiguration(from: sources)
        #expect(configuration.server.audience == "42")
        #expect(configuration.keys.rootKeyFile == nil)
        #expect(configuration.rootKeyFile == "sojourn.sqlite.root-key")
    }
}
