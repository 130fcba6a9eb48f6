import Foundation
import SojournClient

/// Takes the payload of a push: the message alone, or JSON with it in the member `sojourn`.
func received(_ payload: Data, _ sojourn: Sojourn) async -> LoginSession? {
    do {
        // Nil: the payload is about something else.
        return try await sojourn.startSession(push: payload)
    } catch {
        print("no login: \(error)")
        return nil
    }
}
