import Configuration
import Glibc
import Server
import SQLiteStore
import Sessions

/// The output of a restore: the files, the changes that the restore undoes, and the commands that repeat them.
enum RestorationText {
    /// The events of the trail that a restore undoes, with the effect.
    private static let undoings: [(AuditEvent.Kind, String)] = [
        (.sessionEnded, "a session ended; it is active again"),
        (.sessionsEnded, "all sessions of a user ended; they are active again"),
        (.allSessionsRevoked, "every session ended; all are active again"),
        (.loginsDisabled, "the logins of a user switched off; they are on"),
        (.passwordChanged, "a password changed; the old one is valid again"),
        (.userDeleted, "a user deleted; is back"), (.clientDeleted, "a client deleted; is back"),
        (.clientTokensEnded, "the tokens of a client ended; they are valid again until they expire"),
        (.clientTokenRevoked, "a client revoked a token of its own; it is valid again until it expires"),
        (.adminKeyDeleted, "an admin key deleted; is valid again"),
        (.signingKeyWithdrawn, "a signing key withdrawn; is back"),
        (.settingsChanged, "the settings changed; the old ones apply"),
        (.userCreated, "a user made; is gone"), (.sessionStarted, "a login; that device logs in again"),
    ]

    static func lines(_ restored: Restoration, _ file: String, _ configuration: ServerConfiguration) -> [String] {
        let database = configuration.database.path
        var lines = ["\(database) is now the backup \(file): \(BackupCommands.size(restored.bytes)), checked"]
        if let takenAt = restored.takenAt {
            lines.append("it was taken at \(Formatting.timeWithDistance(takenAt.secondsSinceEpoch))")
        }
        if let replaced = restored.replaced { lines.append("the database that it replaces is kept as \(replaced)") }
        lines += [
            "",
            "No user is logged out by this: every app goes on with its newest token, and the idle time of every session begins",
            "anew, since the backup does not know the refreshes after it. The longest lifetime counts from the login, as before.",
            "Changes after the backup are undone: sessions that ended since then are active again, logins that were switched",
            "off are on, changed passwords are the old ones, and users that logged in since then log in once more.",
        ]
        lines += undone(restored)
        lines += [
            "", "To end them again, start the server, and then, as far as you know the users:",
            "  sojourn user disable USER --revoke     one user: logins off, sessions ended",
            "  sojourn session end ID                 one session",
            "  sojourn session revoke-all --yes       every user, if you cannot know: all log in again",
        ]
        if Setup.environment[ServerConfiguration.SpecialVariable.rootKey.rawValue] == nil {
            lines.append(
                "The root key must be the one of that time: \(configuration.rootKeyFile); 'sojourn doctor' checks it.")
        }
        return lines
    }

    private static func undone(_ restored: Restoration) -> [String] {
        guard let undone = restored.undone else {
            return restored.replaced == nil
                ? [] : ["The replaced database does not show what that is: it cannot be read, or is another one."]
        }
        let known = undoings.compactMap { kind, text in undone[kind.rawValue].map { "  \($0) × \(text)" } }
        return known.isEmpty
            ? ["The replaced database has no such change."] : ["The replaced database has:"] + known
    }
}
