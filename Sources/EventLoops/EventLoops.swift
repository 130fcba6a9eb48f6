// EventLoops: the threads that wait for sockets.
//
// Owns: one epoll set per loop, each on a Dispatch queue of its own, with deadlines and wake-ups.
//
// Must not know: HTTP, TLS, what a descriptor is. It never reads, writes or closes one.
//
// A loop is also an executor. An actor with a loop as its executor is confined to the loop's thread: the loop calls it
// synchronously when descriptors are ready, its own tasks run there between two polls, and its state needs no lock.
//
// Reading order: EventLoop (a turn), EventHandler (what a loop calls), EventSet (epoll), DeadlineQueue (many deadlines,
// cheap to move), MonotonicInstant (the injected clock), EventLoopGroup (one loop per core).
