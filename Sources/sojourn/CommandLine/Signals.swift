import Configuration
import Dispatch
import Glibc
import Server
import Synchronization

/// The signals that stop a server, and the signal that reloads its certificates.
///
/// A handler only writes the number of the signal into a pipe, which keeps it until the dispatch source reads it. So a signal
/// that arrives before the source is ready is not lost.
enum Signals {
    private static let numbers = [SIGTERM, SIGINT]
    private static let writeEnd = Atomic<Int32>(-1)

    /// Whether SIGHUP reloads certificates. On a terminal, a closed window sends SIGHUP too, and it must end a server without
    /// certificates.
    static func reloads(_ configuration: ServerConfiguration) -> Bool {
        let server = configuration.server
        return server.publicCertificate != nil || server.adminCertificate != nil || isatty(STDIN_FILENO) == 0
    }

    /// Returns the streams of these signals, which no longer end the process by themselves after the call.
    static func listen(withReloads: Bool) -> (stops: AsyncStream<Void>, reloads: AsyncStream<Void>) {
        let (stops, stopping) = AsyncStream.makeStream(of: Void.self)
        let (reloads, reloading) = AsyncStream.makeStream(of: Void.self)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            // Without a pipe, the signals keep their default action, which ends the process.
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
        // The source must live as long as a task waits for its signals.
        let kept = source as? DispatchSource
        stopping.onTermination = { _ in withExtendedLifetime(kept) {} }
        for number in numbers + (withReloads ? [SIGHUP] : []) { signal(number) { Signals.note($0) } }
        return (stops, reloads)
    }

    /// Restores the default actions, so that the next signal ends the process at once.
    static func restoreDefaults() {
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Runs in the handler. It only loads a number and calls write(2), and it restores `errno` for the interrupted code.
    private static func note(_ number: Int32) {
        let code = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(writeEnd.load(ordering: .relaxed), &byte, 1)
        errno = code
    }
}
