/// The reason for which a database cannot be used.
public enum GeoDatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libmaxminddb cannot be loaded.
    case libraryMissing(String)
    /// The file is missing or unreadable.
    case unreadable(String)
    /// There is no space for a copy of the file.
    case notCopied(folder: String, String)
    /// The file is being written.
    case changing
    /// The file has another format, or is damaged.
    case broken(String)
    /// The database contains no locations.
    case wrongKind(String)

    /// A description that follows the name of the file in a sentence.
    public var description: String {
        switch self {
        case .libraryMissing(let reason):
            "needs libmaxminddb, which cannot be loaded (package libmaxminddb0): \(reason)"
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .notCopied(let folder, let reason): "cannot be copied to \(folder): \(reason)"
        case .changing: "is just being written"
        case .broken(let reason): "is not a MaxMind database (.mmdb), or broken: \(reason)"
        case .wrongKind(let kind): "holds no places: it is a \(kind), and one of cities or countries is wanted"
        }
    }
}
