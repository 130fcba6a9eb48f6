import Foundation
import SojournClient

/// What brings a login to the app.
enum LoginSource {
    case picture(String)
    case binaryPicture(Data)
    case link(URL)
    case message(Data)
}

func loginSession(from source: LoginSource, in sojourn: Sojourn) async throws -> LoginSession? {
    switch source {
    case .picture(let text): try await sojourn.startSession(scanned: text)
    case .binaryPicture(let bytes): try await sojourn.startSession(scanned: bytes)
    case .link(let url): try await sojourn.startSession(link: url)
    // Nil: the message is about something else.
    case .message(let data): try await sojourn.startSession(push: data)
    }
}
