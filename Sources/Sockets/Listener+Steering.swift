import CLinux
import Glibc

// Several processes on one port (`SO_REUSEPORT`): each has a socket, and with it a queue, of its own, and the kernel deals
// new connections out. Closing a socket resets whoever is in its queue or on the way into it. So a process that is about
// to stop first has the kernel send new connections to another one, accepts those that are still on their way, and then
// closes. A program of the classic BPF, which needs no privileges, tells the kernel: it returns the place of a socket in
// the group. A place that does not exist makes the kernel deal as before.
extension Listener {
    /// From now on every new connection of the port goes to the socket at `place` of the group, whichever process holds it.
    ///
    /// - Returns: false when the system does not know how.
    @discardableResult
    public func steer(to place: UInt32) -> Bool {
        var instruction = sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: place)
        return unsafe withUnsafeMutablePointer(to: &instruction) { pointer in
            var program = unsafe sock_fprog(len: 1, filter: pointer)
            let length = unsafe socklen_t(MemoryLayout<sock_fprog>.size)
            return unsafe setsockopt(number, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, length) == 0
        }
    }

    /// Called when the owner begins to accept: a program that is left over from a process that stopped is taken away. In a
    /// succession whoever serves is the first of the group, because the one before it has closed.
    public func beginToShare() {
        switch sharing {
        case .none: break
        case .balanced: steerNoMore()
        case .succession: steer(to: 0)
        }
    }

    /// The kernel deals new connections out again.
    private func steerNoMore() {
        var nothing: Int32 = 0
        unsafe setsockopt(
            number, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, &nothing, socklen_t(MemoryLayout<Int32>.size))
    }
}
