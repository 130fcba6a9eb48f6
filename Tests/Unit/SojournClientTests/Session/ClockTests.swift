import SojournClient
import SojournTestKit
import Testing

/// Renewals come when they are due by the server's clock, whatever the device's says.
struct ClockTests {
    static let server: Int64 = 1_800_000_000

    @Test(arguments: [0, 3600, -3600, 86_400, -86_400, 400_000_000, -1_000_000_000] as [Int64])
    func wrongWallClock_doesNotMatter(error: Int64) async throws {
        let phone = try await Phone.new(wall: Self.server + error)
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        phone.clock.advance(by: .seconds(3600))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.isEmpty)
        phone.clock.advance(by: .seconds(1))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.count == 1)
        #expect(phone.record?.clockOffset == -error)
        // After a new start, too.
        phone.wire.always(Wire.loseRequest)
        let restarted = phone.other()
        phone.clock.advance(by: .seconds(3600))
        _ = try await restarted.sojourn.accessToken()
        #expect(phone.wire.renewals.count == 1)
        phone.clock.advance(by: .seconds(1))
        _ = try await restarted.sojourn.accessToken()
        #expect(phone.wire.renewals.count > 1)
        #expect(phone.wire.renewals.last?.form["sent_at"] == "\(Self.server + 7202)")
    }

    @Test(arguments: [3600, -3600, 86_400, -86_400] as [Int64])
    func wallClockThatIsSetWhileRunning_doesNotMatter(jump: Int64) async throws {
        let phone = try await Phone.signedIn()
        phone.clock.setWall(to: phone.clock.wallSeconds + jump)
        phone.clock.advance(by: .seconds(3600))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.isEmpty)
        phone.clock.advance(by: .seconds(1))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.count == 1)
    }

    @Test(arguments: [86_400, -86_400] as [Int64])
    func wallClockThatWasSetBetweenStarts_costsOneRequest(jump: Int64) async throws {
        let phone = try await Phone.signedIn()
        phone.clock.setWall(to: phone.clock.wallSeconds + jump)
        let restarted = phone.other()
        await restarted.sojourn.start()
        // The server refuses what seems to have slept on the way; its date corrects the clock.
        await until("the renewal has succeeded") { phone.wire.renewals.count == 2 }
        await until("the record knows") { phone.record?.clockOffset == -jump }
        #expect(phone.wire.renewals[1].form["sent_at"] == "\(Self.server)")
    }

    @Test func expiredByAGuess_isNotExpired() async throws {
        let phone = try await Phone.signedIn()
        phone.clock.setWall(to: phone.clock.wallSeconds + 100 * 86_400)
        phone.server.setReachable(false)
        let restarted = phone.other()
        let token = try await restarted.sojourn.accessToken()
        #expect(token.value == phone.record?.session?.accessToken)
    }

    @Test(arguments: ["Fri, 01 Jan 2100 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"])
    func dateOfAProxysPage_isNotBelieved(date: String) async throws {
        let phone = try await Phone.signedIn()
        phone.clock.advance(by: .seconds(3700))
        phone.wire.next(
            Wire.answer(503, "<html>busy</html>", [HTTPMessageField("Date", date)]),
            Wire.answer(
                503, #"{"error": "temporarily_unavailable"}"#,
                [
                    HTTPMessageField("Date", date), HTTPMessageField("Age", "5"),
                ]))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.map { $0.form["sent_at"] } == Array(repeating: "1800003700", count: 3))
    }

    @Test func sleepOfTheDevice_counts() async throws {
        let phone = try await Phone.signedIn()
        // The continuous clock runs while the device sleeps.
        phone.clock.advance(by: .seconds(7 * 86_400))
        _ = try await phone.sojourn.accessToken()
        #expect(phone.wire.renewals.count == 1)
    }

    @Test func refusedSignature_isMadeAgainOnce_withTheNonceOfTheAnswer() async throws {
        let phone = try await Phone.signedIn(renewal: .boundRefreshToken)
        phone.clock.advance(by: .seconds(3700))
        let nonce = HTTPMessageField("DPoP-Nonce", "n-1")
        phone.wire.next(Wire.answer(400, #"{"error": "use_dpop_nonce"}"#, [nonce]))
        _ = try await phone.sojourn.accessToken(.fresh)
        #expect(phone.wire.renewals.count == 2)
        phone.clock.advance(by: .seconds(3700))
        phone.wire.next(
            Wire.answer(400, #"{"error": "use_dpop_nonce"}"#, [nonce]),
            Wire.answer(400, #"{"error": "use_dpop_nonce"}"#, [nonce]))
        await #expect(throws: SojournError.self) { try await phone.sojourn.accessToken(.fresh) }
        #expect(phone.wire.renewals.count == 4)
    }

    @Test("the date of a successful answer of the server sets the clock, that of a page does not")
    func dateOfASuccess() {
        let date = HTTPMessageField("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        func time(_ status: Int, _ body: String, _ more: [HTTPMessageField] = []) -> Int64? {
            HTTPAnswer(status: status, fields: [date] + more, body: Array(body.utf8)).serverTime
        }
        #expect(time(200, #"{"login_id":"1"}"#) == 784_111_777)
        #expect(time(201, "{}") == 784_111_777)
        #expect(time(200, #"{"access_token":"a","issued_at":5}"#) == 5)
        #expect(time(200, "<html>log in</html>") == nil && time(204, "") == nil && time(302, "{}") == nil)
        #expect(time(200, "{}", [HTTPMessageField("Age", "7")]) == nil)
    }
}
