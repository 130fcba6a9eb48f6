import Glibc
import Sockets

/// One keep-alive connection of the load: a request, its response, the next request.
final class LoadConnection<Dialogue: Conversation> {
    /// The result of an event.
    enum Progress {
        /// Part of a response has arrived.
        case waiting
        /// A right response has arrived, so many nanoseconds after its request.
        case answered(nanoseconds: Int64)
        /// The response is wrong, or the connection failed.
        case failed(String)
    }

    private let socket: StreamSocket
    private(set) var conversation: Dialogue
    private var received: [UInt8] = []
    private var sentAt: Int64 = 0
    /// True while a response is awaited.
    private(set) var isWaiting = false

    /// The descriptor, for the epoll set.
    var number: Int32 { socket.number }

    /// Connects to `port` of this machine, from `source` if it is given.
    init(port: UInt16, source: UInt32? = nil, _ conversation: Dialogue) throws {
        self.conversation = conversation
        let number = try LoopbackAddress(port: port, source: source).connect()
        socket = StreamSocket(owning: number)
        guard fcntl(number, F_SETFL, O_NONBLOCK) == 0 else { throw Failure.system("fcntl") }
        socket.sendWithoutDelay()
    }

    /// Sends the next request at instant `now`.
    func ask(at now: Int64) throws {
        sentAt = now
        isWaiting = true
        let request = conversation.request
        // The send buffer is empty and larger than a request, so one call sends all of it.
        guard socket.send(request) == .bytes(request.count) else { throw Failure("a request could not be sent") }
    }

    /// Whether the server has closed the connection, which waits for no response. All connections share `buffer`.
    func isClosed(_ buffer: inout [UInt8]) -> Bool {
        switch socket.receive(into: &buffer) {
        case .failed, .bytes(0): true
        case .wouldBlock, .bytes: false
        }
    }

    /// Reads what has arrived, at instant `now`. All connections share `buffer`.
    func hear(at now: Int64, _ buffer: inout [UInt8]) -> Progress {
        switch socket.receive(into: &buffer) {
        case .wouldBlock: return .waiting
        case .failed, .bytes(0): return fail("the server closed the connection")
        case .bytes(let count): received.append(contentsOf: buffer[..<count])
        }
        do {
            guard let answer = try Answer(received) else { return .waiting }
            guard answer.body.upperBound == received.count, conversation.accepts(answer, in: received) else {
                return fail("a wrong answer: \(String(decoding: received.prefix(600), as: UTF8.self))")
            }
        } catch {
            return fail("\(error)")
        }
        received.removeAll(keepingCapacity: true)
        isWaiting = false
        return .answered(nanoseconds: now - sentAt)
    }

    private func fail(_ reason: String) -> Progress {
        isWaiting = false
        return .failed(reason)
    }
}
