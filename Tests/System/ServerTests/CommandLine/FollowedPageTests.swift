import FoundationEssentials
import Repository
import TLSFixture
import Testing

/// The commands of a page for newcomers, run by one shell, in the order of the page and as they stand there.
@Suite("Pages that a newcomer follows", .timeLimit(.minutes(2)))
struct FollowedPageTests {
    private let folder = StartingFolder()

    /// The blocks for a shell of a page; its commands need a server and no more.
    private static func blocks(_ page: String) throws -> [Substring] {
        let path = page == "README.md" ? page : "Sources/sojourn/Sojourn.docc/" + page
        let bytes = try #require(FileManager.default.contents(atPath: Repository.path(path)))
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "```", omittingEmptySubsequences: false)
        return parts.filter { $0.hasPrefix("sh\n") && !$0.contains(".ci/") }.map { $0.dropFirst(3) }
    }

    /// The output of each block. The server has free ports, and its files lie in the folder of the test.
    private func follow(_ blocks: [Substring]) async throws -> [String] {
        folder.write(
            "page.sh",
            """
            set -m
            trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
            mkdir -p .build/release
            ln -s \(CommandLineProgram.path) sojourn
            ln -s \(CommandLineProgram.path) .build/release/sojourn
            swift() { test "$1" = build; }
            address() { sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/" \(folder.file("sojourn.ready")); }
            export SOJOURN_SERVER_PUBLIC_LISTEN=127.0.0.1:0 SOJOURN_SERVER_ADMIN_LISTEN=127.0.0.1:0

            """
                + blocks.map { block in
                    block.replacing("/tmp/sojourn", with: folder.file("sojourn"))
                        .replacing("http://127.0.0.1:8080", with: "$(address public)")
                        .replacing("http://127.0.0.1:8081", with: "$(address admin)")
                        .replacing("127.0.0.1:1025", with: "127.0.0.1:$MAIL_PORT")
                }.joined(separator: "echo '<next>'\n") + "wait\n")
        let path = "PATH=\(folder.path):/usr/bin:/bin"
        let result = try await Tool.run(["env", "-i", "-C", folder.path, path, "bash", "page.sh"])
        #expect(!result.contains("not found") && !result.contains("sojourn: "), "\(result.text)")
        #expect(result.contains(#""message":"stopped""#), "\(result.text)")
        return result.text.split(separator: "<next>\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func tokens(_ output: String) -> [String] {
        output.matches(of: #/"refresh_token":"(sjr_[^"]+)"/#).map { String($0.1) }
    }

    @Test("Getting started: login, call, refresh, logout, end by an admin, description, stop") func gettingStarted()
        async throws
    {
        let outputs = try await follow(Self.blocks("Apps/GettingStarted.md"))
        try #require(outputs.count == 10, "\(outputs)")
        #expect(outputs[1].contains(#""username":"anna""#), "\(outputs)")
        #expect(Self.tokens(outputs[2]).count == 1, "\(outputs)")
        #expect(outputs[4].contains(#""email":"anna@example.org""#), "\(outputs)")
        #expect(Self.tokens(outputs[5]).count == 2 && Set(Self.tokens(outputs[5])).count == 1, "\(outputs)")
        #expect(outputs[7].contains("{\"revoked\":1}\n"), "\(outputs)")
        #expect(outputs[7].contains(#""code":"revoked_by_admin""#), "\(outputs)")
        #expect(outputs[8].matches(of: #/"openapi":"3.1/#).count == 2, "\(outputs)")
    }

    @Test("README: the session with curl") func readme() async throws {
        let output = try await follow(Self.blocks("README.md")).joined()
        #expect(Self.tokens(output).count == 2 && Set(Self.tokens(output)).count == 1, "\(output)")
        #expect(output.contains("{\"revoked\":1}\n"), "\(output)")
        #expect(output.contains(#""code":"revoked_by_admin""#), "\(output)")
        #expect(output.contains(": revoked_by_admin.\nAn admin ended it"), "\(output)")
    }

    /// A Python with the mail server, a free port for it, and a logo.
    private static let beforeTheTour: Substring = """
        PATH=\(Repository.path(".build/peers/bin")):$PATH
        # A child of this process inherits that SIGTERM is blocked.
        kill() { builtin kill -9 "$1"; builtin kill "$2"; }
        MAIL_PORT=$(python3 -c 'import socket
        free = socket.create_server(("127.0.0.1", 0))
        print(free.getsockname()[1])')
        python3 -c 'import struct, sys, zlib
        def chunk(name, data):
            return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        rows = zlib.compress((b"\\0" + b"\\x0a\\x5f\\xd1" * 64) * 64)
        head = struct.pack(">2I5B", 64, 64, 8, 2, 0, 0, 0)
        png = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
        sys.stdout.buffer.write(b"\\x89PNG\\r\\n\\x1a\\n" + png)' >logo.png

        """

    @Test("A tour of accounts by mail: sign-up, authenticator, reset, login with both, logo") func tourByMail()
        async throws
    {
        let outputs = try await follow([Self.beforeTheTour] + Self.blocks("TourByMail.md")).dropFirst().map(\.self)
        try #require(outputs.count == 9, "\(outputs)")
        #expect(outputs[1].contains("anna@example.org was taken"), "\(outputs)")
        #expect(outputs[2].contains(#""code_length":8"#), "\(outputs)")
        #expect(outputs[3].contains(#"{"state":"proven"}"#) && Self.tokens(outputs[3]).count == 1, "\(outputs)")
        #expect(outputs[4].contains(#""recovery_codes":["#), "\(outputs)")
        #expect(outputs[5].hasSuffix("204\n"), "\(outputs)")
        #expect(Self.tokens(outputs[6]).count == 1, "\(outputs)")
        #expect(!outputs.joined().contains(#""code":""#), "\(outputs)")
    }

    /// Pages that go on where Getting started has logged in, each with the pages that it names as its beginning.
    private static let later = [
        ["Apps/Accounts.md"], ["Apps/AnonymousUsers.md"], ["APIs/VerifyingTokens.md"],
        ["Apps/WebApplications.md", "Apps/TokensForAPIs.md"], ["Apps/LoginPage.md"],
        ["APIs/DevicesAndBackends.md"], ["APIs/BackchannelLogins.md"],
    ]

    @Test("each command of a page that goes on from Getting started is taken", arguments: later)
    func laterPages(_ pages: [String]) async throws {
        let begin = try Self.blocks("Apps/GettingStarted.md").prefix(4)
        let outputs = try await follow(begin + pages.flatMap { try Self.blocks($0) } + ["kill %1\n"]).dropFirst(4)
        #expect(outputs.count > pages.count)
        for output in outputs {
            // The phone has not answered yet.
            let output = output.replacing(#""error":"authorization_pending""#, with: "")
            #expect(!output.contains(#""code":""#) && !output.contains(#""error":""#), "\(output)")
            #expect(!output.contains(#""active":false"#), "\(output)")
        }
    }
}
