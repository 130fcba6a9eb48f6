// Locks: a value behind a lock.
//
// Owns: `Locked`, the only declaration. Must not know: anything else.
//
// The module does not use `Synchronization.Mutex`, because its slow path is part of the standard library, where the
// thread sanitizer cannot see it. The sanitizer would report every contended use as a race, and a real race would be
// lost among the reports. It understands a POSIX mutex.
