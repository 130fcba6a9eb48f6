// SojournTestKit: what tests of apps need, so that no test of an app has to imitate the server.
//
// Owns: `LocalServer` (the real program on a database of its own), `FakeServer` (a transport that answers as the server does, in
// virtual time), faults of the network in two forms (`FaultyTransport` and `FaultProxy`), and `ManualClock`. Must not know: the
// server's modules, and any test framework.
//
// The suite `ServerContractTests` runs against both servers, so that the imitation cannot drift away from the program.
// `LocalServer` starts processes and `FaultProxy` opens sockets, on Linux only; on Apple platforms `LocalServer` uses a server
// that runs already, at `SOJOURN_URL`.
//
// Reading order: TestServer (what both servers can do), LocalServer and FakeServer; FaultPlan with Fault and Gate,
// FaultyTransport, FaultProxy; ManualClock, FakeKeychain, FakeGate; ChildProcess.
