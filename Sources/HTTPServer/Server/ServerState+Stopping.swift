import Locks
import Sockets

// How the listeners of a server close, so that nobody who has connected is reset.
extension ServerState {
    /// How long it is waited for a connection that this process makes to itself.
    private static let probePause = Duration.milliseconds(5)
    private static let probeCount = 20

    /// Lets go of the listeners, which closes them. The loops drain already.
    func closePorts(_ loops: [ConnectionLoop]) async {
        // A server that never began to accept has promised nothing to anybody, and takes nobody away from another one.
        let waiting = waitingPorts.withLock { ids in
            defer { ids = [] }
            return ids
        }
        ports.withLock { ports in for id in waiting { ports[id] = nil } }
        let all = ports.withLock { $0 }
        let shared = all.filter { $0.value.listener.sharing != .none }
        for (id, port) in all where shared[id] == nil { await close(port, id, loops) }
        if shared.isEmpty { return }
        for (id, port) in shared { await handOver(port, id, loops) }
        await loops.first?.awaitLatecomers()
        for (id, port) in shared { await close(port, id, loops) }
    }

    private func close(_ port: Port, _ id: UInt32, _ loops: [ConnectionLoop]) async {
        _ = ports.withLock { $0.removeValue(forKey: id) }
        for loop in loops { loop.unwatch(port) }
        // Who waits in a queue that others keep open waits for them.
        if port.listener.isInherited { return }
        port.listener.removeFile()
        // Whoever the kernel has let in already gets an answer too.
        await loops.first?.acceptAll(port)
    }

    /// Has the kernel send new connections to another process that listens on the same port, if there is one.
    private func handOver(_ port: Port, _ id: UInt32, _ loops: [ConnectionLoop]) async {
        guard let loop = loops.first else { return }
        for loop in loops { loop.unwatch(port) }
        // No loop is in the middle of accepting when each has run a job.
        for loop in loops { await loop.pass() }
        let isFirst = await isFirst(port, loop)
        port.listener.steer(to: isFirst ? 1 : 0)
        // Some are on their way here still. A loop that cannot watch leaves them to the others.
        for loop in loops { try? loop.watch(port, id) }
    }

    /// Whether this process has the first place among those that share the port: it connects there and looks who gets it.
    private func isFirst(_ port: Port, _ loop: ConnectionLoop) async -> Bool {
        port.listener.steer(to: 0)
        guard let probe = try? ClientSocket(to: port.listener.address, timeout: .milliseconds(500)),
            let sender = probe.localAddress
        else { return true }
        for _ in 0..<Self.probeCount {
            if await loop.acceptAll(port, lookingFor: sender) { return true }
            try? await Task.sleep(for: Self.probePause)
        }
        return false
    }
}
