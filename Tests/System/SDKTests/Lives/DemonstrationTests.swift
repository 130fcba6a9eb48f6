import Foundation
import Testing

/// The demonstration, as the README has it run.
struct DemonstrationTests {
    @Test("the demonstration keeps all that it states, and leaves nothing behind", .timeLimit(.minutes(3)))
    func demonstration() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = (own as NSString).deletingLastPathComponent + "/sojourn-demo"
        let output = try Tool.run([program], environment: ["TMPDIR": folder.path])
        #expect(output.status == 0, "\(output)")
        #expect(output.errors.isEmpty)
        #expect(output.text.contains("Every session went on as long as it should"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
