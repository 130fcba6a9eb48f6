internal import Sessions

extension UserSources {
    /// The sources that the line of a user names; nil if it names none. A source that it does not name is the import.
    init?(_ line: inout TransferLine, of user: User) throws(LineProblem) {
        let username: AccountSource? = try line.optionalWord("username_source")
        let email: AccountSource? = try line.optionalWord("email_source")
        let password: AccountSource? = try line.optionalWord("password_source")
        let access: AccountSource? = try line.optionalWord("access_source")
        let devicesUnknownAt = try line.optionalInstant("devices_unknown_at")
        guard username != nil || email != nil || password != nil || access != nil || devicesUnknownAt != nil else {
            return nil
        }
        self.init(of: user, from: .import)
        self.devicesUnknownAt = devicesUnknownAt
        if let username { self.username = username }
        if let email, user.profile.email != nil { self.email = email }
        if let password, user.passwordHash != nil { self.password = password }
        if let access { self.access = access }
    }

    /// Adds the sources to the line of their user.
    func add(to members: inout TransferMembers) {
        members.add("username_source", username.rawValue)
        members.add("email_source", email?.rawValue)
        members.add("password_source", password?.rawValue)
        members.add("access_source", access.rawValue)
        members.add("devices_unknown_at", devicesUnknownAt)
    }
}
