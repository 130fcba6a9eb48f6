import CLinux
import Glibc

/// The failure of a system call of the loop, usually because no descriptors are left.
public struct EventLoopError: Error, CustomStringConvertible {
    /// The system call that failed.
    public let operation: String
    /// The error code, as in errno(3).
    public let code: Int32

    /// A description for the operator.
    public var description: String { unsafe "\(operation) failed: \(String(cString: strerror(code)))" }
}

extension Readiness {
    /// There are bytes, or the end of the stream, to read.
    public static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    /// The other side sends no more.
    public static let readClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
    /// Both directions have ended, or the connection was reset.
    public static let closed = Readiness(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
}

/// An epoll set, and the eventfd that interrupts its wait. Both are closed at the end of its scope.
struct EventSet: ~Copyable {
    /// The data of the eventfd's event; no handler has the id 0.
    private static let wakeData: UInt64 = 0

    private let set: Int32
    private let waker: Int32

    init() throws(EventLoopError) {
        (set, waker) = try Self.open()
    }

    private static func open() throws(EventLoopError) -> (set: Int32, waker: Int32) {
        let set = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard set >= 0 else { throw EventLoopError(operation: "epoll_create1", code: errno) }
        let waker = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        // Edge-triggered: every write is reported once, so the counter need not be read.
        let flags = EPOLLIN.rawValue | EPOLLET.rawValue
        guard waker >= 0, control(set, EPOLL_CTL_ADD, waker, flags, wakeData) else {
            let error = EventLoopError(operation: "eventfd", code: errno)
            close(set)
            if waker >= 0 { close(waker) }
            throw error
        }
        return (set, waker)
    }

    deinit {
        close(set)
        close(waker)
    }

    func add(_ descriptor: Int32, for interest: EventInterest, data: UInt64) throws(EventLoopError) {
        let flags =
            switch interest {
            case .sharedAccept: EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue
            case .streamEdges: EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
            }
        guard Self.control(set, EPOLL_CTL_ADD, descriptor, flags, data) else {
            throw EventLoopError(operation: "epoll_ctl", code: errno)
        }
    }

    func remove(_ descriptor: Int32) {
        _ = epoll_ctl(set, EPOLL_CTL_DEL, descriptor, nil)
    }

    private static func control(
        _ set: Int32, _ operation: Int32, _ descriptor: Int32, _ flags: UInt32, _ data: UInt64
    ) -> Bool {
        var event = unsafe epoll_event(events: flags, data: epoll_data_t(u64: data))
        return unsafe epoll_ctl(set, operation, descriptor, &event) == 0
    }

    func wake() { _ = eventfd_write(waker, 1) }

    /// Waits until a descriptor is ready, `wake()` is called, or the time is over. -1 waits without limit.
    func wait(_ buffer: inout EventBuffer, milliseconds: Int32) {
        buffer.count = 0
        let count = unsafe buffer.storage.withUnsafeMutableBufferPointer { storage in
            unsafe epoll_wait(set, storage.baseAddress, Int32(storage.count), milliseconds)
        }
        // A signal (EINTR) ends the wait early: a turn without events.
        buffer.count = max(0, Int(count))
    }
}

/// A buffer for the events of one turn. Events beyond its capacity are reported in the next turn.
///
/// `@safe` holds because the C records stay inside an array, and only their integers leave it.
@safe struct EventBuffer: ~Copyable {
    fileprivate var storage = unsafe [epoll_event](repeating: epoll_event(), count: 512)
    fileprivate var count = 0

    /// Replaces the contents of `events` with this turn's events of one handler.
    func copyEvents(of handler: UInt16, to events: inout [ReadyEvent]) {
        events.removeAll(keepingCapacity: true)
        for index in 0..<count {
            let (data, flags) = unsafe (storage[index].data.u64, storage[index].events)
            guard data >> 48 == UInt64(handler) else { continue }
            events.append(ReadyEvent(token: data & ReadyEvent.tokenMask, readiness: Readiness(rawValue: flags)))
        }
    }
}
