#if os(Linux)
    import Foundation
    import Glibc

    extension LocalServer {
        /// The program, as it runs in its folder.
        final class Running: Sendable {
            struct Addresses {
                let `public`: URL
                let admin: URL
            }

            private struct State {
                var process: ChildProcess?
                /// Free ports at the first start, and the same ones from then on.
                var publicAddress = "127.0.0.1:0"
                var adminAddress = "127.0.0.1:0"
                var backupCount = 0
            }

            let adminKey: String
            private let program: String
            private let options: Options
            private let folder: ServerFolder
            private let state = Guarded(State())

            init(_ options: Options) throws {
                program = try Self.program()
                self.options = options
                folder = try ServerFolder()
                adminKey = (0..<4).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
            }

            deinit {
                let process = state.withLock { $0.process }
                process?.signal(SIGKILL)
                process?.blockUntilEnd()
            }

            private static func program() throws -> String {
                let environment = ProcessInfo.processInfo.environment
                if let path = environment["SOJOURN_BINARY"] ?? environment["SOJOURN_BIN"] { return path }
                let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
                let beside = (own as NSString).deletingLastPathComponent
                let folders = [beside] + (environment["PATH"] ?? "").split(separator: ":").map(String.init)
                for folder in folders where FileManager.default.isExecutableFile(atPath: folder + "/sojourn") {
                    return folder + "/sojourn"
                }
                throw Failure.noProgram(
                    "name the program in SOJOURN_BINARY; none in \(folders.joined(separator: ":"))")
            }

            private var database: String { options.database ?? "sqlite:" + folder.file("sojourn.sqlite") }

            private func spawn(_ words: [String], log: String) throws -> ChildProcess {
                let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
                let errors = open(folder.file(log), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
                defer {
                    close(nowhere)
                    close(errors)
                }
                let environment = options.environment.merging(
                    ["SOJOURN_ADMIN_KEY": adminKey, "TMPDIR": folder.path]) { given, _ in given }
                // What the program keeps in its working directory belongs into the folder. The shell becomes the program.
                let shell = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, folder.path, program]
                return try ChildProcess(
                    shell + words, environment: environment, descriptors: [nowhere, nowhere, errors])
            }

            /// Starts the program and waits until it answers.
            func begin() async throws -> Addresses {
                let (publicAddress, adminAddress) = state.withLock { ($0.publicAddress, $0.adminAddress) }
                unlink(folder.file("ready.json"))
                let issuer = options.issuer.map { ["--issuer", $0.absoluteString] } ?? []
                let process = try spawn(
                    [
                        "serve", "--database", database, "--public", publicAddress, "--admin", adminAddress,
                        "--root-key-file", folder.file("root-key"), "--ready-file", folder.file("ready.json"),
                        "--log-level", "error",
                    ] + issuer + (options.hasTestClock ? ["--test-clock"] : []), log: "server.log")
                folder.note(process.pid)
                state.withLock { $0.process = process }
                let deadline = ContinuousClock.now + .seconds(60)
                while process.status == nil, ContinuousClock.now < deadline {
                    if let text = folder.text("ready.json"),
                        let addresses = try? JSONDecoder().decode([String: Word].self, from: Data(text.utf8)),
                        let publicURL = addresses["public"]?.url, let adminURL = addresses["admin"]?.url
                    {
                        state.withLock { state in
                            state.publicAddress = "127.0.0.1:\(publicURL.port ?? 0)"
                            state.adminAddress = "127.0.0.1:\(adminURL.port ?? 0)"
                        }
                        return Addresses(public: publicURL, admin: adminURL)
                    }
                    try await Task.sleep(for: .milliseconds(2))
                }
                process.signal(SIGKILL)
                throw Failure.notReady(folder.text("server.log") ?? "")
            }

            /// Ends the program, if it runs.
            func end(_ signal: Int32) async throws {
                guard let process = state.withLock({ $0.process }) else { return }
                process.signal(signal)
                await process.waitForEnd()
                state.withLock { $0.process = nil }
                folder.note(nil)
            }

            func backup() async throws -> String {
                let number = state.withLock { state in
                    state.backupCount += 1
                    return state.backupCount
                }
                let file = folder.file("backup-\(number)")
                try await run(["backup", file, "--database", database])
                return file
            }

            func restore(_ file: String) async throws { try await run(["restore", file, "--database", database]) }

            private func run(_ words: [String]) async throws {
                let log = "\(words[0]).log"
                let status = await (try spawn(words, log: log)).waitForEnd()
                guard status == 0 else { throw Failure.commandFailed(folder.text(log) ?? "") }
            }

            /// A value in the ready file: a URL, or a number.
            private struct Word: Decodable {
                let url: URL?
                init(from decoder: any Decoder) throws {
                    url = (try? decoder.singleValueContainer().decode(String.self)).flatMap { URL(string: $0) }
                }
            }
        }
    }
#endif
