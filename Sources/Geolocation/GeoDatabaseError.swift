/// Why a file gives no places.
public enum GeoDatabaseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The library that reads it is not there.
    case libraryMissing(String)
    /// The file is missing, or cannot be read.
    case unreadable(String)
    /// There is no room for a copy of it.
    case notCopied(folder: String, String)
    /// Somebody is writing it.
    case changing
    /// It is not in the format, or broken.
    case broken(String)
    /// It is about other things than places.
    case wrongKind(String)

    /// Words that go on from the name of the file.
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
