import HostileServer
import Locks

/// A receiver of notifications: answers each with the status that the test wants next, and keeps what came.
final class StatusReceiver: Sendable {
    /// The status of the next answers.
    let status: Locked<Int>
    let server: HostileServer

    init(_ first: Int) {
        let status = Locked(first)
        self.status = status
        server = HostileServer { _ in
            [.say("HTTP/1.1 \(status.withLock { $0 }) Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")]
        }
    }
}
