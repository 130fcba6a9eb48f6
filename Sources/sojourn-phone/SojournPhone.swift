// sojourn-phone: an app on a phone as a program, for tests that kill it, freeze it, or run two of them on one store.
//
// Owns: the commands and the points at which the program stops. Must not know: the server's modules. Reading order: SojournPhone,
// Phone (the commands), Phone+User, PhoneLogins, PhoneAnswers, Screen, Points, FailingStore, Breaks.
//
// Lines of JSON come in, and one line of JSON goes out for each: {"id": 1, "do": "token", "need": "fresh"} gives
// {"id": 1, "token": "…"} or {"id": 1, "error": "ended", "reason": "…"}. Commands that come without waiting for the answer are
// carried out side by side. `in` names a folder below DIR, each with a session of its own.
//
// start · state · login username password [mode] · login-anonymously · name username password · adopt answer · identity
// begin-login redirect · finish-login callback (the login page: the URL to open, and the one with which the browser comes back)
// token [need: usable, fresh, renewed] · call url · logout · clock [wall] [elapse] · store fail (read, write, none)
// freeze at · crash at (a point: before-send, sent, received, locked, temp-written, temp-synced, renamed, folder-synced)
// scan text · confirm [number] · prove password · deny · login-state (the login of another device)
// presence [answers] [background] [enrolled] · mode to [password] · unlock [password] · lock (the user at the screen, and modes)
// add-passkey [name] · login-passkey [mode] · show-presence (passkeys, of an authenticator in memory) · capabilities
// register-pushes · push text (or file: a pushed message, encrypted or plain)
// swap count · exit
//
// It is also the driver by which `sojourn-conformance` checks SojournClient.

import Foundation
import SojournClient
import SojournTestKit

@main
enum SojournPhone {
    private struct Arguments {
        var folder: URL
        var configuration: SojournConfiguration
        var log = Log.none
        var broken: Break?
    }

    /// The arguments, or nil if they are wrong.
    private static func parse(_ arguments: [String]) -> Arguments? {
        var words = arguments.dropFirst()
        var folder: String?
        var log = Log.none
        var options: [String: String] = [:]
        while let word = words.popFirst() {
            if word == "--log" {
                log = Log { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
            } else if word.hasPrefix("-") {
                guard let value = words.popFirst() else { return nil }
                options[word] = value
            } else {
                guard folder == nil else { return nil }
                folder = word
            }
        }
        guard let folder, let server = options["--server"].flatMap({ URL(string: $0) }) else { return nil }
        var configuration = SojournConfiguration(server: server)
        configuration.renewal =
            switch options["--renewal"] {
            case "refresh-token": .refreshToken
            case "device-key": .deviceKey
            default: .boundRefreshToken
            }
        configuration.deviceID = options["--device"]
        var arguments = Arguments(folder: URL(fileURLWithPath: folder), configuration: configuration, log: log)
        if let word = options["--break"] {
            guard let broken = Break(rawValue: word) else { return nil }
            arguments.broken = broken
        }
        return arguments
    }

    static func main() {
        guard let arguments = parse(CommandLine.arguments) else {
            let usage = """
                usage: sojourn-phone DIR --server URL [--renewal refresh-token|bound|device-key] [--device ID] [--log]
                                     [--break \(Break.allCases.map(\.rawValue).joined(separator: "|"))]

                """
            FileHandle.standardError.write(Data(usage.utf8))
            exit(2)
        }
        let phone = Phone(
            folder: arguments.folder, configuration: arguments.configuration, log: arguments.log,
            broken: arguments.broken)
        Thread.detachNewThread { obey(phone) }
        dispatchMain()
    }

    /// Carries out the commands of standard input, until it ends.
    private static func obey(_ phone: Phone) {
        let output = Guarded(FileHandle.standardOutput)
        while let line = readLine() {
            guard let command = JSONValue(parsing: Array(line.utf8))?.members, command.text("do") != "exit" else {
                exit(0)
            }
            Task {
                var answer = await phone.carryOut(command)
                answer["id"] = command["id"]
                let bytes = JSONValue.object(answer).bytes + [10]
                output.withLock { $0.write(Data(bytes)) }
            }
        }
        exit(0)
    }
}
