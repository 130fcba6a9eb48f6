internal import CQREncode

/// libqrencode, loaded on first use.
public struct QRLibrary: Sendable {
    /// The functions of libqrencode; nil if it could not be loaded.
    let functions: CQREncode_library?
    /// The reason for which it could not be loaded.
    private let failure: String?

    private init() {
        var functions = CQREncode_library()
        let failure = unsafe CQREncode_load(&functions)
        self.failure = unsafe failure.map { unsafe String(cString: $0) }
        self.functions = self.failure == nil ? functions : nil
    }

    static let shared = QRLibrary()

    /// Why no code can be drawn, with the package that helps; nil if codes can be drawn.
    public static var problem: String? {
        shared.failure.map { "libqrencode cannot be loaded (package libqrencode4): \($0)" }
    }
}
