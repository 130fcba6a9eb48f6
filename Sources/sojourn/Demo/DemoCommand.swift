import Server

/// `sojourn demo`: the whole plan, over real HTTP, with a clock that moves.
enum DemoCommand {
    static let command = Command(
        path: ["demo"], summary: "Plays half a year of one user's life against a real server, in seconds.",
        discussion: """
            Starts a server on free ports of 127.0.0.1 with a temporary database, and a clock that the story moves.
            Two devices log in, weeks pass, an answer is lost, a token is stolen, logins are disabled and enabled, a
            password is reset, and a session reaches its longest lifetime. Every call is a real HTTP request, and every
            statement is checked. The demo leaves nothing behind.
            """,
        examples: ["sojourn demo"]
    ) { (_) async throws(Failure) in
        let world = try await DemoWorld.start()
        Terminal.write(
            """
            Sojourn keeps users signed in on their phones for weeks. Every session has an end, and admins and users end it at once.
            A server runs at \(world.addresses.public), for admins at \(world.addresses.admin). Its clock is ours to move.
            """)
        var story = DemoStory(world)
        var failure: Failure?
        do {
            try story.play()
            Terminal.write(
                "\nThat was half a year. Every session went on as long as it should, and ended when it should.")
        } catch let surprise as DemoWorld.Surprise {
            failure = Failure(.failed, surprise.line)
        } catch {
            failure = Failure(.failed, "\(error)")
        }
        await world.end()
        if let failure { throw failure }
    }
}
