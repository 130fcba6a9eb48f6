internal import Foundation

/// The PIN by which the user approves logins on this device, as the server has it.
public struct PINStatus: Hashable, Sendable {
    /// How many wrong PINs are left, at all logins together.
    public var attemptsLeft: Int
    /// Whether the PIN is accepted no more, until the user gives another second factor or sets it anew.
    public var isLocked: Bool
    /// When this PIN was set, in Unix seconds of the server.
    public var changedAt: Int64
}

// The PIN of the app: a second factor of logins on other devices. It proves no presence, and unlocks nothing on this device. The
// device stores nothing of it; the server counts wrong ones.
extension Sojourn {
    /// The PIN of this session; nil: none is set.
    public func pinStatus() async throws(SojournError) -> PINStatus? {
        do throws(SojournError) { return try status(in: try await call(.pin)) } catch {
            if case .refused(let refusal) = error, refusal.code == "not_found" { return nil }
            throw error
        }
    }

    /// Sets a PIN of four characters or more, or another one in place of a forgotten or locked one. The password shows that it is
    /// the user.
    @discardableResult public func setPIN(_ pin: String, password: String) async throws(SojournError) -> PINStatus {
        try await setPIN(pin, proof: ["password": .string(password)])
    }

    /// Sets a PIN, or another one in place of a forgotten or locked one. Asks the user for biometry, once.
    ///
    /// - Parameter reason: what the prompt says.
    @discardableResult public func setPIN(
        _ pin: String, reason: String = PresencePrompt.reason
    ) async throws(SojournError) -> PINStatus {
        let session = try await living()
        guard let id = session.gateID else {
            throw .presenceRequired(PresenceRequirement(ways: ["password"], maxAge: nil))
        }
        let opened = try await prompt { gate throws(PresenceError) in try await gate.unlock(id, reason: reason) }
        let signed: Result<String?, KeyError>
        do throws(KeyError) { signed = .success(try await assertion(by: opened, for: session)) } catch {
            signed = .failure(error)
        }
        await opened.close()
        var proof: [String: JSONValue] = [:]
        do throws(KeyError) { proof.set("user_assertion", try signed.get()) } catch { throw SojournError(error) }
        return try await setPIN(pin, proof: proof)
    }

    /// Changes the PIN with the old one. A wrong old PIN throws `refused` with `wrong_pin`, and counts as one at a login.
    @discardableResult public func changePIN(
        from old: String, to new: String
    ) async throws(SojournError) -> PINStatus {
        guard let known = try await mac(ofPIN: old, makesKey: false) else { throw Self.noPIN }
        return try await setPIN(new, proof: ["old_pin": .string(known)])
    }

    /// Removes the PIN.
    public func removePIN() async throws(SojournError) { _ = try await call(.removePIN) }

    /// What the server gets for a PIN at a login.
    func loginMAC(ofPIN pin: String) async throws(SojournError) -> String {
        guard let mac = try await mac(ofPIN: pin, makesKey: false) else { throw Self.noPIN }
        return mac
    }

    private static var noPIN: SojournError { .refused(Refusal(status: 0, code: "pin_not_set")) }

    private func setPIN(_ pin: String, proof: [String: JSONValue]) async throws(SojournError) -> PINStatus {
        guard let mac = try await mac(ofPIN: pin, makesKey: true) else { throw Self.noPIN }
        return try status(in: try await call(.setPIN(mac, proof: proof)))
    }

    /// The MAC of a PIN in base64url; nil if the device has no key for it, so that none is set.
    private func mac(ofPIN pin: String, makesKey: Bool) async throws(SojournError) -> String? {
        let session = try await living()
        let device = try await deviceIdentity().deviceID
        do throws(KeyError) {
            let key = makesKey ? try await keys.makeKey(.pin) : try await keys.key(.pin)
            guard let key else { return nil }
            let mac = try await pins.mac(
                of: pin, by: key, client: configuration.clientID, user: session.account.userID, device: device)
            if let mac { return Base64URL.encode(mac) }
        } catch { throw SojournError(error) }
        throw .refused(Refusal(status: 0, code: "invalid_pin", member: "pin"))
    }

    private func status(in answer: HTTPAnswer) throws(SojournError) -> PINStatus {
        guard let members = JSONValue(parsing: answer.body)?.members, let left = members.integer("attempts_left"),
            let isLocked = members["locked"]?.bool, let changedAt = members.integer("changed_at")
        else { throw .unreachable(Unreachable("not an answer of the server", status: answer.status)) }
        return PINStatus(attemptsLeft: Int(clamping: left), isLocked: isLocked, changedAt: changedAt)
    }
}
