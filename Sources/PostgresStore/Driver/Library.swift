internal import CPostgres

/// libpq, loaded by the first who asks.
/// Its functions stay where they are as long as the process lives.
struct Library {
    /// The functions, by their names. Of a library that could not be loaded they must not be called.
    let functions: CPostgres_library
    /// Why it could not be loaded.
    let failure: String?

    private init() {
        var functions = CPostgres_library()
        let failure = unsafe CPostgres_load(&functions)
        self.functions = functions
        self.failure = unsafe failure.map { unsafe String(cString: $0) }
    }

    static let shared = Library()
}

/// The functions of libpq. A `Connection` was made before anything else calls one.
var libpq: CPostgres_library { Library.shared.functions }

extension String {
    /// A text of libpq, which is empty if it has nothing to say.
    init(libpq text: UnsafePointer<CChar>?) { self = unsafe text.map { unsafe String(cString: $0) } ?? "" }
}
