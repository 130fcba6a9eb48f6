internal import CCurl

/// libcurl, loaded on first use.
struct Library {
    /// The functions of libcurl; nil if it could not be loaded.
    let functions: CCurl_library?
    /// The reason for which it could not be loaded.
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
    /// The reason for which no request is possible, in a sentence; nil if libcurl is loaded.
    public static var unavailability: String? {
        Library.shared.failure.map { "libcurl cannot be loaded (package libcurl4): \($0)" }
    }
}
