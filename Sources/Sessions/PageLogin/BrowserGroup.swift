internal import Cryptography

// Web applications name no device. Their sessions get device ids with a start that the sessions of one client in one browser
// share, so that a list can show them as one row below that of the browser, without a read.

extension Device {
    private static let groupStart = "browser-"
    /// The start, a hash of 16 bytes in base64url, a hyphen.
    private static let groupLength = groupStart.utf8.count + 23

    /// The start of the device ids of sessions of that client which begin in that browser. It is a hash, because clients see
    /// their device ids, and two clients must not recognize a browser by them.
    public static func browserGroup(of clientID: String, in browser: Identifier<Session>) -> String {
        let hash = sha256(Array("device of \(clientID) in \(browser)".utf8)).prefix(16)
        return groupStart + Base64URL.encode(Array(hash)) + "-"
    }

    /// The start that a device id shares with those of the same client in the same browser; nil: it is none of these.
    public static func browserGroup(ofID id: String) -> String? {
        guard id.hasPrefix(groupStart), id.utf8.count > groupLength else { return nil }
        let group = id.prefix(groupLength)
        return group.last == "-" ? String(group) : nil
    }

    /// The start that the id shares with those of the same client in the same browser; nil: it is none of these.
    public var browserGroup: String? { Self.browserGroup(ofID: id) }
}

extension PageLogin {
    /// The device of the session that the code starts, if the client names none: the browser by its name, with `madeUp` as the rest
    /// of its id.
    func device(_ madeUp: Device) -> Device {
        let start = browserSession.map { Device.browserGroup(of: clientID, in: $0) } ?? ""
        return Device(
            id: start + madeUp.id, name: madeUp.name ?? userAgent.flatMap(PageLoginService.Browser.name),
            platform: madeUp.platform, appVersion: madeUp.appVersion)
    }
}
