internal import COpenSSL
internal import Cryptography

/// Returns the reason of OpenSSL's last error.
func libraryReason() -> String {
    guard let reason = unsafe COpenSSL_take_error() else { return "OpenSSL does not say why" }
    return unsafe String(cString: reason)
}

/// Returns the text that a function of OpenSSL writes into a BIO.
func text(_ write: (OpaquePointer) -> Void) -> String {
    let bio = unsafe orStop(BIO_new(BIO_s_mem()))
    defer { unsafe BIO_free(bio) }
    unsafe write(bio)
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe COpenSSL_contents(bio, &start)
    guard let start = unsafe start, count > 0 else { return "" }
    return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
