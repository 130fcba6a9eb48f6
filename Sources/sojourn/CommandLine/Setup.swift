import Configuration
import FoundationEssentials

/// Makes the configuration from the options and the environment.
enum Setup {
    /// The environment of this process.
    static var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The options that set a key of the configuration.
    static let flags: [(option: Command.Option, path: String)] = [
        (
            Command.Option(
                "--database", "URL", "the database, sqlite:PATH or postgres://… (default sqlite:sojourn.sqlite)"),
            "database.url"
        ),
        (
            Command.Option("--public", "HOST:PORT", "the address for apps (default 127.0.0.1:8080)"),
            "server.public_listen"
        ),
        (
            Command.Option("--admin", "HOST:PORT", "the address for admins (default 127.0.0.1:8081)"),
            "server.admin_listen"
        ),
        (Command.Option("--issuer", "URL", "the iss of every token (default: the public address)"), "server.issuer"),
        (Command.Option("--root-key-file", "PATH", "the root keys (default: DATABASE.root-key)"), "keys.root_key_file"),
        (Command.Option("--log-level", "LEVEL", "debug, info (default), notice, warning or error"), "log.level"),
        (Command.Option("--log-format", "FORMAT", "json (default) or text"), "log.format"),
    ]

    /// The configuration from `--config`, the environment and the other options; every problem is a line of the failure.
    static func configuration(_ arguments: Arguments) throws(Failure) -> ServerConfiguration {
        var sources = ServerConfiguration.Sources()
        sources.environment = environment
        sources.file = try file(arguments)
        for (option, path) in flags {
            if let value = arguments.value(option.name) { sources.flags.append((option.name, path, value)) }
        }
        do throws(ServerConfiguration.Problems) {
            return try ServerConfiguration(from: sources)
        } catch { throw Failure(.failed, error.lines) }
    }

    /// The path of `--config`, else of `SOJOURN_CONFIG`, else `sojourn.json5` in the current folder; nil if that is missing.
    static func path(_ arguments: Arguments) -> String? {
        let variable = environment[ServerConfiguration.SpecialVariable.config.rawValue].flatMap {
            $0.isEmpty ? nil : $0
        }
        if let named = arguments.value("--config") ?? variable { return named }
        return FileManager.default.fileExists(atPath: "sojourn.json5") ? "sojourn.json5" : nil
    }

    private static func file(_ arguments: Arguments) throws(Failure) -> (name: String, text: [UInt8])? {
        guard let name = path(arguments) else { return nil }
        do {
            return (name, Array(try Data(contentsOf: URL(filePath: name))))
        } catch {
            throw Failure(.failed, "the configuration \(name) cannot be read; is the path right, and may you read it?")
        }
    }
}
