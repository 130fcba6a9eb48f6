public import AdminActs
public import JSON
public import Pages

// The forms of the pages of a client and of the settings.

extension RotateClientSecret: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.client
    /// See `FormAct`.
    public static let names = ["rotate-secret"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject, overlap: try values.seconds("secret_overlap", label: "Time for the old one"))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }

    /// See `FormAct`.
    public func notice(_ answer: [String: JSONValue]) -> ConsoleNotice? {
        answer["client_secret"]?.string.map(ConsoleView.newSecret)
    }
}

extension DeleteClient: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.client
    /// See `FormAct`.
    public static let names = ["delete"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(subject)
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.deleted) }

    /// See `FormAct`.
    public func landing(_ answer: [String: JSONValue]) -> PagePath? { .consoleClients }
}

extension ChangeSettings: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.settings
    /// See `FormAct`.
    public static let names = ["change"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(try SettingsForm(values).body())
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.changed) }
}
