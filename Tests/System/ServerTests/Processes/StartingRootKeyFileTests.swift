import Cryptography
import FoundationEssentials
import Glibc
import Sessions
import Testing

@testable import Server

@Suite("Root key file")
struct StartingRootKeyFileTests {
    let folder = StartingFolder()
    static let one = String(repeating: "01", count: 32)
    static let two = String(repeating: "a2", count: 32)

    var file: RootKeyFile { RootKeyFile(path: folder.file("key")) }

    func problem() -> RootKeyFile.Problem? {
        do throws(RootKeyFile.Problem) {
            _ = try file.load()
            return nil
        } catch { return error }
    }

    @Test("a new key file can be read, by its owner alone, and is not made twice")
    func creation() throws {
        #expect(try file.load() == nil)
        let made = try file.create(random: .system)
        #expect(folder.mode("key") == 0o600)
        #expect(try file.load()?.first.id == made.first.id)
        #expect(throws: RootKeyFile.Problem.self) { try file.create(random: .system) }
        #expect(try file.load()?.first.id == made.first.id)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
    }

    @Test("comments, empty lines, blanks, capitals and CRLF are fine; the first key mints")
    func format() throws {
        folder.write("key", "# old\n\n  \(Self.two.uppercased())  \r\n#\(Self.one)\n\(Self.one)")
        let keys = try #require(try file.load())
        #expect(keys.all.count == 2)
        #expect(keys.first.id == (try RootKeyFile.keys(fromVariable: Self.two)).first.id)
    }

    @Test(
        "a file that others can use is refused, with the command that mends it",
        arguments: [0o640, 0o604, 0o660, 0o644, 0o620, 0o601, 0o666, 0o777])
    func permissions(mode: Int) {
        folder.write("key", Self.one, mode: UInt32(mode))
        #expect(problem() == .readableByOthers(path: file.path, mode: UInt32(mode)))
        #expect(problem()?.description.hasSuffix("run: chmod 600 \(file.path)") == true)
    }

    @Test("a file that its owner may only read is fine", arguments: [0o600, 0o400])
    func goodPermissions(mode: Int) {
        folder.write("key", Self.one, mode: UInt32(mode))
        #expect(problem() == nil)
    }

    @Test("a folder and a pipe are no key files, and a pipe does not hang")
    func notAFile() {
        mkdir(file.path, 0o700)
        #expect(problem() == .notAFile(path: file.path))
        rmdir(file.path)
        mkfifo(file.path, 0o600)
        #expect(problem() == .notAFile(path: file.path))
    }

    @Test("a link to a key file is followed, and what it leads to is examined")
    func link() {
        folder.write("real", Self.one)
        symlink(folder.file("real"), file.path)
        #expect(problem() == nil)
        chmod(folder.file("real"), 0o644)
        #expect(problem() == .readableByOthers(path: file.path, mode: 0o644))
    }

    @Test(
        "a line that is no key is refused with its number and without its text",
        arguments: [
            ("", "holds no root key"), ("# only a comment\n", "holds no root key"),
            ("\(one)\n\(one.dropLast())", "line 2"), ("\(one)0", "line 1"), ("x\(one.dropFirst())", "line 1"),
            ("\n\nsecret", "line 3"), ("\(one)\n\(one)", "share an id"),
        ])
    func malformed(text: String, expected: String) {
        folder.write("key", text)
        let description = problem()?.description ?? ""
        #expect(description.contains(expected), "\(description)")
        #expect(!description.contains("secret") && !description.contains("010101"))
    }

    @Test("the variable holds keys parted by commas")
    func variable() throws {
        #expect(try RootKeyFile.keys(fromVariable: "\(Self.one), \(Self.two)").all.count == 2)
        #expect(
            throws: RootKeyFile.Problem.malformed(
                source: "SOJOURN_ROOT_KEY", reason: "a root key is 64 hexadecimal digits")
        ) {
            try RootKeyFile.keys(fromVariable: "12")
        }
        #expect(throws: RootKeyFile.Problem.self) { try RootKeyFile.keys(fromVariable: "") }
    }
}
