extension StoreError: CustomStringConvertible {
    /// A sentence for developers.
    public var description: String {
        switch self {
        case .locked: "the device has not been unlocked since its start"
        case .denied(-34018):
            "the app has no entitlement for its Keychain items (-34018): sign it with an application identifier, and with the "
                + "capability Keychain Sharing if it has an access group"
        case .denied(let code): "the app has no right to the store (\(code))"
        case .corrupted(let detail): "what is stored is no record: \(detail)"
        case .failed(let code, let action): "the store failed: \(action) (\(code))"
        }
    }
}

extension KeyError: CustomStringConvertible {
    /// A sentence for developers.
    public var description: String {
        switch self {
        case .locked: "the device has not been unlocked since its start"
        case .denied(-34018): StoreError.denied(-34018).description
        case .denied(let code): "the app has no right to the key (\(code))"
        case .corrupted(let detail): "what is stored is no key: \(detail)"
        case .failed(let code, let action): "the keyring failed: \(action) (\(code))"
        }
    }
}
