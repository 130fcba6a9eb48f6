/// Keeps the private parts of keys as bytes under their names.
protocol KeyBlobs: Sendable {
    /// The bytes; nil only if there certainly are none.
    func blob(_ name: KeyName) async throws(KeyError) -> [UInt8]?
    /// Keeps bytes durably. Returns false, and changes nothing, if there are some under that name.
    func add(_ blob: [UInt8], _ name: KeyName) async throws(KeyError) -> Bool
    /// Moves the bytes out of the way without deleting them.
    func setAside(_ name: KeyName) async throws(KeyError)
    /// Deletes the bytes, if there are any.
    func delete(_ name: KeyName) async throws(KeyError)
}

/// Makes keys, and restores them from their bytes.
protocol KeyMaker: Sendable {
    /// The bytes of a new key.
    func make(_ name: KeyName) throws(KeyError) -> [UInt8]
    /// The key of those bytes. Throws `KeyError.corrupted` if they are no key.
    func restore(_ blob: [UInt8]) throws(KeyError) -> any DeviceKey
}

/// A keyring of bytes and a maker.
struct BlobKeyring<Blobs: KeyBlobs, Maker: KeyMaker>: DeviceKeyring {
    let blobs: Blobs
    let maker: Maker

    func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)? {
        guard let blob = try await blobs.blob(name) else { return nil }
        return try maker.restore(blob)
    }

    /// The key of that name; made, if there is none. Only a login makes keys, and it must be possible again after a key can no
    /// longer be read: such a key is set aside and kept.
    func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey {
        do throws(KeyError) {
            if let key = try await key(name) { return key }
        } catch {
            guard case .corrupted = error else { throw error }
            try await blobs.setAside(name)
        }
        let blob = try maker.make(name)
        if try await blobs.add(blob, name) { return try maker.restore(blob) }
        // Another process was first. Its key is taken.
        guard let key = try await key(name) else { throw .failed(0, "the key changes all the time") }
        return key
    }

    func deleteKey(_ name: KeyName) async throws(KeyError) { try await blobs.delete(name) }
}
