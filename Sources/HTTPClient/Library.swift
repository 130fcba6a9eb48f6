internal import CCurl

/// libcurl, loaded by the first who asks.
struct Library {
    /// The functions, by their names; nil if they could not be loaded.
    let functions: CCurl_library?
    /// Why they could not be loaded.
    let failure: String?

    private init() {
        var functions = CCurl_library()
        let failure = unsafe CCurl_load(&functions)
        self.failure = unsafe failure.map { unsafe String(cString: $0) }
        self.functions = self.failure == nil ? functions : nil
    }

    static let shared = Library()
}

extension HTTPClient {
    /// Why no request can be made at all, in a sentence: the library is not there. Nil if it is.
    public static var unavailability: String? {
        Library.shared.failure.map { "libcurl cannot be loaded (package libcurl4): \($0)" }
    }
}
