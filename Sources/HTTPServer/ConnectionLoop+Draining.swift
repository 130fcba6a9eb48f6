import EventLoops

extension ConnectionLoop {
    /// Ends the connections of this loop: idle ones now, busy ones after their answer, all at the deadline. Returns when
    /// the last one has gone.
    func drain(within deadline: Duration) async {
        isDraining = true
        drainEndsAt = now + deadline
        for connection in connections.compactMap({ $0 }) where connection.state == .opening { close(connection) }
        for connection in connections.compactMap({ $0 }) where connection.isIdle {
            // A request may have come that the kernel has not told about yet.
            connection.mayRead = true
            advance(connection)
            if connection.isIdle { close(connection) }
        }
        if hasDrained { return }
        await withCheckedContinuation { drained = $0 }
    }

    private var hasDrained: Bool { isEmpty && orphanedHandlers == 0 }

    func endDrainIfDone() {
        guard let drained, hasDrained else { return }
        drainEndsAt = nil
        self.drained = nil
        drained.resume()
    }

    /// The deadline has come: what remains is cut. A handler that does not end even now is waited for no longer.
    func cutRemaining() {
        drainEndsAt = nil
        for connection in connections.compactMap({ $0 }) {
            connection.handler?.cancel()
            close(connection)
        }
        drained?.resume()
        drained = nil
    }
}
