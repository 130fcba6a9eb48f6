/// The parts of a form with files (`multipart/form-data`, RFC 7578).
public enum MultipartDecoder {
    /// A field of the form.
    public struct Part: Hashable, Sendable {
        /// The name of the field.
        public let name: String
        /// Whether it is a file.
        public let isFile: Bool
        /// The value, or the content of the file.
        public let content: [UInt8]
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let partsMax = 100

    /// The parts of a body with the `Content-Type` `type`; nil if it cannot be read.
    public static func decode(_ body: [UInt8], type: String) -> [Part]? {
        guard let boundary = parameter("boundary", of: type), (1...70).contains(boundary.utf8.count) else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        guard body.starts(with: delimiter) else { return nil }
        var (rest, parts): (ArraySlice<UInt8>, [Part]) = (body.dropFirst(delimiter.count), [])
        while !rest.starts(with: "--".utf8) {
            guard parts.count < partsMax, rest.starts(with: lineEnd),
                let head = rest.firstRange(of: lineEnd + lineEnd),
                let end = rest[head.upperBound...].firstRange(of: lineEnd + delimiter),
                let part = part(
                    rest[rest.startIndex + 2..<max(head.lowerBound, rest.startIndex + 2)],
                    rest[head.upperBound..<end.lowerBound])
            else { return nil }
            parts.append(part)
            rest = rest[end.upperBound...]
        }
        return parts
    }

    private static func part(_ head: ArraySlice<UInt8>, _ content: ArraySlice<UInt8>) -> Part? {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        guard let line = lines.first(where: { $0.lowercased().hasPrefix("content-disposition:") }),
            let name = parameter("name", of: String(line))
        else { return nil }
        return Part(
            name: name, isFile: parameter("filename", of: String(line)) != nil, content: Array(content))
    }

    /// A parameter of a field value, such as `name` in `form-data; name="logo"`. Browsers write no quote into a name.
    private static func parameter(_ name: String, of value: String) -> String? {
        for parameter in value.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].drop(while: { $0 == " " }).lowercased() == name else { continue }
            let text = pair[1]
            return text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1
                ? String(text.dropFirst().dropLast()) : String(text)
        }
        return nil
    }
}
