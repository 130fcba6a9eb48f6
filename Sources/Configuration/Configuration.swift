// Configuration: the settings that an operator decides before the start, and where they come from.
//
// This module owns the table of keys (each with its place in the file, its variable and its documentation), the loading
// from file, environment and flags with a line for every problem, and the environment of the process: clock, random
// bytes, log and secrets in variables. It must not know how the server is put together, and it opens no file, no socket
// and no database. Settings that admins change at run time are in the database instead (`Sessions.Settings`).
//
// Reading order: ServerConfiguration and ServerLimits (the values), ConfigurationKey and ConfigurationKey+All (the table),
// ServerConfiguration+Loading, ConfigurationDocument, ListEntry with ProviderEntry and WebhookEntry, Environment.
