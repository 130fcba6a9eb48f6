internal import CMaxMindDB

/// libmaxminddb, loaded by the first who asks.
struct Library {
    /// The functions, by their names; nil if they could not be loaded.
    let functions: CMaxMindDB_library?
    /// Why they could not be loaded.
    let failure: String?

    private init() {
        var functions = CMaxMindDB_library()
        let failure = unsafe CMaxMindDB_load(&functions)
        self.failure = unsafe failure.map { unsafe String(cString: $0) }
        self.functions = self.failure == nil ? functions : nil
    }

    static let shared = Library()
}
