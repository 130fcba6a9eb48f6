public import Pages

/// Every page in the states that a reader may see, with texts that a function may replace.
public enum PageSamples {
    /// A page with a name for its file.
    public struct Sample: Sendable {
        /// `login-wrong-password`
        public let name: String
        /// The page.
        public let page: any HTMLPage
    }

    /// The color of the app.
    static let accent = AccentColor("#0b7a75")

    /// Every sample, in a fixed order. `text` replaces each text from outside.
    public static func all(_ text: @escaping @Sendable (String) -> String = { $0 }) -> [Sample] {
        let texts = Texts(text)
        return texts.login + texts.neighbors + texts.phone + texts.links + texts.device + texts.account
            + texts.verification + texts.profile
    }
}

struct Texts {
    let text: @Sendable (String) -> String
    let app: PageApp
    let form: FormState
    let header: AccountHeader

    init(_ text: @escaping @Sendable (String) -> String) {
        self.text = text
        app = PageApp(
            name: text("Harbor Bank"), accent: PageSamples.accent,
            back: PageURL(absolute: "com.example.harbor:/back"),
            policy: PageURL(absolute: "https://example.com/privacy"),
            terms: PageURL(absolute: "https://example.com/terms"))
        let token = text("Zm9ybS10b2tlbi1vZi0zMi1ieXRlcy1mb3ItYS1mb3Jt")
        form = FormState(csrf: token, request: text(String(repeating: "c2VhbGVk", count: 80)))
        header = AccountHeader(
            name: text("ada@example.com"), form: FormState(csrf: token))
    }

    var providers: [LoginPage.Provider] {
        ["Google", "Example ID"].map {
            .init(name: text($0), path: PagePath("/login/provider", ["name": $0, "r": "c2VhbGVk"]))
        }
    }

