import Dispatch
import Glibc
import Synchronization

/// The signals that stop a server.
///
/// A handler writes a byte into a pipe and nothing else; the pipe keeps it until somebody reads. So none is lost, not even one
/// that comes before anybody listens: to ignore a signal until a dispatch source is set up would lose it.
enum Signals {
    private static let numbers = [SIGTERM, SIGINT]
    private static let writeEnd = Atomic<Int32>(-1)

    /// Says each time one of them comes. From the call on they no longer end the process by themselves.
    static func stops() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            // Without a pipe signals end the process as they always did.
            return stream
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
            while read(readEnd, &byte, 1) == 1 { continuation.yield() }
        }
        source.resume()
        // Keeps the source alive as long as somebody waits for it.
        let kept = source as? DispatchSource
        continuation.onTermination = { _ in withExtendedLifetime(kept) {} }
        for number in numbers { signal(number) { _ in Signals.note() } }
        return stream
    }

    /// From here on a signal ends the process at once.
    static func restoreDefaults() {
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Runs in the handler: a load and a system call, and whoever was interrupted finds his errno as it was.
    private static func note() {
        let code = errno
        var byte: UInt8 = 0
        _ = write(writeEnd.load(ordering: .relaxed), &byte, 1)
        errno = code
    }
}
