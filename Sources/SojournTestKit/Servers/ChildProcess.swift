#if os(Linux)
    import Foundation
    import Glibc

    /// A program that was started, and whose end is observed. It is killed when nothing refers to it any more.
    package final class ChildProcess: Sendable {
        /// The program could not be started: the system's error.
        package struct NotStarted: Error {
            package let code: Int32

            package init(code: Int32) { self.code = code }
        }

        /// The process ID.
        package let pid: Int32
        private let end = End()

        private final class End: Sendable {
            let status = Guarded<Int32?>(nil)
            let group = DispatchGroup()
        }

        /// Starts the program at a path.
        ///
        /// - Parameters:
        ///   - descriptors: what the program gets as descriptor 0, 1 and 2.
        ///   - environment: all its variables.
        package init(
            _ words: [String], environment: [String: String], descriptors: [Int32], ownGroup: Bool = false
        ) throws {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            for (number, descriptor) in descriptors.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            if ownGroup { posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP)) }
            var arguments = words.map { strdup($0) } + [nil]
            var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
            defer { for text in arguments + variables { free(text) } }
            var started: pid_t = 0
            let code = posix_spawn(&started, words[0], &actions, &attributes, &arguments, &variables)
            guard code == 0 else { throw NotStarted(code: code) }
            let pid = started
            self.pid = pid
            end.group.enter()
            // A thread of its own, because waitpid blocks.
            Thread.detachNewThread { [end] in
                var raw: Int32 = 0
                while waitpid(pid, &raw, 0) < 0 && errno == EINTR {}
                end.status.withLock { $0 = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F) }
                end.group.leave()
            }
        }

        deinit { signal(SIGKILL) }

        /// The exit status, or the signal with a minus; nil while the process runs.
        package var status: Int32? { end.status.withLock { $0 } }

        /// Sends a signal, unless the process has ended.
        package func signal(_ number: Int32) {
            end.status.withLock { status in if status == nil { kill(pid, number) } }
        }

        /// Waits for the end. Returns the exit status, or the signal with a minus.
        @discardableResult
        package func waitForEnd() async -> Int32 {
            await withCheckedContinuation { continuation in
                end.group.notify(queue: .global()) { continuation.resume() }
            }
            return status ?? 0
        }

        package func blockUntilEnd() { end.group.wait() }
    }

    /// A temporary folder, and the processes of a server in it. A shell beside this process kills those processes and deletes the
    /// folder when this process ends, however it ends.
    final class ServerFolder: Sendable {
        let path: String
        private let shell: ChildProcess
        private let pipe: Int32

        init() throws {
            var template = Array((NSTemporaryDirectory() + "/sojourn-XXXXXX").utf8CString)
            guard mkdtemp(&template) != nil else { throw ChildProcess.NotStarted(code: errno) }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            var ends: [Int32] = [0, 0]
            let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ChildProcess.NotStarted(code: errno) }
            pipe = ends[1]
            let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
            defer {
                close(ends[0])
                close(nowhere)
            }
            let script = #"cat; if [ -s "$0/pid" ]; then kill -9 "$(cat "$0/pid")"; fi; rm -rf "$0""#
            // In a group of its own, so that an interrupted test leaves it to tidy up.
            shell = try ChildProcess(
                ["/bin/sh", "-c", script, path], environment: ["PATH": "/usr/bin:/bin"],
                descriptors: [ends[0], nowhere, nowhere], ownGroup: true)
        }

        deinit {
            close(pipe)
            shell.blockUntilEnd()
        }

        func file(_ name: String) -> String { path + "/" + name }

        func text(_ name: String) -> String? {
            FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) }
        }

        /// Notes the process that has to end with this one; nil: none.
        func note(_ pid: Int32?) {
            let text = pid.map { "\($0)" } ?? ""
            _ = FileManager.default.createFile(atPath: file("pid"), contents: Data(text.utf8))
        }
    }
#endif
