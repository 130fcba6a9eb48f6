import FoundationEssentials
import Glibc

/// Files of places, made by a writer of the format that is not the server's library.
enum PlaceFiles {
    struct NotWritten: Error { let output: String }

    /// Writes one of a kind, with addresses of one version or of both, made at a time in seconds since 1970.
    static func write(
        _ path: String, version: Int = 6, kind: String = "GeoLite2-City", madeAt: Int64 = 1_750_000_000,
        city: String = "Munich"
    ) async throws {
        let result = try await PeerScript.run(
            "Places/places.py", [path, "\(version)", kind, "\(madeAt)", city])
        guard result.status == 0 else { throw NotWritten(output: result.text) }
    }

    /// What a file holds.
    static func bytes(_ path: String) -> Data { FileManager.default.contents(atPath: path) ?? Data() }

    /// Writes into the file that is there, as `cp` and `curl -o` do.
    static func overwrite(_ path: String, _ bytes: Data) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        bytes.withUnsafeBytes { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
