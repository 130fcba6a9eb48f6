import Glibc

// The entry points of libFuzzer. `.ci/fuzz` compiles this file, the properties that the tests check, and the sources of
// `HTTP` and `Sockets` into one module, so that what is fuzzed is instrumented; SwiftPM knows nothing of it.
//
// SOJOURN_FUZZ_TARGET chooses what is fuzzed: `parser`, or `values` for whatever reads a part of a request or a header
// before it. With SOJOURN_FUZZ_SEEDS, a folder, the inputs of the tests are written there and nothing is fuzzed.

private let isParser = environment("SOJOURN_FUZZ_TARGET") != "values"

private func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

@_cdecl("LLVMFuzzerInitialize")
func initialize(_: UnsafeMutablePointer<Int32>, _: UnsafeMutableRawPointer) -> Int32 {
    guard let folder = environment("SOJOURN_FUZZ_SEEDS") else { return 0 }
    let inputs = isParser ? NamedInput.all.map(\.input) + FuzzCorpus.requests : FuzzCorpus.values
    for (index, input) in inputs.enumerated() {
        let bytes = input.bytes
        guard let file = fopen("\(folder)/\(index)", "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count,
            fclose(file) == 0
        else { exit(1) }
    }
    exit(0)
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let violation =
        isParser
        ? ParserProperties.violation(bytes)
        : FormProperties.violation(bytes) ?? ForwardingProperties.violation(bytes)
            ?? ProxyHeaderProperties.violation(bytes)
    if let violation {
        let line = Array("property violated: \(violation)\n".utf8)
        write(2, line, line.count)
        abort()
    }
    return 0
}
