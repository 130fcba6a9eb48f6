import Foundation
import SojournClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// shop SERVER login NAME PASSWORD | call | logout
let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, let server = URL(string: words[0]) else {
    print("usage: shop SERVER login NAME PASSWORD | call | logout")
    exit(64)
}
let sojourn = Sojourn(SojournConfiguration(server: server))
print("at the start:", await sojourn.start())

var status: Int32 = 0
do {
    switch (words[1], words.count) {
    case ("login", 4):
        let account = try await sojourn.signIn(username: words[2], password: words[3])
        print("logged in:", account.username ?? account.userID)
    case ("call", 2):
        let (data, response) = try await sojourn.data(for: URLRequest(url: server.appendingPathComponent("v1/me")))
        print(response.statusCode, String(decoding: data, as: UTF8.self))
    case ("logout", 2):
        print("logged out:", await sojourn.signOut())
    default:
        print("no such command")
        status = 64
    }
} catch {
    // Every error is a SojournError.
    switch error {
    case .notSignedIn, .ended: print("log in, please:", error)
    case .refused(let refusal): print("refused:", refusal.code)
    case .misconfigured(let fault, let detail): print("set up wrongly:", fault, detail ?? "")
    default: print("try again later:", error)
    }
    status = 1
}
// A sign-out reaches the server in the background, and a renewal runs there: the program must not end before.
let isSettled = await sojourn.settle(within: .seconds(5))
print("at the end:", sojourn.state)
if !isSettled { print("the server has not been reached: the next start tries again") }
exit(status)
