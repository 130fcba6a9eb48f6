import Locks
import Sockets

// How the listeners of a server close without resetting clients that have connected.
extension ServerState {
    /// The pause between checks for a connection that this process makes to itself.
    private static let probePause = Duration.milliseconds(5)
    private static let probeCount = 20

    /// Closes the listeners. The loops are draining already.
    func closePorts(_ loops: [ConnectionLoop]) async {
        // A server that never began to accept owes no client a response, and takes none away from another process.
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
        await loops.first?.awaitHandOver()
        for (id, port) in shared { await close(port, id, loops) }
    }

    private func close(_ port: ServicePort, _ id: UInt32, _ loops: [ConnectionLoop]) async {
        _ = ports.withLock { $0.removeValue(forKey: id) }
        for loop in loops { loop.unwatch(port) }
        // Connections in a queue that other processes share wait for those.
        if port.listener.isInherited { return }
        port.listener.removeFile()
        // Connections that the kernel has accepted already get a response too.
        await loops.first?.acceptAll(port)
    }

    /// Makes the kernel send new connections to another process that listens on the same port, if there is one.
    private func handOver(_ port: ServicePort, _ id: UInt32, _ loops: [ConnectionLoop]) async {
        guard let loop = loops.first else { return }
        for loop in loops { loop.unwatch(port) }
        // After each loop has run one job, none is in the middle of accepting.
        for loop in loops { await loop.pass() }
        let isFirst = await isFirst(port, loop)
        port.listener.steer(to: isFirst ? 1 : 0)
        // Some connections are still on their way here. A loop that cannot watch leaves them to the others.
        for loop in loops { try? loop.watch(port, id) }
    }

    /// Returns true if this process is first among those that share the port. It connects to the port and checks which
    /// process accepts that connection.
    private func isFirst(_ port: ServicePort, _ loop: ConnectionLoop) async -> Bool {
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
