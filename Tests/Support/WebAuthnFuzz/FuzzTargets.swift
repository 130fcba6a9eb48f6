import Glibc
import JSON

// The entry points of libFuzzer for what authenticators and clients send. `.ci/fuzz` compiles this file, the properties that the
// tests check, and the sources of `WebAuthn`, `Cryptography`, `JSON` and `Locks` into one module, so that what is fuzzed is
// instrumented; SwiftPM knows nothing of it. OpenSSL is the system's own, and is not instrumented.
//
// With SOJOURN_FUZZ_SEEDS, a folder, the parts of the specification's vectors are written there and nothing is fuzzed.

@_cdecl("LLVMFuzzerInitialize")
func initialize(_: UnsafeMutablePointer<Int32>, _: UnsafeMutableRawPointer) -> Int32 {
    guard let folder = getenv("SOJOURN_FUZZ_SEEDS").map({ String(cString: $0) }) else { return 0 }
    let inputs = seeds("Tests/Unit/WebAuthnTests/Vectors/level3.json")
    guard inputs.count > 60 else { exit(1) }
    for (index, bytes) in inputs.enumerated() {
        guard let file = fopen("\(folder)/\(index)", "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count,
            fclose(file) == 0
        else { exit(1) }
    }
    exit(0)
}

/// The attestation objects, client data and authenticator data of the vectors, and what lies inside them.
private func seeds(_ path: String) -> [[UInt8]] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var text = [UInt8](repeating: 0, count: 1 << 20)
    text.removeSubrange(fread(&text, 1, text.count, file)...)
    var inputs: [[UInt8]] = [[0x82, 0xF5, 0xF6], [0xA1, 0x20, 0x1B, 0x7F] + [UInt8](repeating: 0xFF, count: 7)]
    for vector in JSONValue(text: text)?.elements ?? [] {
        for (ceremony, name) in [
            ("registration", "clientDataJSON"), ("registration", "attestationObject"),
            ("authentication", "clientDataJSON"), ("authentication", "authenticatorData"),
        ] {
            inputs += (vector[ceremony]?[name]?.string).flatMap { Hex.decode($0) }.map { [$0] } ?? []
        }
        guard let object = inputs.last(where: { $0.first == 0xA3 }),
            let inner = try? AttestationObject(object).authenticatorData
        else { continue }
        inputs.append(inner)
        // A registration of a user that was verified, and one with extensions.
        var verified = inner
        verified[32] = 0x45
        inputs.append(verified)
        verified[32] = 0xC5
        verified += [0xA1, 0x63, 0x61, 0x62, 0x63, 0xF4] as [UInt8]
        inputs.append(verified)
        if let key = try? AuthenticatorData(inner).credential?.publicKey { inputs.append(key.bytes) }
    }
    return inputs
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    if let violation = CeremonyProperties.violation(Array(UnsafeBufferPointer(start: start, count: count))) {
        let line = Array("property violated: \(violation)\n".utf8)
        write(2, line, line.count)
        abort()
    }
    return 0
}
