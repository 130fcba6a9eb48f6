public import AdminActs
public import JSON
public import Pages
internal import Sessions

// The forms of the page of the keys.

extension CreateAdminKey: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.keys
    /// See `FormAct`.
    public static let names = ["create"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(values["name"] ?? "")
        if let word = values["scope"] {
            guard let scope = AdminKey.Scope(rawValue: word) else {
                throw CallRefusal("scope is not one of the list.")
            }
            keyScope = scope
        }
        lifetime = try values.seconds("expires_in", label: "Ends after")
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.created) }

    /// See `FormAct`.
    public func notice(_ answer: [String: JSONValue]) -> ConsoleNotice? {
        answer["admin_key"]?.string.map {
            (.good, "This is the new admin key. It is shown this once: \(secret: $0)")
        }
    }
}

extension DeleteAdminKey: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.keys
    /// See `FormAct`.
    public static let names = ["delete"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(ActSubject(values["key"] ?? ""))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.deleted) }
}

extension RotateSigningKey: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.keys
    /// See `FormAct`.
    public static let names = ["rotate"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(immediately: values.isOn("immediately"))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.keyRotated) }
}

extension WithdrawSigningKey: FormAct {
    /// See `FormAct`.
    public static let page = ActPage.keys
    /// See `FormAct`.
    public static let names = ["withdraw"]

    /// See `FormAct`.
    public init(_ values: FormValues, on subject: ActSubject) throws(CallRefusal) {
        self.init(ActSubject(values["key"] ?? ""))
    }

    /// See `FormAct`.
    public func flash(_ answer: [String: JSONValue]) -> ConsoleFlash { ConsoleFlash(.deleted) }
}
