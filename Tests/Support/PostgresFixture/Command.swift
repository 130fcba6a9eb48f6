import Glibc

/// A program that is run to its end.
enum Command {
    /// Two sockets that lead to each other, closed on exec from the start, so that no other child keeps an end open.
    static func connectedPair() throws -> [Int32] {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw PostgresServer.NotStarted(description: "no pipe")
        }
        return ends
    }

    /// A free port of 127.0.0.1.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard found else { throw PostgresServer.NotStarted(description: "no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    static func run(_ words: [String]) throws -> (status: Int32, text: String) {
        let ends = try connectedPair()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var arguments: [UnsafeMutablePointer<CChar>?] = (["timeout", "120"] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, "timeout", &actions, nil, &arguments, environ)
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else { throw PostgresServer.NotStarted(description: "\(words[0]) cannot be run") }
        // `pg_ctl start` leaves its output to the server, which goes on: the end of the program is what counts.
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(ends[0], &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count <= 0 { break }
            output += buffer.prefix(count)
        }
        return ((status >> 8) & 0xFF, String(decoding: output, as: UTF8.self))
    }
}
