// Geolocation: the location of a network address.
//
// Owns: databases in MaxMind's format, read by libmaxminddb.
//
// Must not know: events, mails, configuration. It stores nothing about the addresses that it looks up.
//
// Reading order: GeoDatabase (one open file), Location (a result), FileCopy (why a file that changes does no harm),
// FileVersion, GeoDatabaseError, Library.
