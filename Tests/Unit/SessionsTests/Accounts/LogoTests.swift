import Cryptography
import Sessions
import Testing

@Suite("Logos") struct LogoTests {
    static func png(_ width: Int, _ height: Int, _ more: [(String, [UInt8])] = [], end: [UInt8] = []) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }
        func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] { number(data.count) + type.utf8 + data + number(0) }
        let head = chunk("IHDR", number(width) + number(height) + [8, 6, 0, 0, 0])
        let chunks = more.map { chunk($0.0, $0.1) } + [chunk("IDAT", [1, 2, 3]), chunk("IEND", [])]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + head + chunks.flatMap(\.self) + end
    }

    static func webP(_ chunks: [(String, [UInt8])], more: Int = 0) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [0, 8, 16, 24].map { UInt8(value >> $0 & 255) } }
        let content = chunks.flatMap { type, data -> [UInt8] in
            Array(type.utf8) + number(data.count) + data + (data.count % 2 == 1 ? [0] : [])
        }
        return Array("RIFF".utf8) + number(content.count + 4 + more) + Array("WEBP".utf8) + content
    }

    private static let lossy: [UInt8] = [0, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 32, 0, 7]
    /// 65 and 33 pixels.
    private static let lossless: [UInt8] = [0x2F, 64, 0x00, 0x08, 0x00, 9]

    private static func problem(_ bytes: [UInt8]) -> LogoProblem? {
        do throws(LogoProblem) {
            _ = try Logo(checking: bytes)
            return nil
        } catch { return error }
    }

    @Test("a logo is PNG or WebP, by its bytes") func types() throws {
        let bytes = Self.png(64, 32, [("tEXt", [65, 0, 66])])
        let logo = try Logo(checking: bytes)
        #expect((logo.type, logo.digest, logo.bytes) == ("image/png", sha256(bytes), bytes))
        #expect(Logo.digest(named: logo.name) == logo.digest)
        for chunks in [
            [("VP8 ", Self.lossy)], [("VP8L", Self.lossless)],
            [("VP8X", [0, 0, 0, 0, 63, 0, 0, 31, 0, 0]), ("ALPH", [1]), ("VP8 ", Self.lossy)],
        ] {
            #expect(try Logo(checking: Self.webP(chunks)).type == "image/webp")
        }
        let svg = Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
        for other in [[], svg, Array("GIF89a".utf8), [0xFF, 0xD8, 0xFF, 0xE0], Array("RIFF0000WAVEfmt 12345678".utf8)] {
            #expect(Self.problem(other) == .unknownFormat)
        }
    }

    @Test("width and height are from 16 to 1024 pixels") func sizes() {
        for (width, height) in [(16, 1024), (1024, 16)] { #expect(Self.problem(Self.png(width, height)) == nil) }
        for (width, height) in [(15, 100), (100, 1025), (0, 0), (2_147_483_648, 16)] {
            #expect(Self.problem(Self.png(width, height)) == .wrongSize(width: width, height: height))
        }
        #expect(Self.problem(Self.webP([("VP8L", [0x2F, 14, 0x00, 0x08, 0x00])])) == .wrongSize(width: 15, height: 33))
    }

    @Test("a picture that is cut, that something follows, or that moves is refused") func damages() {
        let picture = Self.png(64, 64)
        for length in 8..<picture.count { #expect(Self.problem(Array(picture.prefix(length))) == .damaged) }
        #expect(Self.problem(picture + Array("<script>".utf8)) == .damaged)
        #expect(Self.problem(Self.png(64, 64, [("acTL", [0, 0, 0, 1, 0, 0, 0, 0])])) == .animated)
        let web = Self.webP([("VP8 ", Self.lossy)])
        for length in 20..<web.count { #expect(Self.problem(Array(web.prefix(length))) == .damaged) }
        #expect(Self.problem(web + [0, 0]) == .damaged)
        #expect(Self.problem(Self.webP([("VP8X", [2, 0, 0, 0, 63, 0, 0, 31, 0, 0]), ("ANIM", [])])) == .animated)
        #expect(Self.problem(Self.webP([("VP8 ", [1, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 32, 0])])) == .damaged)
        #expect(Self.problem(Self.webP([("EXIF", [1, 2])])) == .damaged)
    }

    @Test("a logo has at most 64 KiB") func size() {
        let empty = Self.png(64, 64, [("tEXt", [])]).count
        #expect(Self.problem(Self.png(64, 64, [("tEXt", [UInt8](repeating: 65, count: 65_536 - empty))])) == nil)
        #expect(Self.problem(Self.png(64, 64, [("tEXt", [UInt8](repeating: 65, count: 65_537 - empty))])) == .tooLarge)
    }

    @Test("a branding takes colors, web addresses and a mailbox")
    func branding() {
        #expect(
            Branding(
                accent: "#0A5fd1", policyURL: "https://example.com/privacy", termsURL: "http://127.0.0.1:8080/terms",
                supportEmail: "help@example.com"
            ).problem == nil)
        for accent in ["", "red", "#fff", "0a5fd1", "#0a5fd12", "#0a5fdg", "#é5fd1"] {
            #expect(Branding(accent: accent).problem?.hasPrefix("accent must") == true, "\(accent)")
        }
        for address in [
            "javascript:alert(1)", "com.example.app:/terms", "http://example.com", "https://user@example.com/",
            "/terms", "https://example.com/" + String(repeating: "a", count: 512),
        ] {
            #expect(Branding(termsURL: address).problem?.hasPrefix("tos_uri must") == true, "\(address)")
            #expect(Branding(policyURL: address).problem?.hasPrefix("policy_uri must") == true, "\(address)")
            #expect(Branding(supportURL: address).problem?.hasPrefix("support_uri must") == true, "\(address)")
        }
        for mailbox in ["help", "@example.com", "a@", "a b@example.com", "<a@b>", "a@b\r\nBcc:c@d", "é@example.com"] {
            #expect(Branding(supportEmail: mailbox).problem?.hasPrefix("support_email must") == true, "\(mailbox)")
        }
    }

    @Test("a client's own branding goes first, member by member") func inheritance() {
        let base = Branding(accent: "#000000", logo: "a", policyURL: "https://a.example", supportEmail: "a@example.com")
        let own = Branding(accent: "#ffffff", termsURL: "https://b.example")
        #expect(
            own.over(base)
                == Branding(
                    accent: "#ffffff", logo: "a", policyURL: "https://a.example", termsURL: "https://b.example",
                    supportEmail: "a@example.com"))
        #expect(Branding().over(base) == base)
    }
}
