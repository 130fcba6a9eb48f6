import SojournClient
import Testing

struct SessionRecordTests {
    /// A record with every member, and some of a later version.
    static let text = """
        {"access_token":"at","authentication_mode":"BIOMETRIC","clock_offset":-7,"debts":[{"expires_at":99,\
        "key_thumbprint":"t","kind":"refresh_token","session_id":"s0","token":"r0"}],"device_id":"phone-1","ended":{"at":8,"reason":\
        "replaced"},"expires_at":1209607,"issued_at":7,"key_thumbprint":"t","later":{"a":[1,2.5,null,true,"x"]},\
        "refresh_after":3607,"refresh_token":"rt","retry_secret":"AQID","rotation_interval":120,"schema":1,\
        "session_expires_at":31536007,"session_id":"s1","session_idle_expires_at":1209607,"token_type":"DPoP",\
        "user":{"country":"DE","display_name":"Anna","email":"a@b.example","family_name":"A.","given_name":"An",\
        "phone_number":"+49","shoe_size":38,\
        "user_id":"u1","username":"anna"}}
        """

    @Test func record_comesBackAsItWas_withMembersOfLaterVersions() throws {
        let record = try SessionRecord(parsing: Array(Self.text.utf8))
        #expect(String(decoding: record.json, as: UTF8.self) == Self.text)
        let session = try #require(record.session)
        #expect(
            session.account
                == Account(
                    userID: "u1", username: "anna", email: "a@b.example", phoneNumber: "+49", displayName: "Anna",
                    givenName: "An", familyName: "A.", country: "DE"))
        #expect(session.mode == .biometric && session.isBound && session.ending?.reason == .replaced)
        #expect(record.debts.first?.token == "r0" && record.retrySecret == [1, 2, 3])
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{}", #"{"schema":2,"device_id":"d","retry_secret":"AQID"}"#,
        #"{"schema":1,"retry_secret":"AQID"}"#, #"{"schema":1,"device_id":"d"}"#,
        #"{"schema":"1","device_id":"d","retry_secret":"AQID"}"#,
        #"{"schema":1,"device_id":"d","retry_secret":"*"}"#,
    ])
    func otherBytes_areNoRecord(text: String) {
        #expect(throws: StoreError.self) { try SessionRecord(parsing: Array(text.utf8)) }
    }

    @Test func signOut_removesEverythingOfTheUser() throws {
        var record = try SessionRecord(parsing: Array(Self.text.utf8))
        record.session?.ending = nil
        record.signOut()
        let text = String(decoding: record.json, as: UTF8.self)
        for gone in ["anna", "a@b.example", "u1", "\"at\"", "access_token", "refresh_after"] {
            #expect(!text.contains(gone), "\(gone)")
        }
        #expect(record.deviceID == "phone-1" && record.isSignedOut && record.debts.map(\.token) == ["r0", "rt"])
        #expect(text.contains("shoe_size") == false && text.contains("later"))
    }

    @Test func endedSession_isNoDebt() throws {
        var record = try SessionRecord(parsing: Array(Self.text.utf8))
        record.signOut()
        #expect(record.debts.map(\.token) == ["r0"])
    }

    @Test func debts_areFive_andTheOldestGivesWay() {
        var record = SessionRecord(deviceID: "d", retrySecret: [1])
        for number in 1...7 {
            var answer = TokenAnswer(accessToken: "a\(number)", issuedAt: 1, expiresAt: 2)
            answer.refreshToken = "r\(number)"
            answer.sessionID = "s\(number)"
            record.begin(StoredSession(answer, keyThumbprint: nil), retrySecret: [2])
            record.signOut()
        }
        #expect(record.debts.map(\.token) == ["r3", "r4", "r5", "r6", "r7"])
    }

    @Test func sessionThatGoesOn_isNoDebt() throws {
        var record = try SessionRecord(parsing: Array(Self.text.utf8))
        record.session?.ending = nil
        var answer = TokenAnswer(accessToken: "a2", issuedAt: 1, expiresAt: 2)
        (answer.sessionID, answer.refreshToken) = ("s1", "r2")
        record.begin(StoredSession(answer, keyThumbprint: nil), retrySecret: [2])
        #expect(record.debts.map(\.token) == ["r0"])
        answer.sessionID = "s0"
        record.begin(StoredSession(answer, keyThumbprint: nil), retrySecret: [2])
        #expect(record.debts.map(\.token) == ["r2"])
    }

    @Test func renewalIsDue_strictlyAfterRefreshAfter() throws {
        let session = try #require(try SessionRecord(parsing: Array(Self.text.utf8)).session)
        #expect(!session.isDue(at: 7 + 3600))
        #expect(session.isDue(at: 7 + 3601))
        #expect(session.isUsable(at: 1_209_607 - 30) && !session.isUsable(at: 1_209_607 - 29))
    }

    @Test func memberOfAWrongType_doesNotLoseTheTokens() throws {
        let text =
            #"{"access_token":"a","issued_at":5,"expires_at":"x","refresh_token":"r","user":7,"refresh_after":[]}"#
        let answer = try #require(TokenAnswer(parsing: Array(text.utf8)))
        #expect(answer.refreshToken == "r" && answer.user == nil && answer.expiresAt == 3605)
    }
}

struct Base64URLTests {
    @Test func everyLength_comesBack() {
        for length in 0...40 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
        #expect(Base64URL.decode("A") == nil && Base64URL.decode("+/") == nil)
    }
}

struct ClientDateTests {
    @Test func date_isRead() {
        #expect(HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(HTTPDate.seconds("Thu, 29 Feb 2024 23:59:59 GMT") == 1_709_251_199)
        for text in ["", "now", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            #expect(HTTPDate.seconds(text) == nil)
        }
    }
}
