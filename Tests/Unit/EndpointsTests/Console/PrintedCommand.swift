import HTTP
import Testing

@testable import Endpoints

/// A command that a page prints, as a shell takes it apart.
struct PrintedCommand {
    let words: [String]

    /// Reads quotes as a shell does.
    init(_ text: String) {
        var (words, word, quote, isEscaped) = ([String](), nil as String?, nil as Character?, false)
        for character in text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                (quote, word) = (character, word ?? "")
            } else if character == "\\" {
                isEscaped = true
            } else if character == " " {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        self.words = words + [word].compactMap(\.self)
    }

    private func value(_ option: String) -> String? {
        words.firstIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
    }

    /// Runs a `curl` of the admin API.
    func run(_ server: EndpointsFixture) async throws -> Answer {
        #expect(words.first == "curl" && words.contains("Authorization: Bearer $SOJOURN_ADMIN_KEY"), "\(words)")
        let url = try #require(words.first { $0.hasPrefix("http://localhost:8081/") })
        let method: Method = try #require(
            [.get, .post, .put, .patch, .delete].first { $0.rawValue == value("-X") ?? "GET" })
        let path = String(url.dropFirst("http://localhost:8081".count))
        if value("--data-binary") == "@logo.png" {
            return await BrandingTests.put(BrandingTests.picture, path, on: server)
        }
        return await server.admin(method, path, value("-d"))
    }
}

extension Answer {
    /// The commands that the page prints, in their order.
    var printed: [String] {
        text.matches(of: #/<pre tabindex="0"><code>([^<]*)<\/code>/#).map { Self.unescaped($0.1) }
    }

    /// The acts of the page: the label, and the fields as they are shown.
    var acts: [(label: String, fields: [String: String], part: Answer)] {
        let open = "<details class=\"act\""
        return text.split(separator: open).dropFirst().map { part in
            let end = part.firstRange(of: "</details>")?.lowerBound ?? part.endIndex
            let part = Answer(Response(.ok, "text/html", Array(part[..<end].utf8)))
            let label = part.text.firstMatch(of: #/<summary>([^<]*) …<\/summary>/#).map { Self.unescaped($0.1) } ?? ""
            return (label, part.fields(after: "<form"), part)
        }
    }
}
