internal import FoundationEssentials
internal import HTTP
internal import Pages

extension PageSamples {
    /// Writes every sample in every language, the assets and the header fields of a page (`headers.txt`) to a folder, as a
    /// file server would have them: `en/login.html`, `assets/….css`.
    public static func write(to folder: String) throws {
        func write(_ bytes: [UInt8], _ path: String) throws {
            let url = URL(filePath: "\(folder)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url)
        }
        for language in PageLanguage.allCases {
            for sample in all() {
                try write(sample.page.html(in: language).bytes, "\(language.rawValue)/\(sample.name).html")
            }
        }
        for asset in PageAsset.all { try write(asset.bytes, asset.path.text) }
        if let accent { try write(Array(accent.styleSheet.utf8), accent.path.text) }
        let fields = PageHeaders.fields(in: .english).map { "\($0.name): \($0.value)\n" }
        try write(Array(fields.joined().utf8), "headers.txt")
    }
}
