internal import FoundationEssentials
internal import HTTP
internal import Pages

extension PageSamples {
    /// Writes every sample in every language, the assets and the header fields of a page (`headers.txt`, and one file
    /// for each kind of redirect URI) to a folder: `en/login.html`, `assets/….css`.
    public static func write(to folder: String) throws {
        func write(_ bytes: [UInt8], _ path: String) throws {
            let url = URL(filePath: "\(folder)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url)
        }
        for language in PageLanguage.builtIn {
            for sample in all() {
                try write(sample.page.html(in: language).bytes, "\(language.tag)/\(sample.name).html")
            }
        }
        for asset in PageAsset.all { try write(asset.bytes, asset.path.text) }
        if let accent { try write(Array(accent.styleSheet.utf8), accent.path.text) }
        for (name, targets) in [
            "headers": [], "headers-loopback": ["http://127.0.0.1:1/callback"],
            "headers-app": ["com.example.harbor:/callback"], "headers-https": ["https://app.example:8443/callback"],
        ] {
            let fields = PageHeaders.fields(in: .english, submittingTo: targets.compactMap(PageURL.init(absolute:)))
            try write(Array(fields.map { "\($0.name): \($0.value)\n" }.joined().utf8), "\(name).txt")
        }
    }
}
