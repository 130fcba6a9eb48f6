import Foundation
import Glibc
import SojournTestKit

/// Runs every task of this process on one thread, first in, first out. Then a history in virtual time depends on its seed alone,
/// and it is certain when no task has anything to do but wait.
final class OneThread: Sendable {
    /// Begins with the first use, and never ends: the tests that need it are a process of their own.
    static let shared = OneThread()

    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    /// The jobs that wait, behind a lock on which the thread sleeps.
    private final class Queue: @unchecked Sendable {
        private let condition = NSCondition()
        private var jobs: [UnownedJob] = []
        private var next = 0
        private var sleeps = false
        private var waiter: CheckedContinuation<Void, Never>?

        /// Resumes `waiter` when no job is left.
        func whenIdle(_ waiter: CheckedContinuation<Void, Never>) {
            condition.lock()
            self.waiter = waiter
            if sleeps { condition.signal() }
            condition.unlock()
        }

        func add(_ job: UnownedJob) {
            condition.lock()
            jobs.append(job)
            if sleeps { condition.signal() }
            condition.unlock()
        }

        /// The next job, for which it waits; nil after it has resumed the waiter, because the waiter's job comes next.
        func take() -> UnownedJob? {
            condition.lock()
            if next == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                next = 0
                sleeps = true
                while jobs.isEmpty, waiter == nil { condition.wait() }
                sleeps = false
            }
            guard next < jobs.count else {
                let idle = waiter
                waiter = nil
                condition.unlock()
                idle?.resume()
                return nil
            }
            defer { condition.unlock() }
            defer { next += 1 }
            return jobs[next]
        }
    }

    private let queue = Queue()

    private init() {
        // The runtime asks this variable before it hands a job to its threads.
        guard let variable = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return }
        Thread.detachNewThread { [self] in run() }
        let hook: Hook = { job, _ in OneThread.shared.add(job) }
        variable.assumingMemoryBound(to: Hook?.self).pointee = hook
    }

    /// Waits until no other task has anything to do.
    func idle() async { await withCheckedContinuation { queue.whenIdle($0) } }

    private func add(_ job: UnownedJob) { queue.add(job) }

    private func run() {
        // The executor of tasks that have none.
        let executor = unsafeBitCast((0, 0), to: UnownedSerialExecutor.self)
        while true { queue.take()?.runSynchronously(on: executor) }
    }
}
