import FoundationEssentials
import Glibc
import Testing

@testable import sojourn

/// The memory of the server holds the root key and typed passwords: it gets into no core file, and no other process of its user
/// reads it. The test starts the program with a shell that allows core files of any size.
@Suite("Core files", .timeLimit(.minutes(5)))
struct CoreFileTests {
    private static let allow = "ulimit -S -c \"$(ulimit -H -c)\""

    /// The program without Swift's own handler of crashes, which survives a signal of another process.
    private func program(_ folder: StartingFolder) -> CommandLineProgram {
        var program = CommandLineProgram(folder)
        program.environment["SWIFT_BACKTRACE"] = "enable=no"
        return program
    }

    /// Starts `sojourn serve`, and waits until it answers.
    private func serve(_ folder: StartingFolder, _ prelude: String = Self.allow) async throws -> CommandLineProcess {
        let words = ["serve", "--public", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready"]
        let process = try program(folder).start(words, prelude: prelude)
        #expect(await process.waitForFile("ready"), "\(process.errors() ?? "")")
        return process
    }

    private func coreLimit(_ pid: pid_t) throws -> [Substring] {
        let limits = try #require(FileManager.default.contents(atPath: "/proc/\(pid)/limits"))
        let line = String(decoding: limits, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Max core") }
        return try #require(line).dropFirst("Max core file size".count).split(separator: " ")
    }

    @Test("the server has no core files, whatever its start allows, and ends in none") func server() async throws {
        let folder = StartingFolder()
        let process = try await serve(folder)
        #expect(try coreLimit(process.pid) == ["0", "0", "bytes"])
        process.signal(SIGABRT)
        let result = await process.result()
        #expect(result.status == -SIGABRT && !result.hasDumpedCore)
        #expect(folder.names.allSatisfy { !$0.hasPrefix("core") })
    }

    @Test("no other process of its user reads the memory of the server, and none attaches to it") func otherProcesses()
        async throws
    {
        let folder = StartingFolder()
        // Root reads every memory, so the server has a user of its own.
        let change = """
            cp "$1" "$0/sojourn" && chown -R 65534:65534 "$0" && shift && cd "$0" \
            && exec setpriv --reuid=65534 --regid=65534 --clear-groups ./sojourn "$@"
            """
        let process = try await serve(folder, geteuid() == 0 ? change : Self.allow)
        // The kernel gives the files of a process with private memory to root.
        for file in ["mem", "environ", "maps"] {
            var status = stat()
            #expect(stat("/proc/\(process.pid)/\(file)", &status) == 0 && status.st_uid == 0, "\(file)")
            if geteuid() != 0 { #expect(open("/proc/\(process.pid)/\(file)", O_RDONLY) == -1) }
        }
        // Its own calls work all the same, and so does the socket of admins.
        let list = try await CommandLineProgram(folder).run(["user", "list"])
        #expect(list.status == 0, "\(list.errors)")
        process.signal(SIGSEGV)
        let result = await process.result()
        #expect(result.status == -SIGSEGV && !result.hasDumpedCore)
        #expect(folder.names.allSatisfy { !$0.hasPrefix("core") })
    }

    @Test("a command that reads a password keeps its memory as well") func command() async throws {
        let folder = StartingFolder()
        let server = try await serve(folder)
        // A pipe that nothing is written to, so that the command waits.
        let prelude = Self.allow + " && mkfifo \"$0/pipe\" && exec 0<>\"$0/pipe\""
        let process = try program(folder).start(["user", "create", "anna"], prelude: prelude)
        while try coreLimit(process.pid) != ["0", "0", "bytes"] { await Task.yield() }
        process.signal(SIGABRT)
        let result = await process.result()
        #expect(result.status == -SIGABRT && !result.hasDumpedCore)
        server.signal(SIGTERM)
        #expect(await server.result().status == 0)
    }
}
