internal import CCurl

/// What this machine and the relay say to each other about one mail, as it happens.
final class SMTPConversation {
    /// Why the conversation was ended from this side.
    enum Stop {
        case noAuthentication
        case tooLarge
        case probed
    }

    private static let bytesMax = 65_536
    private static let textMax = 400

    private let message: SMTPMessage
    private let needsAuthentication: Bool
    /// Whether the next EHLO is the last one, because TLS has begun or is not demanded.
    private var isSecured: Bool
    private var offersAuthentication = false
    private var step = SMTPReport.Step.greeting
    private var replies: [SMTPReport.Reply] = []
    private var text = ""
    private var byteCount = 0
    private var sentCount = 0
    private var stop: Stop?
    /// Whether libcurl has said QUIT, so that what follows is about no mail.
    private var isOver = false

    init(_ message: SMTPMessage, _ options: SMTPClient.Options) {
        self.message = message
        needsAuthentication = options.credentials != nil
        isSecured = options.relay.isSecure || !options.demandsTLS
    }

    static let collectLine: CCurl_collect = { bytes, size, count, conversation in
        guard let conversation = unsafe conversation else { return 0 }
        let line = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self)
        let goesOn = unsafe Unmanaged<SMTPConversation>.fromOpaque(conversation).takeUnretainedValue().take(line)
        return goesOn ? size * count : 0
    }

    static let giveContent: CCurl_collect = { bytes, size, count, conversation in
        guard let conversation = unsafe conversation else { return 0 }
        let room = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
        return unsafe Unmanaged<SMTPConversation>.fromOpaque(conversation).takeUnretainedValue().give(into: room)
    }

    static let observe: curl_debug_callback = { _, kind, bytes, count, conversation in
        guard kind == CURLINFO_HEADER_OUT, let conversation = unsafe conversation else { return 0 }
        let line = unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
        unsafe Unmanaged<SMTPConversation>.fromOpaque(conversation).takeUnretainedValue().note(command: line)
        return 0
    }

    /// Notes the step of a command that was sent. What follows AUTH is no command, but may look like one.
    private func note(command line: String) {
        if line.hasPrefix("QUIT") {
            isOver = true
        } else if line.hasPrefix("MAIL FROM:") {
            step = .sender
        } else if step == .authentication {
            return
        } else if line.hasPrefix("RCPT TO:") {
            step = .recipient
        } else if line.hasPrefix("DATA") {
            step = .data
        } else if line.hasPrefix("EHLO ") || line.hasPrefix("HELO ") {
            (step, offersAuthentication) = (.hello, false)
        } else if line.hasPrefix("STARTTLS") {
            step = .startTLS
        } else if line.hasPrefix("AUTH ") {
            step = .authentication
        }
    }

    /// Takes one line of a reply. False ends the conversation.
    func take(_ line: String) -> Bool {
        byteCount += line.utf8.count
        guard byteCount <= Self.bytesMax else {
            stop = .tooLarge
            return false
        }
        if isOver { return true }
        // As libcurl reads it, byte by byte: it would send the mail without authentication otherwise.
        if step == .hello, ["250-AUTH ", "250 AUTH "].contains(where: { line.utf8.starts(with: $0.utf8) }) {
            offersAuthentication = true
        }
        let line = line.filter { !$0.isNewline }
        let rest = line.dropFirst(3)
        if text.utf8.count < Self.textMax { text += text.isEmpty ? line : " " + rest.dropFirst() }
        guard !rest.hasPrefix("-"), let code = Int(line.prefix(3)) else { return true }
        replies.append(SMTPReport.Reply(step, code, Self.visible(text)))
        text = ""
        return goesOn(after: code)
    }

    private func goesOn(after code: Int) -> Bool {
        switch step {
        case .startTLS where code == 220: isSecured = true
        case .hello where code == 250 && isSecured && needsAuthentication && !offersAuthentication:
            // libcurl would send the mail without.
            stop = .noAuthentication
            return false
        case .recipient where message.isProbe && code < 300:
            stop = .probed
            return false
        case .data where code == 354: step = .content
        default: break
        }
        return true
    }

    private static func visible(_ text: String) -> String {
        var visible = String(
            String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
        while visible.utf8.count > textMax { visible.removeLast() }
        return visible
    }

    private func give(into room: UnsafeMutableRawBufferPointer) -> Int {
        let part = message.content[sentCount...].prefix(room.count)
        unsafe room.copyBytes(from: part)
        sentCount += part.count
        return part.count
    }

    /// What came of the conversation, which libcurl ended with `code`.
    func report(_ code: CURLcode) -> SMTPReport { SMTPReport(replies: replies, outcome: outcome(code)) }

    private func outcome(_ code: CURLcode) -> SMTPReport.Outcome {
        switch stop {
        case .noAuthentication: return .noAuthentication
        case .tooLarge: return .failed(.tooLarge)
        case .probed: return .probed
        case nil: break
        }
        if code == CURLE_OK { return .accepted }
        if code == CURLE_USE_SSL_FAILED { return .noEncryption }
        if let last = replies.last, last.code >= 400 { return .refused(last) }
        if code == CURLE_LOGIN_DENIED { return .noAuthentication }
        return step == .content ? .inDoubt(OutboundError(code)) : .failed(OutboundError(code))
    }
}
