internal import CQREncode

/// The modules of a QR code with error correction of level M, which survives 15 % of damage.
public struct QRMatrix: Hashable, Sendable {
    /// The number of modules on each side.
    public let width: Int
    private let isDark: [Bool]

    /// The smallest code of a text; nil if libqrencode is missing, or if the text has no character, a null or too many of them.
    /// Digits, capitals and ` $%*+-./:` take less room than other characters.
    public init?(_ text: String) {
        guard let library = QRLibrary.shared.functions, !text.utf8.contains(0) else { return nil }
        let code = unsafe text.withCString {
            unsafe library.encode($0, 0, Int32(CQREncode_level_medium), Int32(CQREncode_mode_bytes), 1)
        }
        guard let code = unsafe code else { return nil }
        defer { unsafe library.release(code) }
        width = Int(unsafe code.pointee.width)
        let modules = unsafe UnsafeBufferPointer<UInt8>(start: code.pointee.data, count: width * width)
        isDark = unsafe modules.map { $0 & 1 == 1 }
    }

    /// Whether the module in that column and row is dark.
    public subscript(column: Int, row: Int) -> Bool { isDark[row * width + column] }

    /// The number of light modules around a code without which scanners do not find it.
    public static let quietZone = 4

    /// The modules on each side, with the light ones around the code.
    public var side: Int { width + 2 * Self.quietZone }

    /// The dark modules, as the path of SVG in a picture of that side.
    public var path: String { outline }

    /// A picture of the code, black on white in every color scheme, because scanners do not read a light code on a dark ground.
    public var svg: String {
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(outline)"/></svg>
            """
    }

    /// One rectangle for each run of dark modules in a row.
    private var outline: String {
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                guard self[column, row] else {
                    column += 1
                    continue
                }
                let start = column
                while column < width, self[column, row] { column += 1 }
                path += "M\(start + Self.quietZone) \(row + Self.quietZone)h\(column - start)v1h-\(column - start)z"
            }
        }
        return path
    }
}
