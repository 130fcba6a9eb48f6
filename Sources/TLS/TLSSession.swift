internal import COpenSSL
internal import Cryptography
internal import Locks
internal import Synchronization

/// TLS on one connection. The session reads and writes the descriptor itself but does not own it, so its owner has to
/// keep the descriptor open.
///
/// Two parties use a session in turns: first the queue that computes handshakes, then the event loop. The lock makes
/// that safe; it is contended only if the turns are violated.
@safe public final class TLSSession: Sendable {
    /// The result of one step of the handshake.
    public enum Step: Sendable {
        /// The handshake is complete. Application data may follow, or be there already.
        case done(Handshake)
        /// The client has to send more.
        case wantsRead
        /// The client has to read more.
        case wantsWrite
        /// The handshake failed. The client got an alert if that was possible.
        case failed(String)
    }

    /// The result of a handshake.
    public struct Handshake: Sendable {
        /// The protocol version: "TLSv1.3".
        public let version: String
        /// The cipher suite: "TLS_AES_128_GCM_SHA256".
        public let suite: String
        /// True if the handshake resumed an earlier session, without a signature.
        public let isResumed: Bool
        /// The certificate that the client presented and proved to hold the key of; nil unless the server required it.
        public let clientCertificate: CertificateSummary?
    }

    /// The result of a read or a write.
    public enum Transfer: Equatable, Sendable {
        /// The number of bytes that were transferred. 0 from a read means that the other side sends no more.
        case bytes(Int)
        /// Nothing can be transferred at the moment.
        case wouldBlock
        /// The connection is broken.
        case failed
    }

    private enum Phase { case handshake, open, broken }

    /// The pointers are freed together in `deinit`, and are used only under the lock.
    @safe private struct State {
        var session: OpaquePointer?
        var stream: UnsafeMutablePointer<COpenSSL_Stream>
        var phase = Phase.handshake
        /// True if the next read has to report the end or the failure.
        var hasEnded = false
    }

    private let context: TLSContext
    private let state: Locked<State>
    private let isAbandoned = Atomic<Bool>(false)

    /// The BIO method by which OpenSSL reads and writes through this module. It is created once.
    private static let method = unsafe LibraryObject(COpenSSL_stream_method()) { unsafe BIO_meth_free($0) }

    /// Creates a session without doing anything; it allocates its memory with the first step.
    public init(_ context: TLSContext, descriptor: Int32) {
        self.context = context
        let stream = UnsafeMutablePointer<COpenSSL_Stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: COpenSSL_Stream())
        unsafe stream.pointee.descriptor = descriptor
        state = unsafe Locked(State(session: nil, stream: stream))
    }

    deinit {
        state.withLock { state in
            unsafe SSL_free(state.session)
            unsafe state.stream.deallocate()
        }
    }

    // MARK: The handshake

    /// Continues the handshake as far as the received bytes allow. It computes for up to some milliseconds, so it must
    /// not run on an event loop.
    public func handshake() -> Step {
        // The result is not needed any more, so the step is not computed.
        if isAbandoned.load(ordering: .relaxed) { return .failed("abandoned") }
        return state.withLock { state in
            if unsafe state.session == nil {
                unsafe state.session = unsafe COpenSSL_session(
                    context.handle.pointer, Self.method.pointer, state.stream)
            }
            guard let session = unsafe state.session, state.phase == .handshake else { return .failed("no session") }
            unsafe state.stream.pointee.is_drained = 0
            ERR_clear_error()
            let result = unsafe SSL_do_handshake(session)
            if result == 1 {
                state.phase = .open
                return unsafe .done(Handshake(session))
            }
            switch unsafe SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ: return .wantsRead
            case SSL_ERROR_WANT_WRITE: return .wantsWrite
            default:
                state.phase = .broken
                return .failed(libraryReason())
            }
        }
    }

    /// Makes later steps of the handshake fail at once, because their results are not needed. Call it from any thread.
    public func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    // MARK: Application data

    /// Reads what has arrived into the buffer. Fewer bytes than the buffer holds mean that no more has arrived, unless
    /// `holdsMore` is true.
    public func receive(into buffer: inout [UInt8]) -> Transfer {
        state.withLock { state in
            guard let session = unsafe state.session, state.phase == .open else { return .failed }
            if state.hasEnded { return .bytes(0) }
            unsafe state.stream.pointee.is_drained = 0
            return unsafe buffer.withUnsafeMutableBytes { unsafe Self.fill($0, session, &state) }
        }
    }

    /// Reads records until the buffer is full or nothing is left.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, _ session: OpaquePointer, _ state: inout State
    ) -> Transfer {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            var count = 0
            ERR_clear_error()
            let result = unsafe SSL_read_ex(session, rest.baseAddress, rest.count, &count)
            if result == 1 {
                filled += count
                unsafe state.stream.pointee.post_handshake_count = 0
                continue
            }
            switch unsafe SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return filled > 0 ? .bytes(filled) : .wouldBlock
            case SSL_ERROR_ZERO_RETURN:
                state.hasEnded = true
                return .bytes(filled)
            default:
                ERR_clear_error()
                state.phase = .broken
                return filled > 0 ? .bytes(filled) : .failed
            }
        }
        return .bytes(filled)
    }

    /// True if the next `receive` returns something that the kernel will not report.
    public var holdsMore: Bool { state.withLock { $0.hasEnded || $0.phase == .broken } }

    /// Writes as much of `bytes[offset...]` as the system accepts. The rest has to be passed again, unchanged.
    public func send(_ bytes: [UInt8], from offset: Int) -> Transfer {
        state.withLock { state in
            guard let session = unsafe state.session, state.phase == .open else { return .failed }
            return unsafe bytes.withUnsafeBytes { buffer in
                var sent = offset
                while sent < buffer.count {
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                    var count = 0
                    ERR_clear_error()
                    let result = unsafe SSL_write_ex(session, rest.baseAddress, rest.count, &count)
                    if result == 1 {
                        sent += count
                        continue
                    }
                    switch unsafe SSL_get_error(session, result) {
                    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                        return sent > offset ? .bytes(sent - offset) : .wouldBlock
                    default:
                        ERR_clear_error()
                        state.phase = .broken
                        return .failed
                    }
                }
                return .bytes(sent - offset)
            }
        }
    }

    /// Sends close_notify, if there is room for it: no more bytes will follow.
    public func sendCloseNotify() {
        state.withLock { state in
            guard let session = unsafe state.session, state.phase == .open else { return }
            ERR_clear_error()
            unsafe SSL_shutdown(session)
            ERR_clear_error()
        }
    }
}

extension TLSSession.Handshake {
    init(_ session: OpaquePointer) {
        version = unsafe String(cString: SSL_get_version(session))
        suite = unsafe String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(session)))
        isResumed = unsafe SSL_session_reused(session) == 1
        if let peer = unsafe SSL_get0_peer_certificate(session) {
            clientCertificate = unsafe CertificateSummary(peer)
        } else {
            clientCertificate = nil
        }
    }
}
