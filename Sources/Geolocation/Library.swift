internal import CMaxMindDB

/// libmaxminddb, loaded on first use.
struct Library {
    /// The functions of libmaxminddb; nil if it could not be loaded.
    let functions: CMaxMindDB_library?
    /// The reason for which it could not be loaded.
    let failure: String?

    private init() {
        var functions = CMaxMindDB_library()
        let failure = unsafe CMaxMindDB_load(&functions)
        self.failure = unsafe failure.map { unsafe String(cString: $0) }
        self.functions = self.failure == nil ? functions : nil
    }

    static let shared = Library()
}
