/// The rules of `Store`, each as a check that any backend must pass.
///
/// A rule speaks to the store through the protocol only, and is given an empty one. A backend's tests run every rule of
/// `storeRules` on a store of their own making; a change of the protocol's docstrings begins with a rule here.
///
/// Reading order: this file · `Fixture` (values for rules) · one file per topic.
public import Sessions
public import Testing

/// One rule, with the check that shows whether a backend keeps it.
public struct StoreRule: Sendable, CustomTestStringConvertible {
    /// The rule, as a sentence.
    public let name: String
    /// Expects that the store, which is empty, keeps the rule.
    public let check: @Sendable (_ store: any Store) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (_ store: any Store) async throws -> Void) {
        self.name = name
        self.check = check
    }

    /// The rule's name, in test reports.
    public var testDescription: String { name }
}

/// Every rule.
public let storeRules: [StoreRule] =
    sessionRules + openingRules + pagingRules + userSessionRules + sweepRules + cleanUpRules + userRules
    + userChangeRules
    + pageReadRules + sessionMemberRules + clientRules + settingsRules
    + keyRules + eventRules + revocationRules + contentionRules + exportRules + importRules + importFeedRules
    + importKeepingRules + importRunningRules
    + foreignTokenRules + identityRules + identityLoginRules + verifiedEmailRules + userSourcesRules + oneTimeTokenRules
    + deliveryRules
    + providerCheckRules + servedMaximumRules + accountRules + guessRules + replacedPasswordRules + resetRules
    + anonymousUserRules + verificationRules + passkeyRules + pinRules
    + secondFactorRules + verificationRowRules + mailRowRules
    + loginRules + loginProofRules + loginSessionRules + companionRules + bondRules + phoneBrowserRules
