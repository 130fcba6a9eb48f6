/// The one layout of mails in HTML: paragraphs, a code, and a button for the link. It has no picture, no script and nothing that is
/// loaded from elsewhere.
struct MailLayout {
    private static let defaultAccent = "#0b57d0"

    let subject: String
    let code: String?
    let link: String?
    let accent: String?

    /// The HTML of a text. A paragraph is what blank lines part. One that is the code becomes large, and one with the link in its last
    /// line becomes a button with the words before it.
    func html(of text: String) -> String {
        let body = text.split(separator: "\n\n").map { paragraph(String($0)) }.joined(separator: "\n")
        return """
            <!DOCTYPE html>
            <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
            <title>\(HTMLText.escaped(subject))</title></head>
            <body style="margin:0;padding:24px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Arial,sans-serif">
            <div style="max-width:34em;margin:0 auto">
            \(body)
            </div></body></html>

            """
    }

    private func paragraph(_ text: String) -> String {
        if text == code {
            let style = "margin:0 0 20px;font-size:32px;font-weight:600;letter-spacing:2px"
            return "<p style=\"\(style)\">\(HTMLText.escaped(text))</p>"
        }
        var lines = text.split(separator: "\n").map(String.init)
        if let link, lines.last == link {
            lines.removeLast()
            var label = lines.joined(separator: " ")
            // French has a space before the colon.
            while let last = label.last, last == ":" || last.isWhitespace { label.removeLast() }
            return button(label.isEmpty ? link : label, link)
        }
        return "<p style=\"margin:0 0 16px\">\(lines.map(HTMLText.escaped).joined(separator: "<br>\n"))</p>"
    }

    private func button(_ label: String, _ link: String) -> String {
        let style =
            "display:inline-block;padding:12px 20px;border-radius:6px;background:\(background);color:#ffffff;"
            + "text-decoration:none;font-weight:600"
        return "<p style=\"margin:8px 0 24px\"><a href=\"\(HTMLText.escaped(link))\" style=\"\(style)\">"
            + "\(HTMLText.escaped(label))</a></p>"
    }

    /// The colour, if it is one.
    private var background: String {
        guard let accent, accent.utf8.count == 7, accent.hasPrefix("#"), accent.dropFirst().allSatisfy(\.isHexDigit)
        else { return Self.defaultAccent }
        return accent
    }
}
