extension FileWords {
    var factorNeeded: String { text("factor_needed") }
    var factorTitle: String { text("factor_title") }
    var factorCode: String { text("factor_code") }
    var factorHint: String { text("factor_hint") }
    var factorWrong: String { text("factor_wrong") }
    var factorClock: String { text("factor_clock") }
    var factorBlocked: String { text("factor_blocked") }
    var factorAddTitle: String { text("factor_add_title") }
    var factorAddBody: String { text("factor_add_body") }
    var factorPicture: String { text("factor_picture") }
    var factorSecret: String { text("factor_secret") }
    var factorNewCode: String { text("factor_new_code") }
    var factors: String { text("factors") }
    var factorLink: String { text("factor_link") }
    var factorManage: String { text("factor_manage") }
    var factorNone: String { text("factor_none") }
    var factorBody: String { text("factor_body") }
    var factorAdd: String { text("factor_add") }
    var factorScan: String { text("factor_scan") }
    var factorRemove: String { text("factor_remove") }
    var factorRemoveBody: String { text("factor_remove_body") }
    var factorAdded: String { text("factor_added") }
    var factorRemoved: String { text("factor_removed") }
    var factorGone: String { text("factor_gone") }
    var factorUnverified: String { text("factor_unverified") }
    var factorFull: String { text("factor_full") }
    var factorLast: String { text("factor_last") }
    var recoveryCodes: String { text("recovery_codes") }
    var recoveryCodesShown: String { text("recovery_codes_shown") }
    var recoveryCodesMake: String { text("recovery_codes_make") }
    func recoveryCodesLeft(_ count: Int) -> String { text("recovery_codes_left", counting: count, "count") }
}
