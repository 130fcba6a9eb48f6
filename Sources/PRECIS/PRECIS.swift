// PRECIS: names of users as RFC 8264 and RFC 8265 prepare and compare them. The properties of Unicode come from libunistring,
// because the standard library has neither widths, nor directions, nor joining types, nor scripts.
//
// Owns: the profile UsernameCaseMapped, and what it refuses.
//
// Must not know: users, lengths, the fields in which a name stands.
//
// Reading order: Username (the profile), IdentifierClass (which code points it may have), ContextRule, BidiRule, UnicodeText.
