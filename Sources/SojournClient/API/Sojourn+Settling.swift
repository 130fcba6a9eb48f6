extension Sojourn {
    /// Waits until the server has been told of each sign-out, and until no renewal is under way: for a program that ends then.
    ///
    /// What could not be told before is tried once more. Nothing is lost if it fails: a later start tries again.
    ///
    /// - Parameter limit: the longest wait.
    /// - Returns: whether nothing is left. False: the time is over, the server could not be told of a sign-out, or the task was
    ///   cancelled.
    @discardableResult public func settle(within limit: Duration) async -> Bool {
        let end = clock.uptime + limit
        guard await becomeIdle(by: end) else { return false }
        guard await !isOwingNothing() else { return true }
        payDebtsInBackground()
        guard await becomeIdle(by: end) else { return false }
        return await isOwingNothing()
    }

    /// Whether the store holds no sign-out of which the server has to be told; false if it cannot be read.
    private func isOwingNothing() async -> Bool {
        do throws(SojournError) { return try await load()?.record.debts.isEmpty ?? true } catch { return false }
    }

    /// Waits until no renewal is under way, and no task tells the server of sign-outs. False: `end` came first, by the clock's
    /// uptime, or the caller was cancelled.
    private func becomeIdle(by end: Duration) async -> Bool {
        guard !isIdle else { return true }
        lastWaiter += 1
        let id = lastWaiter
        let timer = Task {
            try? await clock.sleep(for: end - clock.uptime)
            self.releaseIdleWaiter(id, false)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !isIdle, !Task.isCancelled else { return continuation.resume(returning: isIdle) }
                idleWaiters[id] = continuation
            }
        } onCancel: {
            Task { await self.releaseIdleWaiter(id, false) }
        }
    }

    private var isIdle: Bool { flights.isEmpty && debtTasks == 0 }

    private func releaseIdleWaiter(_ id: Int, _ isIdle: Bool) {
        idleWaiters.removeValue(forKey: id)?.resume(returning: isIdle)
    }

    /// Tells those who wait in `becomeIdle`, if nothing is under way.
    func releaseIdleWaiters() {
        guard isIdle else { return }
        for id in idleWaiters.keys.sorted() { releaseIdleWaiter(id, true) }
    }
}
