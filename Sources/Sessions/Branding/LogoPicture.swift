internal import Cryptography

extension Logo {
    /// The most bytes of a picture.
    public static let sizeMax = 65_536
    /// The pixels that width and height can have.
    public static let pixels = 16...1024

    /// The digest as a branding has it.
    public var name: String { Hex.encode(digest) }

    /// A picture that was sent. Throws the reason as words that fit after "the logo".
    public init(checking bytes: [UInt8]) throws(LogoProblem) {
        guard bytes.count <= Self.sizeMax else { throw .tooLarge }
        let (type, size): (String, PictureSize)
        if let found = try PNG.size(of: bytes) {
            (type, size) = ("image/png", found)
        } else if let found = try WebP.size(of: bytes) {
            (type, size) = ("image/webp", found)
        } else {
            throw .unknownFormat
        }
        guard Self.pixels.contains(size.width), Self.pixels.contains(size.height) else {
            throw .wrongSize(width: size.width, height: size.height)
        }
        self.init(digest: sha256(bytes), type: type, bytes: bytes)
    }

    /// The digest that a branding or a path names; nil for any other text.
    public static func digest(named name: String) -> [UInt8]? {
        guard name.utf8.count == 64, name == name.lowercased() else { return nil }
        return Hex.decode(name)
    }
}

/// Why a picture is not taken as a logo.
public enum LogoProblem: Error, Hashable, Sendable {
    /// It has more bytes than `Logo.sizeMax`.
    case tooLarge
    /// It is neither PNG nor WebP.
    case unknownFormat
    /// It begins as PNG or WebP, and goes on otherwise, or something follows the picture.
    case damaged
    /// It has several pictures.
    case animated
    /// It has too few or too many pixels.
    case wrongSize(width: Int, height: Int)

    /// The reason, in words that fit after "the logo".
    public var description: String {
        switch self {
        case .tooLarge: "has more than \(Logo.sizeMax) bytes"
        case .unknownFormat: "is neither PNG nor WebP"
        case .damaged: "is damaged, or something stands behind the picture"
        case .animated: "is animated"
        case .wrongSize(let width, let height):
            "has \(width) x \(height) pixels; width and height must be from \(Logo.pixels.lowerBound) to "
                + "\(Logo.pixels.upperBound)"
        }
    }
}

private typealias PictureSize = (width: Int, height: Int)

/// The chunks of a PNG file (ISO/IEC 15948).
private enum PNG {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The size of the picture; nil for a file of another format.
    static func size(of bytes: [UInt8]) throws(LogoProblem) -> PictureSize? {
        guard bytes.starts(with: signature) else { return nil }
        var (rest, size, hasData): (ArraySlice<UInt8>, PictureSize?, Bool) = (bytes[8...], nil, false)
        // Each chunk has its length, its type, its data and a checksum.
        while rest.count >= 12 {
            let length = number(rest.prefix(4))
            guard length <= rest.count - 12 else { throw .damaged }
            let data = rest.dropFirst(8).prefix(length)
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            rest = rest.dropFirst(12 + length)
            switch type {
            case "IHDR" where size == nil && length == 13:
                size = (number(data.prefix(4)), number(data.dropFirst(4).prefix(4)))
            case _ where size == nil: throw .damaged
            case "acTL": throw .animated
            case "IDAT": hasData = true
            case "IEND":
                guard hasData, rest.isEmpty else { throw .damaged }
                return size
            default: break
            }
        }
        throw .damaged
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}

/// The chunks of a WebP file (RFC 9649).
private enum WebP {
    /// The size of the picture; nil for a file of another format.
    static func size(of bytes: [UInt8]) throws(LogoProblem) -> PictureSize? {
        guard bytes.count >= 20, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) else {
            return nil
        }
        guard number(bytes[4..<8]) == bytes.count - 8 else { throw .damaged }
        var (rest, canvas, picture): (ArraySlice<UInt8>, PictureSize?, PictureSize?) = (bytes[12...], nil, nil)
        while rest.count >= 8 {
            let length = number(rest.dropFirst(4).prefix(4))
            // A byte fills up chunks of odd lengths.
            guard length + length % 2 <= rest.count - 8 else { throw .damaged }
            let data = Array(rest.dropFirst(8).prefix(length))
            let type = String(decoding: rest.prefix(4), as: UTF8.self)
            rest = rest.dropFirst(8 + length + length % 2)
            switch type {
            case "ANIM", "ANMF": throw .animated
            case "VP8X" where length >= 10: canvas = (number(data[4..<7]) + 1, number(data[7..<10]) + 1)
            case "VP8 " where picture == nil: picture = try lossy(data)
            case "VP8L" where picture == nil: picture = try lossless(data)
            case "VP8X", "VP8 ", "VP8L": throw .damaged
            default: break
            }
        }
        guard rest.isEmpty, let picture else { throw .damaged }
        return canvas ?? picture
    }

    /// RFC 6386 section 9.1: a key frame, its start code, and 14 bits for each side.
    private static func lossy(_ data: [UInt8]) throws(LogoProblem) -> PictureSize {
        guard data.count >= 10, data[0] & 1 == 0, data[3..<6].elementsEqual([0x9D, 0x01, 0x2A]) else { throw .damaged }
        return (number(data[6..<8]) & 0x3FFF, number(data[8..<10]) & 0x3FFF)
    }

    /// RFC 9649 section 3.4: a signature, and 14 bits for each side less one.
    private static func lossless(_ data: [UInt8]) throws(LogoProblem) -> PictureSize {
        guard data.count >= 5, data[0] == 0x2F else { throw .damaged }
        let bits = number(data[1..<5])
        return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    }

    private static func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
