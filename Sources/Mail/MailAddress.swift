internal import Sessions

/// The sender of mails: an address, and a name if there is one.
public struct MailAddress: Hashable, Sendable, CustomStringConvertible {
    /// The name that mail apps show; nil: the address alone.
    public let name: String?
    /// `local@domain`, in ASCII.
    public let address: String

    /// The part after the @.
    public var domain: String { address.split(separator: "@").last.map(String.init) ?? "" }

    /// Reads `Name <local@domain>` or `local@domain`; nil for anything else.
    public init?(_ text: String) {
        if text.hasSuffix(">"), let open = text.lastIndex(of: "<") {
            let name = text[..<open].split(separator: " ").joined(separator: " ")
            let isPlain = name.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
            guard isPlain, name.utf8.count <= 128, !name.contains("\"") else { return nil }
            self.init(name: name.isEmpty ? nil : name, address: String(text[text.index(after: open)...].dropLast()))
        } else {
            self.init(name: nil, address: text)
        }
    }

    private init?(name: String?, address: String) {
        // A relay need not know mailboxes beyond ASCII (RFC 6531).
        guard Mailbox.isValid(address), address.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        (self.name, self.address) = (name, address)
    }

    /// `Name <local@domain>`, as in the configuration.
    public var description: String { name.map { "\($0) <\(address)>" } ?? address }

    /// The value of the field `From`.
    var field: String {
        guard let name else { return address }
        let isPlain = name.utf8.allSatisfy {
            $0 == 0x20 || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
        }
        let shown =
            isPlain
            ? name
            : name.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\\") } ? "\"\(name)\"" : EncodedWord.text(name)
        return "\(shown) <\(address)>"
    }
}
