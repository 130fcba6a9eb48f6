internal import COpenSSL

/// Owns one reference to an object of OpenSSL and gives it back at the end.
// Sendable: the pointer never changes, and after the object has been put together on one thread it is only given to
// functions that read it or count its references atomically (`SSL_new`, `X509_up_ref`, getters).
@safe final class LibraryHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    private let free: @Sendable (OpaquePointer) -> Void

    init(_ pointer: OpaquePointer?, free: @escaping @Sendable (OpaquePointer) -> Void) {
        unsafe self.pointer = unsafe orStop(pointer)
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}

/// A value that only exhausted memory can deny.
func orStop<T>(_ value: T?) -> T {
    guard let value else { stop() }
    return value
}

private func stop() -> Never {
    fatalError("OpenSSL failed without an input to blame: memory or randomness is exhausted")
}

/// A success (1) that only exhausted memory, or a library without what it always has, can deny.
func mustSucceed(_ result: Int32) {
    if result != 1 { stop() }
}

/// Why OpenSSL refused, in its own words.
func libraryReason() -> String {
    guard let reason = unsafe COpenSSL_take_error() else { return "OpenSSL does not say why" }
    return unsafe String(cString: reason)
}

/// The text that a function of OpenSSL writes into a BIO.
func text(_ write: (OpaquePointer) -> Void) -> String {
    let bio = unsafe orStop(BIO_new(BIO_s_mem()))
    defer { unsafe BIO_free(bio) }
    unsafe write(bio)
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe COpenSSL_contents(bio, &start)
    guard let start = unsafe start, count > 0 else { return "" }
    return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
