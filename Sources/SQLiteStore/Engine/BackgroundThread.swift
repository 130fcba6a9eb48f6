internal import CLinux
internal import Glibc

/// A separate thread for one long task, with a lower priority than the server's threads.
public enum BackgroundThread {
    /// Carries the closure to the new thread.
    private final class Work {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts `body` on a new thread. False if the system refuses to create one. The thread ends with `body`, because its
    /// niceness cannot be lowered again.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { unsafe pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { work in
                // On Linux this affects only the calling thread.
                setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
                if let work = unsafe work { unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
                return nil
            }, work)
        if code != 0 { unsafe Unmanaged<Work>.fromOpaque(work).release() }
        return code == 0
    }

    /// Suspends the calling thread for that duration.
    @Sendable public static func sleep(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return }
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        unsafe nanosleep(&time, nil)
    }
}
