/// What makes a database of the first version out of one of today.
enum Downgrade {
    /// For SQLite: what later migrations have added goes.
    static let statements = """
        DROP TABLE foreign_tokens;
        DROP TABLE revocations;
        DROP TABLE webhook;
        DROP TABLE webhooks;
        DROP TABLE used_tokens;
        DROP TABLE failedAttempts;
        DROP TABLE provider_checks;
        ALTER TABLE sessions DROP COLUMN confirmed_by;
        ALTER TABLE sessions DROP COLUMN confirmed_at;
        ALTER TABLE settings DROP COLUMN earlier_tokens_end_at;
        ALTER TABLE clients DROP COLUMN dpop;
        ALTER TABLE sessions DROP COLUMN device_key;
        ALTER TABLE clients DROP COLUMN jwks;
        ALTER TABLE clients DROP COLUMN user_presence_max_age_seconds;
        ALTER TABLE sessions DROP COLUMN presence_key;
        ALTER TABLE sessions DROP COLUMN presence_proven_at;
        ALTER TABLE sessions DROP COLUMN password_proven_at;
        ALTER TABLE sessions DROP COLUMN resources;
        ALTER TABLE clients DROP COLUMN resources;
        ALTER TABLE admin_keys DROP COLUMN scope;
        ALTER TABLE admin_keys DROP COLUMN expires_at;
        ALTER TABLE admin_keys DROP COLUMN last_used_at;
        ALTER TABLE users DROP COLUMN wrong_passwords;
        ALTER TABLE users DROP COLUMN wrong_password_at;
        ALTER TABLE users DROP COLUMN locked_until;
        ALTER TABLE users DROP COLUMN claims;
        DROP INDEX users_verified_email;
        ALTER TABLE users DROP COLUMN verified_email_key;
        DROP TABLE identities;
        ALTER TABLE audit_events DROP COLUMN revokes;
        ALTER TABLE audit_events DROP COLUMN revoked_at;
        ALTER TABLE audit_events DROP COLUMN revoked_until;
        ALTER TABLE settings DROP COLUMN served_max_seconds;
        ALTER TABLE sessions DROP COLUMN child_confirmed_at;
        DELETE FROM schema_migrations WHERE version > 1
        """
}
