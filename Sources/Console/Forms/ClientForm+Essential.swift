internal import AdminActs
internal import Sessions

extension ClientForm {
    /// The members that matter for this client: those that its kind of app has, and those that differ from the usual ones.
    func essential(_ preset: ClientPreset?, beside usual: ClientForm) -> Set<String> {
        var names: Set = ["client_name", "scope"]
        if let preset { names.formUnion(preset.examples.keys) }
        let grants = grants
        func has(_ grant: Client.GrantType) -> Bool { grants.contains(grant.rawValue) }
        if has(.authorizationCode) { names.insert("redirect_uris") }
        if has(.authorizationCode) || has(.login) { names.insert("login_methods") }
        if texts["token_endpoint_auth_method"] != "none" { names.insert("token_endpoint_auth_method") }
        for (name, _, _) in Self.members where texts[name] != usual.texts[name] { names.insert(name) }
        return names
    }
}
