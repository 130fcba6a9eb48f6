import HTTP
import Pages
import Testing

struct PageAssetTests {
    @Test("an asset is served for ever under the digest of its bytes") func assetsAreImmutable() throws {
        #expect(PageAsset.all.count == 8)
        for asset in PageAsset.all {
            #expect(asset.path.text.wholeMatch(of: #/\/assets\/[0-9a-f]{16}\.(css|js)/#) != nil)
            let response = try #require(PageAsset.response(at: asset.path.text))
            #expect(response.body == asset.bytes && !asset.bytes.isEmpty)
            #expect(
                response.fields == [
                    "Content-Type": asset.type, "Cache-Control": "public, max-age=31536000, immutable",
                    "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
                ])
        }
    }

    @Test(
        "there is nothing else below /assets/",
        arguments: [
            "/assets/", "/assets/pages.css", "/assets/0000000000000000.css", "/assets/accent/0a5fd1",
            "/assets/../login",
            "/assets/accent/0A5FD1.css", "/assets/accent/red.css", "/assets/accent/0a5fd1;}.css",
            "/assets/accent/+a5fd1.css",
        ])
    func othersAreNotFound(path: String) { #expect(PageAsset.response(at: path) == nil) }

    @Test("scripts write texts and attributes only, as Trusted Types demand, and ask no other origin")
    func scriptsAreClean() {
        for asset in PageAsset.all {
            let text = String(decoding: asset.bytes, as: UTF8.self)
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "setTimeout(\"",
                "http:", "https:", "import(", "srcdoc", "@import", "url(", "style=", ".style",
                "createContextualFragment",
                "DOMParser", "localStorage", "document.cookie",
            ] { #expect(!text.contains(word), "\(asset.path.text): \(word)") }
            // Left and right are those of the text.
            #expect(!text.contains(#/\b(?:margin|padding|border|inset)-(?:left|right)\b|text-align:(?:left|right)/#))
        }
    }

    /// The colors of `:root`, light and dark.
    private static func palettes() throws -> [[String: String]] {
        let css = try #require(PageAsset.all.first { $0.path.text.hasSuffix(".css") }).bytes
        let roots = String(decoding: css, as: UTF8.self).matches(of: #/:root{([^}]*)}/#).map { root in
            root.1.matches(of: #/--([a-z-]+):(#[0-9a-f]{3,6})\b/#).map { (String($0.1), String($0.2)) }
        }
        #expect(roots.count == 2)
        let light = Dictionary(uniqueKeysWithValues: roots[0])
        return [light, light.merging(roots[1]) { $1 }]
    }

    @Test("texts have a contrast of 4.5:1, and borders of fields one of 3:1, in both color schemes")
    func contrastsSuffice() throws {
        let texts = [
            ("text", "ground"), ("text", "card"), ("text", "quiet"), ("text", "note-ground"), ("soft", "ground"),
            ("soft", "card"), ("soft", "quiet"), ("link", "ground"), ("link", "card"), ("on-accent", "accent"),
            ("red", "card"), ("red", "red-ground"), ("green", "green-ground"),
        ]
        for palette in try Self.palettes() {
            for (one, two) in texts { #expect(try Contrast.of(palette[one], palette[two]) >= 4.5, "\(one) on \(two)") }
            #expect(try Contrast.of(palette["field"], palette["card"]) >= 3)
        }
    }

    @Test("no script has a path of the server: pages name them, because the server may lie below a path")
    func scriptsHaveNoPaths() {
        for asset in PageAsset.all where asset.path.text.hasSuffix(".js") {
            let code = String(decoding: asset.bytes, as: UTF8.self)
            #expect(code.firstMatch(of: #/["'`]\/[a-z]/#) == nil, "\(asset.path.text)")
        }
    }

    @Test("the style sheet of any accent keeps the contrast of buttons and links")
    func accentsKeepContrast() throws {
        let palettes = try Self.palettes()
        for red in stride(from: 0, through: 255, by: 51) {
            for green in stride(from: 0, through: 255, by: 51) {
                for blue in stride(from: 0, through: 255, by: 51) {
                    let hex = "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                    let accent = try #require(AccentColor(hex))
                    let response = try #require(PageAsset.response(at: accent.path.text))
                    let css = String(decoding: response.body, as: UTF8.self)
                    let colors = css.matches(of: #/--([a-z-]+):(#[0-9a-f]{6})/#).map { (String($0.1), String($0.2)) }
                    #expect(colors.map(\.0) == ["accent", "on-accent", "link", "link"])
                    #expect(colors[0].1 == hex)
                    #expect(try Contrast.of(hex, colors[1].1) >= 4.5, "\(hex)")
                    for (link, palette) in zip(colors.suffix(2), palettes) {
                        #expect(try Contrast.of(link.1, palette["ground"]) >= 4.5, "\(hex): \(link.1)")
                        #expect(try Contrast.of(link.1, palette["card"]) >= 4.5, "\(hex): \(link.1)")
                    }
                }
            }
        }
    }

    @Test(
        "a color is # and six hexadecimal digits",
        arguments: ["", "#", "red", "#fff", "0a5fd1", "#0a5fd1;", "#0a5fg1", "#+a5fd1"])
    func otherColorsAreRefused(text: String) { #expect(AccentColor(text) == nil) }
}
