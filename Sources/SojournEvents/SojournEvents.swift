// SojournEvents: the words of KOBIL's and Kii's SDKs over `SojournClient`, for apps that come from there.
//
// Owns: the events and their results, the table of statuses, both tables of biometric errors, what the sample app does after a
// result, and Kii's stored credentials. It has no state of its own: each call is one or two of `Sojourn`. Must not know: the
// network, the stores, and anything of `SojournClient` that is not public.
//
// What of the vendors' interfaces is left out, and why, is in the manual's page "Coming from KOBIL or Kii" (Apps/Vendors.md).
//
// Reading order: Events/OfflineLoginEvent · Events/LoginResult (status, code and next step) · Events/LoginWithTokenEvent,
// Events/SetAuthorisationCodeEvent · Events/LoginFollowUp · Biometry · StoredUser (Kii).
