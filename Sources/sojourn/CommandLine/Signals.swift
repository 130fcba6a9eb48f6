import Configuration
import Dispatch
import Glibc
import Server
import Synchronization

/// The signals that stop a server, and the one that has it load certificates again.
///
/// A handler writes the signal's number into a pipe and nothing else; the pipe keeps it until somebody reads. So none is lost, not even one
/// that comes before anybody listens: to ignore a signal until a dispatch source is set up would lose it.
enum Signals {
    private static let numbers = [SIGTERM, SIGINT]
    private static let writeEnd = Atomic<Int32>(-1)

    /// Whether SIGHUP is for certificates. On a terminal, where it says that the window was closed, it goes on to end a
    /// server that has none.
    static func reloads(_ configuration: ServerConfiguration) -> Bool {
        let server = configuration.server
        return server.publicCertificate != nil || server.adminCertificate != nil || isatty(STDIN_FILENO) == 0
    }

    /// Says each time one of them comes. From the call on they no longer end the process by themselves.
    static func listen(withReloads: Bool) -> (stops: AsyncStream<Void>, reloads: AsyncStream<Void>) {
        let (stops, stopping) = AsyncStream.makeStream(of: Void.self)
        let (reloads, reloading) = AsyncStream.makeStream(of: Void.self)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            // Without a pipe signals end the process as they always did.
            return (stops, reloads)
        }
        let readEnd = ends[0]
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
        let source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: .global())
        source.setEventHandler { @Sendable in
            var byte: UInt8 = 0
            while read(readEnd, &byte, 1) == 1 {
                if Int32(byte) == SIGHUP { reloading.yield() } else { stopping.yield() }
            }
        }
        source.resume()
        // Keeps the source alive as long as somebody waits for it.
        let kept = source as? DispatchSource
        stopping.onTermination = { _ in withExtendedLifetime(kept) {} }
        for number in numbers + (withReloads ? [SIGHUP] : []) { signal(number) { Signals.note($0) } }
        return (stops, reloads)
    }

    /// From here on a signal ends the process at once.
    static func restoreDefaults() {
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Runs in the handler: a load and a system call, and whoever was interrupted finds his errno as it was.
    private static func note(_ number: Int32) {
        let code = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(writeEnd.load(ordering: .relaxed), &byte, 1)
        errno = code
    }
}
