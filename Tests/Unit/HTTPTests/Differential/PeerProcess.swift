import Dispatch
import FoundationEssentials
import Glibc
import Sockets

/// A process of another implementation. It ends with the test that started it, even when that crashes: a shell between
/// the two kills it when its standard input ends.
final class PeerProcess: Sendable {
    struct Failed: Error, CustomStringConvertible { let description: String }

    private let shell: pid_t
    private let input: Int32

    init(_ words: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failed(description: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        input = ends[1]
        shell = try spawn(
            ["/bin/sh", "-c", "\"$@\" </dev/null & peer=$!; read -r _; kill -KILL $peer", "peer"] + words,
            input: ends[0])
        Glibc.close(ends[0])
    }

    deinit {
        // A line, not only the end: a process that another test started at the wrong moment may hold the pipe open.
        write(input, "\n", 1)
        close(input)
        waitpid(shell, nil, 0)
    }
}

/// Runs a program with files for its standard input and output, to its end.
func run(_ words: [String], input: String, output: String) throws {
    let (reading, writing) = (open(input, O_RDONLY | O_CLOEXEC), open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    defer { [reading, writing].forEach { close($0) } }
    var status: Int32 = 0
    guard waitpid(try spawn(words, input: reading, output: writing), &status, 0) > 0, status == 0 else {
        throw PeerProcess.Failed(description: "\(words) ended with \(status)")
    }
}

private func spawn(_ words: [String], input: Int32, output: Int32 = 2) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var arguments = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
    guard code == 0 else { throw PeerProcess.Failed(description: "\(words[0]): error \(code); run `.ci/setup tests`") }
    return process
}

/// Two ports without a listener at this moment.
func freePorts() throws -> (String, String) {
    let one = try Listener(SocketAddress("127.0.0.1:0"))
    let other = try Listener(SocketAddress("127.0.0.1:0"))
    return ("\(one.address)", "\(other.address)")
}

/// Waits until something listens, 20 seconds at most.
func isListening(_ address: SocketAddress) -> Bool {
    for _ in 0..<2000 {
        if (try? ClientSocket(to: address, timeout: .seconds(1))) != nil { return true }
        usleep(10_000)
    }
    return false
}
