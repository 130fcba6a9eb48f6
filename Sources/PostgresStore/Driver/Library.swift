internal import CPostgres

/// libpq, loaded at the first use.
/// Its functions stay at their addresses as long as the process runs.
struct Library {
    /// The functions by name. They must not be called if the library could not be loaded.
    let functions: CPostgres_library
    /// The reason for which it could not be loaded; nil on success.
    let failure: String?

    private init() {
        var functions = CPostgres_library()
        let failure = unsafe CPostgres_load(&functions)
        self.functions = functions
        self.failure = unsafe failure.map { unsafe String(cString: $0) }
    }

    static let shared = Library()
}

/// The functions of libpq. They may be called only after a `Connection` was made.
var libpq: CPostgres_library { Library.shared.functions }

extension String {
    /// A text of libpq; empty for a null pointer.
    init(libpq text: UnsafePointer<CChar>?) { self = unsafe text.map { unsafe String(cString: $0) } ?? "" }
}
