internal import COpenSSL
internal import Cryptography
internal import Locks
internal import Synchronization

/// TLS on one connection. It reads and writes the descriptor itself, but does not own it: whoever keeps the session has
/// to keep the descriptor open.
///
/// The session is made for two sides that take turns: the queue where handshakes compute, then the loop. The lock makes
/// that safe rather than agreed upon; nobody waits for it unless the turns are broken.
@safe public final class TLSSession: Sendable {
    /// What a step of the handshake came to.
    public enum Step: Sendable {
        /// It is over: application data may flow, and may be there already.
        case done(Handshake)
        /// The client has to send more.
        case wantsRead
        /// The client has to read more.
        case wantsWrite
        /// It failed; the client has been told by an alert if that was possible.
        case failed(String)
    }

    /// What a handshake came to.
    public struct Handshake: Sendable {
        /// "TLSv1.3"
        public let version: String
        /// "TLS_AES_128_GCM_SHA256"
        public let suite: String
        /// Whether it continued an earlier session, without a signature.
        public let isResumed: Bool
        /// What the client has shown, and proved to hold the key of; nil unless it was asked to.
        public let clientCertificate: CertificateSummary?
    }

    /// What a read or a write came to.
    public enum Transfer: Equatable, Sendable {
        /// So many bytes went; 0 when reading: the other side sends no more.
        case bytes(Int)
        /// Nothing can be done right now.
        case wouldBlock
        /// The connection is broken.
        case failed
    }

    private enum Phase { case handshake, open, broken }

    /// The pointers are freed together in `deinit`, and used only under the lock.
    @safe private struct State {
        var session: OpaquePointer?
        var stream: UnsafeMutablePointer<COpenSSL_Stream>
        var phase = Phase.handshake
        /// The next read has the end, or the failure, to tell.
        var hasEnded = false
    }

    private let context: TLSContext
    private let state: Locked<State>
    private let isAbandoned = Atomic<Bool>(false)

    /// What OpenSSL needs to read and write in our way. Made once.
    private static let method = unsafe LibraryObject(COpenSSL_stream_method()) { unsafe BIO_meth_free($0) }

    /// Makes a session in which nothing has happened yet; it takes its memory with the first step.
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

    /// Goes on with the handshake as far as the bytes that are there allow. Computes for up to some milliseconds, so not on a loop.
    public func handshake() -> Step {
        // Nobody waits for it any more: do not compute.
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

    /// Says that nobody waits for a step that is still to come. From any thread.
    public func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    // MARK: Application data

    /// Reads what is there into the buffer. Less than the buffer holds means that no more was there, unless `holdsMore`.
    public func receive(into buffer: inout [UInt8]) -> Transfer {
        state.withLock { state in
            guard let session = unsafe state.session, state.phase == .open else { return .failed }
            if state.hasEnded { return .bytes(0) }
            unsafe state.stream.pointee.is_drained = 0
            return unsafe buffer.withUnsafeMutableBytes { unsafe Self.fill($0, session, &state) }
        }
    }

    /// Reads records until there is no more room or no more to read.
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

    /// Whether the next `receive` has something to tell that the kernel will not announce.
    public var holdsMore: Bool { state.withLock { $0.hasEnded || $0.phase == .broken } }

    /// Writes as much of `bytes[offset...]` as the system takes. What it does not take has to be offered again, unchanged.
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

    /// Says that no more bytes will follow (close_notify), if there is still room for it.
    public func sayGoodbye() {
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
