extension Branding {
    /// The most bytes of an address.
    private static let addressLengthMax = 512

    /// This branding, and for members that it lacks those of `base`.
    public func over(_ base: Branding) -> Branding {
        Branding(
            accent: accent ?? base.accent, logo: logo ?? base.logo, policyURL: policyURL ?? base.policyURL,
            termsURL: termsURL ?? base.termsURL, supportURL: supportURL ?? base.supportURL,
            supportEmail: supportEmail ?? base.supportEmail)
    }

    /// The error in the branding, as one sentence; nil if there is none.
    public var problem: String? {
        if let accent, !Self.isColor(accent) { return "accent must be a color like #0a5fd1" }
        for (name, address) in [("policy_uri", policyURL), ("tos_uri", termsURL), ("support_uri", supportURL)] {
            guard let address else { continue }
            let isWeb = address.hasPrefix("https://") || address.hasPrefix("http://")
            if !isWeb || address.utf8.count > Self.addressLengthMax || !RedirectURI.isValid(address) {
                return "\(name) must be an https URL, or http with a loopback host, of at most "
                    + "\(Self.addressLengthMax) bytes"
            }
        }
        if let supportEmail, !Self.isMailbox(supportEmail) {
            return "support_email must be an address like help@example.com"
        }
        return nil
    }

    private static func isColor(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "#") && text.utf8.count == 7
            && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    }

    private static func isMailbox(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts.contains(where: \.isEmpty) && text.utf8.count <= 254
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"<>\"(),:;\\[]".utf8.contains($0) }
    }
}

extension Client {
    /// The client as pages and mails show it: what its branding lacks is that of the settings.
    public func branded(by settings: Settings) -> Client {
        var client = self
        client.branding = branding.over(settings.branding)
        return client
    }
}

extension Catalogue {
    /// The digests of the logos that settings and clients show.
    var logos: Set<String> {
        Set(([settings.branding] + clients.values.map(\.branding)).compactMap(\.logo))
    }
}
