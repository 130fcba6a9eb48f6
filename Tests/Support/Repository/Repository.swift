public import FoundationEssentials

/// The repository that the tests run in: where its files are, however deep a test lies.
///
/// This target owns the search for the top folder. It must not know what any file holds.
public enum Repository {
    /// The folder that holds `Package.swift`.
    public static let root: URL = {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
        {
            folder = folder.deletingLastPathComponent()
        }
        return folder
    }()

    /// The absolute path of a file or folder, given by its path from the top.
    public static func path(_ relative: String) -> String { root.appending(path: relative).path }
}
