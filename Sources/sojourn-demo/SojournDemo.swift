// sojourn-demo: half a year of one user's life, in seconds: a real server, and two devices that are signed in by the SDK.
//
// Owns: the story. Must not know: the server's command line, or anything of the server but its HTTP calls. Reading order:
// SojournDemo, DemoStory (the chapters), DemoStory+Desktop, DemoStory+Mail, DemoPhone (an app on a device, made of `SojournClient`), DemoWorld (the server, and
// the clock that the story moves).
//
// It is a program of its own because the SDK needs Foundation, which would double the size of `sojourn`.

import Foundation

@main
enum SojournDemo {
    static func main() async {
        do {
            let world = try await DemoWorld.start()
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await play(in: world)) } catch { outcome = .failure(error) }
            await world.end()
            try outcome.get()
        } catch {
            FileHandle.standardError.write(Data("sojourn-demo: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func play(in world: DemoWorld) async throws {
        say(
            """
            Sojourn keeps users signed in on their phones for weeks. Every session has an end, and admins and users end it at once.
            A server runs at \(world.addresses.public), for admins at \(world.addresses.admin). Its clock is ours to move.
            Two apps use the Swift SDK; every line with an arrow is a request that one of them sent, or an admin.
            """)
        var story = try await DemoStory(world)
        try await story.play()
        say("\nThat was half a year. Every session went on as long as it should, and ended when it should.")
        say(next)
    }

    /// Where to go on.
    private static let next = """

        What next? Start a server of your own, here, at the top of the repository:
           swift run -c release sojourn serve                 at http://127.0.0.1:8080, for admins at 127.0.0.1:8081
           swift run -c release sojourn user create anna      in a second terminal: it asks for a password
           swift run -c release sojourn console               prints a link to the console, for a browser
        It keeps its data beside the file sojourn.sqlite. Then read on in Sources/sojourn/Sojourn.docc:
           Apps/GettingStarted.md     log in, refresh and log out with curl
           Apps/SwiftSDK.md           the same in an app, in ten lines
           Apps/WebApplications.md    a web application with the login page
           Operating/Installing.md    a server for others: packages, systemd, containers
        """

    /// Prints a line at once, also into a pipe.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// A statement of the story that did not come true.
struct Surprise: Error, CustomStringConvertible {
    let description: String
}

extension String {
    /// The text with spaces after it, so that it is `width` characters long.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