    var login: [PageSamples.Sample] {
        let recognized = LoginPage.RecognizedAccount(
            name: text("ada@example.com"), notYou: PagePath("/login", ["r": "c2VhbGVk", "account": "none"]))
        let options = text(#"{"challenge":"AAAA","rpId":"localhost","userVerification":"required"}"#)
        let creation = text(#"{"rp":{"id":"localhost"},"user":{"id":"AQ"},"excludeCredentials":[]}"#)
        var ahead = app
        ahead.back = nil
        let messages: [(String, LoginPage.Message)] = [
            ("wrong-password", .wrongCredentials), ("stale", .stale(.pressAgain)),
            ("cookies-blocked", .stale(.cookiesBlocked)),
            ("provider-failed", .providerFailed(text("Example ID"))), ("paused", .loginsPaused),
            ("blocked", .loginsBlocked), ("too-many", .tooManyAttempts(seconds: 30)),
            ("passkey-failed", .passkeyFailed), ("factor-needed", .secondFactorNeeded), ("again", .signInAgain),
            ("finish", .signInToFinish),
            ("unavailable", .unavailable),
        ]
        return [
            .init(
                name: "login", page: LoginPage(app: app, form: form, remember: false, forgot: PagePath("/forgot"))),
            .init(
                name: "login-everything",
                page: LoginPage(
                    app: app, form: form, account: recognized, passkey: options, remember: true,
                    providers: providers, offersPhone: true, isWithoutTLS: true)),
            .init(
                name: "login-passkey",
                page: LoginPage(app: app, form: form, passkey: options, asksForPassword: false, providers: providers)),
            .init(
                name: "login-known",
                page: LoginPage(
                    app: app, form: form, account: recognized, remember: true, message: .wrongCredentials,
                    isWithoutTLS: true)),
            .init(name: "login-email", page: LoginPage(app: app, form: form, names: .email)),
            .init(name: "login-account", page: LoginPage(app: nil, form: form, offersPhone: true)),
            .init(name: "login-offer", page: PasskeyOfferPage(app: ahead, form: form, options: creation)),
            .init(
                name: "login-offer-failed",
                page: PasskeyOfferPage(app: ahead, form: form, options: creation, hasFailed: true)),
            .init(
                name: "login-factor",
                page: FactorPage(
                    app: app, form: form, loginToken: text("sjl_x"), remember: true, passkey: .loginPage("s"))),
            .init(
                name: "login-factor-wrong",
                page: FactorPage(app: nil, form: form, loginToken: text("sjl_x"), message: .wrongCode)),
            .init(
                name: "login-factor-add",
                page: FactorPage(
                    app: app, form: form, loginToken: text("sjl_x"),
                    enrolment: .init(secret: "GEZDGNBVGY3TQOJQ", code: QRPicture(side: 29, path: "M4 4h7v1h-7z")))),
            .init(
                name: "login-factor-passkey",
                page: FactorPage(app: app, form: form, loginToken: "", passkey: .loginPage("s"), takesCode: false)),
            .init(name: "login-choice", page: LoginPage(app: app, form: form, choice: recognized, remember: true)),
        ]
            + messages.map { name, message in
                .init(
                    name: "login-" + name,
                    page: LoginPage(app: app, form: form, username: text("ada"), remember: true, message: message))
            }
    }

    var neighbors: [PageSamples.Sample] {
        [
            .init(
                name: "error-redirect",
                page: ErrorPage(
                    .unregisteredRedirect, detail: text("redirect_uri is not registered for client shop"),
                    requestID: text("01J8Z6Q9"))),
            .init(
                name: "error-failed",
                page: ErrorPage(
                    .serverFailed, app: app, requestID: text("01J8Z6Q9"),
                    startOver: PageURL(PagePath("/login", ["r": "c2VhbGVk"])))),
            .init(name: "error-not-found", page: ErrorPage(.notFound)),
            .init(name: "expired", page: ExpiredPage(app: app, next: app.back)),
            .init(
                name: "signed-out-again",
                page: SignedOutPage(app: app, signIn: app.back)),
            .init(name: "expired-without-way", page: ExpiredPage(app: nil, next: nil)),
            .init(name: "needs-tls", page: NeedsTLSPage(secure: PageURL(absolute: "https://id.example.com/login"))),
            .init(name: "logout", page: LogoutPage(app: app, form: form, account: text("ada@example.com"))),
            .init(name: "signed-out", page: SignedOutPage(app: app)),
            .init(name: "signed-out-with-phone", page: SignedOutPage(app: app, ending: .withPhone)),
            .init(
                name: "signed-out-after-fault",
                page: SignedOutPage(
                    app: app, fault: RequestFault(detail: text("not registered"), requestID: text("r-1")))),
            .init(name: "not-signed-in", page: SignedOutPage(app: app, ending: .nothing)),
            .init(name: "reset", page: ResetPage(form: form)),
            .init(name: "app-login", page: AppLoginPage(form: form, state: .opened)),
            .init(
                name: "app-login-stale",
                page: AppLoginPage(form: form, state: .stale(.pressAgain), typed: text("abc"))),
            .init(name: "app-login-too-late", page: AppLoginPage(form: form, state: .tooLate)),
            .init(
                name: "app-login-question",
                page: AppLoginPage(app: app, form: form, state: .question(account: text("ada")))),
            .init(
                name: "app-login-other",
                page: AppLoginPage(app: app, form: form, state: .otherAccount(account: text("bert")))),
            .init(
                name: "reset-refused",
                page: ResetPage(form: form, token: text("sjr_1"), message: .password(.tooCommon))),
            .init(
                name: "reset-unavailable",
                page: ResetPage(form: form, token: text("sjr_1"), message: .unavailable)),
            .init(name: "reset-expired", page: ResetPage(form: form, message: .tokenRefused)),
            .init(
                name: "reset-cookies-blocked",
                page: ResetPage(form: form, token: text("sjr_1"), message: .stale(.cookiesBlocked))),
            .init(name: "password-saved", page: PasswordSavedPage()),
        ]
    }

    var phone: [PageSamples.Sample] {
        PhonePage.State.allCases.map { state in
            let here = PagePath("/login/phone").appending("aGFuZGxl")
            return .init(
                name: "phone-" + state.rawValue.replacing("_", with: "-"),
                page: PhonePage(
                    app: app, form: form, image: here.appending("code.svg"),
                    link: PageURL(absolute: "https://id.example.com/l/abc"), state: state,
                    number: state == .number ? text("42") : nil, events: here.appending("events"), again: here,
                    finish: here.appending("finish"), otherWays: PagePath("/login", ["r": "c2VhbGVk"])))
        }
    }

    var links: [PageSamples.Sample] {
        [
            .init(name: "phone-link", page: LinkPage()),
            .init(name: "phone-other-browser", page: OtherBrowserPage()),
            .init(
                name: "not-me",
                page: NotMePage(
                    app: app, form: form, device: text("Firefox on Windows"), place: text("Lisbon, Portugal"),
                    signedInAt: 1_795_000_000)),
            .init(
                name: "not-me-cookies-blocked",
                page: NotMePage(
                    app: app, form: form, device: nil, place: nil, signedInAt: 1_795_000_000, endsAll: true,
                    stale: .cookiesBlocked)),
            .init(
                name: "not-me-done",
                page: NotMeDonePage(
                    ended: [
                        SignedOutSession(app: text("Bean & Leaf"), device: text("Firefox on Linux")),
                        SignedOutSession(app: nil, device: nil),
                    ], endsAll: true)),
            .init(name: "not-me-over", page: NotMeDonePage(wasOver: true)),
        ]
    }

    var device: [PageSamples.Sample] {
        let review = DeviceReviewPage(
            app: app, form: form, code: text("BCDF-GHJK"), device: text("Chrome · Android"),
            place: text("Berlin, Germany"), askedAt: 1_795_000_000, scopes: ["openid", "email", text("ledger:read")])
        return [
            .init(name: "device-code", page: DeviceCodePage(form: form)),
            .init(
                name: "device-unknown", page: DeviceCodePage(form: form, code: text("BCDF"), message: .unknownCode)),
            .init(name: "device-review", page: review),
            .init(
                name: "device-abroad",
                page: DeviceAbroadPage(
                    app: app, form: form, code: text("BCDF-GHJK"), place: text("Lisbon, Portugal"),
                    ownPlace: text("Berlin, Germany"))),
            .init(
                name: "device-elsewhere",
                page: DeviceCodePage(form: form, code: text("BCDF-GHJK"), message: .elsewhere)),
            .init(name: "device-approved", page: DeviceDonePage(app: app, isApproved: true)),
            .init(name: "device-declined", page: DeviceDonePage(app: app, isApproved: false)),
        ]
    }

    var devices: [AccountDevice] {
        func device(
            _ id: String, _ name: String?, _ app: String, _ place: String?, isThis: Bool = false,
            isMobile: Bool = false, lasts: Int64 = 0, _ children: [AccountDevice] = []
        ) -> AccountDevice {
            AccountDevice(
                session: text(id), name: name.map(text), app: text(app), place: place.map(text),
                signedInAt: 1_790_000_000, lastSeenAt: 1_795_000_000,
                idleEnd: lasts > 0 ? 1_795_000_000 + lasts : 1_796_209_600, end: 1_805_552_000,
                isThis: isThis, isMobile: isMobile, children: children)
        }
        let firefox = device("s3", "Firefox on Linux", "Harbor Web", "Berlin, Germany")
        return [
            device("s1", "Chrome on macOS", "Harbor Web", "Berlin, Germany", isThis: true),
            device("s2", "Ada’s iPhone", "Harbor Bank", "Potsdam, Germany", isMobile: true, [firefox]),
            device("s4", nil, "Harbor Bank", nil, lasts: 1800),
        ]
    }

    var entries: [ActivityEntry] {
        let events: [ActivityEvent] = [
            .signedIn(.phone), .signInFailed, .ended(.parentEnded), .passwordChanged, .ended(.refreshTokenReused),
            .loginsPaused, .pinFailed, .signedIn(.passkey), .created,
        ]
        return events.enumerated().map { index, event in
            ActivityEntry(
                event, at: 1_795_000_000 - Int64(index) * 40_000, device: text("Ada’s iPhone"),
                app: text("Harbor Bank"), place: index == 3 ? nil : text("Berlin, Germany"))
        }
    }

    private static let now: Int64 = 1_795_000_600

    var account: [PageSamples.Sample] {
        [
            .init(name: "account-devices", page: DevicesPage(header: header, devices: devices, now: Self.now)),
            .init(
                name: "account-by-phone",
                page: DevicesPage(
                    header: AccountHeader(
                        name: header.name, form: header.form, events: .accountEvents),
                    devices: devices, now: Self.now)),
            .init(
                name: "account-ended",
                page: DevicesPage(header: header, devices: devices, now: Self.now, message: .ended(2))),
            .init(
                name: "account-many",
                page: DevicesPage(
                    header: header,
                    devices: (0..<6).map { number in
                        AccountDevice(
                            session: text("s\(number)"), name: text("Ada’s iPhone"), app: text("Harbor Bank"),
                            place: text("Potsdam, Germany"), signedInAt: 1_790_000_000, lastSeenAt: 1_795_000_000,
                            idleEnd: 1_796_209_600, end: 1_805_552_000, isMobile: true,
                            phone: number == 0 ? text("Pixel 9") : nil)
                    }, now: Self.now, more: (PagePath("/account", ["page": "3"]), 8), isContinued: true,
                    message: .ended(1))),
            .init(
                name: "account-factors",
                page: FactorsPage(
                    header: header, factors: [.init(id: "a1", name: text("Phone"), addedAt: 1_700_000_000)],
                    codesLeft: 3)),
            .init(
                name: "account-factors-add",
                page: FactorsPage(
                    header: header,
                    pending: .init(
                        id: "a1",
                        enrolment: .init(
                            secret: "GEZDGNBVGY3TQOJQ", code: QRPicture(side: 29, path: "M4 4h7v1h-7z"))))),
            .init(
                name: "account-factors-codes",
                page: FactorsPage(
                    header: header, codesLeft: 8, codes: ["8QK4-2T7N-GB5X-0WZM-9R3H-V6CP"], message: .added)),
            .init(
                name: "account-factors-wrong",
                page: FactorsPage(
                    header: header, pending: .init(id: "a1", enrolment: nil), message: .wrongCode)),
            .init(
                name: "account-security-last-passkey",
                page: SecurityPage(
                    header: header, username: text("ada"), hasPassword: false,
                    passkeys: [AccountPasskey(id: "AQID", name: text("iPhone"), addedAt: 1_790_000_000)])),
            .init(
                name: "account-nowhere",
                page: DevicesPage(header: header, devices: [], now: Self.now, message: .nothingToEnd)),
            .init(
                name: "account-security",
                page: SecurityPage(
                    header: header, username: text("ada"),
                    passkeys: [
                        AccountPasskey(id: "AQID", name: text("iPhone"), addedAt: 1_790_000_000, usedAt: 1_795_000_000),
                        AccountPasskey(id: "BAUG", name: text("Key in the drawer"), addedAt: 1_780_000_000),
                    ], chosen: "BAUG", addition: .afterLogin)),
            .init(
                name: "account-security-many",
                page: SecurityPage(
                    header: header, username: text("ada"),
                    passkeys: (0..<20).map {
                        AccountPasskey(
                            id: "AAECAwQFBgcICQoLDA0OD\($0)", name: text("iPhone"), addedAt: 1_790_000_000,
                            usedAt: 1_795_000_000)
                    })),
            .init(
                name: "account-security-no-passkeys",
                page: SecurityPage(
                    header: header, username: text("ada"), passkeys: [],
                    addition: .now(options: #"{"rp":{"id":"localhost"},"user":{"id":"AQ"},"excludeCredentials":[]}"#),
                    message: .passkeyGone)),
            .init(
                name: "account-security-name-refused",
                page: SecurityPage(
                    header: header, username: text("ada"),
                    passkeys: [AccountPasskey(id: "AQID", name: text("iPhone"), addedAt: 1_790_000_000)],
                    addition: .now(options: #"{"rp":{"id":"localhost"},"user":{"id":"AQ"},"excludeCredentials":[]}"#),
                    typed: SecurityPage.Typed(
                        passkeyName: text("My phone"), pausesOnExpiry: true, endsSessions: true),
                    message: .passkeyNameRefused)),
            .init(
                name: "account-security-wrong",
                page: SecurityPage(header: header, username: text("ada"), message: .wrongCurrentPassword)),
            .init(
                name: "account-paused",
                page: SecurityPage(
                    header: header, username: text("ada"), hasPassword: false, logins: .pausedOnExpiry,
                    message: .paused)),
            .init(
                name: "account-blocked", page: SecurityPage(header: header, username: text("ada"), logins: .blocked)),
            .init(
                name: "account-activity",
                page: ActivityPage(
                    header: header, entries: entries, older: PagePath("/account/activity", ["cursor": "a"]),
                    hasNewer: true)),
            .init(name: "account-activity-none", page: ActivityPage(header: header, entries: [])),
        ]
    }
}
