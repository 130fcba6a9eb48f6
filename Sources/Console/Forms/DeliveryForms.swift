public import AdminActs
public import JSON
public import Pages
internal import Sessions

// The forms of the page of the deliveries.

extension RetryDeliveries: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.deliveries
    /// See `FormAct`.
    public static let names = ["retry"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init()
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash {
        ConsoleFlash(.deliveriesRetried)
    }
}

extension TestWebhook: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.deliveries
    /// See `FormAct`.
    public static let names = ["webhook-test"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(ActSubject(values["webhook"] ?? ""))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash {
        ConsoleFlash(.deliveriesRetried)
    }

    /// See `FormAct`.
    public func notice(_ answer: [String: JSONValue]) -> ConsoleNotice? {
        ConsoleView.result(of: answer)
    }
}

extension SetStreamStatus: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.deliveries
    /// See `FormAct`.
    public static let names = ["stream-enable", "stream-pause", "stream-disable"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        let status: EventStream.Status =
            switch values["act"] {
            case "stream-enable": .enabled
            case "stream-pause": .paused
            default: .disabled
            }
        self.init(of: ActSubject(values["client"] ?? ""), to: status)
        reason = values["reason"]
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.streamSet) }
}

extension VerifyStream: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.deliveries
    /// See `FormAct`.
    public static let names = ["stream-verify"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(ActSubject(values["client"] ?? ""))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.streamVerified) }
}

extension DeleteStream: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.deliveries
    /// See `FormAct`.
    public static let names = ["stream-delete"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(ActSubject(values["client"] ?? ""))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.streamDeleted) }
}

extension RetryMail: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.deliveries
    /// See `FormAct`.
    public static let names = ["mail-retry"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(ActSubject(values["mail"] ?? ""))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.mailRetried) }
}
