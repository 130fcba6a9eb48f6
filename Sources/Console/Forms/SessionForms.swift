public import AdminActs
public import JSON
public import Pages

// The forms of the pages of a session and of a login with a phone.

extension EndSession: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.session
    /// See `FormAct`.
    public static let names = ["end"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.sessionEnded) }
}

extension RemovePIN: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.session
    /// See `FormAct`.
    public static let names = ["remove-pin"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.pinRemoved) }
}

extension PhoneLoginEnding: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.login
    /// See `FormAct`.
    public static let names = ["end"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.loginEnded) }
}
