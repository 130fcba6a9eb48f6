internal import Foundation

extension Sojourn {
    /// Lets the server encrypt the messages about logins to this device. To be called at each launch and after each sign-in,
    /// beside the registration for messages at the system: it makes the key at the first time, and sends nothing if the server
    /// knows it for this session.
    public func registerForPushes() async throws(SojournError) {
        let session = try await living()
        let key: any DeviceKey
        do throws(KeyError) { key = try await keys.makeKey(.encryption) } catch { throw SojournError(error) }
        let name = key.publicKey.thumbprint
        guard session.encryptionKey != name else { return }
        _ = try await call(.setEncryptionKey(key.publicKey))
        try await note(encryptionKey: name, of: session)
    }

    /// Lets the server encrypt no more messages to this device. The key stays for a later registration.
    public func unregisterFromPushes() async throws(SojournError) {
        let session = try await living()
        _ = try await call(.removeEncryptionKey)
        try await note(encryptionKey: nil, of: session)
    }

    private func note(encryptionKey name: String?, of session: StoredSession) async throws(SojournError) {
        do throws(StoreError) {
            try await update { record in
                guard record.session?.sessionID == session.sessionID, record.session?.encryptionKey != name else {
                    return false
                }
                record.session?.encryptionKey = name
                return true
            }
        } catch { throw SojournError(error) }
    }

    /// The code in a message that was pushed to the app; nil: the message is of another kind.
    ///
    /// The message is what the server has encrypted, alone or as the member `sojourn` of the JSON around it, or JSON with the plain
    /// code in the member `login`.
    func code(inPush message: [UInt8]) async throws(SojournError) -> ScannedCode? {
        guard message.count <= Self.pushLengthMax, let whole = String(bytes: message, encoding: .utf8)
        else {
            throw Self.refusal("invalid_code")
        }
        guard whole.first(where: { !$0.isWhitespace }) == "{" else {
            guard EncryptedMessage.hasForm(whole) else { throw Self.refusal("invalid_code") }
            return try await code(inEncrypted: whole)
        }
        guard let members = JSONValue(parsing: message)?.members else { throw Self.refusal("invalid_code") }
        if let encrypted = members.text("sojourn") { return try await code(inEncrypted: encrypted) }
        guard let plain = members.text("login") else { return nil }
        return try ScannedCode(plain, from: .push, at: server())
    }

    /// The largest message that the push services of phones carry, in bytes.
    private static let pushLengthMax = 4096

    private static func refusal(_ code: String) -> SojournError { .refused(Refusal(status: 0, code: code)) }

    /// The code in an encrypted message, if it is of this server, for this session, and not over.
    private func code(inEncrypted text: String) async throws(SojournError) -> ScannedCode {
        let session = try await living()
        let content = try await content(ofEncrypted: text, session)
        let server = try server()
        guard content.text("iss") == server.base else { throw Self.refusal("other_server") }
        guard content.text("sid") == session.sessionID else { throw Self.refusal("other_session") }
        guard content.text("type") == "login", let link = content.text("login") else {
            throw Self.refusal("unknown_message")
        }
        guard let end = content.integer("exp"), now < end else { throw Self.refusal("message_expired") }
        let code = try ScannedCode(link, from: .push, at: server)
        guard !code.isEnrolment else { throw Self.refusal("unknown_message") }
        return code
    }

    private func content(
        ofEncrypted text: String, _ session: StoredSession
    ) async throws(SojournError) -> [String: JSONValue] {
        let key: (any DeviceKey)?
        do throws(KeyError) { key = try await keys.key(.encryption) } catch { throw SojournError(error) }
        do throws(EncryptedMessage.Problem) {
            guard let key else { throw .otherKey }
            let content = try await EncryptedMessage.open(
                text.trimmingCharacters(in: .whitespacesAndNewlines), with: key)
            guard let members = JSONValue(parsing: content)?.members else { throw .invalid }
            return members
        } catch {
            switch error {
            case .invalid: throw Self.refusal("invalid_message")
            case .otherKey:
                // The server has another key of this device, so that the next registration must not believe the record.
                try? await note(encryptionKey: nil, of: session)
                throw Self.refusal("other_key")
            case .key(let error): throw SojournError(error)
            }
        }
    }
}
