import CLinux
import Glibc

// Several processes on one port (`SO_REUSEPORT`): each has a socket and a queue of its own, and the kernel distributes
// new connections. Closing a socket resets the connections in its queue or on the way into it. So a process that is
// about to stop first makes the kernel send new connections to another process, accepts those that are on their way,
// and then closes. A classic BPF program, which needs no privileges, steers the kernel: it returns the index of a
// socket in the group. An index that does not exist makes the kernel distribute as before.
extension Listener {
    /// Sends every new connection of the port to the socket at index `place` of the group, in whichever process it is.
    ///
    /// - Returns: false if the system does not support it.
    @discardableResult
    public func steer(to place: UInt32) -> Bool {
        var instruction = sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: place)
        return unsafe withUnsafeMutablePointer(to: &instruction) { pointer in
            var program = unsafe sock_fprog(len: 1, filter: pointer)
            let length = unsafe socklen_t(MemoryLayout<sock_fprog>.size)
            return unsafe setsockopt(number, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, length) == 0
        }
    }

    /// Undoes the steering of a process that has stopped. The owner calls it before it accepts.
    ///
    /// With `succession` new connections go to the first socket of the group, which belongs to the serving process,
    /// because its predecessor has closed.
    public func beginToShare() {
        switch sharing {
        case .none: break
        case .balanced: stopSteering()
        case .succession: steer(to: 0)
        }
    }

    /// Makes the kernel distribute new connections again.
    private func stopSteering() {
        var nothing: Int32 = 0
        unsafe setsockopt(
            number, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &nothing, socklen_t(MemoryLayout<Int32>.size))
    }
}
