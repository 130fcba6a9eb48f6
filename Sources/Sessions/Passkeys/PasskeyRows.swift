/// The requests about passkeys.
public protocol PasskeyReader {
    func passkey(_ id: [UInt8]) -> Answer<Passkey?>

    /// The passkeys of a user, by credential ID.
    func passkeys(of userID: Identifier<User>) -> Answer<[Passkey]>

    /// Every passkey, by credential ID.
    func passkeys(after id: [UInt8]?, limit: Int) -> Answer<[Passkey]>
}

/// The requests and writes about passkeys inside a transaction.
public protocol PasskeyTransaction: PasskeyReader {
    /// Adds a passkey. False if the credential ID exists; nothing was written.
    func insert(_ passkey: Passkey) -> Answer<Bool>

    /// Writes the mutable fields of a passkey.
    func update(_ passkey: Passkey)

    /// Deletes a passkey of a user. False if the user has no such passkey.
    func deletePasskey(_ id: [UInt8], of userID: Identifier<User>) -> Answer<Bool>

    /// Deletes the passkeys of a user.
    func deletePasskeys(of userID: Identifier<User>)
}
